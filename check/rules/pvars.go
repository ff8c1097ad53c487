//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
)

const noPvars = "no performance variable of this kind can be opened"

var pvarRules = section{"pvars", []rule{
	{Rule: promise("pvar-opens", "MPI-3.1, 14.3.7", "Each performance variable that is listed can be opened and read, or its calls return an error."), stage: after, run: pvarOpens},
	{Rule: promise("pvar-class-type", "MPI-3.1, 14.3.7", "The datatype of a performance variable is one that its class allows."), stage: after, run: pvarClassType},
	{Rule: promise("pvar-flags", "MPI-3.1, 14.3.7", "The flags readonly, continuous and atomic are 0 or 1."), stage: after, run: pvarFlags},
	{Rule: promise("pvar-count", "MPI-3.1, 14.3.7", "MPI_T_pvar_handle_alloc returns the number of elements, at least 1."), stage: after, run: pvarCount},
	{Rule: promise("pvar-starting-value", "MPI-3.1, 14.3.7", "The starting value of counters, aggregates and timers is 0."), stage: after, run: pvarStartingValue},
	{Rule: promise("pvar-non-negative", "MPI-3.1, 14.3.7", "Values are not negative, except in the classes STATE and GENERIC; percentages are between 0 and 1."), stage: after, run: pvarNonNegative},
	{Rule: promise("pvar-monotonic", "MPI-3.1, 14.3.7", "Counters, aggregates, timers and high watermarks never fall, and low watermarks never rise, from read to read."), stage: after, run: pvarMonotonic},
	{Rule: promise("pvar-stopped", "MPI-3.1, 14.3.7", "The value of a variable that is stopped does not change."), stage: after, run: pvarStopped},
	{Rule: promise("pvar-read-stopped", "MPI-3.1, 14.3.7", "A variable can be read before its first start and after a stop."), stage: after, run: pvarReadStopped},
	{Rule: promise("pvar-start-stop", "MPI-3.1, 14.3.7", "Variables that are not continuous can be started and stopped; for continuous ones MPI_T_ERR_PVAR_NO_STARTSTOP is returned."), stage: after, run: pvarStartStop},
	{Rule: promise("pvar-reset", "MPI-3.1, 14.3.7", "MPI_T_pvar_reset sets a writable variable to its starting value, from which a watermark goes on; for a readonly one it returns MPI_T_ERR_PVAR_NO_WRITE."), stage: after, run: pvarReset},
	{Rule: promise("pvar-write", "MPI-3.1, 14.3.7", "MPI_T_pvar_write returns MPI_T_ERR_PVAR_NO_WRITE for a readonly variable."), stage: after, run: pvarWrite},
	{Rule: promise("pvar-write-arrives", "MPI-3.1, 14.3.7", "A value that MPI_T_pvar_write writes to a stopped variable is the one that MPI_T_pvar_read returns."), stage: after, run: pvarWriteArrives},
	{Rule: promise("pvar-write-session", "MPI-3.1, 14.3.7", "A write of a stopped variable does not change the variable in another session."), stage: after, run: pvarWriteSession},
	{Rule: promise("pvar-readreset", "MPI-3.1, 14.3.7", "MPI_T_pvar_readreset returns the value of an atomic variable and sets it to its starting value; it returns MPI_T_ERR_PVAR_NO_ATOMIC, or NO_WRITE if readonly, for others."), stage: after, run: pvarReadReset},
	{Rule: promise("pvar-handle-null", "MPI-3.1, 14.3.7", "MPI_T_pvar_handle_free sets the handle to MPI_T_PVAR_HANDLE_NULL."), stage: after, run: pvarHandleNull},
	{Rule: promise("pvar-no-overrun", "MPI-3.1, 14.3.7", "MPI_T_pvar_read writes as many elements as the count says, and not more."), stage: after, run: pvarOverrun},
	{Rule: promise("pvar-start-keeps", "MPI-3.1, 14.3.7", "MPI_T_pvar_start does not set a counter, aggregate or timer to its starting value: it goes on."), stage: after, file: binding.CheckWatch, run: pvarStartKeeps},
	{Rule: promise("pvar-reset-runs", "MPI-3.1, 14.3.7", "A counter, aggregate or timer that runs goes on after MPI_T_pvar_reset."), stage: after, file: binding.CheckWatch, run: pvarResetRuns},
}}

func anyPvar(variable) bool      { return true }
func continuous(v variable) bool { return v.pvar.Continuous != 0 }
func startable(v variable) bool  { return v.pvar.Continuous == 0 }

