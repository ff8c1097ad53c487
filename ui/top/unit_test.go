package top

import (
	"math"
	"testing"
)

// Times and bytes have their units; a time per second is a share.
func TestAmount(t *testing.T) {
	for _, k := range []struct {
		x    float64
		unit string
		want string
	}{
		{23.3e6, "ns", "23.3ms"}, {950, "ns", "950ns"}, {1500, "ns", "1.5µs"}, {2.5e9, "ns", "2.5s"}, {2.5, "s", "2.5s"}, {23.3e6, "ns/s", "2.3 %"},
		{0.5, "s/s", "50.0 %"}, {151e3, "B", "151kB"}, {151e3, "B/s", "151kB"}, {12, "", "12"}, {1500, "/s", "1.5k"}, {0, "ns", "0"}, {math.NaN(), "B", "-"},
	} {
		if got := amount(k.x, k.unit); got != k.want {
			t.Errorf("%g %s: %s, want %s", k.x, k.unit, got, k.want)
		}
	}
}

// At an axis also zero has its unit.
func TestLabels(t *testing.T) {
	for _, k := range []struct {
		x    float64
		unit string
		want string
	}{
		{0, "ns", "0s"}, {12e9, "ns", "12s"}, {0, "ns/s", "0.0 %"}, {1e9, "ns/s", "100.0 %"}, {0, "B", "0B"}, {2e6, "B", "2MB"}, {0, "B/s", "0B/s"}, {2e6, "B/s", "2MB/s"},
		{0, "", "0"}, {0, "/s", "0/s"}, {600, "/s", "600/s"}, {math.NaN(), "B/s", "-"},
	} {
		if got := labelled(k.x, k.unit); got != k.want {
			t.Errorf("%g %s: %s, want %s", k.x, k.unit, got, k.want)
		}
	}
}
