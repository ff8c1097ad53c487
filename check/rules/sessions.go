//go:build cgo && linux

package rules

import (
	"slices"

	"mpitx/binding"
)

var sessionRules = section{subject: "sessions", none: noPvars, rules: []rule{
	{Rule: promise("session-independent", "MPI-3.1, 14.3.7", "Calls in one session do not influence the results of calls in another: start and stop there leave a stopped variable as it is."), none: noStartable, run: eachPvar(countable, sessionIndependent)},
	{Rule: promise("session-foreign-handle", "MPI-3.1, 14.3.7", "A handle that belongs to another session is refused with MPI_T_ERR_INVALID_HANDLE."), run: eachPvar(anyVariable, foreignHandle)},
	{Rule: promise("session-null", "MPI-3.1, 14.3.7", "MPI_T_pvar_session_free sets the session to MPI_T_PVAR_SESSION_NULL."), item: "MPI_T_pvar_session_free", run: sessionNull},
	{Rule: promise("session-many", "MPI-3.1, 14.3.7", "Many sessions can exist, until MPI_T_ERR_OUT_OF_SESSIONS is returned, and be freed in any order."), item: "16 sessions", run: sessionMany},
	{Rule: promise("all-handles", "MPI-3.1, 14.3.7", "Start, stop and reset with MPI_T_PVAR_ALL_HANDLES succeed, even if there is no handle that they apply to."), run: allHandles},
	{Rule: promise("all-handles-started", "MPI-3.1, 14.3.7", "MPI_T_pvar_start with MPI_T_PVAR_ALL_HANDLES starts the handles of the session, and stop stops them."), file: binding.CheckWatch, none: noStartable, run: eachPvar(countable, allHandlesStarted)},
	{Rule: promise("all-handles-refused", "MPI-3.1, 14.3.7", "Read, write and readreset do not take MPI_T_PVAR_ALL_HANDLES: they return an error."), run: eachPvar(anyVariable, allHandlesRefused)},
}}

func sessionIndependent(o *opened) {
	other := o.inOtherSession()
	if !other.ok() {
		return
	}
	was := o.read()
	if !was.ok() || !other.start().ok() {
		return
	}
	for range 4 {
		other.read()
	}
	other.stop()
	if now := o.read(); now.ok() {
		o.expect(now.stays(was).as("the value %v of the stopped variable", was.first()))
	}
}

func foreignHandle(o *opened) {
	foreign := *o
	foreign.s = o.openSession()
	o.expect(foreign.read().is(binding.ErrInvalidHandle))
}

func sessionNull(m *mpi) {
	s := m.openSession()
	m.expect(m.freeSession(s).is(0), s.isNull())
}

func sessionMany(m *mpi) {
	var all []*handle
	for range 16 {
		s := m.createSession()
		if s.rc == binding.ErrOutOfSessions && len(all) > 0 {
			break
		}
		if !m.succeeds(s.code) {
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
	succeed := func(all *opened) {
		m.succeeds(all.start())
		m.succeeds(all.stop())
		m.succeeds(all.reset())
	}
	if m.item("a session without handles") {
		succeed((&opened{variable: variable{entry: &entry{list: pvars(m)}}, s: m.openSession()}).all())
	}
	m.each(pvars(m), anyVariable, func(o *opened) { succeed(o.all()) })
}

// allHandlesStarted reads with a handle of its own whether the variable moves at all, so that one that stands still says nothing.
func allHandlesStarted(o *opened) {
	if o.all().start().ok() {
		o.moves()
	}
}

func allHandlesRefused(o *opened) {
	all := o.all()
	o.expect(all.read().fails())
	o.expect(all.readReset().fails())
	if !readonly(o.variable) {
		o.expect(all.write(o.buffer()).fails())
	}
}
