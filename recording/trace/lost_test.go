package trace

import (
	"testing"

	"mpitx/recording/recordingtest"
)

// saveLostPost writes three sends and their receives, which complete in another order than they were posted. The post of the first is lost.
func saveLostPost(dir string) error {
	var chunks []byte
	for rank := range int32(2) {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Capacity = 1 << 16
		s.Header(recordingtest.Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
		s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
		t := recordingtest.NewTrace(s)
		t.Objects(recordingtest.Object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 1})
		if rank == 0 {
			for n := range uint32(3) {
				t.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: 2000 + 100*uint64(n), End: 2050 + 100*uint64(n), Site: 1, Bytes: uint64(n + 1), Object: 1, Peer: 1, Tag: 7, Sequence: n + 1, Flags: recordingtest.TraceSent})
			}
		} else {
			t.Lost(1500, 1)
			for request := uint32(2); request <= 3; request++ {
				t.Add(recordingtest.TraceEvent{Function: "MPI_Irecv", Begin: 1600 + uint64(request), End: 1600 + uint64(request), Site: 2, Object: 1, Peer: Any, Tag: 7, Request: request, Flags: recordingtest.TracePosts})
			}
			for n, request := range []uint32{3, 2, 1} {
				t.Add(recordingtest.TraceEvent{Function: "MPI_Wait", Begin: 3000 + 10*uint64(n), End: 3005 + 10*uint64(n), Site: 3, Bytes: uint64(request), Object: 1, Tag: 7, Request: request, Sequence: uint32(n + 1), Flags: recordingtest.TraceReceived})
			}
		}
		t.Write(1, uint64(100+rank))
		s.Clock(5000, 5000, 1_700_000_000_000_004_000, 0)
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return recordingtest.Save(dir, "node1", chunks)
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
			var chunks []byte
			for rank := range int32(2) {
				s := recordingtest.NewStream(uint64(rank)+1, rank)
				s.Capacity = 1 << 16
				s.Header(recordingtest.Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
				s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
				t := recordingtest.NewTrace(s)
				t.Objects(recordingtest.Object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 1})
				if rank == 0 {
					t.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: 2000, End: 2050, Site: 1, Bytes: 1, Object: 1, Peer: 1, Tag: 7, Sequence: 1, Flags: recordingtest.TraceSent})
				} else {
					for request := uint32(1); request <= 3; request++ {
						t.Add(recordingtest.TraceEvent{Function: "MPI_Irecv", Begin: 1600 + uint64(request), End: 1600 + uint64(request), Site: 2, Object: 1, Peer: 0, Tag: 7, Request: request, Flags: recordingtest.TracePosts})
					}
					t.Add(recordingtest.TraceEvent{Function: "MPI_Wait", Begin: 3000, End: 3005, Site: 3, Bytes: 3, Object: 1, Tag: 7, Request: 3, Sequence: 1, Flags: recordingtest.TraceReceived})
				}
				t.Write(1, uint64(100+rank))
				s.Clock(5000, 5000, 1_700_000_000_000_004_000, 0)
				if end != 0 {
					s.End(end)
				}
				s.Seal()
				chunks = append(chunks, s.Out...)
			}
			return recordingtest.Save(dir, "node1", chunks)
		})
		if got := Read(run, Options{Flows: true}).Totals; got.Flows != uint64(end) || got.Ambiguous != 1-uint64(end) {
			t.Errorf("end %d: %+v", end, got)
		}
	}
}