// sums are the classes whose starting value is 0.
func sums(v variable) bool {
	switch catalog.Class(v.pvar.Class) {
	case catalog.ClassCounter, catalog.ClassAggregate, catalog.ClassTimer:
		return true
	}
	return false
}

func watermark(v variable) bool {
	return v.pvar.Class == int32(catalog.ClassHighWatermark) || v.pvar.Class == int32(catalog.ClassLowWatermark)
}

func pvarOpens(m *mpi) {
	l := pvars(m)
	all := m.probe(l)
	if len(all) == 0 {
		m.notApplicable("no performance variable is listed that mpitx can bind")
	}
	for _, v := range all {
		if !m.item("%s", v.label()) {
			continue
		}
		allowed := []binding.Error{0}
		open := func() code {
			s, c := m.openSession()
			if !c.ok() {
				return c
			}
			h, _, c := m.allocPvar(s, v)
			if !c.ok() || strings.Contains(v.fault, "handle_alloc") {
				allowed = append(allowed, binding.ErrInvalidIndex, binding.ErrOutOfHandles, binding.ErrMemory)
				return c
			}
			if v.pvar.Continuous == 0 {
				m.startPvar(s, h)
			}
			return m.readPvar(s, h, m.value(v.pvar.Datatype, 4096))
		}
		if v.died() {
			m.crashes(l, v, func() { open() })
			continue
		}
		if c := open(); c.rc != binding.ErrOutOfSessions {
			m.wants(c, allowed...)
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

func pvarClassType(m *mpi) {
	m.entries(pvars(m), func(e *entry) {
		words, limited := classTypes[catalog.Class(e.pvar.Class)]
		if !limited {
			return
		}
		known := prefixed("MPI_", strings.Fields(words))
		m.expect(slices.Contains(known, typeName(e.pvar.Datatype)), isOneOf(e.names[2], known), className(e.pvar.Class)+" has "+strings.Join(known, " or "), typeName(e.pvar.Datatype))
	})
	if m.items == 0 {
		m.notApplicable("no performance variable is listed")
	}
}

func pvarFlags(m *mpi) {
	m.entries(pvars(m), func(e *entry) {
		for k := 4; k < 7; k++ {
			m.expect(e.ints[k] == 0 || e.ints[k] == 1, fmt.Sprintf("%s == 0 || %s == 1", e.names[k], e.names[k]), e.labels[k]+" is 0 or 1", fmt.Sprint(e.ints[k]))
		}
	})
	if m.items == 0 {
		m.notApplicable("no performance variable is listed")
	}
}

func pvarCount(m *mpi) {
	m.eachPvar(anyPvar, noPvars, func(v variable, s, h *handle, count *num) {
		m.expect(count.v >= 1, count.c+" >= 1", "a count of at least 1", shown(count.c, count.String()))
	})
}

// running starts a variable, unless it is continuous.
func (m *mpi) running(v variable, s, h *handle) bool {
	return v.pvar.Continuous != 0 || m.startPvar(s, h).ok()
}

// number is the first element as a number, and in C.
func number(v variable, buf *value) (float64, string) {
	ctype, ok := cTypes[v.typ]
	if !ok {
		return 0, ""
	}
	f := catalog.NewValue(v.typ, buf.b[:v.typ.Size()]).Float(0)
	return f, fmt.Sprintf("*(%s *)%s", ctype, buf.c)
}

func pvarStartingValue(m *mpi) {
	which := func(v variable) bool { return sums(v) && v.pvar.Continuous == 0 && cTypes[v.typ] != "" }
	m.eachPvar(which, "no counter, aggregate or timer can be opened and started", func(v variable, s, h *handle, _ *num) {
		buf := m.value(v.pvar.Datatype, 1024)
		c := m.readPvar(s, h, buf)
		if f, text := number(v, buf); c.ok() {
			m.expect(f == 0, text+" == 0", "0 before the first start", buf.at(0))
		}
	})
}

func pvarNonNegative(m *mpi) {
	which := func(v variable) bool {
		return cTypes[v.typ] != "" && v.typ != catalog.TypeChar && v.pvar.Class != int32(catalog.ClassState) && v.pvar.Class != int32(catalog.ClassGeneric)
	}
	m.eachPvar(which, noPvars, func(v variable, s, h *handle, _ *num) {
		buf := m.value(v.pvar.Datatype, 1024)
		if !m.running(v, s, h) || !m.readPvar(s, h, buf).ok() {
			return
		}
		f, text := number(v, buf)
		if v.pvar.Class == int32(catalog.ClassPercentage) {
			m.expect(f >= 0 && f <= 1, text+" >= 0 && "+text+" <= 1", "a value from 0 to 1", buf.at(0))
			return
		}
		m.expect(f >= 0, text+" >= 0", "a value that is not negative", buf.at(0))
	})
}

func pvarMonotonic(m *mpi) {
	which := func(v variable) bool { return (sums(v) || watermark(v)) && cTypes[v.typ] != "" }
	m.eachPvar(which, "no counter, aggregate, timer or watermark can be opened", func(v variable, s, h *handle, _ *num) {
		if m.running(v, s, h) {
			m.neverBack(v, s, h, 8)
		}
	})
}

// neverBack reads a variable several times, and expects that it moves in one direction.
func (m *mpi) neverBack(v variable, s, h *handle, times int) {
	var was *value
	for range times {
		buf := m.value(v.pvar.Datatype, 1024)
		if !m.readPvar(s, h, buf).ok() {
			return
		}
		if was != nil {
			a, before := number(v, was)
			b, now := number(v, buf)
			half := 0.0 // a wrap is allowed: it falls by more than half of the range
			if v.typ != catalog.TypeDouble {
				half = float64(uint64(1) << (8*v.typ.Size() - 1))
			}
			wraps := fmt.Sprintf(" || (double)%s - (double)%s > %.1f", before, now, half)
			switch {
			case v.pvar.Class == int32(catalog.ClassLowWatermark):
				m.expect(b <= a, now+" <= "+before, "not more than "+was.at(0), buf.at(0))
			case half > 0 && sums(v):
				m.expect(b >= a || a-b > half, now+" >= "+before+wraps, "at least "+was.at(0), buf.at(0))
			default:
				m.expect(b >= a, now+" >= "+before, "at least "+was.at(0), buf.at(0))
			}
		}
		was = buf
	}
}

func pvarStopped(m *mpi) {
	m.eachPvar(startable, "all performance variables that can be opened are continuous", func(v variable, s, h *handle, _ *num) {
		if !m.startPvar(s, h).ok() || !m.stopPvar(s, h).ok() {
			return
		}
		a, b := m.value(v.pvar.Datatype, 1024), m.value(v.pvar.Datatype, 1024)
		if !m.readPvar(s, h, a).ok() {
			return
		}
		for range 3 {
			if !m.readPvar(s, h, b).ok() {
				return
			}
			m.expect(string(a.b) == string(b.b), fmt.Sprintf("memcmp(%s, %s, %d) == 0", a.c, b.c, len(a.b)), "the value "+a.at(0)+" of the stop", b.at(0))
		}
	})
}

func pvarReadStopped(m *mpi) {
	m.eachPvar(startable, "all performance variables that can be opened are continuous", func(v variable, s, h *handle, _ *num) {
		buf := m.value(v.pvar.Datatype, 1024)
		if m.succeeds(m.readPvar(s, h, buf)) && m.startPvar(s, h).ok() && m.stopPvar(s, h).ok() {
			m.succeeds(m.readPvar(s, h, buf))
		}
	})
}

func pvarStartStop(m *mpi) {
	m.eachPvar(anyPvar, noPvars, func(v variable, s, h *handle, _ *num) {
		if continuous(v) {
			m.wants(m.startPvar(s, h), binding.ErrPvarNoStartStop)
			m.wants(m.stopPvar(s, h), binding.ErrPvarNoStartStop)
			return
		}
		if m.succeeds(m.startPvar(s, h)) {
			m.succeeds(m.stopPvar(s, h))
		}
	})
}

func pvarReset(m *mpi) {
	m.eachPvar(anyPvar, noPvars, func(v variable, s, h *handle, _ *num) {
		if v.pvar.Readonly != 0 {
			m.wants(m.resetPvar(s, h), binding.ErrPvarNoWrite)
			return
		}
		if startable(v) && (!m.startPvar(s, h).ok() || !m.stopPvar(s, h).ok()) {
			return
		}
		if !m.succeeds(m.resetPvar(s, h)) {
			return
		}
		if watermark(v) && cTypes[v.typ] != "" && m.running(v, s, h) {
			m.neverBack(v, s, h, 3)
		}
		if !sums(v) || continuous(v) || cTypes[v.typ] == "" {
			return
		}
		buf := m.value(v.pvar.Datatype, 1024)
		if m.readPvar(s, h, buf).ok() {
			f, text := number(v, buf)
			m.expect(f == 0, text+" == 0", "0 after a reset", buf.at(0))
		}
	})
}

func pvarWrite(m *mpi) {
	readonly := func(v variable) bool { return v.pvar.Readonly != 0 }
	m.eachPvar(readonly, "no performance variable that can be opened is readonly", func(v variable, s, h *handle, _ *num) {
		m.wants(m.writePvar(s, h, m.value(v.pvar.Datatype, 1024)), binding.ErrPvarNoWrite)
	})
}

const noWritable = "no performance variable that can be opened is writable and can be stopped"

func writable(v variable) bool { return v.pvar.Readonly == 0 && startable(v) }

// another starts and stops a variable, and returns its value, changed in its first bit.
func (m *mpi) another(v variable, s, h *handle) *value {
	buf := m.value(v.pvar.Datatype, 1024)
	if !m.startPvar(s, h).ok() || !m.stopPvar(s, h).ok() || !m.readPvar(s, h, buf).ok() {
		return nil
	}
	buf.b[0] ^= 1
	m.line("%s[0] ^= 1;", buf.c)
	return buf
}

// same expects that the variable has a value.
func (m *mpi) same(s, h *handle, want *value, expected string) {
	now := m.value(want.t, 1024)
	if m.succeeds(m.readPvar(s, h, now)) {
		m.expect(string(now.b) == string(want.b), fmt.Sprintf("memcmp(%s, %s, %d) == 0", now.c, want.c, len(now.b)), expected+" "+want.at(0), now.at(0))
	}
}

func pvarWriteArrives(m *mpi) {
	m.eachPvar(writable, noWritable, func(v variable, s, h *handle, _ *num) {
		if buf := m.another(v, s, h); buf != nil && m.succeeds(m.writePvar(s, h, buf)) {
			m.same(s, h, buf, "the value that was written,")
		}
	})
}

func pvarWriteSession(m *mpi) {
	m.eachPvar(writable, noWritable, func(v variable, s, h *handle, _ *num) {
		other := m.newSession()
		g, _, c := m.allocPvar(other, v)
		was := m.value(v.pvar.Datatype, 1024)
		if !c.ok() || !m.startPvar(other, g).ok() || !m.stopPvar(other, g).ok() || !m.readPvar(other, g, was).ok() {
			return
		}
		if buf := m.another(v, s, h); buf != nil && m.writePvar(s, h, buf).ok() {
			m.same(other, g, was, "the value in the other session as before,")
		}
	})
}

func pvarReadReset(m *mpi) {
	m.eachPvar(anyPvar, noPvars, func(v variable, s, h *handle, _ *num) {
		buf := m.value(v.pvar.Datatype, 1024)
		switch {
		case v.pvar.Atomic != 0 && v.pvar.Readonly == 0:
			if m.running(v, s, h) && (!countable(v) || m.stopPvar(s, h).ok()) {
				m.readAndReset(v, s, h, buf)
			}
		case v.pvar.Readonly != 0:
			m.wants(m.readResetPvar(s, h, buf), binding.ErrPvarNoAtomic, binding.ErrPvarNoWrite)
		default:
			m.wants(m.readResetPvar(s, h, buf), binding.ErrPvarNoAtomic)
		}
	})
}

// readAndReset expects of a sum that is stopped that readreset returns its value and sets it to 0.
func (m *mpi) readAndReset(v variable, s, h *handle, buf *value) {
	if !countable(v) {
		m.succeeds(m.readResetPvar(s, h, buf))
		return
	}
	was, now := m.value(v.pvar.Datatype, 1024), m.value(v.pvar.Datatype, 1024)
	if !m.readPvar(s, h, was).ok() || !m.succeeds(m.readResetPvar(s, h, buf)) {
		return
	}
	m.expect(string(buf.b) == string(was.b), fmt.Sprintf("memcmp(%s, %s, %d) == 0", buf.c, was.c, len(buf.b)), "the value "+was.at(0)+" of the read before", buf.at(0))
	if m.readPvar(s, h, now).ok() {
		f, text := number(v, now)
		m.expect(f == 0, text+" == 0", "0 after the readreset", now.at(0))
	}
}

func pvarHandleNull(m *mpi) {
	m.eachPvar(anyPvar, noPvars, func(v variable, s, h *handle, _ *num) {
		c := m.freePvar(s, h)
		m.expect(c.ok() && h.v == 0, fmt.Sprintf("%s == MPI_SUCCESS && %s == MPI_T_PVAR_HANDLE_NULL", c.c, h.c), "MPI_SUCCESS and a null handle", fmt.Sprintf("%s, null: %v", codeName(c.rc), h.v == 0))
	})
}
