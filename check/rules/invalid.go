//go:build cgo && linux

package rules

import (
	"fmt"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/check"
)

var invalidRules = section{"arguments", []rule{
	{Rule: allowed("invalid-index", "MPI-3.1, Table 14.6", "MPI_T_*_get_info and handle_alloc return MPI_T_ERR_INVALID_INDEX for an index out of range."), stage: after, run: invalidIndex},
	{Rule: allowed("invalid-category-index", "MPI-3.1, Table 14.6", "MPI_T_category_get_cvars, _get_pvars, _get_categories and _get_events return MPI_T_ERR_INVALID_INDEX for an index out of range."), stage: after, run: invalidCategoryIndex},
	{Rule: allowed("invalid-handle", "MPI-3.1, Table 14.6", "Routines return MPI_T_ERR_INVALID_HANDLE for a null handle."), stage: after, run: invalidHandle},
	{Rule: allowed("invalid-session", "MPI-3.1, Table 14.6", "Routines return MPI_T_ERR_INVALID_SESSION for a null session."), stage: after, run: invalidSession},
	{Rule: allowed("freed-handle", "MPI-3.1, Table 14.6", "Routines return MPI_T_ERR_INVALID_HANDLE for a handle that was freed, and MPI_T_ERR_INVALID_SESSION for a session that was freed."), stage: after, run: freedHandle},
	{Rule: promise("inactive-index", "MPI-3.1, 14.3.6 to 14.3.8", "MPI_T_*_get_info describes what it has described once, also if it has become inactive: nothing is deleted, and later calls return the same information."), stage: before, run: inactiveIndex},
	{Rule: promise("null-out", "MPI-3.1, 14.3.6 to 14.3.8", "MPI_T_*_get_info ignores OUT parameters that are NULL pointers."), stage: after, run: nullOut},
	{Rule: promise("error-handlers", "MPI-3.1, 14.3.9", "Errors of MPI_T do not invoke error handlers of MPI."), stage: after, file: binding.CheckWatch, run: noErrorHandler},
	{Rule: promise("return-codes", "MPI-3.1, 14.3.9", "Routines return MPI_SUCCESS or an error class MPI_T_ERR_…, not another class."), stage: after, run: returnCodes},
}}

func invalidIndex(m *mpi) {
	for _, l := range lists(m) {
		_, n := m.count(l)
		for _, index := range []int{-1, int(n.v), 1 << 30} {
			if m.item("%s_get_info (index %d)", l.prefix, index) {
				m.wants(m.entry(l, index).code, binding.ErrInvalidIndex)
			}
			if l.prefix == "MPI_T_cvar" && m.item("MPI_T_cvar_handle_alloc (index %d)", index) {
				_, _, c := m.allocCvar(index, binding.NoObject)
				m.wants(c, binding.ErrInvalidIndex)
			}
			if l.prefix == "MPI_T_pvar" && m.item("MPI_T_pvar_handle_alloc (index %d)", index) {
				_, _, c := m.allocPvar(m.newSession(), variable{index: index})
				m.wants(c, binding.ErrInvalidIndex)
			}
		}
	}
}

func invalidCategoryIndex(m *mpi) {
	_, n := m.count(categories(m))
	for kind := range members {
		if !m.lib.Has(members[kind].routine) {
			continue
		}
		for _, index := range []int{-1, int(n.v), 1 << 30} {
			if m.item("%s (index %d)", members[kind].routine, index) {
				c, _, _ := m.members(kind, index, 4)
				m.wants(c, binding.ErrInvalidIndex)
			}
		}
	}
}

func invalidHandle(m *mpi) {
	buf := func() *value { return m.value(1, 1) }
	if m.item("MPI_T_cvar_read") {
		m.wants(m.readCvar(m.cvarHandle(), buf()), binding.ErrInvalidHandle)
	}
	if m.item("MPI_T_cvar_write") {
		m.wants(m.writeCvar(m.cvarHandle(), buf()), binding.ErrInvalidHandle)
	}
	if m.item("MPI_T_cvar_handle_free") {
		m.wants(m.freeCvar(m.cvarHandle()), binding.ErrInvalidHandle)
	}
	for _, one := range pvarCalls(m) {
		if m.item("MPI_T_pvar_%s", one.name) {
			m.wants(one.call(m.newSession(), m.pvarHandle()), binding.ErrInvalidHandle)
		}
	}
}

// pvarCalls are the routines with a session and a handle.
func pvarCalls(m *mpi) []struct {
	name string
	call func(s, h *handle) code
} {
	return []struct {
		name string
		call func(s, h *handle) code
	}{
		{"start", m.startPvar}, {"stop", m.stopPvar}, {"reset", m.resetPvar}, {"handle_free", m.freePvar},
		{"read", func(s, h *handle) code { return m.readPvar(s, h, m.value(1, 1)) }},
		{"write", func(s, h *handle) code { return m.writePvar(s, h, m.value(1, 1)) }},
		{"readreset", func(s, h *handle) code { return m.readResetPvar(s, h, m.value(1, 1)) }},
	}
}

