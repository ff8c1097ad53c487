package export

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// TermVariable is the environment variable that passes the facts of one terminal on to a process that writes to a pipe
// leading there (rank 0 under `mpitx -n 4`): "width=120,color=1,utf8=1,tty=1".
const TermVariable = "MPITX_TERM"

// Terminal holds what output needs to know of where it goes. The zero value is a pipe read by an ASCII program.
type Terminal struct {
	Width int  // columns; 0: unlimited, nothing is cut or wrapped
	IsTTY bool // people read it
	Color bool // ANSI colours may be used
	UTF8  bool // other characters than ASCII may be used
}

// ColorFlags are the values of --color.
var ColorFlags = []string{"auto", "always", "never"}

// Detect finds out about the terminal behind out from its file descriptor and the environment. It writes nothing to the
// terminal and reads nothing from it: terminals that do not answer exist. colorFlag is one of ColorFlags; "" is "auto".
func Detect(out *os.File, getenv func(string) string, colorFlag string) (Terminal, error) {
	passed := parseTerm(getenv(TermVariable))
	t := Terminal{UTF8: localeUTF8(getenv)}
	if out != nil {
		t.IsTTY = term.IsTerminal(int(out.Fd()))
	}
	passed.boolean("tty", &t.IsTTY)
	passed.boolean("utf8", &t.UTF8)
	if t.IsTTY {
		t.Width = width(out, getenv, passed)
	}
	switch colorFlag {
	case "always":
		t.Color = true
	case "never":
	case "", "auto":
		t.Color = autoColor(t.IsTTY, getenv)
		passed.boolean("color", &t.Color)
	default:
		return t, fmt.Errorf("--color: %q is none of %s", colorFlag, strings.Join(ColorFlags, ", "))
	}
	return t, nil
}

// Pass is the terminal as the value of TermVariable.
func (t Terminal) Pass() string {
	bit := map[bool]int{true: 1}
	return fmt.Sprintf("width=%d,color=%d,utf8=%d,tty=%d", t.Width, bit[t.Color], bit[t.UTF8], bit[t.IsTTY])
}

// width is that of the terminal, unless COLUMNS or the passed facts say otherwise; 80 where nobody knows.
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

// autoColor follows no-color.org, bixense.com/clicolors and TERM=dumb.
func autoColor(tty bool, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case getenv("CLICOLOR") == "0", getenv("TERM") == "dumb":
		return false
	case getenv("TERM") == "" && runtime.GOOS != "windows":
		return false
	}
	return tty
}

// localeUTF8 looks at the locale's variables in the order that setlocale does.
func localeUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if s := strings.ToLower(getenv(name)); s != "" {
			return strings.Contains(s, "utf-8") || strings.Contains(s, "utf8")
		}
	}
	return runtime.GOOS == "windows"
}

// termFacts are the parts of TermVariable; what is malformed is left out.
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
