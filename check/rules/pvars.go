//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
)

const (
	noPvars     = "no performance variable of this kind can be opened"
	noStartable = "no counter, aggregate or timer can be opened and started"
	noStops     = "all performance variables that can be opened are continuous"
	noWritable  = "no performance variable that can be opened is writable and can be stopped"
)

var pvarRules = section{subject: "pvars", none: noPvars, rules: []rule{
	{Rule: promise("pvar-opens", "MPI-3.1, 14.3.7", "Each performance variable that is listed can be opened and read, or its calls return an error."), none: "no performance variable is listed that mpitx can bind", run: pvarOpens},
	{Rule: promise("pvar-class-type", "MPI-3.1, 14.3.7", "The datatype of a performance variable is one that its class allows."), none: "no performance variable is listed", run: eachEntry(pvarClassType, pvars)},
	{Rule: promise("pvar-flags", "MPI-3.1, 14.3.7", "The flags readonly, continuous and atomic are 0 or 1."), none: "no performance variable is listed", run: eachEntry(pvarFlags, pvars)},
	{Rule: promise("pvar-count", "MPI-3.1, 14.3.7", "MPI_T_pvar_handle_alloc returns the number of elements, at least 1."), run: eachPvar(anyVariable, pvarCount)},
	{Rule: promise("pvar-starting-value", "MPI-3.1, 14.3.7", "The starting value of counters, aggregates and timers is 0."), none: noStartable, run: eachPvar(countable, pvarStartingValue)},
	{Rule: promise("pvar-non-negative", "MPI-3.1, 14.3.7", "Values are not negative, except in the classes STATE and GENERIC; percentages are between 0 and 1."), run: eachPvar(signless, pvarNonNegative)},
	{Rule: promise("pvar-monotonic", "MPI-3.1, 14.3.7", "Counters, aggregates, timers and high watermarks never fall, and low watermarks never rise, from read to read."), none: "no counter, aggregate, timer or watermark can be opened", run: eachPvar(directed, pvarMonotonic)},
	{Rule: promise("pvar-stopped", "MPI-3.1, 14.3.7", "The value of a variable that is stopped does not change."), none: noStops, run: eachPvar(startable, pvarStopped)},
	{Rule: promise("pvar-read-stopped", "MPI-3.1, 14.3.7", "A variable can be read before its first start and after a stop."), none: noStops, run: eachPvar(startable, pvarReadStopped)},
	{Rule: promise("pvar-start-stop", "MPI-3.1, 14.3.7", "Variables that are not continuous can be started and stopped; for continuous ones MPI_T_ERR_PVAR_NO_STARTSTOP is returned."), run: eachPvar(anyVariable, pvarStartStop)},
	{Rule: promise("pvar-reset", "MPI-3.1, 14.3.7", "MPI_T_pvar_reset sets a writable variable to its starting value, from which a watermark goes on; for a readonly one it returns MPI_T_ERR_PVAR_NO_WRITE."), run: eachPvar(anyVariable, pvarReset)},
	{Rule: promise("pvar-write", "MPI-3.1, 14.3.7", "MPI_T_pvar_write returns MPI_T_ERR_PVAR_NO_WRITE for a readonly variable."), none: "no performance variable that can be opened is readonly", run: eachPvar(readonly, pvarWrite)},
	{Rule: promise("pvar-write-arrives", "MPI-3.1, 14.3.7", "A value that MPI_T_pvar_write writes to a stopped variable is the one that MPI_T_pvar_read returns."), none: noWritable, run: eachPvar(writable, pvarWriteArrives)},
	{Rule: promise("pvar-write-session", "MPI-3.1, 14.3.7", "A write of a stopped variable does not change the variable in another session."), none: noWritable, run: eachPvar(writable, pvarWriteSession)},
	{Rule: promise("pvar-readreset", "MPI-3.1, 14.3.7", "MPI_T_pvar_readreset returns the value of an atomic variable and sets it to its starting value; it returns MPI_T_ERR_PVAR_NO_ATOMIC, or NO_WRITE if readonly, for others."), run: eachPvar(anyVariable, pvarReadReset)},
	{Rule: promise("pvar-handle-null", "MPI-3.1, 14.3.7", "MPI_T_pvar_handle_free sets the handle to MPI_T_PVAR_HANDLE_NULL."), run: eachPvar(anyVariable, handleNull)},
	{Rule: promise("pvar-no-overrun", "MPI-3.1, 14.3.7", "MPI_T_pvar_read writes as many elements as the count says, and not more."), run: eachPvar(anyVariable, noOverrun)},
	{Rule: promise("pvar-start-keeps", "MPI-3.1, 14.3.7", "MPI_T_pvar_start does not set a counter, aggregate or timer to its starting value: it goes on."), file: binding.CheckWatch, none: noStartable, run: eachPvar(countable, pvarStartKeeps)},
	{Rule: promise("pvar-reset-runs", "MPI-3.1, 14.3.7", "A counter, aggregate or timer that runs goes on after MPI_T_pvar_reset."), file: binding.CheckWatch, none: noWritable, run: eachPvar(resettable, pvarResetRuns)},
}}

