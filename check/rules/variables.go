//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
)

// variable is one that can be opened and read, which forked children have tried, so that a rule about something else does not crash.
type variable struct {
	*entry
	name   string // in reports
	typ    catalog.Datatype
	object binding.Object
	fault  string // what a child met; "" if it could be read
}

// trialLimit is the time that a child has for a call.
func (m *mpi) trialLimit() time.Duration { return min(5*time.Second, m.limit) }

// probe tries all variables of a kind. MPI_T is initialized.
func (m *mpi) probe(l *list) (all []variable) {
	for k, t := range m.trials(l, m.quietCount(l)) {
		r := t.Reading
		faulty := r.Status == catalog.StatusFaulty
		if t.Nameless && faulty {
			all = append(all, variable{entry: &entry{list: l, index: k}, name: fmt.Sprintf("%s %d", l.what, k), fault: r.Reason})
		}
		if t.Dead || t.Nameless || r.Status != catalog.StatusOK && !faulty && !failedIn(r.Reason, "handle_alloc", "read", "start") {
			continue
		}
		e := m.peek(l, k)
		v := variable{entry: e, name: e.item(), typ: e.datatype()}
		if e.bound() == catalog.BindComm {
			v.object = binding.CommWorld
		}
		if faulty || r.Status == catalog.StatusError {
			v.fault = r.Reason
		}
		if strings.Contains(v.fault, "past the end") {
			v.fault = "" // buffers of rules have room
		}
		all = append(all, v)
	}
	return all
}

// trials are what children met. The journal grows meanwhile, as a child has time of its own to return.
func (m *mpi) trials(l *list, n int) []binding.Trial {
	i := m.lib.Adopt()
	o := binding.ProbeOptions{Object: binding.CommWorld, Limit: m.trialLimit(), Total: time.Minute}
	ended, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		tick, end := time.NewTicker(poll), time.After(2*o.Total)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-end: // the trials hang themselves
				return
			case <-tick.C:
				m.journal.Write([]byte("\n"))
			}
		}
	}()
	defer func() { close(ended); <-stopped }()
	numCvars, numPvars := n, 0
	if l.prefix == "MPI_T_pvar" {
		numCvars, numPvars = 0, n
	}
	t, err := i.Probe(numCvars, numPvars, o)
	if err != nil {
		panic(untestable(err.Error()))
	}
	return append(t.Cvars, t.Pvars...)
}

// failedIn reports whether one of the routines returned an error to a child.
func failedIn(reason string, routines ...string) bool {
	return slices.ContainsFunc(routines, func(r string) bool { return strings.HasPrefix(reason, r+": ") })
}

// died reports whether a child ended or hung.
func (v variable) died() bool {
	return strings.Contains(v.fault, "crashes") || strings.Contains(v.fault, "timed out") || strings.Contains(v.fault, "ends the process")
}

// healthy are those that can be read. If none can, and some crash or hang, the rule cannot be tested.
func healthy(all []variable) (good []variable) {
	died := 0
	for _, v := range all {
		if v.fault == "" && v.typ.Size() > 0 {
			good = append(good, v)
		} else if v.died() {
			died++
		}
	}
	if len(good) == 0 && died > 0 {
		panic(untestable(fmt.Sprintf("no variable can be read: %d of %d crash or hang; see cvar-opens and pvar-opens", died, len(all))))
	}
	return good
}

func (m *mpi) openableCvars() []variable { return healthy(m.probe(cvars(m))) }
func (m *mpi) openablePvars() []variable { return healthy(m.probe(pvars(m))) }

// opened is a variable with a handle.
type opened struct {
	code // of handle_alloc
	variable
	s, h  *handle // no session for a control variable
	count *num
}

// each calls f for each variable that can be read, in an item, with a handle.
func (m *mpi) each(l *list, which func(variable) bool, f func(o *opened)) {
	for _, v := range healthy(m.probe(l)) {
		if !which(v) || !m.item("%s", v.name) {
			continue
		}
		if o := m.open(v); o.ok() {
			f(o)
		} else {
			m.absent()
		}
	}
}

// eachCvar and eachPvar are rules about each variable of a kind.
func eachCvar(which func(variable) bool, f func(o *opened)) func(*mpi) {
	return func(m *mpi) { m.each(cvars(m), which, f) }
}

func eachPvar(which func(variable) bool, f func(o *opened)) func(*mpi) {
	return func(m *mpi) { m.each(pvars(m), which, f) }
}

func anyVariable(variable) bool { return true }

// open gets a handle of a variable, a performance variable's in a session of its own.
func (m *mpi) open(v variable) *opened {
	if v.prefix == "MPI_T_cvar" {
		return m.openIn(nil, v)
	}
	s := m.openSession()
	if !s.ok() {
		return &opened{variable: v, code: s.code}
	}
	return m.openIn(s, v)
}

// openIn gets a handle in a session.
func (m *mpi) openIn(s *handle, v variable) *opened {
	o := &opened{variable: v, s: s, h: m.handle("handle", v.prefix+"_handle"), count: m.num("count", untouched)}
	o.code = o.call("handle_alloc", func() binding.Error {
		if s == nil {
			return m.raw.AllocCvar(int32(v.index), v.object, &o.h.v, o.count.p())
		}
		return m.raw.AllocPvar(s.v, int32(v.index), v.object, &o.h.v, o.count.p())
	}, lit("%d", v.index), m.object(v.object), o.h.out(), o.count.out())
	return o
}

