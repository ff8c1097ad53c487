package text

import (
	"testing"

	"pgregory.net/rapid"
)

// What is quoted for a shell is read back, and what a shell would expand is refused.
func TestUnquotePOSIX(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[ -~]*`).Draw(t, "text")
		if got, ok := UnquotePOSIX(QuotePOSIX(s)); !ok || got != s {
			t.Fatalf("%q became %q, %v", s, got, ok)
		}
	})
	for _, word := range []string{"$HOME", "a b", `"a"`, "`a`", "$(a)", "'a", "a;b", `a\`, "a#"} {
		if got, ok := UnquotePOSIX(word); ok {
			t.Errorf("%q became %q", word, got)
		}
	}
}