// The kinds of performance variables.
func continuous(v variable) bool { return v.value("continuous") != 0 }
func startable(v variable) bool  { return !continuous(v) }
func readonly(v variable) bool   { return v.value("readonly") != 0 }
func writable(v variable) bool   { return !readonly(v) && startable(v) }
func hasNumber(v variable) bool  { return cTypes[v.typ] != "" }
func countable(v variable) bool  { return sums(v) && startable(v) && hasNumber(v) }
func resettable(v variable) bool { return countable(v) && writable(v) }
func directed(v variable) bool   { return (sums(v) || watermark(v)) && hasNumber(v) }

// sums are the classes whose starting value is 0.
func sums(v variable) bool {
	return v.class() == catalog.ClassCounter || v.class() == catalog.ClassAggregate || v.class() == catalog.ClassTimer
}

func watermark(v variable) bool {
	return v.class() == catalog.ClassHighWatermark || v.class() == catalog.ClassLowWatermark
}

func signless(v variable) bool {
	return hasNumber(v) && !isText(v) && v.class() != catalog.ClassState && v.class() != catalog.ClassGeneric
}

func pvarOpens(m *mpi) {
	for _, v := range m.probe(pvars(m)) {
		if !m.item("%s", v.name) {
			continue
		}
		allowed := []binding.Error{0}
		open := func() code {
			o := m.open(v)
			switch {
			case o.h == nil: // no session
				return o.code
			case !o.ok() || strings.Contains(v.fault, "handle_alloc"):
				allowed = append(allowed, binding.ErrInvalidIndex, binding.ErrOutOfHandles, binding.ErrMemory)
				return o.code
			}
			o.runs()
			return o.readInto(m.value(v.typ, 4096)).code
		}
		if v.died() {
			m.crashes(v, func() { open() })
			continue
		}
		if c := open(); c.rc != binding.ErrOutOfSessions {
			m.expect(c.is(allowed...))
		} else {
			m.absent()
		}
	}
}

// classTypes are the datatypes that classes allow.
var classTypes = map[catalog.Class]string{
	catalog.ClassState: "INT", catalog.ClassPercentage: "DOUBLE",
	catalog.ClassLevel: "UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG DOUBLE", catalog.ClassSize: "UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG DOUBLE",
	catalog.ClassHighWatermark: "UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG DOUBLE", catalog.ClassLowWatermark: "UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG DOUBLE",
	catalog.ClassCounter: "UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG", catalog.ClassAggregate: "UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG DOUBLE",
	catalog.ClassTimer: "UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG DOUBLE",
}

func pvarClassType(e *entry) {
	if words, limited := classTypes[e.class()]; limited {
		known, name := prefixed("MPI_", strings.Fields(words)), typeName(e.value("datatype"))
		is := cond{slices.Contains(known, name), isOneOf(e.num("datatype").c, known), strings.Join(known, " or "), name}
		e.expect(is.as("%s has %s", className(int32(e.class())), is.want))
	}
}

func pvarFlags(e *entry) {
	for _, name := range []string{"readonly", "continuous", "atomic"} {
		n := e.num(name)
		e.expect(either(n.is(0), n.is(1)).as("%s is 0 or 1", name))
	}
}

func pvarCount(o *opened) { o.expect(o.count.ge(1).as("a count of at least 1")) }

func pvarStartingValue(o *opened) {
	if buf := o.read(); buf.ok() {
		o.expect(buf.first().is(0).as("0 before the first start"))
	}
}

func pvarNonNegative(o *opened) {
	if !o.runs() {
		return
	}
	buf := o.read()
	switch {
	case !buf.ok():
	case o.class() == catalog.ClassPercentage:
		o.expect(every(buf.first().ge(0), buf.first().le(1)).as("a value from 0 to 1").but("%v", buf.first()))
	default:
		o.expect(buf.first().ge(0).as("a value that is not negative"))
	}
}

