//go:build cgo && linux

package rules

import "mpitx/catalog"

// work takes time, and sends messages.
func (m *mpi) work() {
	m.line("usleep(100000);")
	pause()
	m.call("work_alone", m.raw.WorkAlone)
}

func pvarOverrun(m *mpi) {
	m.eachPvar(anyPvar, noPvars, func(v variable, s, h *handle, count *num) {
		if count.v >= 1 && count.v <= 1<<20 {
			m.noOverrun(v.typ, count, func(buf *value) code { return m.readPvar(s, h, buf) })
		}
	})
}

// pvarStartKeeps starts a variable again that was stopped above its starting value.
func pvarStartKeeps(m *mpi) {
	m.eachPvar(countable, noStartable, func(v variable, s, h *handle, _ *num) {
		if !m.startPvar(s, h).ok() {
			return
		}
		m.work()
		m.stopPvar(s, h)
		if writable(v) { // it may not have counted, or so little that it catches up after a reset
			buf := m.value(v.pvar.Datatype, 1024)
			if !m.readPvar(s, h, buf).ok() {
				return
			}
			if m.raise(v, buf); !m.writePvar(s, h, buf).ok() {
				return
			}
		}
		was, now := m.value(v.pvar.Datatype, 1024), m.value(v.pvar.Datatype, 1024)
		if !m.readPvar(s, h, was).ok() || !m.startPvar(s, h).ok() || !m.stopPvar(s, h).ok() || !m.readPvar(s, h, now).ok() {
			return
		}
		a, before := number(v, was)
		b, after := number(v, now)
		m.expect(b >= a, after+" >= "+before, "at least "+was.at(0), now.at(0))
	})
}

// raise makes the first element larger than a variable becomes while the process is interrupted.
func (m *mpi) raise(v variable, buf *value) {
	top, high := v.typ.Size()-1, byte(0x20)
	if v.typ == catalog.TypeDouble {
		high = 0x43 // 2^49 at least
	}
	buf.b[top] = high
	m.line("%s[%d] = %d;", buf.c, top, high)
}

// pvarResetRuns resets a variable that runs.
func pvarResetRuns(m *mpi) {
	which := func(v variable) bool { return countable(v) && writable(v) }
	m.eachPvar(which, noWritable, func(v variable, s, h *handle, _ *num) {
		if m.startPvar(s, h).ok() && m.resetPvar(s, h).ok() {
			m.moves(v, s, h)
		}
	})
}
