package keys_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/export"
	"mpitx/ui/explorer"
	"mpitx/ui/screen/keys"
	"mpitx/ui/term"
	"mpitx/ui/top"
)

// No key has two shared actions.
func TestSharedKeysAreUnique(t *testing.T) {
	of := map[string]keys.Key{}
	for _, k := range keys.Shared() {
		if len(k.Names) == 0 || k.Help == "" {
			t.Errorf("action %d has no keys or no help", k.ID)
		}
		for _, n := range k.Names {
			if other, ok := of[n]; ok {
				t.Errorf("%s: %s, and %s", n, other.Help, k.Help)
			}
			of[n] = k
		}
	}
}

func TestText(t *testing.T) {
	k := keys.Key{Names: []string{"j", "down", "ctrl+n", "pgdown", "shift+tab"}}
	if s := k.Text(true); s != "j ↓ ^N PgDn Shift+Tab" {
		t.Error(s)
	}
	if s := k.Text(false); s != "j Down ^N PgDn Shift+Tab" {
		t.Error(s)
	}
}

// A footer leaves out hints that do not fit, and its keys are brighter than their labels.
func TestFooter(t *testing.T) {
	list := []keys.Key{keys.Of(keys.Help), keys.Of(keys.Quit), keys.Of(keys.Open).With("", "a very long label"), keys.Of(keys.Pause), keys.Of(keys.Down)}
	on := term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}
	for width, want := range map[int]string{200: "? help  q quit  Enter a very long label  Space pause", 30: "? help  q quit  Space pause", 27: "? help  q quit  Space pause", 26: "? help  q quit", 3: ""} {
		if got := ansi.Strip(keys.Footer(on, width, list...)); got != want {
			t.Errorf("%d: %q, not %q", width, got, want)
		}
	}
	line := keys.Footer(on, 80, list...)
	if key, label := on.Paint(term.Key, "q"), on.Paint(term.Label, "quit"); !strings.Contains(line, key+" "+label) || key == "q" || label == "quit" {
		t.Errorf("%q", line)
	}
}

// The explorer and top offer the same actions with the same keys. A shared key has no other action; only keys that go somewhere, such as
// Enter, may go elsewhere in a view.
func TestScreensAgree(t *testing.T) {
	shared := map[string]keys.Key{}
	for _, k := range keys.Shared() {
		for _, n := range k.Names {
			shared[n] = k
		}
	}
	going := []keys.ID{keys.Open, keys.Left, keys.Right, keys.Up, keys.Down, keys.NextPane, keys.PreviousPane, keys.Back, keys.Quit}
	has := map[string]map[keys.ID]bool{}
	for name, sections := range map[string][]keys.Section{"tui": explorer.Keys(), "top": top.Keys()} {
		has[name] = map[keys.ID]bool{}
		for _, s := range sections {
			for _, k := range s.Keys {
				if k.ID != keys.Own {
					has[name][k.ID] = true
					if !slices.Equal(k.Names, keys.Of(k.ID).Names) {
						t.Errorf("%s, %s: %s: %s", name, s.Title, k.Help, k.Text(true))
					}
					continue
				}
				for _, n := range k.Names {
					if other, ok := shared[n]; ok && !s.Dialog && !slices.Contains(going, other.ID) {
						t.Errorf("%s, %s: %s: %s, elsewhere: %s", name, s.Title, n, k.Help, other.Help)
					}
				}
			}
		}
	}
	only := map[keys.ID]string{keys.Edit: "tui", keys.SortRight: "top", keys.SortLeft: "top", keys.SortReverse: "top"}
	for _, k := range keys.Shared() {
		for name := range has {
			if !has[name][k.ID] && !slices.Contains(going, k.ID) && (only[k.ID] == "" || only[k.ID] == name) {
				t.Errorf("%s has no key for: %s", name, k.Help)
			}
		}
	}
}
