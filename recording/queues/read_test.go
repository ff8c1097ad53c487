package queues

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

func open(t *testing.T, save func(dir string) error) *recording.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := save(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

func TestRead(t *testing.T) {
	q := Read(open(t, recordingtest.SaveQueues), recording.Options{})
	if q == nil || q.Source != "PERUSE" || len(q.Peers) != 1 || len(q.Queues) != 2 || q.Unpaired != 0 || q.Lost != 0 {
		t.Fatalf("%+v", q)
	}
	p := q.Peers[0]
	if p.Rank != 0 || p.Peer != 1 || p.Comm != "MPI_COMM_WORLD" || p.Unexpected != 3 || p.Expected != 2 || p.Spans[InUnexpected] != (Times{3, 12 * time.Millisecond, 6 * time.Millisecond}) ||
		p.Spans[InPosted].Count != 2 || p.Spans[InPosted].Mean().Round(time.Millisecond) != 40*time.Millisecond || p.Spans[ActivateToNotify].Count != 2 {
		t.Errorf("%+v", p)
	}
	if posted, unexpected := q.Queues[0], q.Queues[1]; posted.Name != Posted || unexpected.Name != Unexpected || posted.Longest != 1 || posted.Left != 0 || unexpected.Longest != 2 || unexpected.Inserted != 3 || unexpected.Removed != 3 {
		t.Errorf("%+v", q.Queues)
	}
	if f := q.Findings(5); len(f) != 2 || f[0].Kind != LateSender || f[0].Waited.Round(time.Millisecond) != 80*time.Millisecond || f[1].Kind != LateReceives || f[1].Waited != 12*time.Millisecond {
		t.Errorf("%+v", f)
	}
}

func TestReadPart(t *testing.T) {
	run := open(t, recordingtest.SaveQueues)
	q := Read(run, recording.Options{From: 150 * time.Millisecond, To: time.Hour})
	if len(q.Peers) != 1 || q.Peers[0].Unexpected != 0 || q.Peers[0].Expected != 2 {
		t.Errorf("%+v", q)
	}
	if q := Read(run, recording.Options{Rank: func(r *recording.Rank) bool { return r.Rank == 1 }}); len(q.Peers) != 0 {
		t.Errorf("%+v", q)
	}
	if q := Read(open(t, recordingtest.SaveSolver), recording.Options{}); q != nil {
		t.Errorf("%+v", q)
	}
}

// What is derived from calls: the first message may have waited 10 ms, the second receive has waited 40 ms at least.
func TestDerive(t *testing.T) {
	run := open(t, recordingtest.SaveLate)
	if q := Read(run, recording.Options{}); q != nil {
		t.Errorf("%+v", q)
	}
	q := Derive(run, recording.Options{})
	if q == nil || !q.Derived || len(q.Peers) != 1 || len(q.Queues) != 2 || q.Unpaired != 0 {
		t.Fatalf("%+v", q)
	}
	ms := time.Millisecond
	p := q.Peers[0]
	if p.Rank != 0 || p.Peer != 1 || p.Comm != "MPI_COMM_WORLD" || p.Unexpected != 1 || p.Expected != 1 || p.Spans[InUnexpected] != (Times{1, 10 * ms, 10 * ms}) || p.Spans[InPosted] != (Times{1, 40 * ms, 40 * ms}) ||
		p.Spans[ActivateToNotify] != (Times{2, 42 * ms, 41 * ms}) {
		t.Errorf("%+v", p)
	}
	// The late message was sent at rank 1's second site, the late receive posted at rank 0's first one.
	q.ResolveSites(func(r *recording.Rank, address uint64) string { return fmt.Sprintf("%d %x", r.Rank, address) })
	if f := q.Findings(5); len(f) != 2 || f[0].Site != "1 400101" || f[1].Site != "0 400200" {
		t.Errorf("%+v", f)
	}
	if f := q.Findings(5); len(f) != 2 || f[0].Kind != LateSender || f[1].Kind != LateReceives || !f[0].Derived {
		t.Errorf("%+v", f)
	}
	if q := Derive(run, recording.Options{Rank: func(r *recording.Rank) bool { return r.Rank == 1 }}); len(q.Peers) != 0 {
		t.Errorf("%+v", q)
	}
	if q := Derive(open(t, recordingtest.SaveSolver), recording.Options{}); q != nil {
		t.Errorf("%+v", q)
	}
}

// MPICH's event of messages that leave the queue is not read, so only the numbers of unexpected messages are known.
func TestArrivalsOnly(t *testing.T) {
	a := NewAdder("MPI_T events", 0, unit)
	for range 3 {
		a.Add(&Event{Name: unexpectedMessage, Comm: "context 0", Peer: 2})
	}
	if q := a.Queues(); len(q.Queues) != 0 || len(q.Peers) != 1 || q.Peers[0].Unexpected != 3 || q.Unpaired != 0 {
		t.Errorf("%+v", q)
	}
}

// MPICH's event of messages that leave the queue says nothing alone: all figures come from the calls then.
func TestRemovalsOnly(t *testing.T) {
	run := open(t, recordingtest.SaveLate)
	left := &recording.EventType{}
	left.Name = mpichLeft
	run.Ranks[0].EventTypes = append(run.Ranks[0].EventTypes, left)
	if q := Read(run, recording.Options{}); q != nil {
		t.Errorf("%+v", q)
	}
}

// Two duplicates of a communicator have rows and queues of their own.
func TestSameNames(t *testing.T) {
	run := open(t, func(dir string) error {
		var chunks []byte
		for rank := range int32(2) {
			s := recordingtest.NewStream(uint64(rank)+1, rank)
			s.Header(recordingtest.Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "node1"})
			s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
			x := recordingtest.NewTrace(s)
			for i := range uint32(2) {
				x.Objects(recordingtest.Object{ID: i + 1, Size: 2, MadeBy: "MPI_Comm_dup", Order: i, Group: 1})
				e := recordingtest.TraceEvent{Function: "MPI_Send", Begin: 2000, End: 3000, Bytes: 8, Object: i + 1, Tag: 7, Sequence: 1, Flags: recordingtest.TraceSent}
				if rank == 0 {
					e.Function, e.Begin, e.End, e.Peer, e.Flags = "MPI_Recv", 4000, 5000, 1, recordingtest.TraceReceived
				}
				x.Add(e)
			}
			x.Write(1, 1)
			s.End(1)
			s.Seal()
			chunks = append(chunks, s.Out...)
		}
		return recordingtest.Save(dir, "node1", chunks)
	})
	q := Derive(run, recording.Options{})
	if len(q.Peers) != 2 || len(q.Queues) != 2 || q.Peers[0].Comm != "MPI_Comm_dup" || q.Peers[1].Comm != "MPI_Comm_dup #2" || q.Queues[0].Longest != 1 || q.Queues[1].Longest != 1 {
		t.Errorf("%+v", q)
	}
}

// Of too many messages, the first ones count, and the others are counted.
func TestTooManyMessages(t *testing.T) {
	run := open(t, func(dir string) error { return recordingtest.SaveTrace(dir, 20) })
	all := Derive(run, recording.Options{})
	total := uint64(0)
	for _, p := range all.Peers {
		total += p.Unexpected + p.Expected
	}
	defer func(most int) { mostPairs = most }(mostPairs)
	mostPairs = 6
	first := Derive(run, recording.Options{})
	n := uint64(0)
	for _, p := range first.Peers {
		n += p.Unexpected + p.Expected
	}
	if all.Later != 0 || n != 6 || first.Later != total-6 || first.Lost != all.Lost || first.To >= all.To {
		t.Errorf("%d of %d messages, %d later, %d lost", n, total, first.Later, first.Lost)
	}
}