func invalidSession(m *mpi) {
	if m.item("MPI_T_pvar_session_free") {
		m.wants(m.freeSession(m.session()), binding.ErrInvalidSession)
	}
	if all := m.openablePvars(); len(all) > 0 && m.item("MPI_T_pvar_handle_alloc") {
		_, _, c := m.allocPvar(m.session(), all[0])
		m.wants(c, binding.ErrInvalidSession)
	}
	for _, one := range pvarCalls(m) {
		if m.item("MPI_T_pvar_%s", one.name) {
			m.wants(one.call(m.session(), m.pvarHandle()), binding.ErrInvalidSession, binding.ErrInvalidHandle)
		}
	}
}

// freedHandle keeps copies of handles, as the routines that free them set them to null.
func freedHandle(m *mpi) {
	old := func(h *handle, ctype string) *handle {
		kept := &handle{h.v, m.fresh("old")}
		m.line("%s %s = %s;", ctype, kept.c, h.c)
		return kept
	}
	cvar := m.unbound(cvars(m))
	for _, one := range []struct {
		name string
		call func(h *handle) code
	}{{"read", func(h *handle) code { return m.readCvar(h, m.value(1, 1024)) }}, {"handle_free", m.freeCvar}} {
		if cvar >= 0 && m.item("MPI_T_cvar_%s", one.name) {
			if h, _, c := m.allocCvar(cvar, binding.NoObject); c.ok() {
				kept := old(h, "MPI_T_cvar_handle")
				if m.freeCvar(h).ok() {
					m.wants(one.call(kept), binding.ErrInvalidHandle)
				}
			}
		}
	}
	all := m.openablePvars()
	for _, one := range pvarCalls(m) {
		if len(all) > 0 && m.item("MPI_T_pvar_%s", one.name) {
			s := m.newSession()
			if h, _, c := m.allocPvar(s, all[0]); c.ok() {
				kept := old(h, "MPI_T_pvar_handle")
				if m.freePvar(s, h).ok() {
					m.wants(one.call(s, kept), binding.ErrInvalidHandle)
				}
			}
		}
	}
	if m.item("MPI_T_pvar_session_free") {
		s := m.newSession()
		kept := old(s, "MPI_T_pvar_session")
		if m.freeSession(s).ok() {
			m.wants(m.freeSession(kept), binding.ErrInvalidSession)
		}
	}
}

// unbound returns the first variable that is not bound to an object; -1 if there is none.
func (m *mpi) unbound(l *list) int {
	for k := range m.quietCount(l) {
		e := m.quietly(func() *entry { return m.entry(l, k) })
		if e.ok() && e.cvar.Bind+e.pvar.Bind == int32(catalog.BindNoObject) {
			return k
		}
	}
	return -1
}

// inactiveIndex looks for what MPI_Init has unloaded.
func inactiveIndex(m *mpi) {
	type described struct {
		*entry
		earlier
	}
	var was [3][]described
	all := lists(m)
	for k, l := range all {
		_, n := m.count(l)
		for i := range int(n.v) {
			var one described
			one.earlier = m.early(func() { one.entry = m.entry(l, i) })
			was[k] = append(was[k], one)
		}
	}
	m.initMPI()
	for k, l := range all {
		for i, one := range was[k] {
			if one.ok() && m.item("%s %s", l.what, one.label()) {
				m.after(one.earlier, func() { m.succeeds(m.entry(l, i).code) })
			}
		}
	}
	if m.items == 0 {
		m.notApplicable("nothing is listed before MPI_Init")
	}
}

// returnCodes calls everything that mpitx uses, with arguments that are valid. Each code is judged.
func returnCodes(m *mpi) {
	m.judge = func(c code) {
		own := c.rc <= binding.ErrNotProvided || !strings.HasPrefix(c.routine, "MPI_T_")
		m.expect(own, c.c+" == MPI_SUCCESS || strncmp(code("+c.c+"), \"MPI_T_ERR_\", 10) == 0", c.routine+" returns MPI_SUCCESS or MPI_T_ERR_…", codeName(c.rc))
	}
	for _, l := range lists(m) {
		if m.item("%s_get_index", l.prefix) {
			like := &entry{}
			like.pvar.Class = 7
			m.indexOf(l, "mpitx_no_such_name", like)
		}
	}
	codesOfLists(m)
	for _, v := range m.probe(cvars(m)) {
		if v.died() || !m.item("%s", v.name) {
			continue
		}
		if h, count, c := m.allocCvar(v.index, v.object); c.ok() {
			m.rewrite(v, h, count)
			m.freeCvar(h)
		}
	}
	for _, v := range m.probe(pvars(m)) {
		if v.died() || !m.item("%s", v.label()) {
			continue
		}
		s, c := m.openSession()
		if !c.ok() {
			continue
		}
		if h, _, c := m.allocPvar(s, v); c.ok() {
			buf := m.value(v.pvar.Datatype, 1024)
			m.startPvar(s, h)
			m.stopPvar(s, h)
			m.readPvar(s, h, buf)
			m.resetPvar(s, h)
			m.readResetPvar(s, h, buf)
			if v.pvar.Readonly != 0 {
				m.writePvar(s, h, buf)
			}
			m.freePvar(s, h)
		}
		m.freeSession(s)
	}
}

