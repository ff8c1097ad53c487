package samplerrun

import (
	"path/filepath"
	"testing"

	"mpitx/recording"
)

// recorded is the null tool's record of a rank: events and, in its table, calls by function.
type recorded struct {
	events map[string]uint64
	lost   uint64
	calls  map[string]uint64
}

func (r *result) recorded(t *testing.T) map[int]*recorded {
	t.Helper()
	ranks := map[int]*recorded{}
	of := func(k *recording.Rank) *recorded {
		if ranks[k.Rank] == nil {
			ranks[k.Rank] = &recorded{map[string]uint64{}, 0, map[string]uint64{}}
		}
		return ranks[k.Rank]
	}
	for e := range r.run.Events(recording.Options{}) {
		if e.Type == nil {
			of(e.Rank).lost += e.Lost
			continue
		}
		if e.Type.Name != "null call" {
			t.Fatalf("an event of type %q", e.Type.Name)
		}
		of(e.Rank).events[e.Values[0].String()]++
	}
	for _, k := range r.run.Ranks {
		only := func(other *recording.Rank) bool { return other == k }
		table := func(t *recording.Table) bool { return t.Name != "processor" } // which each run has
		for row := range r.run.Rows(recording.Options{Rank: only, Table: table}) {
			if row.Table.Name != "null functions" || row.Torn {
				t.Errorf("rank %d: %+v", k.Rank, row)
			}
			calls, _ := row.Values()[1].Uint64()
			of(k).calls[row.Values()[0].String()] += calls
		}
	}
	return ranks
}

// The template tool records events and a table. They are complete after a normal end, MPI_Abort and SIGKILL, and with a full disk, where
// the table has every call.
func TestNullRecords(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		t.Run("finalize", func(t *testing.T) {
			r := m.start(t, 2, []string{"null=record"}, "sampler_exec", "-")
			for rank, got := range r.recorded(t) {
				if got.lost != 0 || got.events["MPI_Init"]+got.events["MPI_Init_thread"] != 1 {
					t.Errorf("rank %d: %+v", rank, got)
				}
				for function, calls := range got.calls {
					if got.events[function] != calls {
						t.Errorf("rank %d: %s: %d events, %d calls", rank, function, got.events[function], calls)
					}
				}
			}
		})
		for _, end := range []string{"kill", "abort"} {
			t.Run(end, func(t *testing.T) {
				ranks := m.start(t, 2, []string{"null=record"}, "sampler_pingpong", "0.1", end).recorded(t)
				if len(ranks) != 2 {
					t.Fatalf("%d ranks", len(ranks))
				}
				for rank, got := range ranks {
					for _, function := range []string{"MPI_Send", "MPI_Recv"} { // it may have been killed in one of the two
						if calls, events := got.calls[function], got.events[function]; calls == 0 || events < calls || events > calls+1 || got.lost != 0 {
							t.Errorf("rank %d: %s: %d events, %d calls, %d lost", rank, function, events, calls, got.lost)
						}
					}
				}
			})
		}
		t.Run("full disk", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			mount(t, dir, 0, "size=64k")
			r := m.run(t, job{n: 2, config: []string{"null=record", "close_wait_ms=200"}, program: []string{m.compile(t, "sampler_exec.c"), "flood"}, dir: dir})
			for rank, got := range r.recorded(t) {
				if got.calls["MPI_Sendrecv"] != floods || got.events["MPI_Sendrecv"]+got.lost < floods {
					t.Errorf("rank %d: %d calls, %d events, %d lost", rank, got.calls["MPI_Sendrecv"], got.events["MPI_Sendrecv"], got.lost)
				}
			}
		})
	})
}
