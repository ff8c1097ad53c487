package grid

import (
	"cmp"
	"math"
	"slices"

	"mpitx/tune/stats"
)

// segmented are the algorithms of Open MPI's coll tuned that take a segment size, and into how many parts they cut a message before; 0: into one
// for each rank (coll_tuned_*_decision.c, ompi_coll_base_*_intra_* of 4.1.4 to 6.0). For linear_sync, it is the size of the first of two segments.
var segmented = map[string]map[string]int64{
	"bcast":     {"chain": 1, "pipeline": 1, "split_binary_tree": 2, "binary_tree": 1, "binomial": 1, "knomial": 1},
	"reduce":    {"chain": 1, "pipeline": 1, "binary": 1, "binomial": 1, "in-order_binary": 1, "knomial": 1},
	"allreduce": {"segmented_ring": 0},
	"gather":    {"linear_sync": 1},
}

// segments are the sizes that are tried. Those that Open MPI chooses itself lie between the first and the last one.
var segments = []int64{1 << 10, 8 << 10, 64 << 10, 512 << 10}

// Bounds of the algorithms that are tried with segments.
const (
	reach     = 1.5 // times the least time at the place
	mostTried = 2   // algorithms of a place
)

// addSegments adds algorithms with segments.
func (c *Collective) addSegments() {
	for _, a := range slices.Clone(c.Algorithms) {
		if _, ok := segmented[c.Function][a.Name]; !ok {
			continue
		}
		for _, n := range segments {
			c.Algorithms = append(c.Algorithms, Algorithm{a.Name, a.Value, n})
		}
	}
}

// withSegments are the algorithms with segments that are worth measuring in a cell: the fastest algorithms without segments that are within reach
// of the least time, with segments that are shorter than what they cut.
func (c *Collective) withSegments(cell Cell, ratios map[int][]float64, runs int) (all []int) {
	least, near := 0.0, []int{} // 0: the library's own choice
	for k, ratio := range ratios {
		if 2*len(ratio) > runs {
			least, near = min(least, stats.Median(ratio)), append(near, k)
		}
	}
	near = slices.DeleteFunc(near, func(k int) bool {
		_, ok := segmented[c.Function][c.Algorithms[k].Name]
		return !ok || stats.Median(ratios[k]) > least+math.Log(reach)
	})
	slices.SortFunc(near, func(i, k int) int {
		return cmp.Or(cmp.Compare(stats.Median(ratios[i]), stats.Median(ratios[k])), i-k)
	})
	for _, k := range near[:min(len(near), mostTried)] {
		parts := cmp.Or(segmented[c.Function][c.Algorithms[k].Name], int64(cell.Ranks))
		for i, a := range c.Algorithms {
			if a.Value == c.Algorithms[k].Value && a.Segment > 0 && a.Segment < cell.Bytes/parts {
				all = append(all, i)
			}
		}
	}
	return all
}
