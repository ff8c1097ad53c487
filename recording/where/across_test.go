package where

import (
	"slices"
	"testing"

	"mpitx/recording"
)

// on is a collective call on an object of all ranks, of which each rank has its own.
func on(name, call string, number uint64) func(*Thread) {
	return func(t *Thread) {
		kind := "communicator"
		if call == "MPI_Win_fence" {
			kind = "window"
		} else if call[:8] == "MPI_File" {
			kind = "file"
		}
		t.Call, t.Collective, t.Object = call, number, &Object{Name: name, Kind: kind, Identity: "world/" + name}
	}
}

// objects gives all processes the objects that their calls are on.
func (j *Job) objects() *Job {
	var identities []*Object
	for _, p := range j.Processes {
		for _, t := range p.Threads {
			if t.Object != nil && t.Object.Identity != "world" && !slices.ContainsFunc(identities, func(o *Object) bool { return o.Identity == t.Object.Identity }) {
				identities = append(identities, t.Object)
			}
		}
	}
	for _, p := range j.Processes {
		for _, o := range identities {
			own := *o
			own.Rank, own.Size, own.Collectives = p.Rank, len(j.Processes), 0
			for _, t := range p.Threads {
				if t.Object != nil && t.Object.Identity == own.Identity {
					t.Object, own.Collectives = &own, t.Collective
				}
			}
			p.Objects = append(p.Objects, &own)
		}
	}
	return j
}

func TestAcross(t *testing.T) {
	for _, c := range []struct {
		name string
		job  *Job
		want []string
	}{
		{"one rank on another communicator", job(0, on("fluid", "MPI_Allreduce", 1), on("fluid", "MPI_Allreduce", 1), on("fluid", "MPI_Allreduce", 1), on("solid", "MPI_Allreduce", 1)).objects(),
			[]string{"mismatched collectives: rank 3 calls MPI_Allreduce on solid, the others on fluid"}},
		{"a fence and a barrier", job(0, on("halo", "MPI_Win_fence", 4), collective("MPI_Barrier", 1), on("halo", "MPI_Win_fence", 4)).objects().entering(1, 1),
			[]string{"mismatched collectives: rank 1 calls MPI_Barrier on MPI_COMM_WORLD, the others call MPI_Win_fence on halo"}},
		{"another rank computes", job(0, on("fluid", "MPI_Allreduce", 1), on("solid", "MPI_Allreduce", 1), computes).objects(),
			[]string{"mismatched collectives: rank 0 calls MPI_Allreduce on fluid, rank 1 on solid"}},
		{"a rank that waits otherwise", job(0, on("fluid", "MPI_Allreduce", 1), receive(0, 1)).objects(), []string{"cycle: 0 → 1 → 0"}},
		{"a file that one rank still writes", job(0, on("plot", "MPI_File_close", 2), func(t *Thread) {
			t.Call, t.Object = "MPI_File_write_at", &Object{Kind: "file", Name: "plot", Identity: "world/plot"}
		}).objects(),
			[]string{"rank 0 is in MPI_File_close on plot, which 1 has not entered; 1 is in MPI_File_write_at on plot"}},
		{"unequal numbers of writes", job(0, on("plot", "MPI_File_write_at_all", 2), on("plot", "MPI_File_close", 2)).objects(),
			[]string{"mismatched collectives on plot (call 2): rank 0 is in MPI_File_write_at_all, rank 1 is in MPI_File_close"}},
		{"the form for large counts is the same function", job(0, on("plot", "MPI_File_write_at_all_c", 2), on("plot", "MPI_File_write_at_all", 2)).objects(), nil},
	} {
		t.Run(c.name, func(t *testing.T) { wantFindings(t, c.job, c.want) })
	}
}

// A collective call on an intercommunicator waits for the other group.
func TestIntercommunicatorBarrier(t *testing.T) {
	j := job(0, receive(0, 1), computes, computes)
	for rank, side := range []uint64{1, 2, 2} {
		p := j.Processes[rank]
		o := &Object{Name: "inter", Kind: "communicator", Identity: "spawn", Rank: max(rank-1, 0), Size: 3, Inter: true, Side: side, Collectives: map[bool]uint64{true: 1, false: 2}[rank == 0]}
		p.Objects = append(p.Objects, o)
		thread := p.Threads[0]
		if thread.Object = o; rank > 0 {
			collective("MPI_Barrier", 2)(thread)
			thread.Inside, thread.Class = true, Collective
		}
	}
	wantFindings(t, j, []string{"cycle: 0 → 1 → 0: 0 waits for a message from 1, tag 1 on inter; 1 is in MPI_Barrier on inter, which 0 has not entered",
		"rank 2 is in MPI_Barrier on inter, which 0 has not entered"})
}

// Rows of freed objects are used again, so that an object can come after those made from it. A handle is that of the newest object.
func TestRowsUsedAgain(t *testing.T) {
	x := &reader{rank: &recording.Rank{}, process: &Process{}, objects: map[kindHandle]*Object{}, list: []object{
		{Object: &Object{}, id: 1, handle: 5},
		{Object: &Object{Name: "child"}, id: 3, parent: 4, order: 0, group: 7, handle: 6, made: 90},
		{Object: &Object{Name: "parent"}, id: 4, parent: 1, order: 9, group: 7, handle: 8, made: 80},
		{Object: &Object{Name: "freed"}, id: 5, parent: 1, order: 8, group: 7, handle: 6, made: 70},
	}}
	identify(map[*recording.Rank]*reader{x.rank: x})
	if o := x.objects[kindHandle{0, 6}]; o.Name != "child" || o.Identity != "world/7.0.9/7.0.0" {
		t.Errorf("%+v", o)
	}
}
