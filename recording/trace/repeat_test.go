package trace

import (
	"testing"
	"time"

	"mpitx/recording/recordingtest"
)

// saveRepeats writes two chunks of one thread with the same sends. Those of the second chunk repeat a call of the second chunk, or of the
// first one, which a writer must not do.
func saveRepeats(dir string, whole bool) error {
	s := recordingtest.NewStream(1, 0)
	s.Capacity = 1 << 16
	s.Header(recordingtest.Header{Rank: 0, Size: 1, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
	s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
	t := recordingtest.NewTrace(s)
	t.Objects(recordingtest.Object{ID: 1, Size: 1, Name: "MPI_COMM_WORLD", Group: 1})
	for n := range uint64(6) {
		t.Add(recordingtest.TraceEvent{Function: "MPI_Isend", Begin: 2000 + 100*n, End: 2010 + 101*n, Site: 0x400100, Bytes: 8, Object: 1, Tag: 7, Request: uint32(n + 1), Sequence: uint32(n + 1), Flags: recordingtest.TraceSent})
		if n == 2 {
			t.Write(1, 100)
		}
		if n == 2 && !whole {
			t.Repeats(recordingtest.TraceEvent{Function: "MPI_Isend", Site: 0x400100, Bytes: 8, Object: 1, Tag: 7, Flags: recordingtest.TraceSent}, 9)
		}
	}
	t.Write(1, 100)
	s.Clock(5000, 5000, 1_700_000_000_000_004_000, 0)
	s.End(1)
	s.Seal()
	return recordingtest.Save(dir, "node1", s.Out)
}

// Calls that are written in short have all that was equal, and times, requests and numbers of their own.
func TestRepeats(t *testing.T) {
	run := open(t, func(dir string) error { return saveRepeats(dir, true) })
	n := 0
	for e := range Read(run, Options{}).Events {
		if e.Call == nil {
			continue
		}
		c := e.Call
		if want := time.Duration(1000 + 100*n); c.Begin != want || c.End-c.Begin != time.Duration(10+n) {
			t.Errorf("call %d from %d to %d, want %d and %d more", n, c.Begin, c.End, want, 10+n)
		}
		if n++; len(c.Messages) != 1 || c.Function != "MPI_Isend" || c.Site != 0x400100 || c.Bytes != 8 || c.Tag != 7 || c.Request != uint32(n) || c.Messages[0].Sequence != uint32(n) || c.Depth != 0 {
			t.Errorf("%+v", c)
		}
	}
	if n != 6 {
		t.Errorf("%d calls", n)
	}
}

// A call that repeats an unknown one counts as lost.
func TestRepeatsUnknown(t *testing.T) {
	run := open(t, func(dir string) error { return saveRepeats(dir, false) })
	for _, flows := range []bool{false, true} {
		all, n := Read(run, Options{Flows: flows}), uint64(0)
		for e := range all.Events {
			if e.Call != nil {
				n++
			}
		}
		if n != 3 || all.Totals.Calls != 3 || all.Totals.LostEvents != 3 {
			t.Errorf("%d calls, %+v", n, all.Totals)
		}
	}
}
