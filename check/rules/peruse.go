//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/binding"
)

var peruseRules = section{"PERUSE", []rule{
	{Rule: promise("peruse-init", "PERUSE 2.0, 5.2.1", "PERUSE_Init succeeds after MPI_Init, again and again."), stage: after, needs: "PERUSE_Init", run: peruseInit},
	{Rule: promise("peruse-before-init", "PERUSE 2.0, 5.2.1", "PERUSE_Init returns PERUSE_ERR_MPI_INIT before MPI_Init."), stage: bare, needs: "PERUSE_Init", run: peruseBeforeInit},
	{Rule: promise("peruse-events", "PERUSE 2.0, 5.2.2 to 5.2.4", "Each supported event has a name, by which PERUSE_Query_event finds it and which PERUSE_Query_event_name returns."), stage: after, needs: "PERUSE_Init", run: peruseEvents},
	{Rule: promise("peruse-unknown-event", "PERUSE 2.0, 5.2.3", "PERUSE_Query_event returns an error for a name that no event has."), stage: after, needs: "PERUSE_Init", run: peruseUnknown},
	peruseRule("peruse-environment", "5.2.5", "PERUSE_Query_environment returns the number of environment variables that affect the library, and each as NAME=value.", peruseEnvironment),
	peruseRule("peruse-scope", "5.2.6", "PERUSE_Query_queue_event_scope returns one of the four scopes.", peruseScope),
	peruseLockRule(peruseRule("peruse-lock", "5.2.16 and 5.2.17", "The lock can be taken and released once; a release without the lock returns an error.", peruseLock)),
}}

func (m *mpi) initPeruse() code { return m.call("PERUSE_Init", m.raw.InitPeruse) }

func peruseInit(m *mpi) {
	if m.item("PERUSE_Init") {
		m.succeeds(m.initPeruse())
		m.succeeds(m.initPeruse())
	}
}

func peruseBeforeInit(m *mpi) {
	if m.item("PERUSE_Init") {
		m.wants(m.initPeruse(), binding.ErrPeruseMPIInit)
	}
}

func peruseEvents(m *mpi) {
	m.initPeruse()
	names, events, rc := m.peruseEvents()
	if rc != 0 {
		return
	}
	for k, name := range names {
		if !m.item("%s", name) {
			continue
		}
		n := m.num("event", untouched)
		c := m.call("PERUSE_Query_event", func() binding.Error { return m.raw.PeruseEvent(cString(name), n.p()) }, lit("%s", quoted(name)), n.out())
		m.expect(c.ok() && n.v == events[k], fmt.Sprintf("%s == 0 && %s == %d", c.c, n.c, events[k]), fmt.Sprintf("the descriptor %d", events[k]), fmt.Sprintf("%s, %v", codeName(c.rc), n))
		var back string
		cName := m.fresh("event_name")
		m.line("char *%s = NULL;", cName)
		c = m.call("PERUSE_Query_event_name", func() (rc binding.Error) { back, rc = m.raw.PeruseEventName(events[k]); return rc }, lit("%d", events[k]),
			arg{c: "&" + cName, show: func() string { return fmt.Sprintf("%s = %q", cName, back) }})
		m.expect(c.ok() && back == name, fmt.Sprintf("%s == 0 && %s && strcmp(%s, %s) == 0", c.c, cName, cName, quoted(name)), name, fmt.Sprintf("%s, %q", codeName(c.rc), back))
	}
}

func (m *mpi) peruseEvents() (names []string, events []int32, rc binding.Error) {
	m.quietly(func() *entry {
		m.line("int num, *events; char **names;")
		m.call("PERUSE_Query_supported_events", func() binding.Error { names, events, rc = m.raw.PeruseEvents(); return rc }, lit("&num"), lit("&names"), lit("&events"))
		return nil
	})
	return names, events, rc
}

func peruseUnknown(m *mpi) {
	if m.item("PERUSE_Query_event") {
		m.initPeruse()
		n := m.num("event", untouched)
		c := m.call("PERUSE_Query_event", func() binding.Error { return m.raw.PeruseEvent(cString("MPITX_NO_SUCH_EVENT"), n.p()) }, lit(`"MPITX_NO_SUCH_EVENT"`), n.out())
		m.expect(!c.ok(), c.c+" != 0", "an error", codeName(c.rc))
	}
}

func peruseEnvironment(m *mpi) {
	if !m.item("PERUSE_Query_environment") {
		return
	}
	m.initPeruse()
	n := m.num("size", untouched)
	var all []string
	m.line("char **env = NULL;")
	c := m.call("PERUSE_Query_environment", func() (rc binding.Error) { all, rc = m.raw.PeruseEnvironment(&n.v); return rc }, n.out(), lit("&env"))
	m.line("int wrong = 0;")
	m.line("for (int i = 0; i < %s; i++) wrong |= strchr(env[i], '=') == NULL;", n.c)
	wrong := slices.IndexFunc(all, func(s string) bool { return !strings.Contains(s, "=") })
	m.expect(c.ok() && n.v >= 0 && wrong < 0, fmt.Sprintf("%s == 0 && %s >= 0 && !wrong", c.c, n.c), "a number, and texts of the form NAME=value",
		fmt.Sprintf("%s, %s, %s", codeName(c.rc), shown("the size", n.String()), excerpt(fmt.Sprint(all), 200)))
}

func peruseScope(m *mpi) {
	if !m.item("PERUSE_Query_queue_event_scope") {
		return
	}
	m.initPeruse()
	n := m.num("scope", untouched)
	c := m.call("PERUSE_Query_queue_event_scope", func() binding.Error { return m.raw.PeruseScope(n.p()) }, n.out())
	m.expect(c.ok() && n.v >= int32(binding.PerusePerComm) && n.v <= int32(binding.PeruseGlobal), fmt.Sprintf("%s == 0 && %s >= PERUSE_PER_COMM && %s <= PERUSE_GLOBAL", c.c, n.c, n.c),
		"a scope from PERUSE_PER_COMM to PERUSE_GLOBAL", fmt.Sprintf("%s, %v", codeName(c.rc), n))
}

func peruseLock(m *mpi) {
	lock := func() code { return m.call("PERUSE_Lock", m.raw.PeruseLock) }
	unlock := func() code { return m.call("PERUSE_Unlock", m.raw.PeruseUnlock) }
	if m.item("PERUSE_Lock") {
		m.initPeruse()
		if m.succeeds(lock()) && m.succeeds(unlock()) && m.succeeds(lock()) && m.succeeds(unlock()) {
			c := unlock()
			m.expect(!c.ok(), c.c+" != 0", "an error", codeName(c.rc))
		}
	}
}
