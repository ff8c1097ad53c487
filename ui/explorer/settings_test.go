package explorer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mpitx/export"
	"mpitx/ui/config"
	"mpitx/ui/link"
	"mpitx/ui/term"
)

// userFile is a configuration file with a text, loaded.
func userFile(t *testing.T, text string) (*config.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return again(t, path), path
}

func again(t *testing.T, path string) *config.File {
	t.Helper()
	f, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What a session sets is there in the next one.
func TestKeptBetweenSessions(t *testing.T) {
	file, path := userFile(t, "")
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Config: file}, 120, 40)
	press(m, ":", "'show btl_tcp_eager_limit", "enter", "b")
	contains(t, m, "bookmarked btl_tcp_eager_limit")
	if got := again(t, path); !slices.Equal(got.Bookmarks, []string{"btl_tcp_eager_limit"}) {
		t.Errorf("a bookmark is not written at once: %q", got.Bookmarks)
	}
	press(m, "/", "'bcast alg", "enter", "esc", ":", "'filter kind=cvar writable=yes", "enter", ":", "'theme light", "enter")
	finish(m)

	m = explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Config: again(t, path)}, 120, 40)
	contains(t, m, "filter of the last session: kind=cvar writable=yes; F clears it", "filter: kind=cvar writable=yes")
	press(m, "F", ":", "'show btl_tcp_eager_limit", "enter")
	if !m.current().bookmarked {
		t.Error("the bookmark is gone")
	}
	press(m, ":", "up", "up")
	contains(t, m, ":theme light")
	press(m, "esc", "/", "ctrl+p")
	contains(t, m, "/bcast alg")
	if got := again(t, path); got.Theme != "light" {
		t.Errorf("theme %q", got.Theme)
	}
}

// A filter that this library cannot have stays for those that can.
func TestForeignFilterStays(t *testing.T) {
	file, path := userFile(t, "filter = 'kind=pvar class=counter'\nbookmarks = ['of_another_mpi']\n")
	m := explorer(t, fixture(t, "mpich-4.0.2.json"), Options{Config: file}, 120, 40)
	press(m, "j")
	finish(m)
	if got := again(t, path); got.Filter != "kind=pvar class=counter" || len(got.Bookmarks) != 1 || len(got.Commands) > 0 {
		t.Errorf("%+v", got.Config)
	}
}

// A filter that was set on another library does not hide what this one has, and none hides everything. It stays in the file.
func TestFilterOfAnotherLibrary(t *testing.T) {
	file, path := userFile(t, "")
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Config: file}, 120, 40)
	press(m, ":", "'filter kind=pvar", "enter")
	finish(m)
	for _, where := range []struct{ library, why string }{{"mpich-4.0.2.json", "it was set on openmpi"}, {"openmpi-4.1.4.json", ""}} {
		m = explorer(t, fixture(t, where.library), Options{Config: again(t, path)}, 120, 40)
		if where.why == "" {
			contains(t, m, "filter of the last session: kind=pvar; F clears it")
			continue
		}
		contains(t, m, "filter of the last session: kind=pvar is not used: "+where.why+"; :filter kind=pvar sets it")
		if len(m.shown) != len(m.x.all) {
			t.Errorf("%d of %d are shown", len(m.shown), len(m.x.all))
		}
		finish(m)
	}
	file, path = userFile(t, "filter = 'updated=yes'\n") // as older releases wrote it
	m = explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Config: file}, 120, 40)
	contains(t, m, "updated=yes is not used: it would hide everything")
	finish(m)
	if got := again(t, path); got.Filter != "updated=yes" {
		t.Errorf("%+v", got.Config)
	}
}

func TestBookmarks(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	press(m, "B")
	contains(t, m, "no bookmarks here; b sets one")
	press(m, ":", "'show btl_tcp_eager_limit", "enter", "b", ":", "'show btl_tcp_links", "enter", "b", "B")
	contains(t, m, "filter: bookmarked=yes", "2 of 2", "btl_tcp_eager_limit", "B")
	press(m, "G", "b")
	contains(t, m, "removed the bookmark of btl_tcp_links", "1 of 1")
	press(m, "B")
	contains(t, m, "of 1315")
}

// Pins come back where the back end has the variable, and are read; others stay in the file.
func TestKeptPins(t *testing.T) {
	file, path := userFile(t, "pins = ['messages:counter', 'of_another_mpi', 'early']\n")
	m, _ := fakeSession(t, Options{Config: file})
	if got := m.watching.list; len(got) != 1 || got[0].id != "messages:counter" {
		t.Errorf("pinned: %v", got)
	}
	press(m, ":", "'show limit", "enter", "p", ":", "'show messages", "enter", "p")
	finish(m)
	if got := again(t, path); !slices.Equal(got.Pins, []string{"of_another_mpi", "early", "limit"}) {
		t.Errorf("%q", got.Pins)
	}
}

// A pin whose reading ended the back end is not there in the next session.
func TestDeadlyPinIsDropped(t *testing.T) {
	file, path := userFile(t, "pins = ['limit']\n")
	m, backends := fakeSession(t, Options{Config: file})
	event(m, (*backends)[0], link.Event{Kind: link.EventEnded, Rank: 1, Text: "killed", Variable: "limit"})
	begin(m, m.key("R", "R"))
	finish(m)
	if got := again(t, path); len(got.Pins) > 0 {
		t.Errorf("%q", got.Pins)
	}
}

