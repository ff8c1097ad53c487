package waits

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParts plays two ranks on two nodes through a phase and beyond it.
func TestParts(t *testing.T) {
	m := &machine{Program: NewProgram(), now: make([]int64, 2)}
	m.Nodes = []string{"node1", "node2"}
	for r := range 2 {
		m.Track(r, 100+r, r, 0, "MPI_Init")
	}
	call := func(rank int, phase string, computes, lasts int64) {
		begin := m.now[rank] + computes
		m.now[rank] = begin + lasts
		m.Call(int32(rank), begin, m.now[rank], m.Site(Site{Function: "MPI_Barrier", Phase: phase}))
	}
	call(0, "solve", 600, 200)
	call(1, "solve", 200, 600)
	call(0, "", 100, 100)
	call(1, "", 200, 0)
	want := []Part{{Phase: "solve", Ranks: 2, Time: 800, Parallel: 0.5, LoadBalance: 400.0 / 600, Communication: 0.75}, {Ranks: 2, Time: 200, Parallel: 0.75, LoadBalance: 0.75, Communication: 1},
		{Node: "node1", Ranks: 1, Time: 1000, Parallel: 0.7, LoadBalance: 1, Communication: 0.7}, {Node: "node2", Ranks: 1, Time: 1000, Parallel: 0.4, LoadBalance: 1, Communication: 0.4}}
	if diff := cmp.Diff(want, m.Analyse().Parts); diff != "" {
		t.Error(diff)
	}
	m = newMachine(2) // one node, no phases
	m.together("MPI_Barrier", "b", -1)
	if all := m.Analyse().Parts; len(all) != 0 {
		t.Errorf("%+v", all)
	}
}
