package trace

import (
	"slices"

	"mpitx/recording"
)

// Neighbors are those from which each rank receives in neighbourhood collectives on a communicator, by their numbers in the run. Ranks whose neighbours
// the trace does not have are missing.
func (t *Trace) Neighbors(o *Object) map[int][]int {
	if t.neighbors == nil {
		t.neighbors = neighbors(t.run, t.objects)
	}
	return t.neighbors[o]
}

// tableNeighbors is the table of neighbours (docs/run-format.md).
const tableNeighbors = "neighbors"

func neighbors(run *recording.Run, objects map[*recording.Rank]map[uint32]*Object) map[*Object]map[int][]int {
	all := map[*Object]map[int][]int{}
	counts := map[*Object]map[int]int{}
	for r := range rows(run, tableNeighbors, nil) {
		rank := r.Table.Rank
		o := objects[rank][uint32(r.number("object"))]
		if o == nil {
			continue
		}
		if all[o] == nil {
			all[o], counts[o] = map[int][]int{}, map[int]int{}
		}
		list := all[o][rank.Rank]
		if n := int(r.signed("rank")); n >= 0 {
			list = append(list, rank.Spawned.First+n)
		}
		all[o][rank.Rank], counts[o][rank.Rank] = list, int(r.number("count"))
	}
	for o, lists := range all {
		for rank, list := range lists {
			if len(list) != counts[o][rank] { // there was no room, or another job has some of them
				delete(lists, rank)
			}
			slices.Sort(list)
		}
	}
	return all
}
