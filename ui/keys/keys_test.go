package keys_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/export"
	"mpitx/ui/keys"
	"mpitx/ui/term"
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
