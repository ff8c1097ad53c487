package waits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/trace"
)

// haloSizes are the bytes of the messages to the left and to the right.
var haloSizes = []uint64{8, 1 << 20}

// halo plays a program in which each rank exchanges messages with two neighbours, one of which the library copies, and sometimes all reduce.
func halo(ranks, calls int) *machine {
	r := rand.New(rand.NewPCG(1, 1))
	m := newMachine(ranks)
	site := func(function string) uint32 {
		return m.Site(Site{Function: function, Place: "exchange", Object: "MPI_COMM_WORLD"})
	}
	irecv, isend, waitall, allreduce := site("MPI_Irecv"), site("MPI_Isend"), site("MPI_Waitall"), site("MPI_Allreduce")
	posted, sent := make([][2]Ref, ranks), make([][2]Ref, ranks)
	call := func(rank int, site uint32, until int64) Ref {
		begin := m.now[rank]
		m.now[rank] = max(begin, until) + 1
		return m.Call(int32(rank), begin, m.now[rank], site)
	}
	together := func(at uint32, until []int64) {
		for rank := range ranks {
			m.Collective(call(rank, at, slices.Max(until)), m.world, "MPI_Allreduce", -1)
		}
	}
	for made, step := 0, 0; made < calls; made, step = made+5, step+1 {
		for rank := range ranks {
			m.compute(rank, 100+r.Int64N(1000))
			posted[rank] = [2]Ref{call(rank, irecv, 0), call(rank, irecv, 0)}
			sent[rank] = [2]Ref{call(rank, isend, 0), call(rank, isend, 0)}
		}
		for rank := range ranks {
			until := int64(0)
			for side, by := range []int{ranks - 1, 1} {
				to, from := (rank+by)%ranks, (rank+ranks-by)%ranks
				until = max(until, m.at(sent[from][side]).begin)
				if haloSizes[side] > 8 {
					until = max(until, m.at(posted[to][side]).begin)
				}
			}
			done := call(rank, waitall, until)
			for side, by := range []int{ranks - 1, 1} {
				to, from := (rank+by)%ranks, (rank+ranks-by)%ranks
				m.Received(done, sent[from][side], haloSizes[side])
				m.Sent(done, posted[to][side], haloSizes[side], Standard, false)
			}
		}
		if step%5 == 0 {
			together(allreduce, slices.Clone(m.now))
			made++
		}
	}
	return m
}

// save writes the trace of halo, as that of nodes with 50 ranks.
func (m *machine) save(dir string) error {
	const none = -1000000
	ranks := len(m.now)
	var chunks []byte
	for rank := range ranks {
		s := recordingtest.NewStream(uint64(rank)+1, int32(rank))
		s.Capacity = 1 << 20
		node := fmt.Sprint("node", rank/50)
		s.Header(recordingtest.Header{Rank: int32(rank), Size: int32(ranks), Clock: 1, NsPerTick: 1, Host: node, Program: "/home/user/app", Family: "openmpi"})
		s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
		s.Module(0x400000, 0x500000, 0x400000, "/home/user/app", "\x12\x34")
		t := recordingtest.NewTrace(s)
		t.Objects(recordingtest.Object{ID: 1, Size: int32(ranks), Name: "MPI_COMM_WORLD", Group: 1})
		thread := uint64(100 + rank)
		t.Add(recordingtest.TraceEvent{Function: "MPI_Init", Begin: 1000, End: 2000, Site: 0x400100, Peer: none, Tag: none})
		request, step, last := uint32(0), uint32(0), uint64(0)
		for k := range m.tracks[rank].calls.len() {
			c := m.tracks[rank].calls.at(k)
			e := recordingtest.TraceEvent{Function: m.sites[c.site].Function, Begin: 2000 + uint64(c.begin), End: 2000 + uint64(c.end), Site: 0x400200 + 16*uint64(c.site), Object: 1, Peer: none, Tag: none}
			last = e.End
			side := int(request % 2)
			to := int32((rank + []int{ranks - 1, 1}[side]) % ranks)
			from := int32((rank + []int{1, ranks - 1}[side]) % ranks)
			switch e.Function {
			case "MPI_Irecv":
				request++
				e.Peer, e.Tag, e.Request, e.Flags = from, int32(side), request, recordingtest.TracePosts
			case "MPI_Isend":
				request++
				e.Peer, e.Tag, e.Request, e.Flags, e.Sequence, e.Bytes = to, int32(side), request, recordingtest.TraceSent, step+1, haloSizes[side]
			case "MPI_Waitall":
				step++
				for side := range uint32(2) {
					received := e
					received.Message, received.Flags, received.Tag, received.Sequence, received.Bytes = true, recordingtest.TraceReceived, int32(side), step, haloSizes[side]
					received.Peer, received.Request = int32((rank+[]int{1, ranks - 1}[side])%ranks), request-3+side
					t.Add(received)
					t.Done(e.End, request-1+side)
				}
			}
			if t.Add(e); k%1000 == 999 {
				t.Write(1, thread)
			}
		}
		t.Add(recordingtest.TraceEvent{Function: "MPI_Finalize", Begin: last + 100, End: last + 100, Site: 0x400170, Peer: none, Tag: none})
		t.Write(1, thread)
		s.Clock(last+1000, int64(last+1000), 1_700_000_000_000_000_000+int64(last), 0)
		s.End(1)
		s.Seal()
		if chunks = append(chunks, s.Out...); rank%50 == 49 || rank == ranks-1 {
			if err := recordingtest.Save(dir, node, chunks); err != nil {
				return err
			}
			chunks = chunks[:0]
		}
	}
	return nil
}

// TestRead checks that a trace says what the program did, whether its events come in order of time or the ranks take turns.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	m := halo(60, 300)
	if err := m.save(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	place := func(*recording.Rank, uint64) string { return "exchange" }
	inTurns := everything(&machine{Program: Read(run, place)})
	events := trace.Read(run, trace.Options{Flows: true, Parts: true})
	r := NewReader(run, events, place, 0)
	for e := range events.Events {
		r.Event(e)
	}
	a := r.Program().Analyse()
	if inOrder := everything(&machine{Program: r.Program()}); inTurns != inOrder {
		t.Error("in turns, the result is another one")
	}
	if want := m.Analyse(); a.Waiting != want.Waiting || a.Missing != (Missing{}) || a.Efficiency.Ideal-100 != want.Efficiency.Ideal {
		t.Errorf("waiting %v, missing %+v, ideal %d, want %v and %d", a.Waiting, a.Missing, a.Efficiency.Ideal, want.Waiting, want.Efficiency.Ideal)
	}
}
