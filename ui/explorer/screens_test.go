package explorer

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/link"
	"mpitx/ui/term"
)

func lacks(t *testing.T, m *Model, parts ...string) {
	t.Helper()
	s := onScreen(t, m)
	for _, p := range parts {
		if strings.Contains(s, p) {
			t.Fatalf("%q in\n%s", p, s)
		}
	}
}

func resize(m *Model, width, height int) { m.Update(tea.WindowSizeMsg{Width: width, Height: height}) }

// On the smallest screen every dialog shows what is asked, what can be answered, and what came of it.
func TestDialogsOnSmallScreens(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	resize(m, minWidth, minHeight)
	press(m, ":", "'show limit", "enter", "e", "ctrl+u", "'x")
	contains(t, m, "limit", "new  x", "is not a value of")
	press(m, "backspace", "'9")
	contains(t, m, "new  9", "Enter writes it, Esc cancels")
	press(m, "enter")
	contains(t, m, "new  9", "Write this on all 4 ranks?", "y yes", "r on some", "n no")
	press(m, "r", "'8")
	contains(t, m, "on ranks  8", "no rank 8")
	press(m, "backspace", "'0-1")
	contains(t, m, "on ranks  0-1", "Enter takes them")
	press(m, "enter")
	contains(t, m, "Write this on ranks 0-1 only?", "y yes", "n no")
	press(m, "y")
	contains(t, m, "ranks 0-2: ok: was 7, reads", "rank 3: not now", "Esc closes; u then undoes it")
	press(m, "esc", ":", "'show algorithm", "enter", "e")
	contains(t, m, "> 1  linear", "2  binomial", "Enter selects")
	resize(m, 120, 40)
	contains(t, m, "scope all-eq: all ranks must have the same value", "2  binomial")
	if len((*backends)[0].writes) != 1 {
		t.Error("not written once")
	}
}

// Each pane shows that it has the focus, without colours, too.
func TestFocusIsSeen(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	reversed := func() (lines []string) {
		for _, l := range m.frame()[2:] {
			if _, rest, ok := strings.Cut(l, "\x1b[1;7m"); ok {
				lines = append(lines, strings.Fields(strings.Trim(ansi.Strip(rest), "> -"))[0])
			}
		}
		return lines
	}
	for _, want := range []string{"allocator", "allocator", "all"} { // list, details, tree
		if got := reversed(); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("focus %d: %q is shown as chosen", m.focus, got)
		}
		press(m, "tab")
	}
	resize(m, 80, 24)
	press(m, "tab", "j")
	contains(t, m, "more lines: j")
	if got := reversed(); len(got) != 1 || !strings.HasPrefix(got[0], "allocator") {
		t.Errorf("scrolled details: %q", got)
	}
}

// A narrow screen shows the pane with the focus; a low one the list or the details.
func TestNarrowPanes(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}, 40, 24)
	contains(t, m, "allocator_basic_major_ver… 4", "allocator_basic_minor_ver… 1")
	lacks(t, m, "▾ all variables", "control variable")
	press(m, "h")
	contains(t, m, "▾ all variables                     1315")
	lacks(t, m, "control variable", "allocator_basic")
	press(m, "l", "l")
	contains(t, m, "control variable, scope all-eq")
	lacks(t, m, "allocator_basic", "▾ all variables")
	press(m, "h")
	resize(m, 80, 10)
	lacks(t, m, "control variable")
	contains(t, m, "allocator_base_verbose")
	press(m, "l")
	contains(t, m, "control variable, scope all-eq")
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 30, Y: 5})
	if m.focus != paneDetails {
		t.Errorf("a click on the details goes to pane %d", m.focus)
	}
}

// What happened is said in full, on several lines if it takes them.
func TestLongStatus(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	resize(m, 60, 24)
	event(m, (*backends)[0], link.Event{Kind: link.EventEnded, Rank: 1, Text: "rank 1 on node17: the MPI process was killed by SIGKILL in: reading variables, says the launcher"})
	contains(t, m, "back end lost", "by SIGKILL", " the launcher")
	press(m, "j")
	lacks(t, m, " the launcher")
}

// Help and the log come back to what they were opened from.
func TestBackToWatching(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	press(m, ":", "'show limit", "enter")
	m.key("p", "p")
	m.key("w", "w")
	contains(t, m, "watching", "1 of 1", "Esc back")
	for _, key := range []string{"?", "L"} {
		press(m, key)
		lacks(t, m, "> limit")
		press(m, "esc")
		contains(t, m, "watching", "Esc back", "> limit")
	}
	press(m, "?")
	if s := onScreen(t, m); !strings.HasPrefix(strings.Split(s, "\n")[2], " Keys while watching") {
		t.Errorf("the keys of this view do not come first:\n%s", s)
	}
	press(m, "esc", "esc", ":", "esc")
	lacks(t, m, "watching")
}

