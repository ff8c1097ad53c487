package explorer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
)

// exporter writes changes in a form of its own, and leaves out what is named in left.
func exporter(left ...string) func(*catalog.Catalog, []Setting, int) (string, []string, error) {
	return func(_ *catalog.Catalog, all []Setting, form int) (string, []string, error) {
		if form == formFile {
			return "", nil, fmt.Errorf("this MPI reads no parameter file")
		}
		var b strings.Builder
		for _, c := range all {
			fmt.Fprintf(&b, "%d:%s=%s %s\n", form, c.V.Name, c.Value, strings.Join(append(c.Notes, c.Doubts...), "; "))
		}
		return b.String(), left, nil
	}
}

// edit writes a value as the user does.
func edit(m *Model, name, value string, keys ...string) {
	press(m, ":", "'show "+name, "enter", "e", "ctrl+u", "'"+value, "enter")
	press(m, keys...)
	press(m, "y", "esc")
}

func TestChanges(t *testing.T) {
	m, backends := fakeSession(t, Options{Export: exporter()})
	resize(m, 100, 24)
	press(m, "C")
	contains(t, m, "no changes: e edits a control variable")
	edit(m, "limit", "8")
	edit(m, "limit", "9") // which rank 3 refuses
	press(m, "C")
	contains(t, m, "my changes", "NAME", "BEFORE", "CHANGED TO", "> limit", "7", "9, 8", "0-3", "[launcher options]", "0:limit=9")
	press(m, "tab")
	contains(t, m, "[environment script]", "1:limit=9")
	press(m, "tab")
	contains(t, m, "[parameter file]", "this MPI reads no parameter file")
	press(m, "y")
	contains(t, m, "this MPI reads no parameter file")
	press(m, "tab", "y")
	contains(t, m, "copied 0:limit=9")

	path := filepath.Join(t.TempDir(), "settings.sh")
	press(m, ":", "'export "+path, "enter")
	contains(t, m, "saved the environment script to", "my changes")
	if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), "1:limit=9") {
		t.Errorf("%q, %v", data, err)
	}

	press(m, "u")
	contains(t, m, "ranks 0-2: ok: was 9, reads back 7", "rank 3: ok: was 8, reads back 7")
	press(m, "esc")
	contains(t, m, "all changes are undone; Esc goes back")
	if got := (*backends)[0].values; got != [4]int64{7, 7, 7, 7} {
		t.Errorf("undone: %v", got)
	}
	press(m, "esc", "u")
	contains(t, m, "nothing to undo", "SCOPE")
}

// The editor and the export repeat why a setting has no effect now.
func TestUselessChange(t *testing.T) {
	const why = "NO EFFECT NOW: dynamic_rules must be true, it is false; set it to true"
	m, _ := fakeSession(t, Options{Export: exporter(), Effect: func(_ *catalog.Catalog, v *catalog.Variable) []string {
		return map[string][]string{"limit": {"is read at once", why}}[v.Name]
	}})
	for _, width := range []int{40, 80, 140} {
		resize(m, width, 24)
		press(m, ":", "'show limit", "enter", "e")
		flat(t, m, "new", why)
		press(m, "ctrl+u", "'8", "enter")
		flat(t, m, "Write this on all 4 ranks?", why)
		press(m, "esc")
	}
	edit(m, "limit", "8")
	press(m, "C", "y")
	flat(t, m, "limit: "+why, "copied", "no effect now: limit")
	press(m, "tab")
	flat(t, m, "1:limit=8 limit: "+why)
	path := filepath.Join(t.TempDir(), "settings.sh")
	press(m, ":", "'export "+path, "enter")
	flat(t, m, "no effect now: limit")
	press(m, "esc")
	edit(m, "algorithm", "2")
	press(m, "C", "y")
	flat(t, m, "no effect now: limit")
}

// flat finds text on the screen that may be broken into lines.
func flat(t *testing.T, m *Model, parts ...string) {
	t.Helper()
	plain := strings.Join(strings.FieldsFunc(onScreen(t, m), func(r rune) bool { return strings.ContainsRune(" \n│|", r) }), " ")
	for _, p := range parts {
		if !strings.Contains(plain, p) {
			t.Errorf("no %q in\n%s", p, onScreen(t, m))
		}
	}
}

// The mouse chooses a change.
func TestClickChange(t *testing.T) {
	m, _ := fakeSession(t, Options{Export: exporter()})
	resize(m, 100, 24)
	edit(m, "limit", "8")
	edit(m, "algorithm", "2")
	press(m, "C")
	contains(t, m, "> limit", "1 of 2")
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 5, Y: 4})
	contains(t, m, "> algorithm", "2 of 2")
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 5, Y: 5})
	contains(t, m, "> algorithm")
	m.Update(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
	contains(t, m, "> limit")
}

// A variable that has its old value again is no change; one that an undo could not restore still is.
func TestChangesAreNet(t *testing.T) {
	m, backends := fakeSession(t, Options{Export: exporter("early: it is not set")})
	resize(m, 100, 24)
	edit(m, "limit", "8")
	edit(m, "limit", "7")
	if all := m.edits(); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	edit(m, "limit", "8")
	edit(m, "limit", "5")
	press(m, "u", "esc")
	if all := m.edits(); len(all) != 1 || len(all[0].ranks) != 4 {
		t.Errorf("%+v", all)
	}
	(*backends)[0].silent = true
	press(m, "C", "u", "esc")
	contains(t, m, "> limit", "8", "2", "limit was written on rank 2 only; this sets it on all ranks")
	press(m, "enter")
	contains(t, m, "SCOPE/CLASS")
	if m.current().name != "limit" {
		t.Errorf("at %s", m.current().name)
	}
	press(m, "C", "y")
	contains(t, m, "copied")
}
