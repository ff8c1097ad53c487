package perfetto

import (
	"bytes"
	"testing"
	"time"

	"mpitx/export/perfetto/perfettotest"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/trace"
	"mpitx/recording/waits"
)

// Waits and the critical path have tracks of their own, if the whole trace is written.
func TestWaits(t *testing.T) {
	run := opened(t, 100, recordingtest.SaveTrace)
	a := waits.Read(run, func(*recording.Rank, uint64) string { return "" }).Analyse()
	if a.Waiting == 0 {
		t.Fatal("no waits")
	}
	sums := func(o Options) (waiting, path time.Duration) {
		var b bytes.Buffer
		if _, err := Write(&b, run, o); err != nil {
			t.Fatal(err)
		}
		all, _ := perfettotest.Read(t, b.Bytes())
		for _, s := range all {
			switch s.Category {
			case "wait":
				waiting += time.Duration(s.End - s.Begin)
				if s.Name != "late sender, wrong order" || s.Args["in"] != "MPI_Wait, phase solve" || s.Args["for rank"] != "0" || s.Args["which was before"] != "MPI_Send, phase solve" || s.Thread != "rank 1 (node1)/waits of thread 101" {
					t.Errorf("%+v", s)
				}
			case "critical path":
				path += time.Duration(s.End - s.Begin)
			}
		}
		return waiting, path
	}
	if waiting, path := sums(Options{}); waiting != a.Waiting || path != a.Run {
		t.Errorf("waits of %d, a path of %d; want %d, %d", waiting, path, a.Waiting, a.Run)
	}
	first := trace.Options{Rank: func(r *recording.Rank) bool { return r.Rank == 0 }}
	if waiting, path := sums(Options{Options: first}); waiting != 0 || path != 0 {
		t.Errorf("of rank 0: waits of %d, a path of %d", waiting, path)
	}
}