// The line at the foot names keys that do something.
func TestHints(t *testing.T) {
	m := New(Options{Start: func(context.Context, []string, []string) (link.Backend, error) { return &fakeBackend{}, nil }})
	resize(m, 80, 24)
	contains(t, m, "q quit  ? help  L messages")
	lacks(t, m, "search", "edit")
	m, backends := fakeSession(t, Options{})
	contains(t, m, "e edit", "w watch")
	press(m, "/", "'lim", "enter")
	contains(t, m, "Esc end search")
	press(m, "esc", ":", "'filter kind=pvar", "enter")
	contains(t, m, "F clear filter")
	press(m, "F", "?")
	contains(t, m, "Esc close  Space more")
	press(m, "G")
	lacks(t, m, "Space more")
	press(m, "esc")
	m.workload = "halo"
	event(m, (*backends)[0], link.Event{Kind: link.EventEnded, Rank: 1, Text: "killed"})
	press(m, "j")
	contains(t, m, "R restart the back end")
	lacks(t, m, "e edit", "p pin", "workload halo")
}

// The title counts all that the list holds, and leaves out what it has no room for, not half of a word.
func TestTitle(t *testing.T) {
	own := []catalog.Variable{{Kind: catalog.Virtual, Name: "mpitx:calls"}}
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Virtual: own}, 90, 24)
	contains(t, m, "1282 cvars  33 pvars  1 mpitx:*  35 events", "1 of 1351")
	resize(m, 110, 24)
	m.workload = strings.Repeat("w", 15)
	contains(t, m, "workload wwwwwwwwwwwwwww  1282 cvars  33 pvars  1 mpitx:*  35 events")
	m.workload = ""
	resize(m, 56, 24)
	contains(t, m, "offline  1351 in all")
	resize(m, 40, 24)
	contains(t, m, "test.json      offline")
}

// Restarting goes on where the user was.
func TestRestartStays(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	press(m, ":", "'show limit", "enter")
	event(m, (*backends)[0], link.Event{Kind: link.EventEnded, Rank: 1, Text: "killed"})
	begin(m, m.key("R", "R"))
	if e := m.current(); e == nil || e.name != "limit" {
		t.Errorf("at %+v", e)
	}
}

// The filter shows what it lets through, whatever had the focus.
func TestFilterShowsList(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 40, 10)
	press(m, "l", "f", "right", "right", "right", "down")
	contains(t, m, "[class=aggregate]", "of ", "NAME")
	press(m, "enter", "h", ":", "'filter class=counter kind=cvar", "enter")
	contains(t, m, "the filter hides everything here", "0 shown")
}

// The mouse chooses among what is watched.
func TestMouseWhileWatching(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	m.pin(&m.x.entries[m.x.byID["limit"]])
	m.pin(&m.x.entries[m.x.byID["messages:counter"]])
	m.key("w", "w")
	contains(t, m, "> limit", "1 of 2")
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 5, Y: m.head() + watchTop + 1})
	contains(t, m, "> messages", "2 of 2")
	m.Update(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
	contains(t, m, "> limit")
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 5, Y: m.head() + watchTop + 2})
	contains(t, m, "> limit")
}

// Line breaks of what is pasted neither stay nor act.
func TestPaste(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	press(m, ":", "'show limit", "enter", "e", "ctrl+u")
	m.Update(tea.PasteMsg{Content: "12\r\n"})
	contains(t, m, "new  12", "Enter writes it")
	press(m, "esc", "/")
	m.Update(tea.PasteMsg{Content: "mess\nage\n"})
	contains(t, m, "search: mess age", "1 of 1")
	if len((*backends)[0].writes) > 0 {
		t.Error("written")
	}
}

// A stage or a rank that could not be read is named, with the reason, and R tries again.
func TestPartialCatalog(t *testing.T) {
	half := func() *catalog.Catalog {
		c := &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{{Kind: catalog.Cvars, Name: "early", Type: catalog.TypeInt, Before: ok(catalog.TypeInt, 1)}}}}
		c.Before.Read = true
		c.After.Error = "the MPI process was killed by SIGABRT in: MPI_Init"
		return c
	}
	m := explorer(t, half(), Options{}, 80, 24)
	contains(t, m, "ONLY BEFORE MPI_Init", "no values from after MPI_Init in this snapshot (L shows more)")
	press(m, "j")
	lacks(t, m, "R restart")
	m, backends := fakeSession(t, Options{})
	c := half()
	c.After = catalog.Stage{Read: true}
	c.Job = catalog.Job{Size: 3, Ranks: []catalog.Rank{{Rank: 0}, {Rank: 1, Error: "killed by SIGKILL"}, {Rank: 2, Error: "no answer"}}}
	m.loaded(loadedMsg{x: ready(c, nil, m.Terminal)})
	contains(t, m, "LOST: r1-2", "incomplete answer from ranks 1-2: rank 1: killed by SIGKILL")
	press(m, "j")
	contains(t, m, "R restart the back end")
	begin(m, m.key("R", "R"))
	if len(*backends) != 2 {
		t.Error("not restarted")
	}
	lacks(t, m, "LOST")
}

// The names of watched variables have the first claim on the width.
func TestWatchedNames(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	resize(m, 80, 24)
	press(m, ":", "'show limit", "enter")
	m.key("p", "p")
	m.key("w", "w")
	m.watching.list[0].id = "pml_ob1_unexpected_msgq_length:size"
	contains(t, m, "> pml_ob1_unexpected_msgq_length:size ")
}

// Without a variable under the cursor, the footer has no keys for one.
func TestFooterWithoutVariable(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	resize(m, 160, 24)
	contains(t, m, "p pin", "b bookmark")
	press(m, "/", "'nosuchvariable", "enter")
	contains(t, m, "nothing matches")
	lacks(t, m, "p pin", "b bookmark")
}
