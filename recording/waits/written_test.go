package waits

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// written is a rank's part of a trace. Calls follow one another.
type written struct {
	*recordingtest.Trace
	rank int // in the run
}

const noPeer = -1000000

// call adds a call from a moment to another one, and more of it.
func (w *written) call(function string, begin, end uint64, object uint32, more ...func(*recordingtest.TraceEvent)) {
	e := recordingtest.TraceEvent{Function: function, Begin: 2000 + begin, End: 2000 + end, Site: 0x400200, Object: object, Peer: noPeer, Tag: noPeer}
	for _, set := range more {
		set(&e)
	}
	w.Add(e)
}

// groups makes the intercommunicator 3 of ranks 0 and 1, and 2 and 3.
func (w *written) groups() {
	side := uint64(w.rank/2) + 2
	w.Objects(recordingtest.Object{ID: 2, Size: 2, MadeBy: "MPI_Comm_split", Parent: 1, Group: side}, recordingtest.Object{ID: 3, Size: 4, MadeBy: "MPI_Intercomm_create", Parent: 2, Group: 7, Side: side})
}

// jobs makes the intercommunicator 4 of ranks 0 and 1 with the job of ranks 2 and 3. Rank 1 has spawned another one alone.
func (w *written) jobs() {
	switch w.rank {
	case 0, 1:
		if w.rank == 1 {
			w.Objects(recordingtest.Object{ID: 2, Size: 1, Name: "MPI_COMM_SELF", Group: 9}, recordingtest.Object{ID: 3, Size: 2, MadeBy: "MPI_Comm_spawn", Parent: 2, Side: 9, Job: 1})
		}
		w.Objects(recordingtest.Object{ID: 4, Size: 4, MadeBy: "MPI_Comm_spawn", Parent: 1, Side: 1, Rank: int32(w.rank), Job: int32(w.rank) + 1})
	default:
		w.Objects(recordingtest.Object{ID: 4, Size: 4, Name: "MPI_COMM_PARENT", MadeBy: "MPI_Comm_get_parent", Side: 2, Rank: int32(w.rank) - 2})
	}
}

// inRequest says which request a call makes.
func inRequest(request uint32) func(*recordingtest.TraceEvent) {
	return func(e *recordingtest.TraceEvent) { e.Request = request }
}

// rooted says which rank of the run is the root; -1: it is the call's own, or no process of its group.
func rooted(root int32) func(*recordingtest.TraceEvent) {
	return func(e *recordingtest.TraceEvent) {
		if e.Peer = root; root >= 0 {
			e.Flags |= 128
		} else {
			e.Peer = -2
		}
	}
}

