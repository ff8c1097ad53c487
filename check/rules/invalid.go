//go:build cgo && linux

package rules

import (
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
)

var invalidRules = section{subject: "arguments", rules: []rule{
	{Rule: allowed("invalid-index", "MPI-3.1, Table 14.6", "MPI_T_*_get_info and handle_alloc return MPI_T_ERR_INVALID_INDEX for an index out of range."), run: invalidIndex},
	{Rule: allowed("invalid-category-index", "MPI-3.1, Table 14.6", "MPI_T_category_get_cvars, _get_pvars, _get_categories and _get_events return MPI_T_ERR_INVALID_INDEX for an index out of range."), run: invalidCategoryIndex},
	{Rule: allowed("invalid-handle", "MPI-3.1, Table 14.6", "Routines return MPI_T_ERR_INVALID_HANDLE for a null handle."), run: invalidHandle},
	{Rule: allowed("invalid-session", "MPI-3.1, Table 14.6", "Routines return MPI_T_ERR_INVALID_SESSION for a null session."), run: invalidSession},
	{Rule: allowed("freed-handle", "MPI-3.1, Table 14.6", "Routines return MPI_T_ERR_INVALID_HANDLE for a handle that was freed, and MPI_T_ERR_INVALID_SESSION for a session that was freed."), run: freedHandle},
	{Rule: promise("inactive-index", "MPI-3.1, 14.3.6 to 14.3.8", "MPI_T_*_get_info describes what it has described once, also if it has become inactive: nothing is deleted, and later calls return the same information."), stage: before, none: "nothing is listed before MPI_Init", run: inactiveIndex},
	{Rule: promise("null-out", "MPI-3.1, 14.3.6 to 14.3.8", "MPI_T_*_get_info ignores OUT parameters that are NULL pointers."), run: nullOut},
	{Rule: promise("error-handlers", "MPI-3.1, 14.3.9", "Errors of MPI_T do not invoke error handlers of MPI."), file: binding.CheckWatch, run: noErrorHandler},
	{Rule: promise("return-codes", "MPI-3.1, 14.3.9", "Routines return MPI_SUCCESS or an error class MPI_T_ERR_…, not another class."), run: returnCodes},
}}

// indices are those that do not exist if there are n.
func indices(n *num) []int { return []int{-1, int(n.v), 1 << 30} }

func invalidIndex(m *mpi) {
	for _, l := range lists(m) {
		for _, index := range indices(m.count(l)) {
			if m.item("%s_get_info (index %d)", l.prefix, index) {
				m.expect(m.entry(l, index).is(binding.ErrInvalidIndex))
			}
			if l.what != "category" && m.item("%s_handle_alloc (index %d)", l.prefix, index) {
				m.expect(m.open(variable{entry: &entry{list: l, index: index}}).is(binding.ErrInvalidIndex))
			}
		}
	}
}

func invalidCategoryIndex(m *mpi) {
	n := m.count(categories(m))
	for kind, one := range members {
		if !m.lib.Has(one.routine) {
			continue
		}
		for _, index := range indices(n) {
			if m.item("%s (index %d)", one.routine, index) {
				m.expect(m.members(kind, index, 4).is(binding.ErrInvalidIndex))
			}
		}
	}
}

// handleCall is a routine with a handle.
type handleCall struct {
	name string
	call func(o *opened) code
}

var (
	readCall  = handleCall{"read", func(o *opened) code { return o.readInto(o.mpi.value(catalog.TypeInt, 1024)).code }}
	writeCall = handleCall{"write", func(o *opened) code { return o.write(o.mpi.value(catalog.TypeInt, 1024)) }}
	freeCall  = handleCall{"handle_free", (*opened).free}
	cvarCalls = []handleCall{readCall, writeCall, freeCall}
	pvarCalls = []handleCall{{"start", (*opened).start}, {"stop", (*opened).stop}, {"reset", (*opened).reset}, freeCall, readCall, writeCall,
		{"readreset", func(o *opened) code { return o.readReset().code }}}
)

// withoutHandle is what calls get that have a null handle, and a session unless s is nil.
func withoutHandle(l *list, s *handle) *opened {
	return &opened{variable: variable{entry: &entry{list: l}, typ: catalog.TypeInt}, s: s, h: l.handle("handle", l.prefix+"_handle")}
}

func invalidHandle(m *mpi) {
	for _, one := range cvarCalls {
		if m.item("MPI_T_cvar_%s", one.name) {
			m.expect(one.call(withoutHandle(cvars(m), nil)).is(binding.ErrInvalidHandle))
		}
	}
	for _, one := range pvarCalls {
		if m.item("MPI_T_pvar_%s", one.name) {
			m.expect(one.call(withoutHandle(pvars(m), m.openSession())).is(binding.ErrInvalidHandle))
		}
	}
}

