package samplerrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mpitx/recording"
)

// front is the demo MPI's variables of objects in front of the real library.
const front = "../../../fixtures/fakempi/front/front.c"

// kinds runs sampler_kinds on it, and returns what it printed: how many handles were bound to an object that ended.
func (m *mpi) kinds(t *testing.T, n int, what string, config ...string) *result {
	t.Helper()
	dir := m.inFront(t, front)
	program := m.compile(t, "sampler_kinds.c", "-pthread")
	r := m.run(t, job{n: n, config: config, program: []string{program, what}, env: []string{"LD_LIBRARY_PATH=" + dir}})
	if r.code != 0 || r.stderr != "" || strings.Count(r.stdout, "0 handles were still bound to objects that ended, 0 calls failed\n") != max(n, 1) || strings.Contains(r.stdout, "not sampled") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	return r
}

// Each kind of object that variables can be bound to: the values are those of the object, and its handles are freed before it ends.
func TestEachKindOfObject(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.kinds(t, 2, "", "interval_ns=2000000", "pvar=demo_*", "probe=late")
		want := map[string][]string{
			"demo_datatype_number":   {"MPI_Type_contiguous", "triple"},
			"demo_errhandler_number": {"MPI_Comm_create_errhandler", "MPI_Win_create_errhandler"},
			"demo_file_number":       {"kinds-%d-0", "kinds-%d-1"},
			"demo_group_number":      {"MPI_Comm_group", "MPI_Group_incl"},
			"demo_op_number":         {"MPI_Op_create", "MPI_Op_create"},
			"demo_request_number":    {"MPI_Irecv", "MPI_Irecv", "MPI_Recv_init"},
			"demo_message_number":    {"MPI_Mprobe", "MPI_Mprobe"},
			"demo_info_number":       {"MPI_Info_create", "MPI_Info_dup"},
			"demo_session_number":    {"MPI_Session_init", "MPI_Session_init"},
		}
		if m.family == "openmpi" {
			delete(want, "demo_session_number") // Debian's has no sessions
		}
		for rank := range 2 {
			k := r.rank(t, rank)
			objects := map[string][]string{} // by the value, which is the object's number
			for name, of := range want {
				objects[name] = make([]string, len(of))
			}
			for _, c := range k.Columns {
				var values []float64
				for in := range r.run.Instants(recording.Options{As: recording.Raw}) {
					for _, cell := range in.Cells {
						if cell.Column == c && cell.Status.HasValue() {
							values = append(values, cell.Value.Float64())
						}
					}
				}
				if c.Variable == "demo_file_bytes" {
					continue
				}
				if len(values) < 3 || slices.Min(values) != slices.Max(values) || values[0] < 1 || int(values[0]) > len(objects[c.Variable]) {
					t.Errorf("rank %d: %s of %s: %v", rank, c.Variable, c.ObjectName, values)
					continue
				}
				if c.Status != recording.Gone || !strings.HasSuffix(c.Reason, " was freed") {
					t.Errorf("rank %d: %s of %s: %v, %s", rank, c.Variable, c.ObjectName, c.Status, c.Reason)
				}
				name, _, _ := strings.Cut(c.ObjectName, " ")
				objects[c.Variable][int(values[0])-1] = name
			}
			for name, of := range want {
				for i := range of {
					if w := strings.ReplaceAll(of[i], "%d", fmt.Sprint(rank)); objects[name][i] != w {
						t.Errorf("rank %d: %s: object %d is %q, want %q", rank, name, i+1, objects[name][i], w)
					}
				}
			}
		}
	})
}

// While samples are taken, threads make and end objects. None is read when it has ended.
func TestObjectsOfThreads(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.kinds(t, 1, "threads", "interval_ns=100000", "pvar=demo_*", "probe=none")
		k := r.rank(t, 0)
		if len(k.Columns) == 0 || !said(k, recording.NoteText, " requests are not in the run: they ended before the next sample was taken") {
			t.Errorf("%d columns, %+v", len(k.Columns), k.Notes)
		}
	})
}

// Declarations of objects use up the room for records while the disk is slow. The notes of the end are in the run all the same.
func TestNotesOfASlowDisk(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		slow := m.compile(t, "slow_disk.c", "-shared", "-fPIC")
		program, dir := m.compile(t, "sampler_kinds.c", "-pthread"), m.inFront(t, front)
		r := m.run(t, job{n: 1, config: []string{"interval_ns=100000", "pvar=demo_*", "probe=none"}, program: []string{program, "threads"}, preload: []string{slow, "agent"}, env: []string{"LD_LIBRARY_PATH=" + dir}})
		k := r.rank(t, 0)
		if k.Counters.Refused == 0 || !said(k, recording.NoteText, " requests are not in the run: ") {
			t.Errorf("%d columns, %+v, %+v\n%s", len(k.Columns), k.Notes, k.Counters, r.stderr)
		}
	})
}

// More objects than the agent follows are left out, and the run says so. Later there is room again.
func TestManyObjects(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.kinds(t, 1, "many", "interval_ns=10000000", "pvar=demo_datatype*", "pvar=demo_op*", "probe=none")
		k := r.rank(t, 0)
		if !said(k, recording.NoteText, "up to 500 datatypes are not in the run: the agent follows at most 1024 objects at a time") {
			t.Errorf("notes %+v", k.Notes)
		}
		if v := r.values(0, "demo_datatype_number", "after many", 0); len(v) < 3 || v[0] != 1501 {
			t.Errorf("values %v", v)
		}
	})
}

// Without --probe late, variables that need an object cannot be tried. The run says so for each kind.
func TestKindsAreNotTried(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		dir := m.inFront(t, front)
		program := m.compile(t, "sampler_kinds.c", "-pthread")
		r := m.run(t, job{config: []string{"interval_ns=2000000", "pvar=demo_op*", "pvar=demo_info*", "pvar=mpitx:calls"},
			program: []string{program, "threads"}, env: []string{"LD_LIBRARY_PATH=" + dir}})
		k := r.rank(t, 0)
		if !said(k, recording.NoteText, "demo_info_number: not sampled: it needs an info object, and not tried; use --probe late") {
			t.Errorf("notes %+v", k.Notes)
		}
	})
}
