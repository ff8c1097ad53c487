//go:build cgo && linux

package rules

import (
	"fmt"
	"strings"
)

var profilingRules = section{"profiling", []rule{
	{Rule: promise("profiling-names", "MPI-3.1, 14.2 and 14.3.10", "The library has each routine of MPI_T with both names, MPI_T_… and PMPI_T_…."), stage: bare, file: "#include <dlfcn.h>", run: profilingNames},
	{Rule: promise("profiling-answers", "MPI-3.1, 14.2 and 14.3.10", "A routine gives the same answers by both names: the numbers of variables and categories, and one of each kind."), stage: after, run: profilingAnswers},
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
			got := "the library has both"
			switch {
			case !public && !shifted:
				got = "the library has neither"
			case !public:
				got = "the library has only P" + name
			case !shifted:
				got = "the library has only " + name
			}
			m.expect(public && shifted, fmt.Sprintf("dlsym(RTLD_DEFAULT, \"%s\") != NULL && dlsym(RTLD_DEFAULT, \"P%s\") != NULL", name, name), name+" and P"+name, got)
		}
	}
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
	type answer struct {
		code
		n *num
	}
	for _, l := range lists(m) {
		if m.item("%s_get_num", l.prefix) {
			a, b := twice(m, func() answer { c, n := m.count(l); return answer{c, n} })
			m.expect(a.rc == b.rc && a.n.v == b.n.v, fmt.Sprintf("%s == %s && %s == %s", a.c, b.c, a.n.c, b.n.c),
				fmt.Sprintf("%s and %d, as from P%s_get_num", codeName(a.rc), a.n.v, l.prefix), fmt.Sprintf("%s, %d", codeName(b.rc), b.n.v))
		}
		for _, index := range m.samples(l)[:min(1, len(m.samples(l)))] {
			if m.item("%s_get_info", l.prefix) {
				a, b := twice(m, func() *entry { return m.entry(l, index) })
				m.sameInfo(a, b, "the same information as from P"+l.prefix+"_get_info")
			}
		}
	}
}
