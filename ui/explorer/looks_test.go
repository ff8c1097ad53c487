package explorer

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/ui/term"
)

// An empty list keeps its headings.
func TestEmptyListHeading(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 80, 24)
	press(m, ":", "'filter class=counter kind=cvar", "enter")
	contains(t, m, "NAME ", "the filter hides everything here")
	press(m, "/", "'eager", "enter")
	contains(t, m, "NAME ", "nothing matches with this filter: F clears it, Esc")
}

// No related variable is chosen until n chooses the first one, and Enter only follows a visible one.
func TestFirstLink(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 80, 24)
	press(m, ":", "'show coll_tuned_bcast_algorithm", "enter", "l", "enter")
	at(t, m, "coll_tuned_bcast_algorithm", "Enter with nothing chosen")
	contains(t, m, "n chooses a related variable")
	first := m.links()[0].e.name
	press(m, "n")
	if m.chosenLink() != 0 {
		t.Errorf("n chose %d", m.chosenLink())
	}
	m.detail.at = 0
	for range 40 {
		press(m, "j")
	}
	press(m, "enter")
	at(t, m, "coll_tuned_bcast_algorithm", "Enter with the chosen one out of sight")
	press(m, "enter")
	at(t, m, first, "Enter")
	press(m, "N")
	if m.chosenLink() != len(m.links())-1 {
		t.Errorf("N chose %d", m.chosenLink())
	}
}

// The banner has the reason that the library printed.
func TestInitReason(t *testing.T) {
	rule := strings.Repeat("-", 74)
	openmpi := []string{rule, "A requested component was not found, or was unable to be opened.  This", "means that this component is either not installed or is",
		"unable to be used.", "", "Host:      vm", "Framework: btl", "Component: nosuch", rule, rule, "It looks like MPI_INIT failed for some reason"}
	for _, c := range []struct {
		log  []string
		want string
	}{
		{openmpi, "A requested component was not found, or was unable to be opened (Framework: btl, Component: nosuch)"},
		{[]string{"[0] Fatal error in PMPI_Init: Other MPI error, error stack:", "MPIR_Init_thread(176)....: ", "MPID_Init(1525)..........: ",
			"MPIDI_OFI_init(608)......: invalid provider", "aborting job:"}, "MPIDI_OFI_init(608)......: invalid provider"},
		{append([]string{"[vm:06100] [[31530,0],0] ORTE_ERROR_LOG: Data unpack would read past end of buffer"}, openmpi...),
			"A requested component was not found, or was unable to be opened (Framework: btl, Component: nosuch)"},
		{[]string{"no network"}, "no network"},
		{nil, ""},
	} {
		if got := initReason(c.log); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	m, _ := fakeSession(t, Options{})
	c := &catalog.Catalog{}
	c.Before.Read, c.After.Error = true, "the MPI process exited with code 1 in: MPI_Init"
	m.loaded(loadedMsg{x: ready(c, nil, m.Terminal)})
	m.log = openmpi
	contains(t, m, "Component: nosuch")
	lacks(t, m, "exited with code 1")
}

// A variable that needs an object is no failure.
func TestUnboundIsNormal(t *testing.T) {
	c := &catalog.Catalog{}
	c.Cvars = []catalog.Variable{{Kind: catalog.Cvars, Name: "bound", Type: catalog.TypeInt, After: ok(catalog.TypeInt, 1),
		Before: &catalog.Reading{Status: catalog.StatusUnbound, Reason: "no communicator before MPI_Init"}}}
	m := explorer(t, c, Options{}, 80, 24)
	contains(t, m, "before MPI_Init: none")
	lacks(t, m, "not bindable")
}

// A refusal is not shown as a failure.
func TestNotes(t *testing.T) {
	for _, key := range []string{"u", "C", "B", "["} {
		m, _ := fakeSession(t, Options{})
		m.places, m.placeAt = nil, 0
		press(m, key)
		if m.Note == "" || m.style != term.Plain {
			t.Errorf("%s: %q is shown as %+v", key, m.Note, m.style)
		}
	}
}

// The footer always says how to quit.
func TestFooterQuits(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	for _, width := range []int{60, 80} {
		resize(m, width, 24)
		contains(t, m, "q quit")
		press(m, ":", "'filter kind=cvar", "enter", "/", "'lim", "enter")
		contains(t, m, "q quit")
	}
}

func TestWorkloadMenuKeys(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	press(m, "W")
	contains(t, m, "0-5 or Enter runs it")
}

// The view of bookmarks is not kept as a filter.
func TestBookmarksViewEnds(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 80, 24)
	press(m, "b", "B")
	if f := m.now().Filter; filterText(m.criteria) != "bookmarked=yes" || f != "" {
		t.Errorf("keeps %q", f)
	}
	press(m, ":", "'filter kind=cvar", "enter")
	if f := m.now().Filter; f != "kind=cvar" {
		t.Errorf("keeps %q", f)
	}
}

