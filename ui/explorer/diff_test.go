package explorer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/export"
	"mpitx/ui/term"
)

// difference is an explorer of what changed between two fixtures.
func difference(t *testing.T, a, b string, width, height int) *Model {
	side := func(name string) diff.Side { return diff.Side{Name: name, Catalog: fixture(t, name)} }
	o := Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}, Diff: diff.Compare(side(a), side(b), diff.Options{})}
	return explorer(t, nil, o, width, height)
}

func TestGoldenDiff(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {160, 48}} {
		m := difference(t, "openmpi-4.1.4.json", "openmpi-6.0.0rc2.json", size[0], size[1])
		press(m, "j", "k")
		golden(t, fmt.Sprintf("diff-%dx%d.txt", size[0], size[1]), onScreen(t, m))
	}
}

// The list has all differences in their order, the filter selects kinds of change, and the columns show the field that it selects. New
// names of renamed entries are found.
func TestDiffFilter(t *testing.T) {
	m := difference(t, "openmpi-4.1.4.json", "openmpi-6.0.0rc2.json", 160, 48)
	d := m.o.Diff
	if len(m.shown) != len(d.Items) {
		t.Fatalf("%d of %d items", len(m.shown), len(d.Items))
	}
	for i, k := range m.shown {
		if m.x.entries[k].change != &d.Items[i] {
			t.Fatalf("item %d is in another place", i)
		}
	}
	words := 0
	for _, w := range diff.Words() {
		n := d.Count(w)
		if n == 0 {
			continue
		}
		words++
		press(m, ":", "'filter change="+w, "enter")
		if len(m.shown) != n {
			t.Errorf("change=%s shows %d of %d", w, len(m.shown), n)
		}
		for _, k := range m.shown {
			if !m.x.entries[k].change.Is(w) {
				t.Errorf("change=%s shows %s", w, m.x.entries[k].name)
			}
		}
		onScreen(t, m)
	}
	for k := range m.x.entries {
		if name := m.x.entries[k].change.NewName; name != "" && !slices.Contains(m.search.find(m.x.all, name), int32(k)) {
			t.Errorf("%s is not found", name)
		}
	}
	if words < 6 {
		t.Errorf("only %d kinds of change", words)
	}
	press(m, ":", "'filter change=scope", "enter", "/", "'han_priority", "enter")
	contains(t, m, "filter: change=scope", "coll_han_priority", " scope       readonly", " all ", "matters because: the coll component with the highest priority")
	press(m, "esc", "F", "f", "down")
	contains(t, m, "[change=appeared]")
}

// The first screen has the hints, and says what differs between the libraries. What is no action of a difference is not offered.
func TestDiffHints(t *testing.T) {
	m := difference(t, "openmpi-4.1.4.json", "openmpi-6.0.0rc2.json", 120, 40)
	contains(t, m, "? help  q quit", "library Open MPI 4.1.4 → Open MPI 6.0.0rc2", "note: L", "changed control variable: ")
	press(m, "L")
	contains(t, m, "library Open MPI 4.1.4 → Open MPI 6.0.0rc2", "Values that the library never initialized are not compared: pml_ucx_multi_send_nb")
	if s := onScreen(t, m); strings.Index(s, "Notes on the difference") > strings.Index(s, "Messages, the newest first") {
		t.Errorf("the notes are not first:\n%s", s)
	}
	contains(t, m, "MPI_T event routines: no → yes")
	press(m, "L", "X")
	contains(t, m, "FILE.csv  FILE.json  FILE.ndjson")
	press(m, "esc", "?")
	help := strings.Join(m.helpLines(), "\n")
	if strings.Contains(help, "copy the line that sets the variable") || !strings.Contains(help, "one more attribute differs") {
		t.Error(help)
	}
	for _, never := range []string{":snapshot", "kind=pvar", "related variable", "samples", "my changes", "launcher"} {
		if strings.Contains(help, never) {
			t.Errorf("the help of a difference offers %s", never)
		}
	}
	press(m, "q", "S")
	contains(t, m, "a difference has no setting to copy")
	press(m, ":", "'snap", "tab")
	lacks(t, m, ":snapshot")
	press(m, "esc", ":", "'filter change=default kind=cvar", "enter") // the example of the help
	contains(t, m, "filter: change=default kind=cvar")
	press(m, ":", "'filter kind=nonsense", "enter")
	contains(t, m, `unknown value "nonsense"; use one of any, cvar, `)
}

