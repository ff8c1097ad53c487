package explorer

import (
	"context"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/link"
	"mpitx/ui/term"
)

// Every key is in the help, and no key has two meanings in a view.
func TestHelpNamesEveryKey(t *testing.T) {
	m := New(Options{Start: func(context.Context, []string, []string) (link.Backend, error) { return nil, nil }})
	m.Width = 120
	help := strings.Join(m.helpLines(), "\n")
	for _, in := range []views{inTree, inList, inDetails, inWatch, inFilter, inLine} {
		seen := map[string]string{}
		for _, s := range m.sections {
			for _, b := range s.Bindings {
				if b.Help == "" || !strings.Contains(help, b.Help) || !strings.Contains(help, b.Text(false)) {
					t.Errorf("%v is not in the help", b.Names)
				}
				for _, k := range b.Names {
					if s.in&in != 0 && seen[k] != "" {
						t.Errorf("%s in view %b: %q and %q", k, in, seen[k], b.Help)
					} else if s.in&in != 0 {
						seen[k] = b.Help
					}
				}
			}
		}
	}
	if all := Keys(); len(all) != len(m.sections)+1 || len(all[len(m.sections)].Keys) != len(m.Commands) {
		t.Errorf("%d sections in the manual page", len(all))
	}
}

// The help begins with the keys of the view that it was opened from, scrolls, and returns to that view.
func TestHelpOfViews(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	resize(m, 80, 24)
	for _, c := range []struct {
		open  []string
		title string
		back  string
	}{
		{[]string{"h"}, "Keys in the tree", "all variables"},
		{[]string{"l"}, "Keys in the list and the details", "NAME"},
		{[]string{"f"}, "Keys in the filter bar", "[kind=any]"},
		{[]string{"esc", ":", "'show limit", "enter", "p", "w"}, "Keys while watching", " watching"},
	} {
		for _, k := range c.open {
			if k == "p" || k == "w" {
				m.key(k, k)
			} else {
				press(m, k)
			}
		}
		focus := m.focus
		press(m, "?")
		if s := strings.Split(onScreen(t, m), "\n"); strings.TrimSpace(s[2]) != c.title {
			t.Errorf("help begins with %q, want %q", s[2], c.title)
		}
		press(m, "G")
		contains(t, m, "The mouse selects rows and scrolls.")
		press(m, "esc")
		contains(t, m, c.back)
		if m.focus != focus {
			t.Errorf("back from the help, the focus is on pane %d, not %d", m.focus, focus)
		}
	}
	press(m, "L", "?", "esc")
	contains(t, m, " watching")
}

// Keys at the foot stand out from their labels.
func TestFoot(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}}, 100, 30)
	foot := m.frame()[29]
	key := m.Terminal.Paint(term.Key, "/") + " " + m.Terminal.Paint(term.Label, "search")
	if !strings.Contains(foot, key) {
		t.Errorf("no %q in %q", key, foot)
	}
	press(m, "h")
	if s := ansi.Strip(m.frame()[29]); !strings.Contains(s, "Enter open") {
		t.Errorf("in the tree: %q", s)
	}
	press(m, "f")
	if s := ansi.Strip(m.frame()[29]); !strings.HasPrefix(s, " ←→ field  ↑↓ value") {
		t.Errorf("in the filter bar: %q", s)
	}
}

// A message that does not fit is read whole with Enter or L.
func TestWholeMessage(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 60, 24)
	long := strings.Repeat("word ", 80) + "the end"
	for _, key := range []string{"enter", "L"} {
		m.showError("first %s", long)
		contains(t, m, "first word", "(L: all)")
		lacks(t, m, "the end")
		press(m, key)
		contains(t, m, "Messages, the newest first", "first word", "the end")
		press(m, "esc")
		contains(t, m, "NAME")
	}
	m.say("short")
	lacks(t, m, "(L: all)")
	press(m, "enter")
	if m.focus != paneDetails {
		t.Error("Enter did not go to the details")
	}
	press(m, "L")
	if s := onScreen(t, m); strings.Index(s, "short") > strings.Index(s, "first word") {
		t.Errorf("the newest is not first:\n%s", s)
	}
}

// A key that is pressed while the catalog is read has its effect afterwards.
func TestEarlyKeys(t *testing.T) {
	m := New(Options{Source: "test.json", Load: func() (*catalog.Catalog, error) { return fixture(t, "openmpi-4.1.4.json"), nil }})
	resize(m, 100, 30)
	press(m, "/", "'btl_tcp_eager_limit", "enter")
	for cmd := m.load(); cmd != nil; {
		_, cmd = m.Update(cmd())
	}
	contains(t, m, "search: btl_tcp_eager_limit")
	if m.current().v.Name != "btl_tcp_eager_limit" || m.early != nil {
		t.Error(m.current().v.Name, m.early)
	}
}

// A text covers a dialog. What comes of a write is seen at once, whatever was opened meanwhile.
func TestTextOverDialog(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	press(m, ":", "'show limit", "enter", "e", "ctrl+u", "'9", "enter")
	contains(t, m, "Write this on all 4 ranks?")
	m.showError("%s", strings.Repeat("word ", 400))
	press(m, "enter")
	contains(t, m, "Messages, the newest first")
	lacks(t, m, "Write this on")
	press(m, "esc")
	contains(t, m, "Write this on all 4 ranks?")
	for _, open := range [][]string{{"?"}, {":"}} {
		cmd := m.key("y", "y")
		press(m, "esc")
		press(m, open...)
		m.Update(cmd())
		contains(t, m, "u then undoes it")
		press(m, "esc")
		contains(t, m, "Tab pane")
		press(m, "e", "ctrl+u", "'8", "enter")
	}
}

// Texts are also there without a catalog. A restart closes them.
func TestTextWithoutCatalog(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	event(m, (*backends)[0], link.Event{Kind: link.EventEnded, Text: "killed"})
	press(m, "L")
	contains(t, m, "Messages, the newest first")
	start := m.key("R", "R")
	contains(t, m, "starting the back end ...")
	press(m, "L", "?")
	contains(t, m, "Keys in the list and the details")
	press(m, "q")
	contains(t, m, "starting the back end ...")
	begin(m, start)
	contains(t, m, "algorithm")
}