// call calls a routine with the handle, after the session if there is one.
func (o *opened) call(routine string, f func() binding.Error, args ...arg) code {
	if o.s != nil {
		args = append([]arg{o.s.in()}, args...)
	}
	return o.mpi.call(o.prefix+"_"+routine, f, args...)
}

// transfer calls a routine that reads or writes.
func (o *opened) transfer(routine string, cvar func(r binding.Raw, h binding.RawHandle, b []byte) binding.Error,
	pvar func(r binding.Raw, s, h binding.RawHandle, b []byte) binding.Error, buf *buffer) code {
	return o.call(routine, func() binding.Error {
		if o.s == nil {
			return cvar(o.raw, o.h.v, buf.b)
		}
		return pvar(o.raw, o.s.v, o.h.v, buf.b)
	}, o.h.in(), buf.out())
}

// readInto fills a buffer, and returns it.
func (o *opened) readInto(buf *buffer) *buffer {
	buf.code = o.transfer("read", binding.Raw.ReadCvar, binding.Raw.ReadPvar, buf)
	return buf
}

func (o *opened) write(buf *buffer) code {
	return o.transfer("write", binding.Raw.WriteCvar, binding.Raw.WritePvar, buf)
}

func (o *opened) readReset() *buffer {
	buf := o.buffer()
	buf.code = o.transfer("readreset", nil, binding.Raw.ReadResetPvar, buf)
	return buf
}

var unreadable = &buffer{code: code{rc: binding.ErrInvalid}}

// read reads the value. A control variable of a count that cannot be is not read, which counts as an error.
func (o *opened) read() *buffer {
	if o.s == nil && !o.counts() {
		return unreadable
	}
	return o.readInto(o.buffer())
}

// buffer has room for the value.
func (o *opened) buffer() *buffer {
	if o.s == nil {
		return o.mpi.value(o.typ, int(o.count.v))
	}
	return o.mpi.value(o.typ, 1024)
}

func (o *opened) counts() bool { return o.count.v >= 1 && o.count.v <= 1<<20 }

// size is the number of bytes of the value.
func (o *opened) size() int { return int(o.count.v) * o.typ.Size() }

func (o *opened) free() code {
	return o.call("handle_free", func() binding.Error {
		if o.s == nil {
			return o.raw.FreeCvar(&o.h.v)
		}
		return o.raw.FreePvar(o.s.v, &o.h.v)
	}, o.h.out())
}

// control calls a routine that starts, stops or resets.
func (o *opened) control(routine string, f func(r binding.Raw, s, h binding.RawHandle) binding.Error) code {
	return o.call(routine, func() binding.Error { return f(o.raw, o.s.v, o.h.v) }, o.h.in())
}

func (o *opened) start() code { return o.control("start", binding.Raw.StartPvar) }
func (o *opened) stop() code  { return o.control("stop", binding.Raw.StopPvar) }
func (o *opened) reset() code { return o.control("reset", binding.Raw.ResetPvar) }

// runs starts a variable, unless it is continuous.
func (o *opened) runs() bool { return continuous(o.variable) || o.start().ok() }

// stopped starts and stops a variable.
func (o *opened) stopped() bool { return o.start().ok() && o.stop().ok() }

// all is the session with MPI_T_PVAR_ALL_HANDLES.
func (o *opened) all() *opened {
	all := *o
	all.h = &handle{v: o.raw.AllHandles(), c: "MPI_T_PVAR_ALL_HANDLES"}
	return &all
}

// inOtherSession opens the variable in another session.
func (o *opened) inOtherSession() *opened { return o.openIn(o.openSession(), o.variable) }

func (m *mpi) createSession() *handle {
	s := m.handle("session", "MPI_T_pvar_session")
	s.code = m.call("MPI_T_pvar_session_create", func() binding.Error { return m.raw.CreateSession(&s.v) }, s.out())
	return s
}

// openSession creates a session. If the library has no more sessions, it frees those of earlier items and tries again.
func (m *mpi) openSession() *handle {
	s := m.createSession()
	if s.rc == binding.ErrOutOfSessions && len(m.earlier) > 0 {
		m.quietly(func() {
			for _, old := range m.earlier {
				again := m.handle("session", "MPI_T_pvar_session")
				again.v = old.v
				m.freeSession(again)
			}
		})
		m.earlier = nil
		s = m.createSession()
	}
	if s.ok() && !m.dry {
		m.sessions = append(m.sessions, s)
	}
	return s
}

func (m *mpi) freeSession(s *handle) code {
	m.sessions = slices.DeleteFunc(m.sessions, func(open *handle) bool { return open == s })
	return m.call("MPI_T_pvar_session_free", func() binding.Error { return m.raw.FreeSession(&s.v) }, s.out())
}

// crashes notes what a child met in a variable, without meeting it here. open makes the calls after get_info.
func (m *mpi) crashes(v variable, open func()) {
	m.dry = true
	switch {
	case strings.Contains(v.fault, "in get_info"):
		m.entry(v.list, v.index)
	case strings.Contains(v.fault, "in enum_get_info"):
		(&enumeration{mpi: m, handle: m.entry(v.list, v.index).enum}).getInfo(nil, m.num("len", 0))
	default:
		open()
	}
	m.dry = false
	m.violationOf(v.fault)
}
