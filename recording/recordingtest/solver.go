package recordingtest

import "slices"

const (
	solverRanks = 4
	ms          = 1e6 // ticks of a millisecond
)

// Solver is a made-up program: four ranks exchange halos for two seconds, and rank 3 waits for rank 2, which has the most work. What it
// did is known exactly. Its fields make a run differ from the usual one.
type Solver struct {
	Longer uint64  // milliseconds that rank 2 computes more, in the phase "solve", while the others wait
	Halo   uint64  // bytes of a message; 0: 8192
	Build  string  // the program's build ID
	Moved  uint64  // how far the program's code has moved
	Lacks  []int32 // ranks that are incomplete: the agent got no memory
}

// SaveSolver writes the run of the usual one.
func SaveSolver(dir string) error { return Solver{}.Save(dir) }

// Save writes a run of it.
func (v Solver) Save(dir string) error {
	if v.Halo == 0 {
		v.Halo = 8192
	}
	if v.Build == "" {
		v.Build = "\x12\x34"
	}
	end := (2100 + v.Longer) * ms
	var chunks []byte
	for rank := range int32(solverRanks) {
		s := NewStream(uint64(rank)+1, rank)
		s.Header(Header{Rank: rank, Size: solverRanks, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/solver", Family: "openmpi",
			Library: "Open MPI v4.1.4, package: Debian OpenMPI"})
		s.Clock(100*ms, 100*ms, 1_700_000_000_000_000_000, 0)
		s.Module(0x400000, 0x500000, 0x400000, "/home/user/solver", v.Build)
		s.Module(0x700000, 0x800000, 0x700000, "/usr/lib/libgrid.so.2", "\x56\x78")
		s.Clock(end, int64(end), 1_700_000_000_000_000_000+int64(end-100*ms), 0)
		v.rank(NewProfile(s, 1), rank)
		if slices.Contains(v.Lacks, rank) {
			s.Counters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 12, 1)
		}
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return Save(dir, "node1", chunks)
}

// rank is one rank: 1000 steps, each with two messages to the next rank and a reduction.
func (v Solver) rank(p *Profile, rank int32) {
	const gather = 0x700420
	send, wait, reduce := 0x401100+v.Moved, 0x401180+v.Moved, 0x401200+v.Moved
	next, previous := (rank+1)%solverRanks, (rank+solverRanks-1)%solverRanks
	waited := [solverRanks]uint64{120 * ms, 140 * ms, 10 * ms, 820 * ms}[rank]
	if rank != 2 {
		waited += v.Longer * ms
	}
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
		Call{Function: "MPI_Cart_create", Object: 1, Stack: []uint64{0x401050 + v.Moved}, Calls: 1, Ticks: 3 * ms},
		Call{Function: "MPI_Isend", Phase: "solve", Object: 3, Stack: []uint64{send}, Calls: 1000, Ticks: 4 * ms, MessagesSent: 1000, BytesSent: 1000 * v.Halo},
		Call{Function: "MPI_Irecv", Phase: "solve", Object: 3, Stack: []uint64{send + 0x20}, Calls: 1000, Ticks: 1 * ms},
		Call{Function: "MPI_Wait", Phase: "solve", Stack: []uint64{wait}, Calls: 1000, Ticks: waited, Durations: waits, MessagesReceived: 1000, BytesReceived: 1000 * v.Halo},
		Call{Function: "MPI_Allreduce", Phase: "solve", Object: 3, Stack: []uint64{reduce}, Calls: 1000, Ticks: reduced, Gave: 8000, Got: 8000},
		Call{Function: "MPI_Gather", Phase: "output", Object: 4, Stack: []uint64{gather}, Calls: 10, Ticks: 20 * ms, Gave: 80000})
	if rank == 0 {
		p.Calls(Call{Function: "MPI_Send", Phase: "output", Object: 1, Stack: []uint64{0x401300 + v.Moved}, Calls: 1, Ticks: 5 * ms, MessagesSent: 1, BytesSent: 100})
		p.Peers(Peer{Rank: 3, Phase: "output", MessagesSent: 1, BytesSent: 100})
	}
	if rank == 3 {
		p.Calls(Call{Function: "MPI_Recv", Phase: "output", Object: 1, Stack: []uint64{0x401340 + v.Moved}, Calls: 1, Ticks: 6 * ms, MessagesReceived: 1, BytesReceived: 100})
		p.Peers(Peer{Rank: 0, Phase: "output", MessagesReceived: 1, BytesReceived: 100})
	}
	p.Peers(Peer{Rank: next, Phase: "solve", MessagesSent: 1000, BytesSent: 1000 * v.Halo}, Peer{Rank: previous, Phase: "solve", MessagesReceived: 1000, BytesReceived: 1000 * v.Halo})
	p.Sizes(Size{Function: "MPI_Isend", Phase: "solve", Messages: map[uint64]uint64{v.Halo: 1000}}, Size{Function: "MPI_Irecv", Phase: "solve", Received: true, Messages: map[uint64]uint64{v.Halo: 1000}})
	doubling := "tuned:ompi_coll_tuned_allreduce_intra_dec_fixed tuned:ompi_coll_base_allreduce_intra_recursivedoubling"
	p.Algorithms(Algorithm{"MPI_Allreduce", "solve", 3, doubling, []uint64{reduce}, 1000, reduced, 8},
		Algorithm{"MPI_Gather", "output", 4, "tuned:ompi_coll_tuned_gather_intra_dec_fixed tuned:ompi_coll_base_gather_intra_linear_sync", []uint64{gather}, 7, 15 * ms, 8000},
		Algorithm{"MPI_Gather", "output", 4, "", []uint64{gather}, 2, 3 * ms, 8000})
	p.Arrivals("MPI_Allreduce", "solve", 3, 1, []uint64{reduce}, reductions(rank)...)
	p.Arrivals("MPI_Gather", "output", 4, 1, []uint64{gather}, gathers(rank)...)
	p.Phases(Phase{Name: "solve", Entered: 1, Ticks: (1600 + v.Longer) * ms, First: 300 * ms, Last: (1900 + v.Longer) * ms}, Phase{Name: "output", Entered: 10, Ticks: 100 * ms, First: (1900 + v.Longer) * ms, Last: (2000 + v.Longer) * ms})
}

// reductions are 20 reductions to which rank 2 comes last, 20 us after rank 3. In one of ten, they have changed places.
func reductions(rank int32) (calls []Arrival) {
	for i := range uint64(20) {
		begin, after := (300+80*i)*ms, [solverRanks]uint64{0, 20, 160, 140}
		if i%10 == 9 {
			after[2], after[3] = after[3], after[2]
		}
		calls = append(calls, Arrival{Call: 5000 + i, Enter: begin + after[rank]*1000, Leave: begin + 180_000, Size: solverRanks})
	}
	return calls
}

// gathers are 8 gathers to the first rank of each half. To every second one, it comes last itself.
func gathers(rank int32) (calls []Arrival) {
	for i := range uint64(8) {
		half, other := uint64(rank)/2, uint32(rank)%2
		begin := (1910+10*i)*ms + 100_000*((i+uint64(other)+1)%2)
		calls = append(calls, Arrival{Call: 6000 + 100*half + i, Enter: begin, Leave: (1910+10*i)*ms + 200_000, Size: 2, Role: 1 + other})
	}
	return calls
}