func invalidSession(m *mpi) {
	if m.item("MPI_T_pvar_session_free") {
		m.expect(m.freeSession(m.handle("session", "MPI_T_pvar_session")).is(binding.ErrInvalidSession))
	}
	if all := m.openablePvars(); len(all) > 0 && m.item("MPI_T_pvar_handle_alloc") {
		m.expect(m.openIn(m.handle("session", "MPI_T_pvar_session"), all[0]).is(binding.ErrInvalidSession))
	}
	for _, one := range pvarCalls {
		if m.item("MPI_T_pvar_%s", one.name) {
			m.expect(one.call(withoutHandle(pvars(m), m.handle("session", "MPI_T_pvar_session"))).is(binding.ErrInvalidSession, binding.ErrInvalidHandle))
		}
	}
}

// freedHandle keeps copies of handles, as the routines that free them set them to null.
func freedHandle(m *mpi) {
	old := func(h *handle, ctype string) *handle {
		kept := &handle{v: h.v, c: m.fresh("old"), null: h.null}
		m.line("%s %s = %s;", ctype, kept.c, h.c)
		return kept
	}
	freed := func(v variable, calls []handleCall) {
		for _, one := range calls {
			if !m.item("%s_%s", v.prefix, one.name) {
				continue
			}
			if o := m.open(v); o.ok() {
				kept := *o
				kept.h = old(o.h, v.prefix+"_handle")
				if o.free().ok() {
					m.expect(one.call(&kept).is(binding.ErrInvalidHandle))
				}
			}
		}
	}
	if e := m.firstUnbound(cvars(m)); e != nil {
		freed(variable{entry: e}, []handleCall{readCall, freeCall})
	}
	if all := m.openablePvars(); len(all) > 0 {
		freed(all[0], pvarCalls)
	}
	if m.item("MPI_T_pvar_session_free") {
		s := m.openSession()
		kept := old(s, "MPI_T_pvar_session")
		if m.freeSession(s).ok() {
			m.expect(m.freeSession(kept).is(binding.ErrInvalidSession))
		}
	}
}

// inactiveIndex looks for what MPI_Init has unloaded.
func inactiveIndex(m *mpi) {
	type described struct {
		*entry
		earlier
	}
	var was []described
	for _, l := range lists(m) {
		for i := range int(m.count(l).v) {
			var one described
			one.earlier = m.early(func() { one.entry = m.entry(l, i) })
			was = append(was, one)
		}
	}
	m.initMPI()
	for _, one := range was {
		if one.ok() && m.item("%s %s", one.what, one.label()) {
			m.after(one.earlier, func() { m.succeeds(m.entry(one.list, one.index).code) })
		}
	}
}

// returnCodes calls everything that mpitx uses, with arguments that are valid. Each code is judged.
func returnCodes(m *mpi) {
	m.judge = func(c code) {
		own := c.rc <= binding.ErrNotProvided || !strings.HasPrefix(c.routine, "MPI_T_")
		m.expect(cond{own, c.c + " == MPI_SUCCESS || strncmp(code(" + c.c + "), \"MPI_T_ERR_\", 10) == 0", c.routine + " returns MPI_SUCCESS or MPI_T_ERR_…", codeName(c.rc)})
	}
	for _, l := range lists(m) {
		if m.item("%s_get_index", l.prefix) {
			m.noSuchName(l)
		}
	}
	codesOfLists(m)
	for _, v := range m.probe(cvars(m)) {
		if v.died() || !m.item("%s", v.name) {
			continue
		}
		if o := m.open(v); o.ok() {
			o.rewrite()
			o.free()
		}
	}
	for _, v := range m.probe(pvars(m)) {
		if v.died() || !m.item("%s", v.name) {
			continue
		}
		o := m.open(v)
		if o.ok() {
			o.start()
			o.stop()
			o.read()
			o.reset()
			buf := o.readReset()
			if readonly(v) {
				o.write(buf)
			}
			o.free()
		}
		if o.s != nil {
			m.freeSession(o.s)
		}
	}
}

// codesOfLists looks at variables, categories, enumerations and events.
func codesOfLists(m *mpi) {
	for _, l := range lists(m) {
		for index := range m.quietCount(l) {
			if !m.item("%s %d", l.what, index) {
				continue
			}
			e := m.entry(l, index)
			if !e.ok() {
				continue
			}
			m.rename(e.item() + " (information)")
			for kind := range eventMembers {
				if l.what == "category" && e.nums[kind].v >= 0 {
					m.members(kind, index, e.announced(kind))
				}
			}
		}
	}
	for _, e := range m.enumerations() {
		if m.item("enumeration of %s", e.name) {
			e.again()
			n := e.getInfo(nil, m.num("len", 0))
			for k := range min(8, int(n.v)) {
				e.getItem(k, nil, nil)
			}
		}
	}
	for _, l := range eventLists(m)[:min(1, len(eventLists(m)))] {
		m.entries(l, func(e *entry) {
			if e.unbound() {
				if h := m.registration(e.index); h.ok() {
					m.freeRegistration(h)
				}
			}
		})
	}
}
