package compare

import (
	"math"
	"testing"
	"time"
)

// TestScaling compares runs of 2 and 4 ranks that compute for a known time, and runs of which nothing may be said.
func TestScaling(t *testing.T) {
	two, four := job(10, 2, 2), job(6, 2, 2, 1, 1) // 16 s and 18 s outside of MPI
	c := pair(two, four)
	s, ok := c.Scaling()
	if !ok || s.BaseRanks != 2 || s.NewRanks != 4 || s.BaseUseful != 16*time.Second || s.NewUseful != 18*time.Second || math.Abs(s.Computation-16.0/18) > 1e-9 || math.Abs(s.PerRank-32.0/18) > 1e-9 {
		t.Errorf("%v %+v", ok, s)
	}
	if s, ok := pair(two, job(5, 1, 1)).Scaling(); ok {
		t.Errorf("as many ranks: %+v", s)
	}
	mixed := Compare([]Input{input("run1", two), input("run2", job(5, 1, 1, 1))}, []Input{input("run3", four)})
	if s, ok := mixed.Scaling(); ok {
		t.Errorf("two sizes on a side: %+v", s)
	}
}
