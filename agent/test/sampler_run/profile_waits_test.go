package samplerrun

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// For whom calls wait: in each function, rank 3 waits for one or two known ranks, five times unless it comes late itself.
func TestProfileWaits(t *testing.T) {
	const shared = "1 2 together"
	want := map[string]string{"MPI_Recv": "2", "MPI_Wait": "1", "MPI_Waitall": shared, "MPI_Ssend": "0", "MPI_Waitany": "0", "MPI_Probe": "2", "MPI_Sendrecv": "1"}
	each(t, func(t *testing.T, m *mpi) {
		for _, stack := range []string{"0", "1", "3"} {
			r := m.start(t, 4, []string{"profile=record", "stack=" + stack}, "profile_waits")
			got, sites := map[string][]string{}, map[string]bool{}
			for _, row := range r.table(t, 3, "profile calls") {
				if stack != "0" {
					sites[row.text("function")+row.text("stack")] = true
				}
			}
			for _, row := range r.table(t, 3, "profile waits") {
				function, peer := row.text("function"), row.text("rank")
				calls, ticks := row.number("calls"), row.number("ticks")
				if want[function] == shared {
					if calls > 0 {
						peer += " alone"
					}
					calls, ticks = row.number("shared_calls"), row.number("shared_ticks")
				}
				if calls < 1 || calls > 10 || float64(ticks)*r.run.Ranks[3].NsPerTick < 1900*float64(calls) || row.text("job") != "0" || row.text("phase") != "" {
					t.Errorf("stack %s: %v", stack, row)
				}
				if stack != "0" && !sites[function+row.text("stack")] {
					t.Errorf("stack %s: no calls of %v", stack, row)
				}
				if !slices.Contains(got[function], peer) {
					got[function] = append(got[function], peer)
				}
			}
			texts := map[string]string{}
			for function, peers := range got {
				slices.Sort(peers)
				texts[function] = strings.Join(peers, " ")
				if want[function] == shared {
					texts[function] += " together"
				}
			}
			if !maps.Equal(texts, want) {
				t.Errorf("stack %s: rank 3 waits for %v, not %v", stack, texts, want)
			}
		}
	})
}
