//go:build cgo && linux

package rules

import (
	"fmt"
	"strings"
)

var profilingRules = section{subject: "profiling", rules: []rule{
	{Rule: promise("profiling-names", "MPI-3.1, 14.2 and 14.3.10", "The library has each routine of MPI_T with both names, MPI_T_… and PMPI_T_…."), stage: bare, file: "#include <dlfcn.h>", run: profilingNames},
	{Rule: promise("profiling-answers", "MPI-3.1, 14.2 and 14.3.10", "A routine gives the same answers by both names: the numbers of variables and categories, and one of each kind."), run: profilingAnswers},
}}

// toolRoutines are those of MPI-3.0, of MPI-3.1 and of MPI-4.
var toolRoutines = []struct {
	since int
	names string
}{
	{30, `init_thread finalize enum_get_info enum_get_item cvar_get_num cvar_get_info cvar_handle_alloc cvar_handle_free cvar_read cvar_write
		pvar_get_num pvar_get_info pvar_session_create pvar_session_free pvar_handle_alloc pvar_handle_free pvar_start pvar_stop pvar_read
		pvar_write pvar_reset pvar_readreset category_get_num category_get_info category_get_cvars category_get_pvars
		category_get_categories category_changed`},
	{31, "cvar_get_index pvar_get_index category_get_index"},
	{40, `category_get_num_events category_get_events source_get_num source_get_info source_get_timestamp event_get_num event_get_info
		event_get_index event_handle_alloc event_handle_set_info event_handle_get_info event_handle_free event_register_callback
		event_callback_set_info event_callback_get_info event_set_dropped_handler event_read event_copy event_get_timestamp
		event_get_source`},
}

// profilingNames looks the names up. A routine that is newer than the library's version of MPI may be missing.
func profilingNames(m *mpi) {
	v, s, err := m.lib.Version()
	m.line("int linked; MPI_Initialized(&linked); /* so that the library is loaded */")
	for _, some := range toolRoutines {
		for _, word := range strings.Fields(some.names) {
			name := "MPI_T_" + word
			public, shifted := m.raw.Symbol(name), m.raw.Symbol("P"+name)
			if !public && !shifted && (err != nil || v*10+s < some.since) || !m.item("%s", name) {
				continue
			}
			both := every(found(name, public), found("P"+name, shifted))
			m.expect(both.as("%s and P%s", name, name).but("the library does not have %s", both.got))
		}
	}
}

// found expects that the library has a routine.
func found(name string, ok bool) cond {
	return cond{ok, fmt.Sprintf("dlsym(RTLD_DEFAULT, %q) != NULL", name), name, name}
}

// twice makes calls by their names with and without P.
func twice[A any](m *mpi, f func() A) (shifted, public A) {
	m.shift = "P"
	shifted = f()
	m.shift = ""
	m.raw.PublicNames(true)
	public = f()
	m.raw.PublicNames(false)
	return shifted, public
}

func profilingAnswers(m *mpi) {
	for _, l := range lists(m) {
		if m.item("%s_get_num", l.prefix) {
			a, b := twice(m, func() *num { return m.count(l) })
			same := cond{a.rc == b.rc, b.code.c + " == " + a.code.c, codeName(a.rc), codeName(b.rc)}
			m.expect(same, b.is(a).as("%v, as from P%s_get_num", a, l.prefix))
		}
		for _, e := range m.samples(l)[:min(1, len(m.samples(l)))] {
			if m.item("%s_get_info", l.prefix) {
				a, b := twice(m, func() *entry { return m.entry(l, e.index) })
				m.expect(b.like(a, "from P"+l.prefix+"_get_info"))
			}
		}
	}
}
