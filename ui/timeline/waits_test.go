package timeline

import (
	"strings"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// waited is a screen of a run in which rank 1 waits from 20 to 60 ms for rank 0, and rank 0 from 70 to 90 ms for rank 1.
func waited(t *testing.T) *user {
	run := twoRanks(t, [2]func(x *recordingtest.Trace){
		func(x *recordingtest.Trace) {
			x.Add(recordingtest.TraceEvent{Function: "MPI_Init", Begin: 1 * ms, End: 10 * ms, Site: 0x400100, Peer: none, Tag: none})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: 60 * ms, End: 61 * ms, Site: 0x400120, Bytes: 8, Object: 1, Peer: 1, Tag: 5, Sequence: 1, Flags: sent})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 70 * ms, End: 91 * ms, Site: 0x400130, Object: 1, Peer: none, Tag: none})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Finalize", Begin: 100 * ms, End: 100 * ms, Site: 0x400170, Peer: none, Tag: none})
		},
		func(x *recordingtest.Trace) {
			x.Add(recordingtest.TraceEvent{Function: "MPI_Init", Begin: 1 * ms, End: 10 * ms, Site: 0x400100, Peer: none, Tag: none})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Recv", Begin: 20 * ms, End: 62 * ms, Site: 0x400140, Bytes: 8, Object: 1, Peer: 0, Tag: 5, Sequence: 1, Flags: received | posts})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 90 * ms, End: 91 * ms, Site: 0x400130, Object: 1, Peer: none, Tag: none})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Finalize", Begin: 100 * ms, End: 100 * ms, Site: 0x400170, Peer: none, Tag: none})
		},
	})
	u := sit(t, run, Options{At: 30 * time.Millisecond}, utf8, 80, 24)
	u.press("down", "w")
	for u.m.frame.Waits == nil || !u.m.frame.Waits.Ended {
		u.m.feed.analyst.take(true)
		u.press("r")
	}
	return u
}

// Cells show waits by kind and the critical path as a line.
func TestWaits(t *testing.T) {
	u := waited(t)
	u.sees("S late sender", "B wait at barrier", "━ critical path", "waits 40.00 ms  late sender  for rank 0  until it is in MPI_Send", "Enter goes there")
	for row, want := range [][]string{{"━━━", "BBB"}, {"SSS", "━━━"}} {
		line := u.m.row(row)
		for _, w := range want {
			if !strings.Contains(line, w) {
				t.Errorf("row %d has no %s: %s", row, w, line)
			}
		}
	}
	u.golden("waits")
	if u.press("w"); u.m.frame.Waits != nil || strings.Contains(u.screen(), "critical path ") {
		t.Errorf("waits are still shown:\n%s", u.screen())
	}
}

// Enter goes from a wait to the call that it waited for, Backspace back; c and C go along the critical path.
func TestToTheCause(t *testing.T) {
	u := waited(t)
	place := u.m.frame.Place
	u.press("enter")
	u.sees("── rank 0", "MPI_Send  took 1.000 ms", "critical path")
	if u.m.frame.Place.Time != 60*time.Millisecond {
		t.Errorf("at %v", u.m.frame.Place.Time)
	}
	u.press("backspace")
	if u.m.frame.Place.Track != place.Track || u.m.frame.Place.Time != place.Time {
		t.Errorf("back at %+v, not %+v", u.m.frame.Place, place)
	}
	u.press("backspace")
	u.sees("there is no wait to go back to")
	for _, step := range []struct {
		key  string
		rank int
		at   time.Duration
	}{{"c", 1, 60 * time.Millisecond}, {"C", 0, 10 * time.Millisecond}, {"c", 1, 60 * time.Millisecond}} {
		if u.press(step.key); u.m.frame.Place.Track.Rank.Rank != step.rank || u.m.frame.Place.Time != step.at {
			t.Errorf("%s goes to rank %d, %v", step.key, u.m.frame.Place.Track.Rank.Rank, u.m.frame.Place.Time)
		}
	}
}

// What cannot be shown is said.
func TestWaitsOfOtherRanks(t *testing.T) {
	u := waited(t)
	only := sit(t, mustOpen(t, u.m.feed.run.Dir), Options{At: 30 * time.Millisecond, Rank: func(r *recording.Rank) bool { return r.Rank == 1 }}, utf8, 80, 24)
	only.press("w")
	only.m.feed.analyst.take(true)
	only.press("r", "enter")
	only.sees("it is on a rank that --rank leaves out")
}

func mustOpen(t *testing.T, dir string) *recording.Run {
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}
