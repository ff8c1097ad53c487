package compare

import (
	"math"
	"testing"
	"time"

	"mpitx/recording/processor"
	"mpitx/recording/profile"
)

// ranLong is a profile of ranks that compute for some seconds each, which is known to within another number of seconds.
func ranLong(elapsed, unsure float64, seconds ...float64) *profile.Profile {
	p := job(elapsed, make([]float64, len(seconds))...)
	for i, r := range p.Ranks {
		least := time.Duration(seconds[i] * 1e9)
		r.Processor = &processor.Rank{Outside: r.Elapsed, Ran: processor.Range{Least: least, Most: least + time.Duration(unsure*1e9)}}
	}
	return p
}

// TestScaling compares runs of 2 and 4 ranks that compute for a known time, and runs of which nothing may be said.
func TestScaling(t *testing.T) {
	two, four := ranLong(10, 0, 8, 8), ranLong(6, 0, 4, 4, 5, 5) // 16 s and 18 s
	s, ok, _ := pair(two, four).Scaling()
	if !ok || s.BaseRanks != 2 || s.NewRanks != 4 || s.BaseTime != 16*time.Second || s.NewTime != 18*time.Second || math.Abs(s.Computation-16.0/18) > 1e-9 || math.Abs(s.PerRank-32.0/18) > 1e-9 || math.Abs(s.Parallel-0.75) > 1e-9 {
		t.Errorf("%v %+v", ok, s)
	}
	for name, c := range map[string]struct {
		c     *Comparison
		sizes bool
	}{
		"as many ranks":       {pair(two, ranLong(5, 0, 1, 1)), false},
		"two sizes on a side": {Compare([]Input{input("run1", two), input("run2", ranLong(5, 0, 1, 1, 1))}, []Input{input("run3", four)}), false},
		"not exactly known":   {pair(two, ranLong(6, 1, 4, 4, 5, 5)), true},
		"not known":           {pair(two, job(6, 1, 1, 1, 1)), true},
	} {
		if s, ok, sizes := c.c.Scaling(); ok || sizes != c.sizes {
			t.Errorf("%s: %v, %+v", name, sizes, s)
		}
	}
}
