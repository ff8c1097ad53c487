package term

import (
	"strings"
	"testing"

	"mpitx/export"

	"github.com/charmbracelet/colorprofile"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v
			}
		}
		return ""
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		env   []string
		color string
		want  Term
	}{
		{[]string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}, "always", Term{Profile: colorprofile.TrueColor, Terminal: export.Terminal{UTF8: true}}},
		{[]string{"TERM=xterm-256color", "LC_ALL=C", "LANG=C.UTF-8"}, "always", Term{Profile: colorprofile.ANSI256}},
		{[]string{"TERM=screen-256color", "COLORTERM=truecolor"}, "always", Term{Profile: colorprofile.ANSI256}},
		{[]string{"TERM=xterm", "COLORFGBG=0;default;15"}, "always", Term{Profile: colorprofile.ANSI, Light: true}},
		{[]string{"TERM=linux", "COLORTERM=truecolor", "COLORFGBG=15;0", "LANG=C.UTF-8"}, "always", Term{Profile: colorprofile.ANSI, Plain: true}},
		{[]string{"TERM=vt100", "LANG=C.UTF-8", "MPITX_TERM=tty=1"}, "auto", Term{Terminal: export.Terminal{IsTTY: true}, Plain: true}},
		{[]string{"TERM=xterm-256color"}, "never", Term{}},
		{[]string{"TERM=screen", "STY=1.x"}, "never", Term{Screen: true}},
		{[]string{"TERM=tmux", "STY=1.x", "TMUX=/x"}, "never", Term{Tmux: true}},
		{[]string{"TERM=xterm-256color", "MPITX_TERM=tty=1", "NO_COLOR=1"}, "auto", Term{Terminal: export.Terminal{IsTTY: true}}},
		{[]string{"TERM=xterm-256color", "MPITX_TERM=tty=1,utf8=1"}, "", Term{Terminal: export.Terminal{IsTTY: true, UTF8: true}, Profile: colorprofile.ANSI256}},
	} {
		want := c.want
		want.Terminal.Color = want.Profile != 0
		got, err := Detect(nil, env(c.env...), c.color)
		if err != nil || got != want {
			t.Errorf("%v --color=%s: %+v (%v), want %+v", c.env, c.color, got, err, want)
		}
	}
	if _, err := Detect(nil, env(), "red"); err == nil || !strings.Contains(err.Error(), "--color") {
		t.Errorf("--color=red: %v", err)
	}
}

func TestFit(t *testing.T) {
	u := Term{Terminal: export.Terminal{UTF8: true}}
	for _, c := range []struct {
		t     Term
		in    string
		width int
		want  string
	}{
		{u, "abc", 5, "abc  "}, {u, "abcdef", 4, "abc…"}, {Term{}, "abcdef", 4, "ab.."}, {Term{}, "abcdef", 1, "."},
		{u, "日本語", 4, "日… "}, {u, "e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {u, "日", 1, "…"}, {u, "x", 0, ""},
	} {
		got := c.t.Fit(c.in, c.width)
		if got != c.want || Width(got) != c.width {
			t.Errorf("Fit(%q, %d) = %q of %d cells, want %q", c.in, c.width, got, Width(got), c.want)
		}
	}
}

func TestSafe(t *testing.T) {
	if got := (Term{Terminal: export.Terminal{UTF8: true}}).SafeLine("a\x1b[2J\r\nb\u202e", 80); got != `a\x1b[2J b\u202e` {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("日", 10000)
	if got := (Term{Terminal: export.Terminal{UTF8: true}}).SafeLine(long, 10); len(got) > 40 || !strings.HasPrefix(long, got) {
		t.Errorf("%d bytes", len(got))
	}
}

func TestPaint(t *testing.T) {
	for p, want := range map[colorprofile.Profile]string{colorprofile.ASCII: "\x1b[1mx\x1b[m", colorprofile.ANSI: "\x1b[1;31mx\x1b[m",
		colorprofile.ANSI256: "\x1b[1;38;5;203mx\x1b[m", colorprofile.TrueColor: "\x1b[1;38;2;240;110;80mx\x1b[m"} {
		if got := (Term{Profile: p}).Paint(Style{Bold: true, Color: Bad}, "x"); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
	if got := (Term{}).Paint(Style{Color: Warn}, "x"); got != "x" {
		t.Errorf("no colours: %q", got)
	}
}

// Lines may end after a hyphen, but not within an option.
func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		`configured with "--enable-g=handles"`: "configured with\n\"--enable-g=handles\"",
		"use -x now":                           "use -x now",
		"the collective device-override is on": "the collective device-\noverride is on",
		"a -1 b\nc":                            "a -1 b\nc",
	} {
		if got := strings.Join(Wrap(text, 23), "\n"); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
