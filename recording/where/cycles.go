package where

import (
	"fmt"
	"slices"
	"strings"
)

// needs are the ranks without each of which a rank cannot continue.
func (g *graph) needs(rank int) (on []int) {
	for _, w := range g.waits[rank] {
		if !w.any || len(w.on) == 1 && !w.unsure {
			on = append(on, w.on...)
		}
	}
	return compact(on)
}

// cycles finds ranks that wait for each other: one cycle, the shortest, for each set of ranks that reach each other. in has
// all ranks of such sets.
func (g *graph) cycles() (all []Finding, in map[int]bool) {
	in = map[int]bool{}
	for _, set := range g.components() {
		for _, rank := range set {
			in[rank] = true
		}
		cycle := g.shortest(set)
		all = append(all, Finding{"cycle", cycle, g.cycleText(cycle)})
		if len(set) > len(cycle) {
			rest := slices.DeleteFunc(slices.Clone(set), func(r int) bool { return slices.Contains(cycle, r) })
			all[len(all)-1].Text += "; " + ranksText(rest) + " " + does(rest, "waits", "wait") + " with them"
		}
	}
	return all, in
}

func (g *graph) cycleText(cycle []int) string {
	var names, calls []string
	for _, rank := range cycle {
		names = append(names, fmt.Sprint(rank))
		calls = append(calls, g.callOf(rank))
	}
	text := "cycle: " + strings.Join(append(names, names[0]), " → ")
	if len(slices.Compact(slices.Sorted(slices.Values(calls)))) == 1 {
		if len(cycle) == 1 {
			return text + ", in " + calls[0] + ": it waits for itself"
		}
		return text + ", all in " + calls[0]
	}
	const most = 6
	var parts []string
	for _, rank := range cycle[:min(len(cycle), most)] {
		parts = append(parts, fmt.Sprintf("%d %s", rank, g.waits[rank][0].text))
	}
	if more := len(cycle) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return text + ": " + strings.Join(parts, "; ")
}

func (g *graph) callOf(rank int) string {
	for _, w := range g.waits[rank] {
		return w.thread.Call
	}
	return ""
}

// shortest is a shortest cycle in a set of ranks, from its lowest rank that is on one.
func (g *graph) shortest(set []int) (best []int) {
	const most = 64 // starts to try
	for _, start := range set[:min(len(set), most)] {
		before := map[int]int{}
		queue := []int{start}
		for len(queue) > 0 && before[start] == 0 {
			rank := queue[0]
			queue = queue[1:]
			for _, to := range g.needs(rank) {
				if _, seen := before[to]; !seen && slices.Contains(set, to) {
					before[to] = rank + 1
					queue = append(queue, to)
				}
			}
		}
		if before[start] == 0 {
			continue
		}
		cycle := []int{start}
		for at := before[start] - 1; at != start; at = before[at] - 1 {
			cycle = append(cycle, at)
		}
		slices.Reverse(cycle[1:])
		if best == nil || len(cycle) < len(best) {
			best = cycle
		}
	}
	return best
}

// components are the sets of ranks that reach each other, after Tarjan.
func (g *graph) components() (sets [][]int) {
	index, low := map[int]int{}, map[int]int{}
	on := map[int]bool{}
	var stack []int
	var visit func(rank int)
	visit = func(rank int) {
		index[rank] = len(index) + 1
		low[rank] = index[rank]
		stack, on[rank] = append(stack, rank), true
		for _, to := range g.needs(rank) {
			if index[to] == 0 {
				visit(to)
				low[rank] = min(low[rank], low[to])
			} else if on[to] {
				low[rank] = min(low[rank], index[to])
			}
		}
		if low[rank] != index[rank] {
			return
		}
		k := slices.Index(stack, rank)
		set := slices.Sorted(slices.Values(stack[k:]))
		for _, r := range set {
			on[r] = false
		}
		stack = stack[:k]
		if len(set) > 1 || slices.Contains(g.needs(rank), rank) {
			sets = append(sets, set)
		}
	}
	for _, p := range g.job.Processes {
		if index[p.Rank] == 0 {
			visit(p.Rank)
		}
	}
	slices.SortFunc(sets, func(a, b []int) int { return a[0] - b[0] })
	return sets
}

