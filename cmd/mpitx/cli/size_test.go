//go:build cgo && linux

package cli

import "testing"

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "500M": 500 << 20, "2G": 2 << 30, "1.5k": 1536, "64KiB": 64 << 10, "1TB": 1 << 40,
		"": 0, "0": 0, "-1": 0, "M": 0, "1X": 0, "1e30": 0, "NaN": 0, "1MM": 0} {
		got, err := ParseSize(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}