// The key * lists the differences of variables that users commonly tune on either side.
func TestDiffEssentials(t *testing.T) {
	side := func(name string) diff.Side { return diff.Side{Name: name, Catalog: fixture(t, name)} }
	d := diff.Compare(side("mpich-4.0.2.json"), side("mpich-5.0.2.json"), diff.Options{})
	m := explorer(t, nil, Options{Diff: d, Essentials: func(c *catalog.Catalog) map[string]Essential {
		if c.Cvar("MPIR_CVAR_CH4_CMA_ENABLE") != nil { // of B
			return map[string]Essential{"MPIR_CVAR_CH4_CMA_ENABLE": {Use: "new"}, "MPIR_CVAR_ASYNC_PROGRESS": {Use: "the same in both"}}
		}
		return map[string]Essential{"MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE": {Use: "renamed"}}
	}}, 120, 40)
	press(m, "*")
	contains(t, m, "filter: essential=yes", "1 of 2", "MPIR_CVAR_CH4_CMA_ENABLE", "MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE")
	press(m, "*")
	lacks(t, m, "filter:")
}

// Values of which only the ends differ show the ends, and a new name has the room of both values.
func TestDiffValues(t *testing.T) {
	m := difference(t, "openmpi-4.1.4.json", "openmpi-5.0.7.json", 80, 24)
	press(m, "/", "'btl_ofi_provider_exclude", "enter")
	contains(t, m, "…m,usnic     …m,usnic,net")
	m = difference(t, "mpich-4.0.2.json", "mpich-5.0.2.json", 160, 40)
	press(m, ":", "'filter change=renamed", "enter")
	contains(t, m, "renamed MPIR_CVAR_CH4_PACK_BUFFER_SIZE")
}

// On a small screen, the titles and the names in sight look different, and the columns have the widths that the rows in sight need.
func TestDiffSmall(t *testing.T) {
	m := difference(t, "openmpi-4.1.4.json", "openmpi-5.0.7.json", 50, 15)
	press(m, "j")
	contains(t, m, "4.1.4 → …", "5.0.7 ")
	seen := map[string]bool{}
	for _, line := range strings.Split(onScreen(t, m), "\n")[3:14] {
		name := strings.Fields(line[min(5, len(line)):])[0]
		if seen[name] {
			t.Errorf("two rows read %s", name)
		}
		seen[name] = true
	}
	m = difference(t, "openmpi-4.1.4.json", "openmpi-6.0.0rc2.json", 80, 24)
	press(m, "j")
	contains(t, m, "^uct,openib,ofi \"\"")
}

// The tree has only categories with differences, from both sides, and each lists its own.
func TestDiffTree(t *testing.T) {
	m := difference(t, "openmpi-4.1.4.json", "openmpi-6.0.0rc2.json", 120, 40)
	listed := map[int32]bool{}
	for _, b := range m.x.branches {
		below := b.below(m.x)
		if b.count == 0 || b.count != len(below) {
			t.Errorf("%s: count %d, %d entries", b.name, b.count, len(below))
		}
		for _, k := range b.own {
			listed[k] = true
		}
	}
	if len(listed) != len(m.x.entries) {
		t.Errorf("%d of %d entries are in the tree", len(listed), len(m.x.entries))
	}
	press(m, "/", "'btl_vader_eager", "enter", "c")
	contains(t, m, "▾ all differences", "vader")
}

// Both names of a renamed variable are found, and its details have both.
func TestDiffRenamed(t *testing.T) {
	m := difference(t, "mpich-4.0.2.json", "mpich-5.0.2.json", 120, 40)
	press(m, "/", "'CH4_PACK_BUFFER_SIZE", "enter")
	contains(t, m, "MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE", "% likely", "69632", "16384", "A mpich-4.0.2.json", "B mpich-5.0.2.json")
	press(m, "Y")
	contains(t, m, "copied MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE -> MPIR_CVAR_CH4_PACK_BUFFER_SIZE")
	resize(m, 40, 24)
	press(m, "l")
	contains(t, m, "default A  69632", "default B  16384")
}