// analyse writes a trace of some ranks, and of others that they have spawned, and analyses it.
func analyse(t *testing.T, ranks, spawned int, write func(w *written)) *Analysis {
	t.Helper()
	dir := t.TempDir()
	var chunks []byte
	for rank := range ranks + spawned {
		size := ranks
		if rank >= ranks {
			size = spawned
		}
		s := recordingtest.NewStream(uint64(rank)+1, int32(rank))
		s.Capacity = 1 << 16
		s.Header(recordingtest.Header{Rank: int32(rank), Size: int32(size), Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
		s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
		if rank >= ranks {
			s.Spawned(int32(ranks), 0, 1)
		}
		w := &written{recordingtest.NewTrace(s), rank}
		w.Objects(recordingtest.Object{ID: 1, Size: int32(size), Name: "MPI_COMM_WORLD", Group: 1 + uint64(rank/ranks)})
		w.Add(recordingtest.TraceEvent{Function: "MPI_Init", Begin: 1000, End: 2000, Site: 0x400100, Peer: noPeer, Tag: noPeer})
		write(w)
		w.Write(1, uint64(100+rank))
		s.Clock(9000, 9000, 1_700_000_000_000_008_000, 0)
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	if err := recordingtest.Save(dir, "node1", chunks); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	return Read(run, func(*recording.Rank, uint64) string { return "" }).Analyse()
}

// TestWritten checks waits that a trace says in an own way.
func TestWritten(t *testing.T) {
	for _, c := range []struct {
		name           string
		ranks, spawned int
		write          func(w *written)
		want           []state
		missing        Missing
	}{
		{"neighbours", 3, 0, func(w *written) { // 0 and 2 have 1, 1 has only 2
			w.Objects(recordingtest.Object{ID: 2, Size: 3, MadeBy: "MPI_Dist_graph_create", Parent: 1, Group: 1})
			w.Neighbors(2, 1, []int32{1, 2, 1}[w.rank])
			w.call("MPI_Neighbor_alltoall", []uint64{400, 100, 0}[w.rank], 600, 2)
		}, []state{{AtNeighbors, 2, 100, 1}}, Missing{}},
		{"without neighbours", 3, 0, func(w *written) { // rank 0 has none, those of 1 are not all in the trace, and those of 2 not at all
			w.Objects(recordingtest.Object{ID: 2, Size: 3, MadeBy: "MPI_Dist_graph_create", Parent: 1, Group: 1})
			if w.rank < 2 {
				w.Neighbors(2, 2*w.rank, int32(w.rank-1))
			}
			w.call("MPI_Neighbor_alltoall", uint64(100*w.rank), 600, 2)
		}, nil, Missing{Undecided: 2}},
		{"a file in two parts", 2, 0, func(w *written) { // rank 1 is late twice: rank 0 waits in the call that begins it, then in the one that ends it
			w.Objects(recordingtest.Object{ID: 2 + uint32(w.rank), Kind: 2, Name: "data", MadeBy: "MPI_File_open", Parent: 1})
			file, late := 2+uint32(w.rank), uint64(w.rank)
			w.call("MPI_File_write_all_begin", 100*late, 150, file)
			w.call("MPI_File_write_all_end", 160, 170, file)
			w.call("MPI_File_read_at_all_begin_c", 200+300*late, 210+300*late, file)
			w.call("MPI_File_read_at_all_end", 220+300*late, 600, file)
		}, []state{{CollectiveIO, 0, 280, 1}, {CollectiveIO, 0, 100, 1}}, Missing{}},
		{"a file that another call completes", 2, 0, func(w *written) {
			w.Objects(recordingtest.Object{ID: 2, Kind: 2, Name: "data", MadeBy: "MPI_File_open", Parent: 1})
			late := uint64(w.rank)
			w.call("MPI_File_iwrite_all", 300*late, 300*late+10, 2, inRequest(1))
			w.Done(2400, 1)
			w.call("MPI_Wait", 300*late+20, 400, 2)
		}, []state{{CollectiveIO, 0, 280, 1}}, Missing{}},
		{"a file of each rank", 2, 0, func(w *written) {
			w.Objects(recordingtest.Object{ID: 2, Size: 1, Name: "MPI_COMM_SELF", Group: uint64(w.rank) + 2}, recordingtest.Object{ID: 3, Kind: 2, Name: "data", MadeBy: "MPI_File_open", Parent: 2})
			w.call("MPI_File_write_all", uint64(300*w.rank), 400, 3)
		}, nil, Missing{}},
		{"a communicator that another call completes", 2, 0, func(w *written) {
			late := uint64(w.rank)
			w.call("MPI_Comm_idup", 300*late, 300*late+10, 1, inRequest(1))
			w.Done(2400, 1)
			w.call("MPI_Wait", 300*late+20, 400, 1)
		}, []state{{Management, 0, 280, 1}}, Missing{}},
		{"two groups", 4, 0, func(w *written) { // 0 and 1, 2 and 3
			w.groups()
			w.call("MPI_Barrier", []uint64{100, 0, 300, 200}[w.rank], 350, 3)
			w.call("MPI_Bcast", []uint64{600, 650, 400, 500}[w.rank], 700, 3, rooted([]int32{-1, -1, 0, 0}[w.rank]))
			w.call("MPI_Reduce", []uint64{800, 1000, 850, 900}[w.rank], 1100, 3, rooted([]int32{2, 2, -1, -1}[w.rank]))
		}, []state{{AtBarrier, 1, 300, 2}, {AtBarrier, 0, 200, 2}, {LateRoot, 2, 200, 0}, {EarlyRoot, 2, 150, 1}, {LateRoot, 3, 100, 0}}, Missing{}},
		{"a nonblocking collective of two groups", 4, 0, func(w *written) {
			w.groups()
			begin := []uint64{400, 0, 100, 0}[w.rank]
			w.call("MPI_Iallgather", begin, begin+10, 3, inRequest(1))
			w.Done(2500, 1)
			w.call("MPI_Wait", begin+20, 500, 3)
		}, []state{{NToN, 3, 380, 0}, {NToN, 2, 280, 0}, {NToN, 1, 80, 2}}, Missing{}},
		{"a communicator of two groups", 4, 0, func(w *written) { // all wait for all
			w.groups()
			w.call("MPI_Comm_dup", []uint64{100, 0, 0, 0}[w.rank], 300, 3)
		}, []state{{Management, 1, 100, 0}, {Management, 2, 100, 0}, {Management, 3, 100, 0}}, Missing{}},
		{"a spawned job", 2, 2, func(w *written) { // of ranks 2 and 3; rank 1 has spawned another one before
			w.jobs()
			w.call("MPI_Barrier", []uint64{100, 0, 300, 200}[w.rank], 350, 4)
			w.call("MPI_Bcast", []uint64{600, 650, 400, 500}[w.rank], 700, 4, rooted([]int32{-1, -1, 0, 0}[w.rank]), func(e *recordingtest.TraceEvent) {
				if w.rank >= 2 {
					e.Job = -1
				}
			})
			w.call("MPI_Reduce", []uint64{800, 1000, 850, 900}[w.rank], 1100, 4, rooted([]int32{1, 1, -1, -1}[w.rank]), func(e *recordingtest.TraceEvent) {
				e.Job = []int32{1, 2, 0, 0}[w.rank]
			})
			w.call("MPI_Barrier", []uint64{2000, 2000, 2000, 2050}[w.rank], 2100, 1)
		}, []state{{AtBarrier, 1, 300, 2}, {AtBarrier, 0, 200, 2}, {LateRoot, 2, 200, 0}, {LateRoot, 3, 100, 0}, {EarlyRoot, 3, 100, 1}, {AtBarrier, 2, 50, 3}}, Missing{}},
		{"messages with a spawned job", 2, 2, func(w *written) {
			w.jobs()
			message := func(peer, job int32, object, flags uint32) func(*recordingtest.TraceEvent) {
				return func(e *recordingtest.TraceEvent) {
					e.Peer, e.Job, e.Object, e.Tag, e.Sequence, e.Bytes, e.Flags = peer, job, object, 7, 1, 8, flags
				}
			}
			const sent, received = recordingtest.TraceSent, recordingtest.TraceReceived
			switch w.rank {
			case 0:
				w.call("MPI_Send", 300, 310, 4, message(1, 1, 4, sent))
			case 1:
				w.call("MPI_Recv", 100, 600, 4, message(0, 2, 4, received))
				w.call("MPI_Send", 700, 710, 3, message(0, 1, 3, sent)) // to a job that is not in the run
			case 2:
				w.call("MPI_Send", 500, 510, 4, message(1, -1, 4, sent))
			case 3:
				w.call("MPI_Recv", 100, 400, 4, message(0, -1, 4, received))
			}
		}, []state{{LateSender, 1, 400, 2}, {LateSender, 3, 200, 0}}, Missing{Unmatched: 1}},
		{"a scan of reversed ranks", 3, 0, func(w *written) {
			w.Objects(recordingtest.Object{ID: 2, Size: 3, MadeBy: "MPI_Comm_split", Parent: 1, Group: 5, Rank: 2 - int32(w.rank)})
			w.call("MPI_Scan", []uint64{0, 100, 300}[w.rank], 400, 2)
			begin := []uint64{700, 500, 500}[w.rank]
			w.call("MPI_Iexscan", begin, begin+10, 2, inRequest(1))
			w.Done(2800, 1)
			w.call("MPI_Wait", begin+20, 800, 2)
		}, []state{{Prefix, 0, 300, 2}, {Prefix, 1, 200, 2}}, Missing{}},
		{"a scan of ranks in an order that is not known", 3, 0, func(w *written) {
			w.Objects(recordingtest.Object{ID: 2, Size: 3, MadeBy: "MPI_Comm_split", Parent: 1, Group: 5, Rank: int32(min(w.rank, 1))})
			w.call("MPI_Scan", []uint64{0, 100, 300}[w.rank], 400, 2)
		}, nil, Missing{Undecided: 3}},
		{"a file in the order of ranks", 3, 0, func(w *written) {
			w.Objects(recordingtest.Object{ID: 2, Size: 3, MadeBy: "MPI_Comm_dup", Parent: 1, Group: 5, Rank: int32(w.rank)}, recordingtest.Object{ID: 3, Kind: 2, Name: "data", MadeBy: "MPI_File_open", Parent: 2})
			w.call("MPI_File_write_ordered", []uint64{200, 0, 300}[w.rank], 400, 3)
			begin := []uint64{800, 500, 500}[w.rank]
			w.call("MPI_File_read_ordered_begin", begin, begin+10, 3)
			w.call("MPI_File_read_ordered_end", begin+20, 900, 3)
		}, []state{{CollectiveIO, 1, 300, 2}, {CollectiveIO, 1, 280, 0}, {CollectiveIO, 2, 280, 0}, {CollectiveIO, 0, 100, 2}}, Missing{}},
		{"a file that all set", 2, 0, func(w *written) {
			w.Objects(recordingtest.Object{ID: 2, Kind: 2, Name: "data", MadeBy: "MPI_File_open", Parent: 1})
			w.call("MPI_File_set_atomicity", []uint64{0, 100}[w.rank], 150, 2)
			w.call("MPI_File_seek_shared", []uint64{500, 200}[w.rank], 550, 2)
			w.call("MPI_File_set_atomicity", []uint64{600, 700}[w.rank], []uint64{650, 750}[w.rank], 2) // not waited for
			w.call("MPI_File_sync", []uint64{800, 900}[w.rank], 950, 2)                                 // the disk
		}, []state{{CollectiveIO, 1, 300, 0}, {CollectiveIO, 0, 100, 1}}, Missing{}},
		{"a communicator of some ranks", 3, 0, func(w *written) { // 0 and 2, twice
			if w.rank == 1 {
				w.call("MPI_Comm_rank", 950, 960, 1)
				return
			}
			for i := range uint64(2) {
				end := 2000 + 400*(i+1)
				w.Objects(recordingtest.Object{ID: 2 + uint32(i), Size: 2, MadeBy: "MPI_Comm_create_group", Parent: 1, Group: 9, Order: uint32(i), MadeAt: end + 1})
				late := i == uint64(w.rank/2)
				w.call("MPI_Comm_create_group", 400*i+map[bool]uint64{true: 200 + 50*i}[late], 400*(i+1), 1)
			}
			w.call("MPI_Barrier", uint64(900+30*w.rank), 1000, 3)
		}, []state{{Management, 0, 250, 2}, {Management, 2, 200, 0}, {AtBarrier, 0, 60, 2}}, Missing{}},
		{"two groups meet", 4, 0, func(w *written) {
			side := uint64(w.rank/2) + 2
			w.Objects(recordingtest.Object{ID: 2, Size: 2, MadeBy: "MPI_Comm_split", Parent: 1, Group: side},
				recordingtest.Object{ID: 3, Size: 4, MadeBy: "MPI_Intercomm_create", Parent: 2, Group: 7, Side: side, MadeAt: 2401})
			w.call("MPI_Intercomm_create", []uint64{100, 0, 300, 200}[w.rank], 400, 2)
			w.call("MPI_Comm_disconnect", []uint64{500, 600, 500, 500}[w.rank], 700, 3)
		}, []state{{Management, 1, 300, 2}, {Management, 0, 200, 2}, {Management, 0, 100, 1}, {Management, 2, 100, 1}, {Management, 3, 100, 1}, {Management, 3, 100, 2}}, Missing{}},
		{"groups whose communicator is not known", 2, 0, func(w *written) {
			w.Objects(recordingtest.Object{ID: 2, Size: 1, MadeBy: "MPI_Comm_split", Parent: 1, Group: uint64(w.rank) + 2})
			w.call("MPI_Intercomm_create", []uint64{100, 0}[w.rank], 400, 2)
		}, nil, Missing{Undecided: 2}},
		{"a group that is not in the trace", 2, 0, func(w *written) { // of a spawned job
			w.Objects(recordingtest.Object{ID: 3, Size: 4, MadeBy: "MPI_Comm_spawn", Parent: 1, Side: 1})
			w.call("MPI_Barrier", uint64(100*w.rank), 300, 3)
		}, nil, Missing{Undecided: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := analyse(t, c.ranks, c.spawned, c.write)
			if diff := cmp.Diff(c.want, statesOf(a)); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.missing, a.Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			costs := a.Waiting
			for _, cause := range a.Causes {
				costs -= cause.Cost
			}
			if costs != 0 || a.Efficiency.Ideal == 0 {
				t.Errorf("%v of waiting has no cause; %v on an ideal network", costs, a.Efficiency.Ideal)
			}
		})
	}
}
