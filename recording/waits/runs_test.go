package waits

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// TestEarlierRuns reads traces of testdata/runs/late.c, which releases of these days recorded: the first ones had no short events for calls that repeat
// others, and not yet what waits for nonblocking collectives and locks need. Rank 1 is late.
func TestEarlierRuns(t *testing.T) {
	type wait struct {
		Kind     Kind
		Function string
		Calls    uint64
	}
	first := []wait{{LateSender, "MPI_Recv", 3}, {AtBarrier, "MPI_Barrier", 4}}
	for day, want := range map[string][]wait{"2026-11-23": first, "2026-11-28": append(first, wait{NToN, "MPI_Wait", 3}, wait{Locked, "MPI_Win_lock", 1})} {
		run, err := recording.Open(filepath.Join("testdata", "runs", day))
		if err != nil {
			t.Fatal(err)
		}
		all := trace.Read(run, trace.Options{Flows: true})
		for range all.Events {
		}
		if n := all.Totals; n.Calls != 40 || n.Sent != 3 || n.Received != 3 || n.Unmatched+n.Ambiguous+n.LostEvents != 0 {
			t.Errorf("%s: %+v", day, n)
		}
		a := Read(run, func(*recording.Rank, uint64) string { return "" }).Analyse()
		if a.Missing != (Missing{}) {
			t.Errorf("%s: missing %+v", day, a.Missing)
		}
		got := map[wait]bool{}
		for _, kind := range want {
			calls := uint64(0)
			for _, s := range a.States {
				if s.Kind == kind.Kind && s.Function == kind.Function && s.Rank == 0 && s.For == 1 {
					calls += uint64(s.Calls)
				}
			}
			got[wait{kind.Kind, kind.Function, calls}] = true
		}
		wanted := map[wait]bool{}
		for _, w := range want {
			wanted[w] = true
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", day, diff)
		}
		run.Close()
	}
}
