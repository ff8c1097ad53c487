package pager

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestPager(t *testing.T) {
	text := []string{}
	for i := range 25 {
		text = append(text, fmt.Sprintf("line %d", i))
	}
	p := New()
	see := func(first string) {
		t.Helper()
		lines := p.Lines(text, 8, 10)
		if len(lines) != 10 || ansi.StringWidth(lines[0]) != 8 || ansi.Strip(lines[0]) != first {
			t.Errorf("%q, want 10 lines of 8 cells from %q", lines, first)
		}
	}
	see("line 0  ")
	for _, c := range []struct{ key, first string }{
		{"k", "line 0  "}, {"j", "line 1  "}, {"space", "line 10 "}, {"pgdown", "line 15 "}, {"up", "line 14 "}, {"pgup", "line 5  "},
		{"G", "line 15 "}, {"home", "line 0  "},
	} {
		if !p.Key(c.key) {
			t.Errorf("%s does not scroll", c.key)
		}
		see(c.first)
	}
	if p.Key("x") || p.Key("esc") {
		t.Error("other keys scroll")
	}
	if lines := p.Lines([]string{"short"}, 8, 3); len(lines) != 3 || lines[0] != "short   " || lines[2] != "        " {
		t.Errorf("%q", lines)
	}
}
