package explorer

import (
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/term"
)

// Rows of different variables look different at every width, and names are whole from 90 columns on.
func TestNamesComeFirst(t *testing.T) {
	for _, file := range []string{"openmpi-4.1.4.json", "mpich-4.0.2.json"} {
		m := explorer(t, fixture(t, file), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}, 80, 24)
		for width := 40; width <= 220; width++ {
			resize(m, width, 50)
			l := m.layout()
			c := listColumns(l.listW, m.names)
			if c.name < m.names.longest && (c.kind > 0 || c.typ > 0 || c.value > minValue) {
				t.Errorf("%d columns: names have %d of %d cells, but there are %+v", width, c.name, m.names.longest, c)
			}
			if width >= 90 && c.name < m.names.longest {
				t.Errorf("%d columns: names have %d of %d cells", width, c.name, m.names.longest)
			}
			if used := marksWidth + c.name + 1 + c.value + c.kind + c.typ; used > l.listW {
				t.Errorf("%d columns: the list takes %d of %d", width, used, l.listW)
			}
			for top := 0; top < len(m.shown); top += 48 {
				rows := m.shown[top:min(len(m.shown), top+48)]
				seen := map[string]string{}
				for i, cut := range m.cutNames(rows, c.name) {
					name := m.x.entries[rows[i]].name
					look := m.look(name, cut)
					if term.Width(look) > c.name {
						t.Fatalf("%q has %d cells of %d", look, term.Width(look), c.name)
					}
					if seen[look] != "" {
						t.Errorf("%d columns: %s and %s both look like %s", width, seen[look], name, look)
					}
					seen[look] = name
				}
			}
		}
	}
}

// More columns on the screen never take a column of the list away.
func TestWiderShowsMore(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 80, 24)
	var last columns
	for width := withPanes; width <= 240; width++ {
		resize(m, width, 50)
		c := listColumns(m.layout().listW, m.names)
		if c.name < last.name || c.kind < last.kind || c.typ < last.typ || c.value < min(last.value, goodValue) && c.kind == last.kind && c.typ == last.typ {
			t.Errorf("%d columns show %+v, one less %+v", width, c, last)
		}
		last = c
	}
}

// The columns fit the list, and stay where they are while a search is typed.
func TestColumnsFitTheList(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 100, 24)
	head := func() string {
		_, head, _ := strings.Cut(strings.Split(onScreen(t, m), "\n")[2], "|")
		return head
	}
	whole := head()
	press(m, "/", "'btl_tcp_flags")
	if s := head(); s != whole {
		t.Errorf("while typing: %q", s)
	}
	press(m, "enter")
	contains(t, m, "btl_tcp_flags        send|put|inplace|need", "SCOPE/CLASS TYPE")
	press(m, "esc")
	if s := head(); s != whole {
		t.Errorf("after the search: %q", s)
	}
}

// One very long name takes nothing from the other columns, until they have what they need.
func TestVeryLongName(t *testing.T) {
	m := explorer(t, &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{{Kind: catalog.Cvars, Name: "short_name"},
		{Kind: catalog.Cvars, Name: strings.Repeat("very_long_name_", 20)}}}}, Options{}, 100, 24)
	if c := listColumns(m.layout().listW, m.names); c.name < 24 || c.kind == 0 || c.typ == 0 || c.value < goodValue {
		t.Errorf("%+v", c)
	}
	resize(m, 300, 24)
	press(m, "z")
	if c := listColumns(m.layout().listW, m.names); c.name < 200 || c.value < niceValue {
		t.Errorf("with 300 columns %+v", c)
	}
}

// A failed read does not look like a value.
func TestFailedRead(t *testing.T) {
	v := func(name string, r *catalog.Reading) catalog.Variable {
		return catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeChar, After: r}
	}
	m := explorer(t, &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{
		v("failed", &catalog.Reading{Status: catalog.StatusError, Reason: "MPI_T_ERR_INVALID"}),
		v("value", &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText("error")}),
	}}}, Options{}, 80, 24)
	contains(t, m, "failed ", "(error", "value  error", "(error: MPI_T_ERR_INVALID)")
	press(m, "Y")
	contains(t, m, "failed has no value to copy")
	press(m, "j", "Y")
	contains(t, m, "copied error")
	for width := 60; width < 140; width++ {
		resize(m, width, 24)
		lines := strings.Split(onScreen(t, m), "\n")
		if !strings.Contains(lines[3], " (error") || strings.Contains(lines[4], "(") {
			t.Errorf("%d columns:\n%s\n%s", width, lines[3], lines[4])
		}
	}
}

