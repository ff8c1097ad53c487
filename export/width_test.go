package export

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// Width counts cells as x/ansi does, also where it needs no tables.
func TestWidth(t *testing.T) {
	var parts []string
	for r := rune(0x2500); r <= 0x25bf; r++ {
		parts = append(parts, string(r))
	}
	for r := ' '; r < 0x7f; r++ {
		parts = append(parts, string(r))
	}
	for _, s := range parts {
		if size, cells := drawn(s); cells != min(size, 1) || ansi.StringWidth(s) != 1 {
			t.Errorf("%q has %d bytes and %d cells, and takes %d", s, size, cells, ansi.StringWidth(s))
		}
	}
	part := rapid.SampledFrom(append(parts, "…", "·", "◆", "\u0301", "\ufe0f", "\u200d", "語", "\xe2\x94", "\xe2", "\x1b[1;7m", "\x1b[38;2;86;180;233m", "\x1b[4:3m", "\x1b[m",
		"\x1b[2K", "\x1b[1", "\x1b", "\x1b]8;;x\x1b\\"))
	rapid.Check(t, func(t *rapid.T) {
		s := ""
		for _, p := range rapid.SliceOf(part).Draw(t, "parts") {
			s += p
		}
		if got, want := Width(s), ansi.StringWidth(s); got != want {
			t.Fatalf("%q: %d, not %d", s, got, want)
		}
	})
}
