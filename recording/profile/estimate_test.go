package profile

import (
	"math"
	"testing"
	"time"

	"mpitx/recording/recordingtest"
)

// The short local calls of one site: a thousand that took 40 ticks, and picked ones of the following, which took these ticks.
func local(function string, site, untimed uint64, picked ...uint64) call {
	c := call{Function: function, Stack: []uint64{site}, Untimed: untimed, Picked: uint64(len(picked))}
	for range 1000 {
		c.Durations = append(c.Durations, 40)
	}
	c.Durations = append(c.Durations, picked...)
	for _, d := range c.Durations {
		c.Ticks += d
	}
	c.Calls = uint64(len(c.Durations)) + untimed
	return c
}

func repeated(n int, ticks ...uint64) (all []uint64) {
	for range n {
		all = append(all, ticks...)
	}
	return all
}

// Known numbers: half of the picked calls took 40 ticks and half 60, so that the mean of the others is 50, and its deviation 10.
func TestEstimate(t *testing.T) {
	run := job(t, func(p *recordingtest.Profile) {
		p.Calls(local("MPI_Comm_rank", 0x10100, 7000, repeated(500, 40, 60)...),
			local("MPI_Comm_rank", 0x10200, 7000, repeated(1000, 50)...), // no deviation
			local("MPI_Comm_size", 0x10300, 5, 80, 80),                   // too few for a deviation
			local("MPI_Type_size", 0x10400, 0),
			call{Function: "MPI_Send", Calls: 3, Ticks: 300})
	})
	p := mustRead(t, run, Cut{})
	want := map[string]struct {
		calls, untimed uint64
		ticks, failure float64
	}{
		// The error of a sum of 7000, of which 1000 are known: 1.96 × 10 × √(7000 × 8000 / 1000).
		"MPI_Comm_rank": {18000, 14000, 2*(40000+50000) + 2*7000*50, 1.96 * 10 * math.Sqrt(7000*8000/1000*1000./999)},
		"MPI_Comm_size": {1007, 5, 40000 + 160 + 5*(40160./1002), 5 * (40160. / 1002)},
		"MPI_Type_size": {1000, 0, 40000, 0},
		"MPI_Send":      {3, 0, 300, 0},
	}
	sum, all := 0.0, 0.0
	for name, w := range want {
		f := function(p, name)
		if f.Calls != w.calls || f.Untimed != w.untimed || math.Abs(float64(f.Time)-w.ticks/2) > 2 || math.Abs(float64(f.TimeError)-w.failure/2) > 2 {
			t.Errorf("%s: %d calls, %d not timed, in %v ± %v; not %+v ticks of half a nanosecond", name, f.Calls, f.Untimed, f.Time, f.TimeError, w)
		}
		sum, all = math.Hypot(sum, w.failure/2), all+w.ticks/2
	}
	// Sums: of all functions, of the rank, and of its time in MPI.
	for what, got := range map[string][2]time.Duration{"total": {p.Total.Time, p.Total.TimeError}, "rank": {p.Ranks[0].Time, p.Ranks[0].TimeError},
		"in MPI": {p.InMPI(), p.InMPIError()}} {
		if math.Abs(float64(got[0])-all) > 4 || math.Abs(float64(got[1])-sum) > 4 {
			t.Errorf("%s: %v ± %v, not %v ± %v", what, got[0], got[1], all, sum)
		}
	}
	if e := p.Efficiency; math.Abs(e.Error-sum/1e9) > 1e-8 {
		t.Errorf("the error of the parallel efficiency is %v", e.Error)
	}
	// Percentiles are of all calls: most took 50 ticks.
	f := function(p, "MPI_Comm_rank")
	if n := f.Durations.Count(); n < 17990 || n > 18010 {
		t.Errorf("the histogram has %d calls", n)
	}
	equal(t, "mean", f.Mean(), f.Time/18000)
}

// A sum of squares that is too large to count leaves the error unknown: as large as the time.
func TestEstimateOverflow(t *testing.T) {
	run := job(t, func(p *recordingtest.Profile) {
		c := local("MPI_Comm_rank", 0x10100, 700, repeated(100, 50)...)
		c.Squares = math.MaxUint64
		p.Calls(c)
	})
	if f := function(mustRead(t, run, Cut{}), "MPI_Comm_rank"); f.TimeError < f.Time/2 {
		t.Errorf("%v ± %v", f.Time, f.TimeError)
	}
}