func pvarMonotonic(o *opened) {
	if o.runs() {
		o.neverBack(8)
	}
}

// neverBack reads a variable several times, and expects that it moves in one direction.
func (o *opened) neverBack(times int) {
	var was *number[float64]
	for range times {
		buf := o.read()
		if !buf.ok() {
			return
		}
		now := buf.first()
		switch {
		case was == nil:
		case o.class() == catalog.ClassLowWatermark:
			o.expect(now.le(was))
		case sums(o.variable) && o.typ != catalog.TypeDouble: // it may wrap: it falls by more than half of the range
			half := float64(uint64(1) << (8*o.typ.Size() - 1))
			fall := named(fmt.Sprintf("(double)%s - (double)%s", was.c, now.c), was.v-now.v)
			o.expect(either(fall.above(named(fmt.Sprintf("%.1f", half), half)), now.ge(was)))
		default:
			o.expect(now.ge(was))
		}
		was = now
	}
}

func pvarStopped(o *opened) {
	if !o.stopped() {
		return
	}
	a, b := o.read(), o.buffer()
	if !a.ok() {
		return
	}
	for range 3 {
		if !o.readInto(b).ok() {
			return
		}
		o.expect(b.stays(a).as("the value %v of the stop", a.first()))
	}
}

// stays expects the same value as before.
func (b *buffer) stays(was *buffer) cond { return b.same(was, len(b.b)).but("%v", b.first()) }

func pvarReadStopped(o *opened) {
	if o.succeeds(o.read().code) && o.stopped() {
		o.succeeds(o.read().code)
	}
}

func pvarStartStop(o *opened) {
	if continuous(o.variable) {
		o.expect(o.start().is(binding.ErrPvarNoStartStop))
		o.expect(o.stop().is(binding.ErrPvarNoStartStop))
	} else if o.succeeds(o.start()) {
		o.succeeds(o.stop())
	}
}

func pvarReset(o *opened) {
	v := o.variable
	if readonly(v) {
		o.expect(o.reset().is(binding.ErrPvarNoWrite))
		return
	}
	if startable(v) && !o.stopped() || !o.succeeds(o.reset()) {
		return
	}
	if watermark(v) && hasNumber(v) && o.runs() {
		o.neverBack(3)
	}
	if countable(v) {
		o.isZero("a reset")
	}
}

// isZero expects the starting value of a sum that is stopped.
func (o *opened) isZero(after string) {
	if now := o.read(); now.ok() {
		o.expect(now.first().is(0).as("0 after %s", after))
	}
}

func pvarWrite(o *opened) { o.expect(o.write(o.buffer()).is(binding.ErrPvarNoWrite)) }

// another starts and stops a variable, and returns its value, changed in its first bit; nil if it cannot be read.
func (o *opened) another() *buffer {
	if !o.stopped() {
		return nil
	}
	buf := o.read()
	if !buf.ok() {
		return nil
	}
	buf.b[0] ^= 1
	o.line("%s[0] ^= 1;", buf.c)
	return buf
}

func pvarWriteArrives(o *opened) {
	if buf := o.another(); buf != nil && o.succeeds(o.write(buf)) {
		now := o.read()
		o.expect(now.is(0), now.stays(buf).as("the value that was written, %v", buf.first()))
	}
}

func pvarWriteSession(o *opened) {
	other := o.inOtherSession()
	if !other.ok() || !other.stopped() {
		return
	}
	was := other.read()
	if !was.ok() {
		return
	}
	if buf := o.another(); buf != nil && o.write(buf).ok() {
		now := other.read()
		o.expect(now.is(0), now.stays(was).as("the value in the other session as before, %v", was.first()))
	}
}

func pvarReadReset(o *opened) {
	v := o.variable
	switch {
	case readonly(v):
		o.expect(o.readReset().is(binding.ErrPvarNoAtomic, binding.ErrPvarNoWrite))
	case v.value("atomic") == 0:
		o.expect(o.readReset().is(binding.ErrPvarNoAtomic))
	case !countable(v):
		if o.runs() {
			o.succeeds(o.readReset().code)
		}
	case o.stopped():
		if was := o.read(); was.ok() {
			buf := o.readReset()
			if o.succeeds(buf.code) {
				o.expect(buf.stays(was).as("the value %v of the read before", was.first()))
				o.isZero("the readreset")
			}
		}
	}
}

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
	other := o.inOtherSession()
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
