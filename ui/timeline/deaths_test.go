package timeline

import (
	"strings"
	"testing"

	"mpitx/recording/recordingtest"
)

// If a launcher ends all ranks after one has died, the one that was not in MPI stands out, although others have older last calls.
func TestDeaths(t *testing.T) {
	barrier := func(begin, end uint64) recordingtest.TraceEvent {
		return recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: begin * ms, End: end * ms, Object: 1, Peer: none, Tag: none}
	}
	u := sit(t, endedRanks(t, [2]func(x *recordingtest.Trace){func(x *recordingtest.Trace) {
		x.Add(barrier(10, 20))
		x.Open("MPI_Barrier", 2, 30*ms, 300*ms)
	}, func(x *recordingtest.Trace) {
		x.Add(barrier(10, 21))
		x.Outside("MPI_Barrier", 1, 21*ms, 22*ms)
		x.Stream.Counters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 12, 1) // refused memory
	}}, false), Options{}, utf8, 100, 30)
	u.sees("! died: ranks 0-1 (rank 1 outside of MPI)", "! incomplete: rank 1")
	u.press("L")
	u.sees("rank 1 was not in MPI when it died: its last complete call is MPI_Barrier, which ended at", "rank 0 was in MPI_Barrier when it died",
		"rank 1: the recording is incomplete; calls or messages may be missing")

	u = sit(t, story(t), Options{}, utf8, 100, 30)
	if s := u.screen(); !strings.Contains(s, "! died: rank 3  ") {
		t.Errorf("the trace does not say where rank 3 was:\n%s", s)
	}
	u.press("L")
	u.sees("rank 3: its last complete call is MPI_Allreduce, which ended at 0.275000000 s")
}
