//go:build cgo && linux

package rules

import "testing"

// A text that was cut says so.
func TestExcerpt(t *testing.T) {
	for _, test := range []struct{ text, want string }{{"", `""`}, {"abc\x00", `"abc\x00"`}, {"abcde", `"abcd"…`}} {
		if got := excerpt(test.text, 4); got != test.want {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
}
