package export

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// TermVariable is the environment variable that describes a terminal to a process whose pipe leads there (rank 0 under `mpitx -n
// 4`): "width=120,color=1,utf8=1,tty=1".
const TermVariable = "MPITX_TERM"

// Terminal is the properties of an output. The zero value is a pipe to an ASCII program.
type Terminal struct {
	Width  int  // columns; 0: unlimited, nothing is cut or wrapped
	Height int  // lines, if text can be drawn in place of earlier text; 0: it cannot
	IsTTY  bool // it is a terminal
	Color  bool // ANSI colours are on
	UTF8   bool // it shows characters other than ASCII
}

// ColorFlags are the values of --color.
var ColorFlags = []string{"auto", "always", "never"}

// Detect finds the properties of an output from its file descriptor and the environment. It writes nothing to the terminal and reads
// nothing from it, as some terminals do not answer. colorFlag is one of ColorFlags; "" is "auto".
func Detect(out *os.File, getenv func(string) string, colorFlag string) (Terminal, error) {
	passed := parseTerm(getenv(TermVariable))
	t := Terminal{UTF8: localeUTF8(getenv) && !Plain(getenv("TERM"))}
	if out != nil {
		t.IsTTY = term.IsTerminal(int(out.Fd()))
	}
	passed.boolean("tty", &t.IsTTY)
	passed.boolean("utf8", &t.UTF8)
	if t.IsTTY {
		t.Width = width(out, getenv, passed)
		t.Height = height(out, getenv)
	}
	switch colorFlag {
	case "always":
		t.Color = true
	case "never":
	case "", "auto":
		t.Color = autoColor(t.IsTTY, getenv)
		passed.boolean("color", &t.Color)
	default:
		return t, fmt.Errorf("--color: unknown value %q; use %s", colorFlag, strings.Join(ColorFlags, ", "))
	}
	return t, nil
}

// Plain says whether a terminal of this type shows hardly more than ASCII, whatever the locale says: the Linux console, whose fonts
// lack most symbols, and DEC's terminals.
func Plain(term string) bool {
	return strings.HasPrefix(term, "linux") || strings.HasPrefix(term, "vt")
}

// Pass formats the terminal as the value of TermVariable.
func (t Terminal) Pass() string {
	bit := map[bool]int{true: 1}
	return fmt.Sprintf("width=%d,color=%d,utf8=%d,tty=%d", t.Width, bit[t.Color], bit[t.UTF8], bit[t.IsTTY])
}

// width is the terminal's width unless TermVariable or COLUMNS override it; 80 if unknown.
func width(out *os.File, getenv func(string) string, passed termFacts) int {
	for _, s := range []string{passed["width"], getenv("COLUMNS")} {
		if n, err := strconv.Atoi(s); err == nil && n > 0 && n < 1<<16 {
			return n
		}
	}
	if out != nil {
		if n, _, err := term.GetSize(int(out.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// height is that of a terminal that moves its cursor; 0 for others, and behind a launcher's pipe.
func height(out *os.File, getenv func(string) string) int {
	if kind := getenv("TERM"); out == nil || kind == "" || kind == "dumb" {
		return 0
	}
	_, n, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// autoColor follows no-color.org, bixense.com/clicolors, TERM=dumb and TERM=vt100.
func autoColor(tty bool, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case getenv("CLICOLOR") == "0", getenv("TERM") == "dumb", strings.HasPrefix(getenv("TERM"), "vt"):
		return false
	case getenv("TERM") == "" && runtime.GOOS != "windows":
		return false
	}
	return tty
}

// localeUTF8 reads the locale's variables in setlocale's order.
func localeUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if s := strings.ToLower(getenv(name)); s != "" {
			return strings.Contains(s, "utf-8") || strings.Contains(s, "utf8")
		}
	}
	return runtime.GOOS == "windows"
}

// termFacts are the fields of TermVariable. Malformed ones are ignored.
type termFacts map[string]string

func parseTerm(s string) termFacts {
	facts := termFacts{}
	for part := range strings.SplitSeq(s, ",") {
		if key, value, ok := strings.Cut(part, "="); ok {
			facts[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return facts
}

func (f termFacts) boolean(key string, b *bool) {
	if v, err := strconv.ParseBool(f[key]); err == nil {
		*b = v
	}
}
