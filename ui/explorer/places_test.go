package explorer

import (
	"slices"
	"testing"

	"mpitx/catalog"
	"mpitx/ui/link"
)

func at(t *testing.T, m *Model, name, after string) {
	t.Helper()
	if e := m.current(); e == nil || e.name != name {
		t.Errorf("after %s the cursor is on %+v, not %s", after, e, name)
	}
}

// The cursor stays on its variable, also after lists that do not have it.
func TestCursorStays(t *testing.T) {
	const name = "btl_tcp_eager_limit"
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	press(m, ":", "'show "+name, "enter")
	at(t, m, name, ":show")
	press(m, "/", "'eager", "enter")
	at(t, m, "btl_ofi_eager_limit", "a search with a better match")
	press(m, "esc")
	at(t, m, name, "the search")
	press(m, "/", "'bcast algorithm", "esc")
	at(t, m, name, "a search that was cancelled")
	press(m, "f", "right", "right", "down")
	press(m, "x", "enter")
	at(t, m, name, "the filter bar")
	press(m, ":", "'filter kind=pvar", "enter")
	if m.current().name == name {
		t.Fatal("the filter does nothing")
	}
	press(m, "F")
	at(t, m, name, "a filter that hid it")
	press(m, "h", "j", "l")
	press(m, "/", "'"+name, "enter", "esc")
	at(t, m, name, "a search that left the branch")
	if m.branch != m.x.root {
		t.Errorf("the list shows %s, which does not have %s", m.branch.name, name)
	}
	// :show keeps a list that has the variable.
	press(m, "/", "'btl tcp", "enter", ":", "'show btl_tcp_sndbuf", "enter")
	at(t, m, "btl_tcp_sndbuf", ":show in a search")
	if m.query != "btl tcp" {
		t.Errorf(":show left the search for %q", m.query)
	}
	press(m, ":", "'show mpi_yield_when_idle", "enter")
	at(t, m, "mpi_yield_when_idle", ":show of another")
	if m.query != "" {
		t.Errorf("still searching %q", m.query)
	}
	press(m, ":", "'filter kind=pvar", "enter", ":", "'show "+name, "enter")
	contains(t, m, "the filter hides "+name+": F clears it")
	press(m, "F")
	at(t, m, name, "clearing the filter that hid it")
}

// A filter that hides the variable leaves the cursor near it.
func TestCursorNear(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	press(m, ":", "'show btl_tcp_eager_limit", "enter", ":", "'filter scope=constant", "enter")
	if e := m.current(); e == nil || e.name <= "btl_tcp_eager_limit" || e.name > "btl_u" {
		t.Errorf("far away, on %s", e.name)
	}
}

// A jump shows the neighbours of the variable, and does not scroll if it is on the screen.
func TestJumpShowsNeighbours(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	press(m, ":", "'show btl_tcp_eager_limit", "enter")
	top := m.list.top
	if m.list.at < top+3 {
		t.Errorf("on row %d of the list", m.list.at-top)
	}
	press(m, ":", "'show btl_tcp_flags", "enter")
	if m.list.top != top {
		t.Errorf("scrolled from %d to %d", top, m.list.top)
	}
}

// :write and its dialogs leave cursor and view alone, and R returns to the view, the branch and the unfolded tree.
func TestViewStays(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	press(m, ":", "'show messages", "enter", ":", "'write limit=9", "enter", "y", "esc")
	at(t, m, "messages", ":write")
	press(m, ":", "'write limit=8", "enter", "n")
	at(t, m, "messages", ":write that was not confirmed")
	m.key("p", "p")
	m.key("w", "w")
	for _, keys := range [][]string{{"y", "esc"}, {"y", "enter"}, {"n"}, {"esc"}} {
		press(m, ":", "'write limit=7", "enter")
		contains(t, m, "Write this on all 4 ranks?", "watching")
		press(m, keys...)
		contains(t, m, "watching", "> messages")
		if m.mode != modeWatch {
			t.Errorf("after %q the keys go to mode %d", keys, m.mode)
		}
	}
	press(m, "W", "esc")
	contains(t, m, "watching")
	event(m, (*backends)[0], link.Event{Kind: link.EventEnded, Rank: 1, Text: "killed"})
	begin(m, m.key("R", "R"))
	contains(t, m, "watching", "> messages")
	press(m, "esc")
	at(t, m, "messages", "R")
	press(m, ":", "'filter", "enter")
	contains(t, m, "[kind=any]")
}

// While a search is typed the cursor is on its best match, which keys then concern. The end of the search returns to the variable that
// was chosen before, unless the user chose or used one of those found.
func TestSearchBestMatch(t *testing.T) {
	c := &catalog.Catalog{}
	for _, name := range []string{"a_case_held", "first", "late_cache", "second", "third_cache"} {
		c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeInt, Description: "Text.", After: ok(catalog.TypeInt, 1)})
	}
	m := explorer(t, c, Options{}, 80, 24)
	press(m, "j", "k", "/", "'cache")
	at(t, m, "late_cache", "typing")
	lacks(t, m, "a_case_held")
	press(m, "esc")
	at(t, m, "a_case_held", "a search that was cancelled")
	press(m, "/", "'cache", "enter")
	at(t, m, "late_cache", "Enter")
	press(m, "esc")
	at(t, m, "a_case_held", "the end of the search")
	press(m, "/", "'cache", "enter", "j", "esc")
	at(t, m, "third_cache", "choosing another one")
	press(m, "/", "'cache", "enter", "b", "esc")
	at(t, m, "late_cache", "a bookmark")
	press(m, "/", "'cache", "'x", "backspace")
	at(t, m, "late_cache", "deleting a letter")
	press(m, "esc", "/", "'csd", "enter") // letters far apart are better than nothing
	at(t, m, "a_case_held", "a search for scattered letters")
	contains(t, m, "1 of 1")
}

// Letters of a name that are far apart are not marked if the description has the word.
func TestScatteredMarks(t *testing.T) {
	e := &entry{low: "a_case_held", text: "size of the cache"}
	if got := e.hits(newTerms([]string{"cache"})); slices.Contains(got, true) {
		t.Errorf("%v", got)
	}
	if got := e.hits(newTerms([]string{"cs"})); !got[2] || !got[4] {
		t.Errorf("close letters: %v", got)
	}
}
