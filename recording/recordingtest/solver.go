package recordingtest

const (
	solverRanks = 4
	ms          = 1e6 // ticks of a millisecond
)

// SaveSolver writes the run of a made-up solver: four ranks exchange halos for two seconds, and rank 3 waits for rank 2, which has the
// most work. What it did is known exactly.
func SaveSolver(dir string) error {
	var chunks []byte
	for rank := range int32(solverRanks) {
		s := NewStream(uint64(rank)+1, rank)
		s.Header(Header{Rank: rank, Size: solverRanks, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/solver", Family: "openmpi",
			Library: "Open MPI v4.1.4, package: Debian OpenMPI"})
		s.Clock(100*ms, 100*ms, 1_700_000_000_000_000_000, 0)
		s.Module(0x400000, 0x500000, 0x400000, "/home/user/solver", "\x12\x34")
		s.Module(0x700000, 0x800000, 0x700000, "/usr/lib/libgrid.so.2", "\x56\x78")
		s.Clock(2100*ms, 2100*ms, 1_700_000_002_000_000_000, 0)
		solverRank(NewProfile(s, 1), rank)
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return Save(dir, "node1", chunks)
}

// solverRank is one rank: 1000 steps, each with two messages to the next rank and a reduction.
func solverRank(p *Profile, rank int32) {
	const send, wait, reduce, gather = 0x401100, 0x401180, 0x401200, 0x700420
	next, previous := (rank+1)%solverRanks, (rank+solverRanks-1)%solverRanks
	waited := [solverRanks]uint64{120 * ms, 140 * ms, 10 * ms, 820 * ms}[rank]
	reduced := [solverRanks]uint64{180 * ms, 160 * ms, 20 * ms, 40 * ms}[rank]
	p.Objects(Object{ID: 1, Size: 4, Name: "MPI_COMM_WORLD", Group: 1}, Object{ID: 2, Size: 1, Name: "MPI_COMM_SELF", Group: uint64(rank) + 2},
		Object{ID: 3, Size: 4, Name: "grid", MadeBy: "MPI_Cart_create", Parent: 1, Group: 1},
		Object{ID: 4, Size: 2, MadeBy: "MPI_Comm_split", Parent: 3, Group: uint64(rank)/2 + 10})
	waits := make([]uint64, 1000)
	for i := range waits {
		waits[i] = waited / 2000
		if i >= 900 {
			waits[i] = (waited - 900*(waited/2000)) / 100
		}
	}
	p.Calls(Call{Function: "MPI_Init", Calls: 1, Ticks: 90 * ms},
		Call{Function: "MPI_Cart_create", Object: 1, Stack: []uint64{0x401050}, Calls: 1, Ticks: 3 * ms},
		Call{Function: "MPI_Isend", Phase: "solve", Object: 3, Stack: []uint64{send}, Calls: 1000, Ticks: 4 * ms, MessagesSent: 1000, BytesSent: 1000 * 8192},
		Call{Function: "MPI_Irecv", Phase: "solve", Object: 3, Stack: []uint64{send + 0x20}, Calls: 1000, Ticks: 1 * ms},
		Call{Function: "MPI_Wait", Phase: "solve", Stack: []uint64{wait}, Calls: 1000, Ticks: waited, Durations: waits, MessagesReceived: 1000, BytesReceived: 1000 * 8192},
		Call{Function: "MPI_Allreduce", Phase: "solve", Object: 3, Stack: []uint64{reduce}, Calls: 1000, Ticks: reduced, Gave: 8000, Got: 8000},
		Call{Function: "MPI_Gather", Phase: "output", Object: 4, Stack: []uint64{gather}, Calls: 10, Ticks: 20 * ms, Gave: 80000})
	if rank == 0 {
		p.Calls(Call{Function: "MPI_Send", Phase: "output", Object: 1, Stack: []uint64{0x401300}, Calls: 1, Ticks: 5 * ms, MessagesSent: 1, BytesSent: 100})
		p.Peers(Peer{Rank: 3, Phase: "output", MessagesSent: 1, BytesSent: 100})
	}
	if rank == 3 {
		p.Calls(Call{Function: "MPI_Recv", Phase: "output", Object: 1, Stack: []uint64{0x401340}, Calls: 1, Ticks: 6 * ms, MessagesReceived: 1, BytesReceived: 100})
		p.Peers(Peer{Rank: 0, Phase: "output", MessagesReceived: 1, BytesReceived: 100})
	}
	p.Peers(Peer{Rank: next, Phase: "solve", MessagesSent: 1000, BytesSent: 1000 * 8192}, Peer{Rank: previous, Phase: "solve", MessagesReceived: 1000, BytesReceived: 1000 * 8192})
	p.Sizes(Size{Function: "MPI_Isend", Phase: "solve", Messages: map[uint64]uint64{8192: 1000}}, Size{Function: "MPI_Irecv", Phase: "solve", Received: true, Messages: map[uint64]uint64{8192: 1000}})
	p.Phases(Phase{Name: "solve", Entered: 1, Ticks: 1600 * ms, First: 300 * ms, Last: 1900 * ms}, Phase{Name: "output", Entered: 10, Ticks: 100 * ms, First: 1900 * ms, Last: 2000 * ms})
}