// chains say, for each rank that others wait for and that does not wait itself, what it does and who waits for it.
func (g *graph) chains(in map[int]bool) (all []Finding) {
	waiting := map[int][]int{} // ends of chains: who waits for them
	for _, p := range g.job.Processes {
		if in[p.Rank] {
			continue
		}
		for _, end := range g.ends(p.Rank, in) {
			waiting[end] = append(waiting[end], p.Rank)
		}
	}
	type end struct {
		ranks   []int
		waiting string
	}
	var ends []*end
	for _, p := range g.job.Processes { // ends that the same ranks wait for, and that do the same, are one finding
		if who := waiting[p.Rank]; who != nil {
			key := list(who) + g.endText(p.Rank, in)
			k := slices.IndexFunc(ends, func(e *end) bool { return e.waiting == key })
			if k < 0 {
				k = len(ends)
				ends = append(ends, &end{waiting: key})
			}
			ends[k].ranks = append(ends[k].ranks, p.Rank)
		}
	}
	for _, e := range ends {
		who := waiting[e.ranks[0]]
		first, longest := g.path(who, e.ranks[0], in)
		text := ""
		if len(longest) > 1 {
			text = g.pathText(longest)
		} else {
			text = fmt.Sprintf("%s %s", ranksText(who), g.commonText(who, first))
		}
		if !in[e.ranks[0]] {
			text += "; " + list(e.ranks) + " " + g.endText(e.ranks[0], in)
		}
		if len(longest) > 1 && len(who) > len(longest) {
			text += fmt.Sprintf(" (%s wait for %s in all)", ranksText(who), list(e.ranks))
		}
		all = append(all, Finding{"wait", compact(append(slices.Clone(who), e.ranks...)), text})
	}
	return all
}

// ends are the ranks at the ends of all chains from a rank: ranks that do not wait, or in a cycle.
func (g *graph) ends(rank int, in map[int]bool) (ends []int) {
	seen := map[int]bool{rank: true}
	queue := []int{rank}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, to := range g.needs(at) {
			switch {
			case seen[to]:
				continue
			case in[to] || len(g.needs(to)) == 0:
				ends = append(ends, to)
			default:
				queue = append(queue, to)
			}
			seen[to] = true
		}
	}
	return compact(ends)
}

// path is the longest of the shortest chains from some ranks to an end, without the end, and the first rank of it.
func (g *graph) path(who []int, end int, in map[int]bool) (first int, longest []int) {
	next := map[int]int{} // towards the end
	level := []int{end}
	for len(level) > 0 {
		var following []int
		for _, rank := range who {
			if _, known := next[rank]; known {
				continue
			}
			for _, to := range g.needs(rank) {
				if slices.Contains(level, to) {
					next[rank] = to
					following = append(following, rank)
					break
				}
			}
		}
		if len(following) > 0 {
			first = following[0]
		}
		level = following
	}
	for at := first; at != end; at = next[at] {
		longest = append(longest, at)
		if _, ok := next[at]; !ok || len(longest) > len(who) {
			break
		}
	}
	return first, longest
}

const mostLinks = 6

// pathText is "0 waits for a message from 2, tag 7; 2 is in MPI_Barrier on MPI_COMM_WORLD".
func (g *graph) pathText(path []int) string {
	var parts []string
	for i, rank := range path {
		if i == mostLinks {
			parts = append(parts, fmt.Sprintf("… %d more", len(path)-i))
			break
		}
		if waits := g.waits[rank]; len(waits) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", rank, waits[0].text))
		}
	}
	return strings.Join(parts, "; ")
}

// commonText is what ranks wait for, if all do the same; else what one of them does.
func (g *graph) commonText(who []int, first int) string {
	text := ""
	for _, rank := range who {
		if len(g.waits[rank]) == 0 {
			continue
		}
		own := g.waits[rank][0].text
		if text != "" && own != text {
			return fmt.Sprintf("wait (%d %s)", first, g.waits[first][0].text)
		}
		text = own
	}
	if len(who) > 1 {
		for _, verb := range [][2]string{{"waits ", "wait "}, {"is ", "are "}, {"exchanges ", "exchange "}} {
			if rest, ok := strings.CutPrefix(text, verb[0]); ok {
				return verb[1] + rest
			}
		}
	}
	return text
}

// endText is what the rank at the end of a chain does.
func (g *graph) endText(rank int, in map[int]bool) string {
	p := g.ranks[rank]
	switch {
	case p == nil:
		return "has no data"
	case in[rank]:
		return "waits in a cycle"
	}
	switch p.Condition {
	case Stopped:
		return "is stopped"
	case Dead:
		return "has died"
	case Finalized:
		return "has called MPI_Finalize"
	case Exited:
		return "has exited"
	case Unreachable:
		return "is on another node"
	case Missing:
		return "has not finished MPI_Init"
	}
	if waits := g.waits[rank]; len(waits) > 0 {
		return waits[0].text
	}
	for _, t := range p.Threads {
		if t.Inside {
			return "is in " + t.Call + onObject(t)
		}
	}
	if len(p.Threads) == 0 {
		return "has made no MPI call"
	}
	return computesText(p.Threads[0])
}

func computesText(t *Thread) string {
	text := "computes"
	if d := Duration(t.Since); d != "" {
		text += " for " + d
	}
	if t.Call != "" {
		text += ", after " + t.Call
		if t.Site != "" {
			text += " at " + t.Site
		}
	}
	return text
}
