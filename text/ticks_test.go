package text

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		want      string
	}{
		{0, 100, 6, "[0 20 40 60 80 100]"}, {0, 0.3, 4, "[0 0.1 0.2 0.3]"}, {-5, 5, 3, "[-5 0 5]"}, {3, 3, 5, "[3]"}, {0, 1, 1, "[]"},
		{math.NaN(), 1, 5, "[]"}, {1, 0, 5, "[]"}, {0, math.Inf(1), 5, "[]"},
	} {
		if s := fmt.Sprintf("%.3g", Ticks(c.low, c.high, c.n)); s != c.want {
			t.Errorf("Ticks(%v, %v, %d) = %s, not %s", c.low, c.high, c.n, s, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		low, high, n := min(a, b), max(a, b), rapid.IntRange(0, 20).Draw(t, "n")
		ticks := Ticks(low, high, n)
		if len(ticks) > max(n, 0) {
			t.Errorf("%d ticks of %d", len(ticks), n)
		}
		for i, x := range ticks {
			if x < low || x > high || i > 0 && x < ticks[i-1] || math.IsNaN(x) {
				t.Errorf("ticks %v of %v to %v", ticks, low, high)
			}
		}
	})
}
