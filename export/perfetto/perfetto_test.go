package perfetto

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mpitx/export/perfetto/perfettotest"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/trace"
)

func written(t testing.TB, rounds int) ([]*perfettotest.Slice, trace.Totals) {
	t.Helper()
	run := opened(t, rounds, recordingtest.SaveTrace)
	var b bytes.Buffer
	totals, err := Write(&b, run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := perfettotest.Read(t, b.Bytes())
	return all, totals
}

func opened(t testing.TB, rounds int, save func(dir string, rounds int) error) *recording.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := save(dir, rounds); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

// Protobuf's decoder reads the trace; every flow connects one send with its receive; slices nest.
func TestTrace(t *testing.T) {
	const rounds = 100
	all, totals := written(t, rounds)
	flows := perfettotest.Flows(t, all)
	if len(flows) != rounds || totals.Flows != rounds {
		t.Fatalf("%d flows of %d", len(flows), totals.Flows)
	}
	for id, f := range flows {
		if f.From.Name != "MPI_Send" || f.To.Name != "MPI_Wait" || f.From.Args["bytes"] != f.To.Args["bytes"] || f.From.Thread == f.To.Thread || f.From.Begin >= f.To.End {
			t.Fatalf("flow %x from %+v to %+v", id, f.From, f.To)
		}
	}
	send := all[slices.IndexFunc(all, func(s *perfettotest.Slice) bool { return s.Name == "MPI_Send" })]
	if got, want := fmt.Sprint(send.Args), "map[bytes:1 call site:0x400120 comm:MPI_COMM_WORLD peer:1 tag:7]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprint(send.Thread, send.Category, send.End-send.Begin, send.Depth), "rank 0 (node1)/thread 100mpi500 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Phases are around the calls that belong to them, a nested call is in its outer one, and events of other sources and losses are instants.
func TestNesting(t *testing.T) {
	all, _ := written(t, 4)
	depths := map[string]int{"MPI_Init": 0, "MPI_Pcontrol": 0, "solve": 0, "MPI_Wait": 1, "MPI_Allreduce": 1, "MPI_Comm_rank": 2, "MPI_Finalize": 0, "queued": 1, "events lost": 1}
	seen := map[string]bool{}
	for _, s := range all {
		if want, ok := depths[s.Name]; ok {
			if seen[s.Name] = true; s.Depth != want {
				t.Errorf("%+v, want depth %d", s, want)
			}
			if raised := s.Args["raised_ns"]; s.Name == "queued" && raised != "3003" {
				t.Errorf("raised at %q", raised)
			}
		}
	}
	if len(seen) != len(depths) {
		t.Errorf("seen %v", seen)
	}
}
