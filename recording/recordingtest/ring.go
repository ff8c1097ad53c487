package recordingtest

// Ring is a made-up program with a trace and samples. In each round each rank sends a message of 8 bytes to the next rank, receives one
// from the one before, and takes part in an MPI_Allreduce. Rank 0 computes longer, so rank 1 waits RingLate ns for its message, and RingLast
// ns for it in the MPI_Allreduce, in which the ranks after rank 1 wait RingAll ns. At its end, each round is a sample of the counter
// "rounds".
type Ring struct{ Ranks, Rounds int }

// The waits of a round of a [Ring], in ns.
const (
	RingLate = 3500
	RingLast = 100
	RingAll  = 4000
)

// Save writes the run.
func (v Ring) Save(dir string) error {
	var chunks []byte
	for rank := range v.Ranks {
		chunks = append(chunks, v.rank(rank)...)
	}
	return Save(dir, "node1", chunks)
}

func (v Ring) rank(rank int) []byte {
	const start, round = uint64(1000), uint64(10_000)
	s := NewStream(uint64(rank)+1, int32(rank))
	s.Header(Header{Rank: int32(rank), Size: int32(v.Ranks), Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/ring", Family: "openmpi"})
	s.Clock(start, int64(start), 1_700_000_000_000_000_000, 0)
	s.Module(0x400000, 0x500000, 0x400000, "/home/user/ring", "\x12\x34")
	s.Column(0, Column{Variable: "rounds", Class: 7, Type: 11, Count: 1, Size: 8})
	s.Set(0, 8, 0)
	t := NewTrace(s)
	t.Objects(Object{ID: 1, Size: int32(v.Ranks), Name: "MPI_COMM_WORLD", Group: 1})
	const none = -1000000
	t.Add(TraceEvent{Function: "MPI_Init", Begin: start, End: start + 1000, Site: 0x400100, Peer: none, Tag: none})
	next, before := int32((rank+1)%v.Ranks), int32((rank+v.Ranks-1)%v.Ranks)
	send, receive, all := uint64(1000), uint64(1500), uint64(1800)
	switch rank {
	case 0:
		send, receive, all = 5000, 5500, 5000+700+RingLast
	case 1:
		all = 5700
	}
	at := start + 2000
	for i := range v.Rounds {
		got := receive + 100
		if rank == 1 {
			got = receive + RingLate + 100
		}
		n := uint32(i + 1)
		t.Add(TraceEvent{Function: "MPI_Send", Begin: at + send, End: at + send + 400, Site: 0x400110, Bytes: 8, Object: 1, Peer: next, Tag: 7, Sequence: n, Flags: TraceSent})
		t.Add(TraceEvent{Function: "MPI_Recv", Begin: at + receive, End: at + got, Site: 0x400120, Bytes: 8, Object: 1, Peer: before, Tag: 7, Sequence: n, Flags: TraceReceived | TracePosts})
		t.Add(TraceEvent{Function: "MPI_Allreduce", Begin: at + all, End: at + 6000, Site: 0x400130, Object: 1, Peer: none, Tag: none, Bytes: 8})
		s.Sample(0, at+6000, le.AppendUint64(nil, uint64(n)), nil)
		if at += round; len(t.events) > 3000 {
			t.Write(1, uint64(100+rank))
		}
	}
	t.Add(TraceEvent{Function: "MPI_Finalize", Begin: at, End: at, Site: 0x400140, Peer: none, Tag: none})
	t.Write(1, uint64(100+rank))
	s.Counters(uint64(v.Rounds), 0, 0, 0, 0, 0)
	s.Clock(at+1000, int64(at+1000), 1_700_000_000_000_000_000+int64(at), 0)
	s.End(1)
	s.Seal()
	return s.Out
}
