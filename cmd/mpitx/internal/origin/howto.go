package origin

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/export"
)

// HowToSet is how a control variable gets a value for the next run: the line for the shell's environment, the launcher's
// option, and where there is one the line for a parameter file, with the value as the implementation reads it there. It is empty
// where no such way is known, or the library would refuse the value; without a value, VALUE stands for one. The lines hold only
// what the terminal shows, so that they are printed as they are: escaped once more, they would set another value.
func HowToSet(impl string, variable *catalog.Variable, e *catalog.Enum, to catalog.Value, t export.Terminal) []string {
	name := variable.Name
	value, ok := setting(impl, variable, e, to)
	if !ok {
		return nil
	}
	v, more := quote(value, t), "..."
	if t.UTF8 {
		more = "…"
	}
	switch impl {
	case locate.OpenMPI:
		lines := []string{"mpirun --mca " + quote(name, t) + " " + v + " " + more}
		if shellName().MatchString(name) {
			lines = slices.Insert(lines, 0, "export OMPI_MCA_"+name+"="+v)
		}
		if strings.Contains(value, "\n") || strings.TrimSpace(value) != value { // a line of the file cannot hold it
			return lines
		}
		return append(lines, "echo "+quote(name+" = "+value, t)+" >> ~/.openmpi/mca-params.conf")
	case locate.MPICH:
		return []string{
			"export " + quote(name, t) + "=" + v,
			"mpiexec -genv " + quote(name, t) + " " + v + " " + more,
		}
	case locate.Demo:
		return []string{"export DEMO_CVAR_" + key(locate.Demo, name) + "=" + v}
	}
	return nil
}

// shellName is what a shell's variable can be called: btl_tcp_bandwidth_eth0:0 is none.
var shellName = lazily(`^[A-Za-z0-9_]+$`)

// Quote makes one word for the shell of any text; terminals show it as it is.
func Quote(s string) string { return quote(s, export.Terminal{UTF8: true}) }

func quote(s string, t export.Terminal) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.,:/@%+=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	if !t.Shows(s) {
		return "$'" + ansiC(s, t) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ansiC is what stands in the shell's $'…': bytes in place of what the terminal does not show, as those mean the same in
// every locale.
func ansiC(s string, t export.Terminal) string {
	short := map[rune]string{'\\': `\\`, '\'': `\'`, '\n': `\n`, '\t': `\t`, '\r': `\r`}
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case short[r] != "":
			b.WriteString(short[r])
		case t.Shows(s[:n]):
			b.WriteString(s[:n])
		default:
			for _, c := range []byte(s[:n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		}
		s = s[n:]
	}
	return b.String()
}
