package explorer

import (
	"strings"
	"testing"

	"mpitx/catalog"
)

// noInit is what is left of a library whose MPI_Init fails.
func noInit() *catalog.Catalog {
	c := &catalog.Catalog{Library: catalog.Library{Family: "demo"}, Job: catalog.Job{Size: 1}}
	c.Cvars = []catalog.Variable{
		{Kind: catalog.Cvars, Name: "early", Scope: catalog.ScopeLocal, Type: catalog.TypeInt, Before: ok(catalog.TypeInt, 1)},
		{Kind: catalog.Cvars, Name: "late", Scope: catalog.ScopeLocal, Type: catalog.TypeInt, Before: ok(catalog.TypeInt, 1)}}
	c.Before.Read = true
	c.After.Error = "the MPI process was killed by SIGABRT in: MPI_Init: PML add procs failed: Not found (-13) instead of Success (0)"
	return c
}

// A failed MPI_Init is seen in every view, with its reason, and nothing looks as if it could be written.
func TestFailedInit(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	m.loaded(loadedMsg{x: ready(noInit(), nil, m.Terminal)})
	banner := []string{"MPI is not available, read-only (R restarts, L shows more): the MPI process was killed by SIGABRT in:"}
	for _, keys := range [][]string{{"j"}, {"h"}, {"l"}, {"l"}, {"h", "z"}, {"z", "/"}, {"esc", "?"}, {"esc", "f"}, {"esc", "L"}, {"esc", ":"}} {
		press(m, keys...)
		contains(t, m, banner...)
	}
	press(m, "esc")
	contains(t, m, "read-only", "no: MPI is not available")
	lacks(t, m, "writable  yes", " w ")
	for _, key := range []string{"e", "p", "r", "W"} {
		press(m, key)
		contains(t, m, "MPI is not available: nothing can be read or written; R restarts the back end")
		if m.mode != modeNormal {
			t.Errorf("%s opens mode %d", key, m.mode)
		}
	}
	press(m, ":", "'write early=2", "enter")
	contains(t, m, "MPI is not available: nothing can be")
	press(m, "j", ":", "'filter writable=yes", "enter")
	contains(t, m, "the filter hides everything here")
	if len((*backends)[0].writes) > 0 {
		t.Error("written")
	}
	press(m, "F", "j")
	contains(t, m, "R restart the back end")
	// The whole reason, on the smallest screen too; mouse and rows are where they are drawn.
	resize(m, 40, 10)
	contains(t, m, "MPI is not available, read-only")
	press(m, "L")
	contains(t, m, "MPI is not available")
	if !strings.Contains(strings.Join(m.logLines(), " "), "(0)") {
		t.Errorf("the log does not have the whole reason: %q", m.logLines())
	}
	press(m, "esc")
	resize(m, 120, 40)
	m.click(60, m.head()+2)
	at(t, m, "late", "a click on the second row")
	begin(m, m.key("R", "R"))
	lacks(t, m, "MPI is not available")

	m = explorer(t, noInit(), Options{}, 100, 30)
	contains(t, m, "no values from after MPI_Init in this snapshot (L shows more): the MPI process was killed")
}
