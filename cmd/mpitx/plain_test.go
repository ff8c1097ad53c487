//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The control sequences for full screens that these terminals support: moving, erasing, attributes, modes. TERM=vt100 is a VT102, as in all
// programs that emulate it.
const plainSequences = "\x1b(\\[[0-9;]*[ABCDHJKm%s]|\\[\\??[0-9;]*[hl]|\\[[0-9;]*r|[78MDE=>c]|[()][AB0])"

// On the Linux console and on a VT100 the explorer uses only ASCII and the control sequences and colours that they support.
func TestExplorerOnPlainTerminals(t *testing.T) {
	for term, c := range map[string]struct{ finals, colours string }{
		"linux": {"LMPXdGae`@", `\x1b\[([0-9;]*;)?[34]8;[0-9;]*m`},
		"vt100": {"LMP", `\x1b\[([0-9;]*;)?(3|4|9|10)[0-7]m`},
	} {
		known := regexp.MustCompile(fmt.Sprintf(plainSequences, c.finals))
		log := filepath.Join(t.TempDir(), "output")
		s := onScreen(t, testEnvironment(t), "env -u TMUX TERM="+term+" script -qfec 'mpitx tui --from "+snapshotFile(t)+"' "+log)
		s.until("1282 cvars", "allocator", "> ")
		s.keys("/", "bcast alg", "Enter", "j", "y")
		s.until("search: bcast alg", "this terminal has no clipboard; copy by hand: coll_tuned_bcast_algorithm")
		s.keys("?")
		s.until("Keys in the list")
		s.keys("G")
		s.until("The mouse")
		s.keys("q", "h", "l", "G", "f")
		s.until("[kind=any]", "14 of 14")
		s.keys("Enter", "q")
		s.until("ended 0")
		out, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		_, drawn, _ := strings.Cut(string(out), "\n") // script's own line
		drawn, _, _ = strings.Cut(drawn, "\nScript done")
		if !strings.Contains(drawn, "coll_tuned_bcast_algorithm") {
			t.Fatalf("%s: nothing drawn: %q", term, drawn)
		}
		for i := range len(drawn) {
			if drawn[i] >= 0x7f {
				t.Fatalf("%s: not ASCII: %q", term, drawn[max(0, i-40):min(len(drawn), i+40)])
			}
		}
		if found := regexp.MustCompile(c.colours).FindString(drawn); found != "" {
			t.Errorf("%s: a colour: %q", term, found)
		}
		rest := known.ReplaceAllString(drawn, "")
		if i := strings.IndexByte(rest, 0x1b); i >= 0 {
			t.Errorf("%s: %q", term, rest[i:min(len(rest), i+20)])
		}
	}
}
