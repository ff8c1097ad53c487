package samplerrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/profile"
)

// latecomers is who came last to how many observed calls, at least, by communicator and function. "": nobody is known to be the last.
var latecomers = map[string]string{
	"between MPI_Barrier":        "24: rank 3",
	"halves MPI_Barrier":         "48: rank 1, rank 2",
	"again MPI_Allreduce":        "24: rank 1",
	"roots MPI_Bcast":            "24: rank 2",
	"roots MPI_Reduce":           "24: rank 0",
	"paused MPI_Barrier":         "12: rank 0",
	"threads MPI_Barrier":        "48: ",
	"many MPI_Barrier":           "64: ",
	"MPI_COMM_WORLD MPI_Barrier": "1: ",
}

// unplanned are calls to which any rank may come last.
var unplanned = []string{"threads MPI_Barrier", "many MPI_Barrier", "MPI_COMM_WORLD MPI_Barrier"}

// arrived says so of a profile. Ranks whose core was taken away may come last once in a while.
func arrived(t *testing.T, p *profile.Profile) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, a := range p.Arrivals {
		key := a.Object.Text() + " " + a.Function
		if a.Mismatched+a.Unordered > 0 {
			t.Errorf("%s: %d mismatched, %d unordered", key, a.Mismatched, a.Unordered)
		}
		if key == "roots MPI_Barrier" || key == "between MPI_Bcast" { // after the calls that are about it; with several roots
			continue
		}
		var who []string
		for _, l := range a.Ranks {
			if !slices.Contains(unplanned, key) && l.Last*4 >= l.TookPart*3 && l.AfterSecond.Median >= 4*time.Millisecond {
				who = append(who, fmt.Sprint("rank ", l.Rank))
			}
		}
		slices.Sort(who)
		found[key] = fmt.Sprint(a.Observed+a.Unknown(), ": ", strings.Join(who, ", "))
	}
	return found
}

// All ranks keep the same calls of a communicator, whatever else they call, and know who came last.
func TestProfileArrivals(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, test := range []struct {
			name   string
			config []string
			end    string
			only   string // function
		}{{"all", nil, "", ""}, {"killed, one function, without call sites", []string{"include=MPI_Barrier", "stack=0"}, "kill", "MPI_Barrier"},
			{"two nodes", []string{"test_clock=2 5000000 50e-6 znode", fmt.Sprint("job_start_ns=", time.Now().UnixNano())}, "", ""}} {
			t.Run(test.name, func(t *testing.T) {
				r := m.start(t, 4, append([]string{"profile=record", "where=on"}, test.config...), "profile_arrivals", test.end)
				if r.run == nil {
					t.Fatalf("exit %d, no run\n%s%s", r.code, r.stdout, r.stderr)
				}
				if len(r.run.Nodes) > 1 {
					clocks.CorrectByCollectives(r.run)
				}
				p, err := profile.Read(r.run, profile.Cut{})
				if err != nil {
					t.Fatal(err)
				}
				got, want := arrived(t, p), maps.Clone(latecomers)
				if p.Ranks[0].Threads == 1 { // the library has no threads
					delete(want, "threads MPI_Barrier")
				}
				for key := range want {
					if !strings.HasSuffix(key, test.only) {
						delete(want, key)
					}
				}
				same(t, "last", got, want)
				sameCalls(t, r)
			})
		}
	})
}

// sameCalls checks that the ranks kept the same calls, those with the lowest numbers.
func sameCalls(t *testing.T, r *result) {
	t.Helper()
	kept := map[uint64]int{}
	for row := range r.run.Rows(recording.Options{ByThread: true, Table: func(t *recording.Table) bool { return t.Name == "profile arrivals" }}) {
		fields := map[string]*recording.Field{}
		for i := range row.Table.Fields {
			fields[row.Table.Fields[i].Name] = &row.Table.Fields[i]
		}
		n, _ := row.Value(fields["kept"], 0).Uint64()
		limit, _ := row.Value(fields["limit"], 0).Uint64()
		highest := uint64(0)
		for i := range int(n) {
			call, _ := row.Value(fields["instance"], i).Uint64()
			enter, _ := row.Value(fields["enter"], i).Int64()
			leave, _ := row.Value(fields["leave"], i).Int64()
			if enter <= 0 || leave < enter {
				t.Errorf("a call from %d to %d", enter, leave)
			}
			kept[call]++
			highest = max(highest, call)
		}
		if n == 64 && limit != highest || n < 64 && limit+1 != 0 {
			t.Errorf("%d calls up to %x: limit %x", n, highest, limit)
		}
	}
	most := 0
	for _, n := range kept {
		most = max(most, n)
	}
	if most != 4 {
		t.Errorf("up to %d ranks kept a call", most)
	}
}