// With the cursor in the tree, the details describe the category, and no variable.
func TestCategoryDetails(t *testing.T) {
	c := &catalog.Catalog{}
	c.Cvars = []catalog.Variable{{Kind: catalog.Cvars, Name: "eager_limit", Description: "Longest eager message.", Type: catalog.TypeInt, After: ok(catalog.TypeInt, 1)}}
	c.Categories = []catalog.Category{{Name: "transport", Description: "How bytes move.", Cvars: []string{"eager_limit"}, Categories: []string{"shared_memory"}}, {Name: "shared_memory"}}
	m := explorer(t, c, Options{}, 80, 24)
	press(m, "h", "j")
	contains(t, m, "category transport", "1 variable, here and in shared_memory", "How bytes move.")
	lacks(t, m, "Longest eager message.")
	lines := strings.Split(onScreen(t, m), "\n")
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 40, Y: slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "How bytes move.") })})
	contains(t, m, "Longest eager message.")
	lacks(t, m, "How bytes move.", "category transport")
	press(m, "/", "'eager", "enter", "h")
	contains(t, m, "Longest eager message.")
}

// A snapshot does not pretend that its variables can be written.
func TestSnapshotWrites(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 100, 40)
	press(m, ":", "'show coll_tuned_bcast_algorithm", "enter")
	contains(t, m, "writable  yes in a live session; a snapshot cannot be written")
	press(m, "e")
	contains(t, m, "needs a live MPI, and this is a snapshot")
	press(m, "?")
	for range 10 {
		if strings.Contains(onScreen(t, m), "writable in a live session, not in a snapshot") {
			return
		}
		press(m, "space")
	}
	t.Error("the help does not explain the mark w")
}

// The filter has the name of list's flag; a field without a value is on.
func TestFilterNames(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 100, 30)
	for _, words := range []string{"changed=yes", "changed"} {
		press(m, "F", ":", "'filter "+words, "enter")
		if got := filterText(m.criteria); got != "changed=yes" {
			t.Errorf("%s sets %q", words, got)
		}
	}
	if len(m.shown) == 0 {
		t.Error("nothing is shown")
	}
	for _, k := range m.shown {
		if e := &m.x.entries[k]; e.v.Origin == nil {
			t.Errorf("%s is shown", e.name)
		}
	}
	if words := m.filterWords(""); slices.Contains(words, "set=") || !slices.Contains(words, "changed=") || !slices.Contains(words, "updated=") {
		t.Errorf("%q", words)
	}
	press(m, ":", "'filter =yes", "enter")
	contains(t, m, `unknown field ""`)
}

// Items that MPICH only describes have names in the list, in the details, and in the list of items.
func TestDescribedItems(t *testing.T) {
	m := explorer(t, fixture(t, "mpich-4.0.2.json"), Options{}, 120, 40)
	press(m, ":", "'show MPIR_CVAR_BCAST_INTRA_ALGORITHM", "enter")
	contains(t, m, "auto (0)")
	press(m, "l")
	contains(t, m, "r0-3      auto (0)", "one of", "> 0 auto")
}
