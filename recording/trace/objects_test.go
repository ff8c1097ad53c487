package trace

import (
	"testing"

	"mpitx/recording/recordingtest"
)

// Objects that a rank has with the same name get numbers, by the order in which they were made. They have the same name on all ranks.
func TestObjectNames(t *testing.T) {
	const dup, split = "MPI_Comm_dup", "MPI_Comm_split"
	run := save(t, func(x *recordingtest.Trace) {
		x.Objects(
			recordingtest.Object{ID: 2, Size: 2, MadeBy: dup, Parent: 1, Group: 1},
			recordingtest.Object{ID: 3, Size: 1, MadeBy: split, Parent: 1, Group: 2},
			recordingtest.Object{ID: 4, Size: 1, MadeBy: dup, Parent: 3, Group: 2},
			recordingtest.Object{ID: 5, Size: 2, MadeBy: dup, Parent: 1, Order: 1, Group: 1},
			recordingtest.Object{ID: 6, Kind: 2, Name: "data"}, recordingtest.Object{ID: 7, Kind: 2, Name: "data"})
		x.Add(message(1, recordingtest.TraceSent, 1000))
	}, func(x *recordingtest.Trace) {
		x.Objects(
			recordingtest.Object{ID: 2, Size: 1, MadeBy: split, Parent: 1, Group: 3},
			recordingtest.Object{ID: 3, Size: 2, MadeBy: dup, Parent: 1, Group: 1},
			recordingtest.Object{ID: 4, Size: 2, MadeBy: dup, Parent: 1, Order: 1, Group: 1})
		x.Add(message(1, recordingtest.TraceReceived, 1000))
	})
	want := []map[uint32]string{
		{1: "MPI_COMM_WORLD", 2: dup, 3: split, 4: dup + " #2", 5: dup + " #3", 6: "data", 7: "data"},
		{1: "MPI_COMM_WORLD", 2: split, 3: dup, 4: dup + " #3"},
	}
	objects := Objects(run)
	for i, rank := range run.Ranks {
		if len(objects[rank]) != len(want[i]) {
			t.Errorf("rank %d: %v", i, objects[rank])
		}
		for id, name := range want[i] {
			if got := objects[rank][id].String(); got != name {
				t.Errorf("rank %d, object %d: %q, want %q", i, id, got, name)
			}
		}
	}
	if a, b := objects[run.Ranks[0]][5], objects[run.Ranks[1]][4]; a != b {
		t.Errorf("%p and %p are the same communicator", a, b)
	}
}

// The two groups of an intercommunicator make it from different communicators.
func TestIntercommunicators(t *testing.T) {
	const split, inter, dup, merge = "MPI_Comm_split", "MPI_Intercomm_create", "MPI_Comm_dup", "MPI_Intercomm_merge"
	all := func(group uint64) []recordingtest.Object {
		return []recordingtest.Object{
			{ID: 2, Size: 1, MadeBy: split, Parent: 1, Group: group},
			{ID: 3, Size: 1, MadeBy: dup, Parent: 2, Group: group},
			{ID: 4, Size: 1, MadeBy: inter, Parent: 2, Group: 7},
			{ID: 5, Size: 1, MadeBy: inter, Parent: 3, Group: 7},
			{ID: 6, Size: 1, MadeBy: dup, Parent: 4, Group: 7},
			{ID: 7, Size: 2, MadeBy: merge, Parent: 5, Group: 1},
		}
	}
	run := save(t, func(x *recordingtest.Trace) {
		x.Objects(all(2)...)
		x.Add(message(1, recordingtest.TraceSent, 1000))
	}, func(x *recordingtest.Trace) {
		x.Objects(all(3)...)
		x.Add(message(1, recordingtest.TraceReceived, 1000))
	})
	objects := Objects(run)
	different := map[*Object]bool{}
	for id := uint32(1); id <= 7; id++ {
		a, b := objects[run.Ranks[0]][id], objects[run.Ranks[1]][id]
		if same := id != 2 && id != 3; (a == b) != same || a == nil || b == nil {
			t.Errorf("object %d: %p and %p", id, a, b)
		}
		different[a] = true
	}
	if len(different) != 7 {
		t.Errorf("%d objects", len(different))
	}
}
