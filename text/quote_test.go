package text

import (
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// So does a POSIX shell that reads what QuotePOSIX wrote.
func TestQuotePOSIX(t *testing.T) {
	for _, name := range []string{"dash", "bash"} {
		shell, err := exec.LookPath(name)
		if err != nil || runtime.GOOS == "windows" {
			need.Missing(t, "%s is not installed", name)
		}
		for _, s := range []string{"", "a", "a b", "it's", `\`, "$HOME", "`x`", "*", "a\nb", "\n", "a\n\n", "\t'\\\x1b[0m\x7f\n\n", "ä", "é\x01f", "\xff 100%d\x1b0", "a\u202eb",
			"\"\x1b$(x)'\\1", "%s\n\x07"} {
			word := QuotePOSIX(s)
			for _, line := range []string{"printf '%s' " + word, "V=" + word + "; printf %s \"$V\"", "export V=" + word + "; printenv V | head -c -1"} {
				out, err := exec.Command(shell, "-c", line).Output()
				if err != nil || string(out) != s {
					t.Errorf("%s: QuotePOSIX gives %s, %s %q, %v", strconv.Quote(s), word, name, out, err)
				}
			}
			if !Shows(strings.ReplaceAll(word, "\n", ""), false) {
				t.Errorf("%q acts on the terminal", word)
			}
		}
	}
}

// A shell that reads what Quote wrote gives back the same text.
func TestQuote(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		need.Missing(t, "bash is not installed")
	}
	for _, s := range []string{"", "a", "a b", "it's", `\`, "$HOME", "`x`", "*", "~", "a\nb", "\t'\\\x1b[0m\x7f", "ä", "a;b", "!", "--x=1", "#", "\xff b", "a\xe2\x80",
		"a\u202eb", "é\x01f", "\u00a0", `\x41`, "\x7f0"} {
		for _, ascii := range []bool{false, true} {
			word := quote(s, ascii)
			out, err := exec.Command(bash, "-c", "printf %s "+word).Output()
			if err != nil || string(out) != s {
				t.Errorf("%s: quote gives %s, the shell %s, %v", strconv.Quote(s), word, strconv.Quote(string(out)), err)
			}
			if !Shows(word, ascii) {
				t.Errorf("%s: quote gives %s, which acts on the terminal", strconv.Quote(s), strconv.Quote(word))
			}
		}
	}
}
