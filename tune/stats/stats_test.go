package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The cuts are those of the published tables of Wilcoxon's signed rank test (two-sided levels of 5 % and 1 %).
func TestTable(t *testing.T) {
	for _, c := range []struct {
		n                  int
		percent5, percent1 int
	}{{5, -1, -1}, {6, 0, -1}, {7, 2, -1}, {8, 3, 0}, {10, 8, 3}, {15, 25, 15}, {20, 52, 37}, {25, 89, 68}, {50, 434, 373}} {
		if got5, got1 := below(c.n, 0.025), below(c.n, 0.005); got5 != c.percent5 || got1 != c.percent1 {
			t.Errorf("n %d: %d and %d, want %d and %d", c.n, got5, got1, c.percent5, c.percent1)
		}
	}
	exact := 0.0
	for k, p := range ways(60) {
		if k > below(60, 0.025) {
			break
		}
		exact += p
	}
	if math.Abs(exact-0.025) > 0.001 {
		t.Errorf("60 pairs: %v", exact)
	}
	for alpha, n := range map[float64]int{0.05: 6, 0.01: 8, 0.0125: 8, 0.5: 2} {
		if Fewest(alpha) != n || !SignedRank(make([]float64, n), alpha).Known || SignedRank(make([]float64, n-1), alpha).Known {
			t.Errorf("fewest pairs for %v: %d, want %d", alpha, Fewest(alpha), n)
		}
	}
}

// The interval contains the change, moves with the differences, and turns around with them.
func TestInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 40).Draw(t, "differences")
		alpha := rapid.SampledFrom([]float64{0.05, 0.01, 0.2}).Draw(t, "alpha")
		i := SignedRank(d, alpha)
		shifted, turned := make([]float64, len(d)), make([]float64, len(d))
		for k, x := range d {
			shifted[k], turned[k] = x+3, -x
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if i.Known && (i.Low > i.Change || i.Change > i.High) {
			t.Fatalf("%+v", i)
		}
		if s := SignedRank(shifted, alpha); i.Known && (!near(s.Low, i.Low+3) || !near(s.High, i.High+3)) || !near(s.Change, i.Change+3) {
			t.Fatalf("%+v and %+v", i, s)
		}
		if s := SignedRank(turned, alpha); i.Known && (!near(s.Low, -i.High) || !near(s.High, -i.Low)) {
			t.Fatalf("%+v and %+v", i, s)
		}
	})
}

// Differences without a change, with some far out, show one in at most alpha of the cases; with a change, as often as Power says.
func TestPower(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const times = 4000
	share := func(change float64, n int, alpha float64, draw func() float64) float64 {
		shown := 0
		for range times {
			d := make([]float64, n)
			for k := range d {
				d[k] = change + draw()
			}
			if i := SignedRank(d, alpha); i.Known && (i.Low > 0 || i.High < 0) {
				shown++
			}
		}
		return float64(shown) / times
	}
	heavy := func() float64 { return math.Tan(math.Pi * (r.Float64() - 0.5)) }
	for _, n := range []int{8, 12, 30} {
		if got := share(0, n, 0.05, heavy); got > 0.06 {
			t.Errorf("%d pairs without a change: shown in %v", n, got)
		}
		for _, change := range []float64{0.5, 1} {
			if got, want := share(change, n, 0.05, r.NormFloat64), Power(change, 1, 0.05, n); math.Abs(got-want) > 0.03 && (n > 10 || got < want || got-want > 0.1) { // of few pairs, it says too little
				t.Errorf("%d pairs, a change of %v: shown in %v, want %v", n, change, got, want)
			}
		}
	}
	if n := Pairs(0.5, 1, 0.05, 0.8, 1000); Power(0.5, 1, 0.05, n) < 0.8 || Power(0.5, 1, 0.05, n-1) >= 0.8 {
		t.Errorf("%d pairs are not the fewest", n)
	}
	if d := Deviation([]float64{1, 2, 3, 4, 100}); math.Abs(d-1.4826) > 1e-9 {
		t.Errorf("deviation %v", d)
	}
}
