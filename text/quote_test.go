package text

import (
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"mpitx/fixtures/need"
)

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