// codesOfLists looks at variables, categories, enumerations and events.
func codesOfLists(m *mpi) {
	for _, l := range lists(m) {
		n := m.quietCount(l)
		for index := range n {
			if !m.item("%s %d", l.what, index) {
				continue
			}
			e := m.entry(l, index)
			if !e.ok() {
				continue
			}
			m.rename(l.item(e) + " (information)")
			for kind := range eventMembers {
				if l.what == "category" && e.ints[kind] >= 0 {
					few(e.ints[kind], "members of "+e.label())
					m.members(kind, index, e.ints[kind])
				}
			}
		}
	}
	for _, e := range m.enumerations() {
		if m.item("enumeration of %s", e.name) {
			m.again(e)
			_, n := m.enumInfo(e, nil, m.num("len", 0))
			for k := range min(8, int(n.v)) {
				m.enumItem(e, k, nil, nil)
			}
		}
	}
	m.eachEvent(func(e *rawEvent, index int) {
		if e.info.Bind == int32(catalog.BindNoObject) {
			if h, c := m.registration(index); c.ok() {
				m.freeRegistration(h)
			}
		}
	})
}

var rankRules = section{"ranks", []rule{
	{Rule: promise("ranks-variables", "MPI-3.1, Table 14.1", "Variables of the same name have the same metadata in all processes: verbosity, class, datatype, enumeration, description, binding, scope and flags."),
		stage: after, ranks: 2, run: noteVariables, merge: compareRanks},
	{Rule: promise("ranks-enumerations", "MPI-3.1, Table 14.1", "Enumerations of the same name have the same number of items in all processes."),
		stage: after, ranks: 2, run: noteEnums, merge: compareRanks},
	{Rule: promise("ranks-categories", "MPI-3.1, Table 14.1", "Categories of the same name have the same description and numbers of members in all processes."),
		stage: after, ranks: 2, run: noteCategories, merge: compareRanks},
	{Rule: promise("ranks-events", "MPI_T_event_get_info(3)", "Event types of the same name have the same metadata in all processes: verbosity, elements, description and binding."),
		stage: after, needs: "MPI_T_event_get_num", ranks: 2, run: noteEvents, merge: compareRanks},
}}

func noteVariables(m *mpi) {
	for _, l := range []*list{cvars(m), pvars(m)} {
		m.entries(l, func(e *entry) { m.shares(l, e) })
	}
}

func noteCategories(m *mpi) { m.entries(categories(m), func(e *entry) { m.shares(categories(m), e) }) }

func noteEvents(m *mpi) {
	m.events(func(e *rawEvent, _ int) {
		n := min(64, max(0, e.info.Elements))
		m.fact("event "+e.name.String(), fmt.Sprint(e.info.Verbosity, e.info.Bind, e.info.Elements, e.types[:n], e.offsets[:n], e.desc.String()))
	})
}

// shares notes what must be the same in all processes, and the lines that get it.
func (m *mpi) shares(l *list, e *entry) {
	key := l.what + " " + e.label()
	if l.prefix == "MPI_T_pvar" {
		key += fmt.Sprintf(":%d", e.pvar.Class)
	}
	enum := ""
	if e.enum != 0 {
		m.quietly(func() *entry {
			name := m.text("name", wholeName)
			m.enumInfo(&enumeration{h: e.enum, c: e.cEnum, name: e.label()}, name, m.num("len", wholeName))
			enum = "enumeration " + name.String() + ", "
			return nil
		})
	}
	m.fact(key, fmt.Sprint(e.ints, enum, e.desc.String()))
}

func noteEnums(m *mpi) {
	enums(m, func(e *enumeration) {
		buf, length := m.text("name", wholeName), m.num("name_len", wholeName)
		_, n := m.enumInfo(e, buf, length)
		m.fact("enumeration "+buf.String(), fmt.Sprint(n.v))
	})
}

// compareRanks compares what the ranks noted by name.
func compareRanks(all []*journal, r *check.Result) {
	for k, j := range all {
		for _, key := range j.sharedKeys() {
			root, ok := all[0].shared[key]
			if k == 0 || !ok || root == j.shared[key] {
				continue
			}
			v := check.Violation{Status: check.Violated, Item: key, Called: []string{"MPI_T_*_get_info in rank 0 and rank " + fmt.Sprint(k)},
				Expected: fmt.Sprintf("%.200s, as in rank 0", root), Got: fmt.Sprintf("%.200s in rank %d", j.shared[key], k)}
			v.Program = rankProgram(r.Rule, key, v, all[0].facts)
			r.Add(v)
		}
	}
}
