//go:build cgo && linux

package rules

import "mpitx/catalog"

// work takes time, and sends messages.
func (m *mpi) work() {
	m.line("usleep(100000);")
	pause()
	m.call("work_alone", m.raw.WorkAlone)
}

// pvarStartKeeps starts a variable again that was stopped above its starting value.
func pvarStartKeeps(o *opened) {
	if !o.start().ok() {
		return
	}
	o.work()
	o.stop()
	if writable(o.variable) { // it may not have counted, or so little that it catches up after a reset
		buf := o.read()
		if !buf.ok() {
			return
		}
		if o.raise(buf); !o.write(buf).ok() {
			return
		}
	}
	was := o.read()
	if !was.ok() || !o.stopped() {
		return
	}
	if now := o.read(); now.ok() {
		o.expect(now.first().ge(was.first()))
	}
}

// raise makes the first element larger than a variable becomes while the process is interrupted.
func (o *opened) raise(buf *buffer) {
	top, high := o.typ.Size()-1, byte(0x20)
	if o.typ == catalog.TypeDouble {
		high = 0x43 // 2^49 at least
	}
	buf.b[top] = high
	o.line("%s[%d] = %d;", buf.c, top, high)
}

// pvarResetRuns resets a variable that runs.
func pvarResetRuns(o *opened) {
	if o.start().ok() && o.reset().ok() {
		o.moves()
	}
}

// moves expects that a variable that runs, and was at its starting value, moves, if another handle that is started now does.
func (o *opened) moves() {
	other := o.elsewhere()
	if !other.ok() || !other.start().ok() {
		return
	}
	o.work()
	b := other.read()
	if !b.ok() {
		return
	}
	if a := o.read(); a.ok() {
		o.expect(either(b.first().le(0), a.first().above(0).as("a value above 0, as a handle that was started alone has %v", b.first())))
	}
}
