package text

import (
	"strings"
	"testing"
	"time"
)

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a", true}, {"a", "A", true}, {"A", "a", true},
		{"btl_*", "btl_tcp_if", true}, {"btl_*", "xbtl_", false}, {"*tcp*", "btl_tcp_if", true}, {"*tcp", "btl_tcp_if", false},
		{"a*b*c", "aXbYc", true}, {"a*b*c", "aXcYb", false}, {"a**c", "abc", true}, {"?", "é", true}, {"??", "é", false},
		{"[abc]", "b", true}, {"[!abc]", "b", false}, {"[^abc]", "d", true}, {"[a-c]x", "Bx", true}, {"[]]", "]", true},
		{"[a-]", "-", true}, {"a[0]", "a[0]", true}, {"a[0]", "a0", true}, {`a\*`, "a*", true}, {`a\*`, "ab", false},
		{"a\xff*", "a\xffb", true}, {"a\xff*", "a\xfeb", false}, {"MPIR_cvar*", "MPIR_CVAR_X", true},
	} {
		g, err := CompileGlob(test.pattern)
		if err != nil {
			t.Errorf("%q: %v", test.pattern, err)
		}
		if got := g.Match(test.name); got != test.want {
			t.Errorf("%q matches %q: %v", test.pattern, test.name, got)
		}
	}
	for _, bad := range []string{"[", "a[b", "[]", `a\`, "[!"} {
		if _, err := CompileGlob(bad); err == nil || !strings.Contains(err.Error(), "pattern") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	g, _ := CompileGlob(strings.Repeat("*a", 50))
	done := make(chan bool)
	go func() { done <- g.Match(strings.Repeat("a", 10000) + "b") }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("a pattern with many stars takes exponential time")
	}
}
