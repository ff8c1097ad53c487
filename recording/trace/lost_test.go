package trace

import (
	"slices"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// saveRanks writes the traces of two ranks. add adds the events of each. end is how the processes ended; 0: it is not known.
func saveRanks(dir string, end uint32, add func(rank int32, t *recordingtest.Trace)) error {
	var chunks []byte
	for rank := range int32(2) {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Capacity = 1 << 16
		s.Header(recordingtest.Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
		s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
		t := recordingtest.NewTrace(s)
		t.Objects(recordingtest.Object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 1})
		add(rank, t)
		t.Write(1, uint64(100+rank))
		s.Clock(5000, 5000, 1_700_000_000_000_004_000, 0)
		if end != 0 {
			s.End(end)
		}
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return recordingtest.Save(dir, "node1", chunks)
}

// saveLostPost writes three sends and their receives, which complete in another order than they were posted. The post of the first is lost.
func saveLostPost(dir string) error {
	return saveRanks(dir, 1, func(rank int32, t *recordingtest.Trace) {
		if rank == 0 {
			for n := range uint32(3) {
				t.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: 2000 + 100*uint64(n), End: 2050 + 100*uint64(n), Site: 1, Bytes: uint64(n + 1), Object: 1, Peer: 1, Tag: 7, Sequence: n + 1, Flags: recordingtest.TraceSent})
			}
			return
		}
		t.Lost(1620, 1) // known when the next event is written, so after its call began
		for request := uint32(2); request <= 3; request++ {
			t.Add(recordingtest.TraceEvent{Function: "MPI_Irecv", Begin: 1600 + 10*uint64(request) - 10, End: 1600 + 10*uint64(request), Site: 2, Object: 1, Peer: Any, Tag: 7, Request: request, Flags: recordingtest.TracePosts})
		}
		for n, request := range []uint32{3, 2, 1} {
			t.Add(recordingtest.TraceEvent{Function: "MPI_Wait", Begin: 3000 + 10*uint64(n), End: 3005 + 10*uint64(n), Site: 3, Bytes: uint64(request), Object: 1, Tag: 7, Request: request, Sequence: uint32(n + 1), Flags: recordingtest.TraceReceived})
		}
	})
}

// Messages of other jobs are counted apart.
func TestOtherJobs(t *testing.T) {
	run := open(t, func(dir string) error {
		s := recordingtest.NewStream(1, 0)
		s.Capacity = 1 << 16
		s.Header(recordingtest.Header{Rank: 0, Size: 1, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
		s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
		t := recordingtest.NewTrace(s)
		t.Objects(recordingtest.Object{ID: 1, Size: 1, Name: "MPI_COMM_WORLD", Group: 1})
		for job := range int32(3) {
			t.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: 2000, End: 2100, Site: 1, Bytes: 1, Object: 1, Peer: 5, Job: job, Tag: 7, Sequence: 1, Flags: recordingtest.TraceSent})
		}
		t.Write(1, 100)
		s.End(1)
		s.Seal()
		return recordingtest.Save(dir, "node1", s.Out)
	})
	if got := Read(run, Options{Flows: true}).Totals; got.OtherJobs != 2 || got.Unmatched != 1 || got.Sent != 3 {
		t.Errorf("%+v", got)
	}
}

// A receive whose post is lost was waiting while others were posted, so it has taken an earlier message, although it completes last.
func TestLostPost(t *testing.T) {
	all := Read(open(t, saveLostPost), Options{Flows: true})
	flows := map[uint64]uint64{}
	for e := range all.Events {
		if e.Call == nil || len(e.Call.Messages) == 0 || e.Call.Messages[0].Flow == 0 {
			continue
		}
		m := &e.Call.Messages[0]
		if !m.Received {
			flows[m.Flow] = m.Bytes
		} else if flows[m.Flow] != m.Bytes {
			t.Errorf("the receive of %d bytes has the flow of the send of %d", m.Bytes, flows[m.Flow])
		}
	}
	if len(flows) != 2 || all.Totals.Ambiguous != 1 || all.Totals.Unmatched != 0 || all.Totals.Sent != 3 {
		t.Errorf("%v, %+v", flows, all.Totals)
	}
}

