package text

import (
	"math"
	"testing"
	"time"
)

// All amounts of one size look alike, and rounding never shows the next unit's number in the smaller unit ("1000 ms").
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		x                float64
		unit, four, want string
	}{
		{0, "ns", "0 ns", "0 ns"}, {160, "ns", "160 ns", "160 ns"}, {999, "ns", "999 ns", "999 ns"}, {1000, "ns", "1.000 µs", "1.00 µs"},
		{12345, "ns", "12.35 µs", "12.3 µs"}, {123456, "ns", "123.5 µs", "123 µs"}, {999600, "ns", "999.6 µs", "1.00 ms"}, {999970, "ns", "1.000 ms", "1.00 ms"},
		{1.5e9, "ns", "1.500 s", "1.50 s"}, {43e6, "B/s", "43.00 MB/s", ""}, {21761408, "B", "21.76 MB", ""}, {1234567, "", "1234567", ""},
	} {
		if got := Amount(c.x, c.unit); got != c.four {
			t.Errorf("%v %s: %q, not %q", c.x, c.unit, got, c.four)
		}
		if got := Duration(time.Duration(c.x)); c.unit == "ns" && got != c.want {
			t.Errorf("%v ns: %q, not %q", c.x, got, c.want)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		1204 * time.Millisecond: {"1.20 s", "1.2 s"}, 99400 * time.Millisecond: {"99.4 s", "99 s"}, 125 * time.Second: {"2m5s", "2m5s"},
		120 * time.Second: {"2m", "2m"}, time.Hour: {"1h", "1h"}, 90*time.Minute + 20*time.Second: {"1h30m", "1h30m"},
	} {
		if got := [2]string{Duration(d), RoughDuration(d)}; got != want {
			t.Errorf("%d: %q, not %q", d, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	for part, want := range map[float64][2]string{
		0: {"0.0 %", "0 %"}, 0.0001: {"<0.1 %", "under 1 %"}, 0.353: {"35.3 %", "35 %"}, 0.999: {"99.9 %", "over 99 %"}, 1: {"100.0 %", "100 %"},
	} {
		if got := [2]string{Percent(part), RoughPercent(part)}; got != want {
			t.Errorf("%v: %q, not %q", part, got, want)
		}
	}
	if Percent(math.NaN()) != "-" || RoughPercent(math.NaN()) != "-" {
		t.Error("a part that is not known")
	}
}

func TestCounts(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 2: "2 entries"} {
		if got := Count(n, "entry"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if got := Count(uint64(2), "key"); got != "2 keys" {
		t.Error(got)
	}
}