// What cannot be kept is said, and is no failure.
func TestUnwritableHome(t *testing.T) {
	file, path := userFile(t, "theme = 'dark'\n")
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Config: file}, 120, 40)
	press(m, "b")
	contains(t, m, "kept for this session only", "is read-only")
	if m.style == term.Failure {
		t.Error("shown as a failure")
	}
	press(m, "j", "b")
	contains(t, m, "bookmarked")
}

func TestRecentFilters(t *testing.T) {
	file, _ := userFile(t, "filters = ['kind=pvar', 'writable=yes']\n")
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Config: file}, 120, 40)
	for _, want := range []string{"writable=yes", "kind=pvar", "writable=yes"} {
		press(m, "f", "r", "enter")
		if got := filterText(m.criteria); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCommandTheme(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	press(m, ":", "'theme high-contrast", "enter")
	if m.Terminal.Theme != term.HighContrast {
		t.Error(m.Terminal.Theme)
	}
	press(m, ":", "'theme purple", "enter")
	contains(t, m, `no theme "purple": use one of auto, dark, light, high-contrast`)
	m.Update(tea.BackgroundColorMsg{})
}

// finish ends an explorer as Run does.
func finish(m *Model) { m.finish() }

// Names in a description lead to their variables, and [ leads back.
func TestLinks(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	press(m, ":", "'show coll_tuned_bcast_algorithm", "enter", "tab")
	links := m.links()
	if len(links) == 0 || links[0].e.name != "coll_tuned_use_dynamic_rules" || links[0].why != "named in the description" {
		t.Fatalf("%+v", links)
	}
	press(m, "n")
	if s := strings.Join(m.frame(), "\n"); !strings.Contains(s, "\x1b[1;7mcoll_tuned_use_dynamic_rules\x1b[m") {
		t.Error("the chosen link is not marked")
	}
	press(m, "enter")
	if m.current().name != "coll_tuned_use_dynamic_rules" {
		t.Errorf("followed to %s", m.current().name)
	}
	if !slices.ContainsFunc(m.links(), func(l leading) bool {
		return l.e.name == "coll_tuned_bcast_algorithm" && l.why == "descriptions that name it"
	}) {
		t.Error("what mentions a variable is not listed")
	}
	press(m, "[")
	if m.current().name != "coll_tuned_bcast_algorithm" {
		t.Errorf("back at %s", m.current().name)
	}
	press(m, "n")
	if m.related.at != 0 {
		t.Errorf("link %d", m.related.at)
	}
	press(m, "N")
	if m.related.at != len(links)-1 {
		t.Errorf("link %d", m.related.at)
	}
	contains(t, m, "> "+links[len(links)-1].e.name, "more in coll_tuned_bcast_*")
}

// The mouse chooses a related variable, and goes to it.
func TestClickLink(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	press(m, ":", "'show btl_tcp_links", "enter", "tab")
	row := func(name string) int {
		return slices.IndexFunc(strings.Split(onScreen(t, m), "\n"), func(l string) bool { return strings.HasSuffix(l, "  "+name) || strings.HasSuffix(l, "> "+name) })
	}
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 60, Y: row("btl_tcp_bandwidth")})
	contains(t, m, "> btl_tcp_bandwidth\n")
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 60, Y: row("btl_tcp_bandwidth")})
	if m.current().name != "btl_tcp_bandwidth" || m.focus != paneDetails {
		t.Errorf("at %s", m.current().name)
	}
}

// Words of prose lead nowhere, nor does a part of a longer name.
func TestNoLinks(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	for k := range m.x.entries {
		for _, l := range m.x.related(&m.x.entries[k]) {
			if l.why == "named in the description" && !strings.Contains(l.e.name, "_") {
				t.Errorf("%s leads to %s", m.x.entries[k].name, l.e.name)
			}
		}
	}
	for text, want := range map[string]string{"see a_b.": "a_b", "see xa_b a_b_c, word": "xa_b a_b_c", "_": "_", "__a b__,c_": "__a b__ c_", "no words": "", "": ""} {
		var words []string
		for w := range mentions(text) {
			words = append(words, w.text(text))
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestGoldenSettings(t *testing.T) {
	for _, size := range [][2]int{{40, 24}, {60, 24}, {80, 24}, {100, 30}, {160, 48}} {
		utf8 := Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}
		m := explorer(t, fixture(t, "openmpi-4.1.4.json"), utf8, size[0], size[1])
		press(m, ":", "'show btl_tcp_links", "enter", "b", ":", "'show coll_tuned_bcast_algorithm", "enter", "b", "B")
		golden(t, fmt.Sprintf("bookmarks-%dx%d.txt", size[0], size[1]), onScreen(t, m))
		press(m, "B", ":", "'show coll_tuned_bcast_algorithm", "enter", "tab", "n", "n")
		golden(t, fmt.Sprintf("related-%dx%d.txt", size[0], size[1]), onScreen(t, m))
	}
}

func TestGoldenChanges(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {40, 24}, {60, 24}, {80, 24}, {100, 30}, {160, 48}} {
		m, _ := fakeSession(t, Options{Export: exporter("early: the launcher sets it"), Term: term.Term{Terminal: export.Terminal{UTF8: true}}})
		resize(m, size[0], size[1])
		edit(m, "limit", "8")
		edit(m, "limit", "9")
		edit(m, "algorithm", "2")
		press(m, "C", "j")
		golden(t, fmt.Sprintf("changes-%dx%d.txt", size[0], size[1]), onScreen(t, m))
	}
}