// What the list shows is saved as mpitx diff writes it. Nothing is written to a library.
func TestDiffExport(t *testing.T) {
	m := difference(t, "openmpi-4.1.4.json", "openmpi-6.0.0rc2.json", 120, 40)
	path := filepath.Join(t.TempDir(), "d.csv")
	press(m, ":", "'filter change=renamed kind=cvar", "enter", ":", "'export "+path, "enter")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		cells := strings.Split(l, ",")
		if cells[0] != "renamed" || cells[1] != "cvar" {
			t.Fatalf("exported %q", l)
		}
		names[cells[2]] = true
	}
	if len(names) != len(m.shown) || len(names) == 0 {
		t.Errorf("exported %d of %d", len(names), len(m.shown))
	}
	press(m, "e")
	contains(t, m, "start mpitx tui without --diff")
	press(m, ":", "'snapshot x.json", "enter")
	contains(t, m, "this is a difference of two catalogs")
}

// Equal catalogs, and text that the terminal must not get.
func TestDiffExtremes(t *testing.T) {
	m := difference(t, "mpich-4.0.2.json", "mpich-4.0.2.json", 80, 24)
	contains(t, m, "A and B do not differ", "0 differences")
	press(m, "j", "l", "h", "h", "c", "n", "S", "Y", "*", "B", "?")
	onScreen(t, m)
	side := func(text string) diff.Side {
		c := &catalog.Catalog{}
		c.Cvars = []catalog.Variable{{Kind: catalog.Cvars, Name: "x", Type: catalog.TypeChar, Description: text, Scope: catalog.ScopeAll}}
		c.Enums = []catalog.Enum{{Name: text}}
		c.Categories = []catalog.Category{{Name: text, Categories: []string{text}}}
		return diff.Side{Name: text, Catalog: c}
	}
	for _, size := range [][2]int{{40, 10}, {60, 24}, {160, 48}} {
		m := explorer(t, nil, Options{Diff: diff.Compare(side("a\x1b[2J\n\x07"), side("b\u202e"), diff.Options{})}, size[0], size[1])
		for range len(m.shown) {
			for _, k := range []string{"l", "z", "z", "h", "h", "l", "f", "right", "down", "esc", "F", "j"} {
				press(m, k)
				onScreen(t, m)
			}
		}
	}
}

// Long paths leave the screen to the differences: what tells them apart is in the title and over the columns.
func TestDiffPaths(t *testing.T) {
	for _, c := range []struct{ a, b, title, columns string }{
		{"/scratch/project/old/openmpi.json", "/scratch/project/new/openmpi.json", "old/openmpi.json → new/openmpi.json", "A old/openmpi.json      B new/openmpi.json"},
		{"/scratch/project/jobs/old/openmpi-4.1.4.json", "/home/user/project/openmpi-6.0.0rc2.json", "openmpi-4.1.4.json → openmpi-6.0.0rc2.json", "A openmpi-4.1.4.json    B openmpi-6.0.0rc2.json"},
		{"rank:0@" + strings.Repeat("long/", 20) + "job.json", "rank:3@" + strings.Repeat("long/", 20) + "job.json", "rank:0@long/lon…/job.json → rank:3@long/lon…/job.json", "A rank:0@long/…job.json B rank:3@long/…job.json"},
		{"rank:0", "rank:3", "rank:0 → rank:3", "A rank:0                B rank:3"},
	} {
		side := func(name, file string) diff.Side { return diff.Side{Name: name, Catalog: fixture(t, file)} }
		d := diff.Compare(side(c.a, "openmpi-4.1.4.json"), side(c.b, "openmpi-6.0.0rc2.json"), diff.Options{})
		m := explorer(t, nil, Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}, Diff: d}, 80, 24)
		contains(t, m, "mpitx  "+c.title+" ", "1368 differences", c.columns)
	}
}
