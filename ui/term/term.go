// Package term describes the terminal of a full-screen program, and fits text into its cells. It only reads the environment: it neither
// writes to the terminal nor waits for answers. Package export makes foreign text safe and decides about colour and UTF-8, for lists and
// screens alike.
//
// Everything is safe for concurrent use.
package term

import (
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/export"
)

// Term is the terminal of a full-screen program. The zero value is black and white, ASCII, on a dark background.
type Term struct {
	export.Terminal
	Profile colorprofile.Profile
	Theme   Theme
	Light   bool // the background is light; false if unknown. The themes auto and high-contrast follow it
	Plain   bool // it has no mouse, titles or queries, and may print the control sequences for them
	Tmux    bool // it runs in tmux, which by default ignores what programs copy
	Screen  bool // it runs in GNU screen, which does not pass unknown sequences on
}

// Detect describes the terminal of out from the environment. color is the value of --color: auto, always or
// never; "" is auto. Its error names the flag.
func Detect(out *os.File, getenv func(string) string, color string) (Term, error) {
	e, err := export.Detect(out, getenv, color)
	if err != nil {
		return Term{}, err
	}
	e.Width = 0
	t := Term{Terminal: e, Light: light(getenv("COLORFGBG")), Plain: export.Plain(getenv("TERM"))}
	t.Tmux = getenv("TMUX") != ""
	t.Screen = getenv("STY") != "" && !t.Tmux
	if e.Color { // which of NO_COLOR and the others decides that is export's
		env := []string{"TERM=" + getenv("TERM"), "COLORTERM=" + getenv("COLORTERM"), "WT_SESSION=" + getenv("WT_SESSION")}
		t.Profile = max(colorprofile.Env(env), colorprofile.ANSI)
		if t.Plain { // COLORTERM may be a multiplexer's
			t.Profile = colorprofile.ANSI
		}
	}
	return t, nil
}

// light reads COLORFGBG, "foreground;background" or "foreground;default;background", as rxvt, Konsole and iTerm set it.
func light(s string) bool {
	n, err := strconv.Atoi(s[strings.LastIndexByte(s, ';')+1:])
	return err == nil && (n == 7 || n > 8 && n < 16)
}

// SafeLine makes a description safe, on one line, and looks at no more of it than about max characters.
func (t Term) SafeLine(s string, max int) string {
	if len(s) > 4*max {
		s = strings.ToValidUTF8(s[:4*max], "")
	}
	if strings.ContainsAny(s, "\n\r\t") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return t.Safe(s)
}

// Width is the number of cells that safe or styled text takes: wide characters two, combining ones none.
func Width(s string) int { return export.Width(s) }

// Pad fills text with blanks to width cells; longer text stays as it is.
func Pad(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// Fit cuts or pads text to exactly width cells.
func (t Term) Fit(s string, width int) string { return Pad(t.Cut(s, width), width) }

// FitRight is Fit with the blanks before the text, for numbers.
func (t Term) FitRight(s string, width int) string {
	s = t.Cut(s, width)
	if n := width - Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// option is the name of an option: a word that begins with a hyphen.
var option = regexp.MustCompile(`(^|[\s"'(\[])-[^\s]*`)

const hyphen = "\ue000" // stands for one where lines must not end

// Wrap breaks safe text into lines of at most width cells, at blanks and hyphens where there are any, but not at those of options, and at its
// newlines.
func Wrap(s string, width int) []string {
	if width > 0 {
		s = option.ReplaceAllStringFunc(s, func(o string) string { return strings.ReplaceAll(o, "-", hyphen) })
		s = strings.ReplaceAll(ansi.Wrap(s, width, ""), hyphen, "-")
	}
	return strings.Split(s, "\n")
}

// CutMiddle says what of a safe name fits into a width: all, with head and tail at its end, or name[:head] and name[tail:] with an
// ellipsis between them. Names with the same beginning differ in their ends.
func (t Term) CutMiddle(name string, width int) (head, tail int) {
	if len(name) <= width || len(name) <= 4*width && Width(name) <= width {
		return len(name), len(name)
	}
	room := max(width-Width(t.Ellipsis()), 0)
	end := name[max(0, len(name)-4*width-3):]
	for end != "" && end[0]&0xc0 == 0x80 {
		end = end[1:]
	}
	end = ansi.TruncateLeft(end, max(0, Width(end)-room*2/5), "")
	return len(ansi.Truncate(name[:min(len(name), 4*width)], room-Width(end), "")), len(name) - len(end)
}

// FitMiddle cuts a safe name in its middle, or pads it, to exactly width cells.
func (t Term) FitMiddle(name string, width int) string {
	head, tail := t.CutMiddle(name, width)
	if head < len(name) {
		name = t.Cut(name[:head]+t.Ellipsis()+name[tail:], width)
	}
	return Pad(name, width)
}
