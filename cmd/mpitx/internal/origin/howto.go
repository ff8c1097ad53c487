package origin

import (
	"strings"

	"mpitx/cmd/mpitx/internal/locate"
)

// HowToSet is how a control variable gets a value for the next run: the line for the shell's environment, the launcher's
// option, and where there is one the line for a parameter file. It is empty where no such way is known.
func HowToSet(impl, name, value string) []string {
	v := Quote(value)
	switch impl {
	case locate.OpenMPI:
		return []string{
			"export OMPI_MCA_" + name + "=" + v,
			"mpirun --mca " + name + " " + v + " …",
			"echo " + Quote(name+" = "+value) + " >> ~/.openmpi/mca-params.conf",
		}
	case locate.MPICH:
		return []string{
			"export " + name + "=" + v,
			"mpiexec -genv " + name + " " + v + " …",
		}
	case locate.Demo:
		return []string{"export DEMO_CVAR_" + key(locate.Demo, name) + "=" + v}
	}
	return nil
}

// Quote makes one word for the shell of any text.
func Quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.,:/@%+=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0 {
		return "$'" + escaper.Replace(s) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// escaper writes control characters as the shell's $'…' does.
var escaper = newEscaper()

func newEscaper() *strings.Replacer {
	const hex = "0123456789abcdef"
	pairs := []string{`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`}
	for c := byte(0); c < 0x20; c++ {
		if c != '\n' && c != '\t' && c != '\r' {
			pairs = append(pairs, string(rune(c)), `\x`+string(hex[c>>4])+string(hex[c&15]))
		}
	}
	return strings.NewReplacer(append(pairs, "\x7f", `\x7f`)...)
}
