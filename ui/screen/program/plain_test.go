package program

import (
	"strings"
	"testing"

	"mpitx/ui/term"
)

func TestPlainOnly(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[1;31mx\x1b[m\x1b[5;1H\x1b[K\x1b[?25l":               "\x1b[1;31mx\x1b[m\x1b[5;1H\x1b[K\x1b[?25l",
		"a\x1b[>4;2mb\x1b[=1;1uc\x1b[?u\x1b[<u":                   "abc",
		"\x1b[?5W\x1b[?2026$p\x1b[?2027$p\x1b[?2004hx\x1b[?2004l": "x",
		"\x1b]2;title\x07y\x1b]11;?\x1b\\z\x1bP+q544e\x1b\\":      "yz",
		"\x1b[?1049hdrawn\x1b[?1049l":                             cleared + "drawn" + cleared,
		"\x1b[?1002h":                                             "\x1b[?1002h",
	} {
		if got := string(plainOnly([]byte(in))); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestPlainView(t *testing.T) {
	if v := View(term.Term{Plain: true}, "x", "title"); !v.AltScreen || v.MouseMode != 0 || v.WindowTitle != "" {
		t.Errorf("%+v", v)
	}
	if v := View(term.Term{}, "x", "title"); !v.AltScreen || v.MouseMode == 0 || !strings.Contains(v.WindowTitle, "title") {
		t.Errorf("%+v", v)
	}
}
