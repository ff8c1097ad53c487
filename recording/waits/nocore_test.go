package waits

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNoCore checks for how long regions may have had no core, from samples.
func TestNoCore(t *testing.T) {
	m := newMachine(2)
	m.compute(0, 1000)
	m.call(0, "MPI_Comm_rank", "c", 1999) // until 2000
	m.compute(0, 500)
	m.together("MPI_Barrier", "b", -1) // rank 1 waits from 0 to 2500
	const never, ever = math.MinInt64, math.MaxInt64
	for _, c := range []struct {
		name  string
		waits []coreWait
		want  []string
	}{
		{"all is known", []coreWait{{never, 0, ever}, {100, 900, 300}, {2501, ever, ever}}, []string{"computation c 300", "call c 0", "computation b 0"}},
		{"it may have been in either", []coreWait{{never, 0, ever}, {900, 1100, 150}, {2501, ever, ever}}, []string{"computation c 150", "call c 100", "computation b 0"}},
		{"in both one after the other", []coreWait{{never, 0, ever}, {0, 1000, 10}, {1000, 2000, 20}, {2000, 2200, 30}, {2501, ever, ever}}, []string{"computation c 10", "call c 20", "computation b 30"}},
		{"not longer than it has lasted", []coreWait{{never, 0, ever}, {0, 2501, 1 << 40}, {2501, ever, ever}}, []string{"computation c 1000", "call c 1000", "computation b 500"}},
		{"before the first sample, and after the last one", []coreWait{{never, 700, ever}, {2300, ever, ever}}, []string{"computation c 700", "call c 0", "computation b 500"}},
	} {
		a := m.Analyse()
		a.withoutCore(map[int][]coreWait{0: c.waits})
		var got []string
		for _, what := range []string{"computation c", "call c", "computation b"} {
			for _, cause := range a.Causes {
				if fmt.Sprint(cause.What, " ", cause.Place) == what {
					got = append(got, fmt.Sprint(what, " ", int64(*cause.NoCore)))
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		for _, s := range a.Rest {
			if s.Rank == 1 && s.NoCore != nil || s.Rank == 0 && (s.NoCore == nil || *s.NoCore > s.Waiting) {
				t.Errorf("%s: rank %d, %s: %v of %v", c.name, s.Rank, s.Function, s.NoCore, s.Waiting)
			}
		}
	}
	a := m.Analyse()
	a.noCore = map[int]noCore{0: {computing: 2000, calling: 2000}}
	for _, c := range []struct {
		waits []coreWait
		want  string
	}{
		{nil, "; rank 0 was ready to run without a core for up to 2.00 µs, which may be a part of it"},
		{[]coreWait{{0, 3000, 0}}, ""},
		{[]coreWait{{0, 1000, 900}}, "; rank 0 was ready to run without a core there for up to 900 ns, which may be a part of it"},
	} {
		a.withoutCore(map[int][]coreWait{0: c.waits})
		said := a.costs([]Cause{*causeAt(a, Computing, "c")}).Text
		want := "rank 0 computes 1.00 µs longer than others before MPI_Comm_rank in c; that costs 1.00 µs of waiting, 40.0 % of all waiting; rank 1 waited for it directly" + c.want
		if said != want {
			t.Errorf("%q, want %q", said, want)
		}
	}
}

func causeAt(a *Analysis, what, place string) *Cause {
	for i := range a.Causes {
		if c := &a.Causes[i]; c.What == what && c.Place == place {
			return c
		}
	}
	return &Cause{NoCore: new(time.Duration)}
}
