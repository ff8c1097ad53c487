//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"

	"mpitx/binding"
)

const noStartable = "no counter, aggregate or timer can be opened and started"

var sessionRules = section{"sessions", []rule{
	{Rule: promise("session-independent", "MPI-3.1, 14.3.7", "Calls in one session do not influence the results of calls in another: start and stop there leave a stopped variable as it is."), stage: after, run: sessionIndependent},
	{Rule: promise("session-foreign-handle", "MPI-3.1, 14.3.7", "A handle that belongs to another session is refused with MPI_T_ERR_INVALID_HANDLE."), stage: after, run: foreignHandle},
	{Rule: promise("session-null", "MPI-3.1, 14.3.7", "MPI_T_pvar_session_free sets the session to MPI_T_PVAR_SESSION_NULL."), stage: after, run: sessionNull},
	{Rule: promise("session-many", "MPI-3.1, 14.3.7", "Many sessions can exist, until MPI_T_ERR_OUT_OF_SESSIONS is returned, and be freed in any order."), stage: after, run: sessionMany},
	{Rule: promise("all-handles", "MPI-3.1, 14.3.7", "Start, stop and reset with MPI_T_PVAR_ALL_HANDLES succeed, even if there is no handle that they apply to."), stage: after, run: allHandles},
	{Rule: promise("all-handles-started", "MPI-3.1, 14.3.7", "MPI_T_pvar_start with MPI_T_PVAR_ALL_HANDLES starts the handles of the session, and stop stops them."), stage: after, file: binding.CheckWatch, run: allHandlesStarted},
	{Rule: promise("all-handles-refused", "MPI-3.1, 14.3.7", "Read, write and readreset do not take MPI_T_PVAR_ALL_HANDLES: they return an error."), stage: after, run: allHandlesRefused},
}}

func countable(v variable) bool { return sums(v) && startable(v) && cTypes[v.typ] != "" }

func sessionIndependent(m *mpi) {
	m.eachPvar(countable, noStartable, func(v variable, s, h *handle, _ *num) {
		other := m.newSession()
		g, _, c := m.allocPvar(other, v)
		if !c.ok() {
			return
		}
		a, b := m.value(v.pvar.Datatype, 1024), m.value(v.pvar.Datatype, 1024)
		if !m.readPvar(s, h, a).ok() || !m.startPvar(other, g).ok() {
			return
		}
		for range 4 {
			m.readPvar(other, g, b)
		}
		m.stopPvar(other, g)
		now := m.value(v.pvar.Datatype, 1024)
		if !m.readPvar(s, h, now).ok() {
			return
		}
		m.expect(string(a.b) == string(now.b), fmt.Sprintf("memcmp(%s, %s, %d) == 0", a.c, now.c, len(a.b)), "the value "+a.at(0)+" of the stopped variable", now.at(0))
	})
}

func foreignHandle(m *mpi) {
	m.eachPvar(anyPvar, noPvars, func(v variable, s, h *handle, _ *num) {
		other := m.newSession()
		m.wants(m.readPvar(other, h, m.value(v.pvar.Datatype, 1024)), binding.ErrInvalidHandle)
	})
}

func sessionNull(m *mpi) {
	if m.item("MPI_T_pvar_session_free") {
		s := m.newSession()
		c := m.freeSession(s)
		m.expect(c.ok() && s.v == 0, fmt.Sprintf("%s == MPI_SUCCESS && %s == MPI_T_PVAR_SESSION_NULL", c.c, s.c), "MPI_SUCCESS and a null session", fmt.Sprintf("%s, null: %v", codeName(c.rc), s.v == 0))
	}
}

func sessionMany(m *mpi) {
	if !m.item("16 sessions") {
		return
	}
	var all []*handle
	for range 16 {
		s := m.session()
		c := m.createSession(s)
		if c.rc == binding.ErrOutOfSessions && len(all) > 0 {
			break
		}
		if !m.succeeds(c) {
			return
		}
		all = append(all, s)
	}
	for len(all) > 0 {
		k := 3 % len(all)
		m.succeeds(m.freeSession(all[k]))
		all = slices.Delete(all, k, k+1)
	}
}

func allHandles(m *mpi) {
	if m.item("a session without handles") {
		s, all := m.newSession(), m.allHandles()
		m.succeeds(m.startPvar(s, all))
		m.succeeds(m.stopPvar(s, all))
		m.succeeds(m.resetPvar(s, all))
	}
	for _, v := range m.openablePvars() {
		if !m.item("%s", v.label()) {
			continue
		}
		s, all := m.newSession(), m.allHandles()
		if _, _, c := m.allocPvar(s, v); c.ok() {
			m.succeeds(m.startPvar(s, all))
			m.succeeds(m.stopPvar(s, all))
			m.succeeds(m.resetPvar(s, all))
		}
	}
}

// allHandlesStarted reads with a handle of its own whether the variable moves at all, so that one that stands still says nothing.
func allHandlesStarted(m *mpi) {
	m.eachPvar(countable, noStartable, func(v variable, s, h *handle, _ *num) {
		if m.startPvar(s, m.allHandles()).ok() {
			m.moves(v, s, h)
		}
	})
}

// moves expects that a variable that runs, and was at its starting value, moves, if another handle that is started now does.
func (m *mpi) moves(v variable, s, h *handle) {
	one := m.newSession()
	g, _, c := m.allocPvar(one, v)
	if !c.ok() || !m.startPvar(one, g).ok() {
		return
	}
	a, b := m.value(v.pvar.Datatype, 1024), m.value(v.pvar.Datatype, 1024)
	m.work()
	if !m.readPvar(one, g, b).ok() || !m.readPvar(s, h, a).ok() {
		return
	}
	x, text := number(v, a)
	y, moved := number(v, b)
	m.expect(y <= 0 || x > 0, fmt.Sprintf("%s <= 0 || %s > 0", moved, text), "a value above 0, as a handle that was started alone has "+b.at(0), a.at(0))
}

func allHandlesRefused(m *mpi) {
	m.eachPvar(anyPvar, noPvars, func(v variable, s, h *handle, _ *num) {
		all, buf := m.allHandles(), m.value(v.pvar.Datatype, 1024)
		calls := []func(s, h *handle, buf *value) code{m.readPvar, m.readResetPvar}
		if v.pvar.Readonly == 0 {
			calls = append(calls, m.writePvar)
		}
		for _, call := range calls {
			c := call(s, all, buf)
			m.expect(!c.ok(), c.c+" != MPI_SUCCESS", "an error", codeName(c.rc))
		}
	})
}
