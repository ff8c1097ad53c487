//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/binding"
	"mpitx/check"
)

var peruseRules = section{subject: "PERUSE", needs: "PERUSE_Init", rules: []rule{
	{Rule: promise("peruse-init", "PERUSE 2.0, 5.2.1", "PERUSE_Init succeeds after MPI_Init, again and again."), item: "PERUSE_Init", run: peruseInit},
	{Rule: promise("peruse-before-init", "PERUSE 2.0, 5.2.1", "PERUSE_Init returns PERUSE_ERR_MPI_INIT before MPI_Init."), stage: bare, item: "PERUSE_Init", run: peruseBeforeInit},
	{Rule: promise("peruse-events", "PERUSE 2.0, 5.2.2 to 5.2.4", "Each supported event has a name, by which PERUSE_Query_event finds it and which PERUSE_Query_event_name returns."), run: peruseEvents},
	{Rule: promise("peruse-unknown-event", "PERUSE 2.0, 5.2.3", "PERUSE_Query_event returns an error for a name that no event has."), item: "PERUSE_Query_event", run: peruseUnknown},
	{Rule: promise("peruse-environment", "PERUSE 2.0, 5.2.5", "PERUSE_Query_environment returns the number of environment variables that affect the library, and each as NAME=value."), item: "PERUSE_Query_environment", run: peruseEnvironment},
	{Rule: promise("peruse-scope", "PERUSE 2.0, 5.2.6", "PERUSE_Query_queue_event_scope returns one of the four scopes."), item: "PERUSE_Query_queue_event_scope", run: peruseScope},
	{Rule: promise("peruse-lock", "PERUSE 2.0, 5.2.16 and 5.2.17", "The lock can be taken and released once; a release without the lock returns an error."), needs: "PERUSE_Lock", file: peruseLocks, item: "PERUSE_Lock", run: peruseLock},
}}

func (m *mpi) initPeruse() code { return m.call("PERUSE_Init", m.raw.InitPeruse) }

func peruseInit(m *mpi) {
	m.succeeds(m.initPeruse())
	m.succeeds(m.initPeruse())
}

func peruseBeforeInit(m *mpi) {
	m.expect(m.initPeruse().is(binding.ErrPeruseMPIInit))
}

// peruseEvent calls PERUSE_Query_event.
func (m *mpi) peruseEvent(name string) *num {
	return m.ask("PERUSE_Query_event", "event", func(event *int32) binding.Error { return m.raw.PeruseEvent(cString(name), event) }, lit("%s", check.Quote(name)))
}

func peruseEvents(m *mpi) {
	m.initPeruse()
	for _, e := range m.peruseEvents() {
		if !m.item("%s", e.name) {
			continue
		}
		n := m.peruseEvent(e.name)
		m.expect(n.code.is(0), n.is(e.event).as("the descriptor %d", e.event))
		back := &buffer{c: m.fresh("event_name")}
		m.line("char *%s = NULL;", back.c)
		back.code = m.call("PERUSE_Query_event_name", func() binding.Error {
			name, rc := m.raw.PeruseEventName(e.event)
			back.b = []byte(name)
			return rc
		}, lit("%d", e.event), arg{c: "&" + back.c, show: func() string { return fmt.Sprintf("%s = %q", back.c, back.b) }})
		same := back.reads(e.name)
		same.c = back.c + " && " + same.c
		m.expect(back.is(0), same)
	}
}

// peruseEvent is an event of PERUSE.
type peruseEvent struct {
	name  string
	event int32
}

// peruseEvents returns the events that the library has; none if it cannot be asked.
func (m *mpi) peruseEvents() (all []peruseEvent) {
	m.quietly(func() {
		m.line("int num, *events; char **names;")
		m.call("PERUSE_Query_supported_events", func() binding.Error {
			names, events, rc := m.raw.PeruseEvents()
			for k := range names {
				all = append(all, peruseEvent{names[k], events[k]})
			}
			return rc
		}, lit("&num"), lit("&names"), lit("&events"))
	})
	return all
}

func peruseUnknown(m *mpi) {
	m.initPeruse()
	m.expect(m.peruseEvent("MPITX_NO_SUCH_EVENT").fails())
}

func peruseEnvironment(m *mpi) {
	m.initPeruse()
	n, wrong := m.num("size", untouched), named("wrong", 0)
	m.line("char **env = NULL;")
	n.code = m.call("PERUSE_Query_environment", func() binding.Error {
		all, rc := m.raw.PeruseEnvironment(&n.v)
		if slices.ContainsFunc(all, func(s string) bool { return !strings.Contains(s, "=") }) {
			wrong.v, wrong.text = 1, excerpt(fmt.Sprint(all), 200)
		}
		return rc
	}, n.out(), lit("&env"))
	m.line("int wrong = 0;")
	m.line("for (int i = 0; i < %s; i++) wrong |= strchr(env[i], '=') == NULL;", n.c)
	m.expect(n.code.is(0), n.ge(0).as("a number"), wrong.is(0).as("texts of the form NAME=value"))
}

func peruseScope(m *mpi) {
	m.initPeruse()
	n := m.ask("PERUSE_Query_queue_event_scope", "scope", m.raw.PeruseScope)
	m.expect(n.code.is(0), every(n.ge(named("PERUSE_PER_COMM", int32(binding.PerusePerComm))), n.le(named("PERUSE_GLOBAL", int32(binding.PeruseGlobal)))).
		as("a scope from PERUSE_PER_COMM to PERUSE_GLOBAL").but("%s", shown(n.c, n.String())))
}

func peruseLock(m *mpi) {
	lock := func() code { return m.call("PERUSE_Lock", m.raw.PeruseLock) }
	unlock := func() code { return m.call("PERUSE_Unlock", m.raw.PeruseUnlock) }
	m.initPeruse()
	if m.succeeds(lock()) && m.succeeds(unlock()) && m.succeeds(lock()) && m.succeeds(unlock()) {
		m.expect(unlock().fails())
	}
}
