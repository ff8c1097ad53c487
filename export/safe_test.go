package export

import (
	"testing"
	"unicode"
)

func TestSafeText(t *testing.T) {
	got := pipe.SafeText("one\ttab\r\ntwo\u00a0nbsp\n\x1b[0m \xff")
	if want := "one tab\ntwo nbsp\n\\x1b[0m \uFFFD"; got != want {
		t.Errorf("SafeText: %q, want %q", got, want)
	}
}

// In a file, CSV keeps what quotes protect, and nothing that acts on a terminal or ends a text.
func TestCSVText(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", "größe": "größe", "two\nlines\tand a tab": "two\nlines\tand a tab", `C:\path`: `C:\path`,
		"nul\x00esc\x1b[2J": `nul\x00esc\x1b[2J`, "bad\xff\u202e": `bad\xff\u202e`, `\x1b is text`: `\\x1b is text`, "cr\r\n": `cr\x0d` + "\n",
	} {
		if got := (Terminal{}).CSV(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := (Terminal{IsTTY: true, UTF8: true}).CSV("two\nlines"); got != `two\x0alines` {
		t.Errorf("on a terminal: %q", got)
	}
}

// What foreign text has of characters that act on a terminal is escaped, except for newlines.
func FuzzSafeText(f *testing.F) {
	f.Add(nasty)
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range pipe.SafeText(s) {
			if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Fatalf("SafeText(%q) has %U", s, r)
			}
		}
	})
}

const nasty = "a\x1b[31mred\r\x07\u009b2J\u202egnp\u200b\xff\n\\x1b\u2028end"