// The end of a trace is missing: of three receives only the last has completed in it. Which message it took is not known, unless the
// process ended, so that the others took none.
func TestLostEnd(t *testing.T) {
	for _, end := range []uint32{0, 1} { // none, MPI_Finalize
		run := open(t, func(dir string) error {
			return saveRanks(dir, end, func(rank int32, t *recordingtest.Trace) {
				if rank == 0 {
					t.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: 2000, End: 2050, Site: 1, Bytes: 1, Object: 1, Peer: 1, Tag: 7, Sequence: 1, Flags: recordingtest.TraceSent})
					return
				}
				for request := uint32(1); request <= 3; request++ {
					t.Add(recordingtest.TraceEvent{Function: "MPI_Irecv", Begin: 1600 + uint64(request), End: 1600 + uint64(request), Site: 2, Object: 1, Peer: 0, Tag: 7, Request: request, Flags: recordingtest.TracePosts})
				}
				t.Add(recordingtest.TraceEvent{Function: "MPI_Wait", Begin: 3000, End: 3005, Site: 3, Bytes: 1, Object: 1, Tag: 7, Request: 3, Sequence: 1, Flags: recordingtest.TraceReceived})
			})
		})
		if got := Read(run, Options{Flows: true}).Totals; got.Flows != uint64(end) || got.Ambiguous != 1-uint64(end) {
			t.Errorf("end %d: %+v", end, got)
		}
	}
}

// Losses at the beginning (newer events replaced them), between events, and at the end (--max-size) are where they happened: of a process
// that ended by its own account, of one that was killed from its counters.
func TestWhereLost(t *testing.T) {
	write := func(rank int32, size int32, add func(*recordingtest.Trace)) []byte {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Capacity = 1 << 16
		s.Header(recordingtest.Header{Rank: rank, Size: size, Clock: 1, NsPerTick: 1, Host: "node1"})
		s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
		x := recordingtest.NewTrace(s)
		add(x)
		s.Clock(9000, 9000, 1_700_000_000_000_008_000, 0)
		s.Seal()
		return s.Out
	}
	barrier := func(x *recordingtest.Trace, at uint64) {
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: at, End: at + 100, Peer: None, Tag: None})
	}
	counters := func(lost, old, until uint64) []uint64 {
		all := make([]uint64, 16)
		all[12], all[14], all[15] = lost, old, until
		return all
	}
	run := open(t, func(dir string) error {
		ended := write(0, 3, func(x *recordingtest.Trace) {
			barrier(x, 2000)
			x.Lost(4100, 7)
			barrier(x, 4000)
			x.Write(1, 100)
			barrier(x, 3000)
			x.Write(2, 101)
			x.Stream.Loss(1, 100, 5, 6000)
			x.Stream.Loss(2, 101, 6, 7000)
			x.Stream.Counters(counters(18, 0, 0)...)
			x.Stream.End(1)
		})
		killed := write(1, 3, func(x *recordingtest.Trace) {
			barrier(x, 2000)
			x.Lost(4100, 7)
			barrier(x, 4000)
			x.Write(1, 200)
			x.Stream.Note(5000, 2, uint32(recording.NoteBudget), "")
			x.Stream.Counters(counters(10, 0, 0)...)
		})
		last := write(2, 3, func(x *recordingtest.Trace) {
			barrier(x, 5000)
			x.Write(1, 300)
			x.Stream.Counters(counters(0, 40, 4500)...)
			x.Stream.End(1)
		})
		return recordingtest.Save(dir, "node1", slices.Concat(ended, killed, last))
	})
	type loss struct {
		rank, thread int
		events       uint64
		old          bool
		from, to     time.Duration
	}
	var got []loss
	all := Read(run, Options{})
	for e := range all.Events {
		if e.Lost > 0 {
			got = append(got, loss{e.Rank.Rank, e.Thread, e.Lost, e.Old, e.From, e.To})
		}
	}
	want := []loss{{0, 101, 6, false, 2100, 6000}, {0, 100, 7, false, 1100, 3100}, {1, 200, 7, false, 1100, 3100}, {0, 100, 5, false, 3100, 5000},
		{1, 200, 3, false, 3100, 8000}, {2, 0, 40, true, 0, 3500}}
	slices.SortFunc(got, func(a, b loss) int {
		return slices.Compare([]int{a.rank, a.thread, int(a.from)}, []int{b.rank, b.thread, int(b.from)})
	})
	slices.SortFunc(want, func(a, b loss) int {
		return slices.Compare([]int{a.rank, a.thread, int(a.from)}, []int{b.rank, b.thread, int(b.from)})
	})
	if !slices.Equal(got, want) || all.Totals.LostEvents != 28 || all.Totals.OldEvents != 40 {
		t.Errorf("got  %+v\nwant %+v\n%+v", got, want, all.Totals)
	}
	x := NewIndex(run, nil)
	if from, to := x.Span(); from != 0 || to != 8000 {
		t.Errorf("from %v to %v", from, to)
	}
	for i, want := range []string{".?????..", "..?????.", ".???????", "????...."} {
		cells, _ := x.Cells(x.Tracks[i], Window{0, 8000, 8}, far)
		marks := ""
		for _, c := range cells {
			if c.Lost > 0 {
				marks += "?"
			} else {
				marks += "."
			}
		}
		if marks != want {
			t.Errorf("track %d: %s, want %s", i, marks, want)
		}
	}
}
