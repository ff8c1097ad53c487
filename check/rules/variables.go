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
	index  int
	name   string
	typ    catalog.Datatype
	object binding.Object
	enum   binding.RawHandle
	cvar   binding.RawCvar
	pvar   binding.RawPvar
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
			all = append(all, variable{index: k, name: fmt.Sprintf("%s %d", l.what, k), fault: r.Reason})
		}
		if t.Dead || t.Nameless || r.Status != catalog.StatusOK && !faulty && !failedIn(r.Reason, "handle_alloc", "read", "start") {
			continue
		}
		e := m.quietly(func() *entry { return m.entry(l, k) })
		v := variable{index: k, name: e.label(), cvar: e.cvar, pvar: e.pvar, enum: e.enum, typ: catalog.Datatype(e.cvar.Datatype + e.pvar.Datatype)}
		if bind := catalog.Bind(e.cvar.Bind + e.pvar.Bind); bind == catalog.BindComm {
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

// eachPvar calls f for each performance variable that can be opened, in an item with a session and a handle.
func (m *mpi) eachPvar(which func(variable) bool, none string, f func(v variable, s, h *handle, count *num)) {
	found := false
	for _, v := range m.openablePvars() {
		if !which(v) {
			continue
		}
		found = true
		if !m.item("%s", v.label()) {
			continue
		}
		s, c := m.openSession()
		if !c.ok() {
			m.absent()
			continue
		}
		if h, count, c := m.allocPvar(s, v); c.ok() {
			f(v, s, h, count)
		} else {
			m.absent()
		}
	}
	if !found && m.items == 0 {
		m.notApplicable("%s", none)
	}
}

// label tells variables of one name apart.
func (v variable) label() string {
	if v.pvar.Class == 0 {
		return v.name
	}
	return fmt.Sprintf("%s:%s", v.name, catalog.Class(v.pvar.Class))
}

func (m *mpi) allocCvar(index int, object binding.Object) (*handle, *num, code) {
	h, count := m.cvarHandle(), m.num("count", untouched)
	c := m.call("MPI_T_cvar_handle_alloc", func() binding.Error { return m.raw.AllocCvar(int32(index), object, &h.v, count.p()) },
		lit("%d", index), m.object(object), h.out(), count.out())
	return h, count, c
}

func (m *mpi) freeCvar(h *handle) code {
	return m.call("MPI_T_cvar_handle_free", func() binding.Error { return m.raw.FreeCvar(&h.v) }, h.out())
}

func (m *mpi) readCvar(h *handle, buf *value) code {
	return m.call("MPI_T_cvar_read", func() binding.Error { return m.raw.ReadCvar(h.v, buf.b) }, h.in(), buf.out())
}

func (m *mpi) writeCvar(h *handle, buf *value) code {
	return m.call("MPI_T_cvar_write", func() binding.Error { return m.raw.WriteCvar(h.v, buf.b) }, h.in(), buf.out())
}

func (m *mpi) createSession(s *handle) code {
	return m.call("MPI_T_pvar_session_create", func() binding.Error { return m.raw.CreateSession(&s.v) }, s.out())
}

// openSession creates a session. If the library has no more sessions, it frees those of earlier items and tries again.
func (m *mpi) openSession() (*handle, code) {
	s := m.session()
	c := m.createSession(s)
	if c.rc == binding.ErrOutOfSessions && len(m.earlier) > 0 {
		m.quietly(func() *entry {
			for _, old := range m.earlier {
				m.freeSession(&handle{old.v, m.session().c})
			}
			return nil
		})
		m.earlier = nil
		c = m.createSession(s)
	}
	if c.ok() && !m.dry {
		m.sessions = append(m.sessions, s)
	}
	return s, c
}

func (m *mpi) newSession() *handle {
	s, _ := m.openSession()
	return s
}

func (m *mpi) freeSession(s *handle) code {
	m.sessions = slices.DeleteFunc(m.sessions, func(open *handle) bool { return open == s })
	return m.call("MPI_T_pvar_session_free", func() binding.Error { return m.raw.FreeSession(&s.v) }, s.out())
}

func (m *mpi) allocPvar(s *handle, v variable) (*handle, *num, code) {
	h, count := m.pvarHandle(), m.num("count", untouched)
	c := m.call("MPI_T_pvar_handle_alloc", func() binding.Error { return m.raw.AllocPvar(s.v, int32(v.index), v.object, &h.v, count.p()) },
		s.in(), lit("%d", v.index), m.object(v.object), h.out(), count.out())
	return h, count, c
}

func (m *mpi) freePvar(s, h *handle) code {
	return m.call("MPI_T_pvar_handle_free", func() binding.Error { return m.raw.FreePvar(s.v, &h.v) }, s.in(), h.out())
}

func (m *mpi) startPvar(s, h *handle) code {
	return m.call("MPI_T_pvar_start", func() binding.Error { return m.raw.StartPvar(s.v, h.v) }, s.in(), h.in())
}

func (m *mpi) stopPvar(s, h *handle) code {
	return m.call("MPI_T_pvar_stop", func() binding.Error { return m.raw.StopPvar(s.v, h.v) }, s.in(), h.in())
}

func (m *mpi) resetPvar(s, h *handle) code {
	return m.call("MPI_T_pvar_reset", func() binding.Error { return m.raw.ResetPvar(s.v, h.v) }, s.in(), h.in())
}

func (m *mpi) readPvar(s, h *handle, buf *value) code {
	return m.call("MPI_T_pvar_read", func() binding.Error { return m.raw.ReadPvar(s.v, h.v, buf.b) }, s.in(), h.in(), buf.out())
}

func (m *mpi) writePvar(s, h *handle, buf *value) code {
	return m.call("MPI_T_pvar_write", func() binding.Error { return m.raw.WritePvar(s.v, h.v, buf.b) }, s.in(), h.in(), buf.out())
}

func (m *mpi) readResetPvar(s, h *handle, buf *value) code {
	return m.call("MPI_T_pvar_readreset", func() binding.Error { return m.raw.ReadResetPvar(s.v, h.v, buf.b) }, s.in(), h.in(), buf.out())
}

// allHandles is MPI_T_PVAR_ALL_HANDLES.
func (m *mpi) allHandles() *handle { return &handle{m.raw.AllHandles(), "MPI_T_PVAR_ALL_HANDLES"} }

// crashes notes what a child met in a variable, without meeting it here. open makes the calls after get_info.
func (m *mpi) crashes(l *list, v variable, open func()) {
	m.dry = true
	switch {
	case strings.Contains(v.fault, "in get_info"):
		m.entry(l, v.index)
	case strings.Contains(v.fault, "in enum_get_info"):
		e := m.entry(l, v.index)
		m.enumInfo(&enumeration{c: e.cEnum}, nil, m.num("len", 0))
	default:
		open()
	}
	m.dry = false
	m.violationOf(v.fault)
}
