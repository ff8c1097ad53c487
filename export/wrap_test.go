package export

import (
	"testing"
)

func TestWrapLine(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{
		{"mpitx: a b", 0, "mpitx: a b"},
		{"one two three", 7, "one two\n  three"},
		{"  one two three", 9, "  one two\n  three"},
		{"do `mpitx list x` now", 8, "do\n  `mpitx list x`\n  now"},
		{"averyveryverylongword b", 8, "averyveryverylongword\n  b"},
		{"größe größe", 8, "größe\n  größe"},
		{"an odd ` quote at the end", 12, "an odd\n  ` quote at the end"},
	} {
		if got := WrapLine(c.line, c.width, "  "); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.line, c.width, got, c.want)
		}
	}
}