// The tree counts what the search and the filter let through.
func TestCounts(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 60)
	check := counter(t, m)
	check("all")
	press(m, "/", "'bcast", "enter")
	check("search")
	contains(t, m, "ompi_coll", "all variables")
	press(m, ":", "'filter scope=constant", "enter")
	check("search and filter")
	press(m, "esc")
	check("filter")
	press(m, "h", "j", "j", "j")
	check("filter in a branch")
	press(m, "F")
	check("none")
}

// A variable counts once in each branch, also if several categories have it, or one that is inside several or inside itself.
func TestCountsOnce(t *testing.T) {
	c := &catalog.Catalog{}
	for _, name := range []string{"a_x", "b_x", "c_x", "d_y", "e_x"} {
		c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeInt, After: ok(catalog.TypeInt, 1)})
	}
	c.Categories = []catalog.Category{{Name: "one", Cvars: []string{"a_x", "b_x"}, Categories: []string{"two", "inner"}}, {Name: "two", Cvars: []string{"a_x", "c_x"}, Categories: []string{"one"}},
		{Name: "three", Cvars: []string{"a_x", "d_y"}, Categories: []string{"inner"}}, {Name: "inner", Cvars: []string{"b_x"}}}
	m := explorer(t, c, Options{}, 120, 60)
	for k := range m.x.entries {
		holder := m.x.holder(int32(k))
		if holder == nil || !slices.Contains(holder.own, int32(k)) {
			t.Errorf("%s is in %v", m.x.entries[k].name, holder)
		}
	}
	check := counter(t, m)
	press(m, "/", "'x", "enter")
	check("search")
	press(m, "/", "'_", "enter", ":", "'filter kind=cvar", "enter")
	check("filter")
}

// counter compares the counts of the tree with what its branches hold.
func counter(t *testing.T, m *Model) func(what string) {
	return func(what string) {
		t.Helper()
		passed := map[int32]bool{}
		all := m.shown
		if m.query == "" {
			all = filtered(m.x, m.criteria, m.x.all)
		}
		for _, k := range all {
			passed[k] = true
		}
		for _, b := range m.x.branches {
			n := 0
			for _, k := range b.below(m.x) {
				if passed[k] {
					n++
				}
			}
			if got := m.countOf(b); got != n {
				t.Errorf("%s: %s has %d, counted %d", what, b.name, n, got)
			}
		}
	}
}

// A search or a filter hides the branches without a match, but not the one under the tree's cursor. Its end shows all of them.
func TestTreeHides(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 24)
	press(m, "h")
	for m.branch.name != "ompi_mpi" {
		press(m, "j")
	}
	press(m, "l", "j") // a variable of it: it has no branches
	all, here, line := slices.Clone(m.rows), m.branch, m.tree.at-m.tree.top
	check := func(what string) {
		t.Helper()
		onScreen(t, m)
		hidden := 0
		for _, b := range all {
			if n := m.countOf(b); slices.Contains(m.rows, b) != (n > 0 || b == here || b == m.x.root) {
				t.Errorf("%s: %s, with %d matches, is shown: %v", what, b.name, n, n == 0)
			} else if n == 0 {
				hidden++
			}
		}
		if m.rows[m.tree.at] != here || hidden < 5 {
			t.Errorf("%s: %d are hidden, and the cursor is on %s, not %s", what, hidden, m.rows[m.tree.at].name, here.name)
		}
	}
	whole := func(what string) {
		t.Helper()
		onScreen(t, m)
		if !slices.Equal(m.rows, all) || m.branch != here || m.rows[m.tree.at] != here || m.tree.at-m.tree.top != line {
			t.Errorf("%s: %d branches of %d, at %s in line %d, not at %s in line %d", what, len(m.rows), len(all), m.rows[m.tree.at].name, m.tree.at-m.tree.top, here.name, line)
		}
	}
	press(m, "/", "'tcp")
	check("while typing")
	press(m, "enter")
	check("search")
	press(m, "esc")
	whole("the end of the search")
	press(m, ":", "'filter kind=pvar", "enter")
	check("filter")
	press(m, "F")
	whole("no filter")
	press(m, ":", "'filter kind=pvar", "enter", "h", "g")
	if m.branch = m.x.root; slices.Contains(m.rows, here) {
		t.Errorf("%s without a match stays after the cursor has left it", here.name)
	}
	if before := len(m.rows); before > 1 {
		press(m, "j", "l")
		check := m.branch
		if press(m, "F"); m.branch != check || len(m.rows) <= before {
			t.Errorf("at %s, not %s, with %d branches", m.branch.name, check.name, len(m.rows))
		}
	}
}
