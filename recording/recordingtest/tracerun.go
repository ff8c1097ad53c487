package recordingtest

// TraceRanks is the number of ranks of SaveTrace.
const TraceRanks = 2

// SaveTrace writes the trace of a made-up program: rank 0 sends rounds messages to rank 1, which posts two receives at a time and completes
// the second one first. The size of a message is its number. Each rank names a phase, and rank 1 has a call nested in another, an event of
// MPI_T that happened 3003 ns after the start by the clock of its source, and a loss. The rounds must be even.
func SaveTrace(dir string, rounds int) error { return saveTrace(dir, rounds, true) }

// SaveOrderedTrace writes the same, but receives complete in the order in which they were posted.
func SaveOrderedTrace(dir string, rounds int) error { return saveTrace(dir, rounds, false) }

func saveTrace(dir string, rounds int, backwards bool) error {
	var chunks []byte
	for rank := range int32(TraceRanks) {
		s := NewStream(uint64(rank)+1, rank)
		s.Capacity = 1 << 20
		s.Header(Header{Rank: rank, Size: TraceRanks, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
		s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
		s.Module(0x400000, 0x500000, 0x400000, "/home/user/app", "\x12\x34")
		t := NewTrace(s)
		t.Objects(Object{ID: 1, Size: TraceRanks, Name: "MPI_COMM_WORLD", Group: 1})
		thread := uint64(100 + rank)
		t.Add(TraceEvent{Function: "MPI_Init", Begin: 1000, End: 2000, Site: 0x400100, Peer: -1000000, Tag: -1000000})
		t.Phase(2100, "solve")
		t.Add(TraceEvent{Function: "MPI_Pcontrol", Begin: 2050, End: 2200, Site: 0x400110, Peer: -1000000, Tag: -1000000})
		at := uint64(10000)
		for i := 0; i < rounds; i += 2 {
			if rank == 0 {
				for k := range 2 {
					n := uint32(i + k + 1)
					t.Add(TraceEvent{Function: "MPI_Send", Begin: at + 1000*uint64(k), End: at + 1000*uint64(k) + 500, Site: 0x400120, Bytes: uint64(n), Object: 1, Peer: 1, Tag: 7, Sequence: n, Flags: TraceSent})
				}
			} else {
				first, second := uint32(i+1), uint32(i+2)
				for k, request := range []uint32{first, second} {
					t.Add(TraceEvent{Function: "MPI_Irecv", Begin: at + uint64(k)*100, End: at + uint64(k)*100 + 50, Site: 0x400130, Object: 1, Peer: int32(-k), Tag: 7, Request: request, Flags: TracePosts})
				}
				early, late := first, second // requests, in the order of completion
				if backwards {
					early, late = second, first
				}
				t.Add(TraceEvent{Function: "MPI_Wait", Begin: at + 300, End: at + 1800, Site: 0x400140, Bytes: uint64(early), Object: 1, Tag: 7, Request: early, Sequence: first, Flags: TraceReceived})
				t.Add(TraceEvent{Function: "MPI_Wait", Begin: at + 1900, End: at + 1950, Site: 0x400140, Bytes: uint64(late), Object: 1, Tag: 7, Request: late, Sequence: second, Flags: TraceReceived})
			}
			if at += 2500; len(t.events) > 5000 {
				t.Write(1, thread)
			}
		}
		if rank == 1 {
			t.Sources(Source{Index: 7, Name: "queue", PerSecond: 1_000_000_000, First: 2, Last: -1, FirstTime: 4000})
			t.Queued(at, 5, 1, 0, 7)
			t.Add(TraceEvent{Function: "MPI_Comm_rank", Begin: at + 200, End: at + 250, Site: 0x400150, Object: 1, Peer: -1000000, Tag: -1000000, Depth: 1})
			t.Add(TraceEvent{Function: "MPI_Allreduce", Begin: at + 100, End: at + 400, Site: 0x400160, Object: 1, Peer: -1000000, Tag: -1000000, Bytes: 8})
			t.Lost(at+500, 3)
		}
		t.Phase(at+1100, "")
		t.Add(TraceEvent{Function: "MPI_Pcontrol", Begin: at + 1000, End: at + 1200, Site: 0x400110, Peer: -1000000, Tag: -1000000})
		t.Add(TraceEvent{Function: "MPI_Finalize", Begin: at + 2000, End: at + 2000, Site: 0x400170, Peer: -1000000, Tag: -1000000})
		t.Write(1, thread)
		s.Clock(at+3000, int64(at+3000), 1_700_000_000_000_000_000+int64(at+2000), 0)
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return Save(dir, "node1", chunks)
}
