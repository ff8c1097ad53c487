package where

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// links are the ranks that the threads of a rank wait for. One of several ranks may be enough for a thread: it does not wait for any in
// particular.
func (g *graph) links(rank int) (on []int) {
	for _, w := range g.waits[rank] {
		if w.needs != needsOne || len(w.on) == 1 && !w.unsure {
			on = append(on, w.on...)
		}
	}
	return compact(on)
}

// needs are the ranks that a rank waits for with all of its threads.
func (g *graph) needs(rank int) []int {
	if g.works(rank) {
		return nil
	}
	return g.links(rank)
}

// works reports whether a rank can continue on its own: a thread of it does not wait.
func (g *graph) works(rank int) bool {
	p, waits := g.ranks[rank], len(g.waits[rank])
	if p == nil || waits == 0 || p.Working > 0 {
		return true
	}
	for _, t := range p.Threads {
		if t.Sleeps {
			waits++
		}
	}
	return waits < len(p.Threads)
}

// waitFor is the wait of a rank for another rank, or its first one.
func (g *graph) waitFor(rank, on int) *wait {
	waits := g.waits[rank]
	for i := range waits {
		if slices.Contains(waits[i].on, on) {
			return &waits[i]
		}
	}
	return &waits[0]
}

// stuck are the ranks that cannot continue, whatever all others do.
func (g *graph) stuck() map[int]bool {
	type waiter struct{ rank, wait int }
	waiters := map[int][]waiter{}
	left := map[waiter]int{} // ranks that a wait still needs
	free, queue := map[int]bool{}, []int{}
	release := func(rank int) {
		if !free[rank] {
			free[rank] = true
			queue = append(queue, rank)
		}
	}
	for _, p := range g.job.Processes {
		if g.works(p.Rank) || slices.ContainsFunc(p.Threads, func(t *Thread) bool { return t.Waits() && t.moment() }) {
			release(p.Rank)
		}
		for i, w := range g.waits[p.Rank] {
			n := len(w.on)
			if w.needs != needsAll {
				n = min(n, 1)
			}
			if n == 0 || w.needs != needsAll && w.unsure {
				release(p.Rank)
			}
			left[waiter{p.Rank, i}] = n
			for _, on := range w.on {
				if waiters[on] = append(waiters[on], waiter{p.Rank, i}); g.ranks[on] == nil {
					release(on)
				}
			}
		}
	}
	for len(queue) > 0 {
		rank := queue[0]
		queue = queue[1:]
		for _, w := range waiters[rank] {
			if left[w]--; left[w] == 0 {
				release(w.rank)
			}
		}
	}
	stuck := map[int]bool{}
	for _, p := range g.job.Processes {
		stuck[p.Rank] = !free[p.Rank]
	}
	return stuck
}

// stuckOn are the stuck ranks that the threads of a stuck rank wait for.
func (g *graph) stuckOn(rank int, stuck map[int]bool) (on []int) {
	if !stuck[rank] {
		return nil
	}
	for _, w := range g.waits[rank] {
		for _, to := range w.on {
			if stuck[to] {
				on = append(on, to)
			}
		}
	}
	return compact(on)
}

// settled is how long a rank must have waited before a finding may say that it will wait forever: ranks of a job that makes progress wait
// for each other for moments, while their messages are under way.
const settled = 500 * time.Millisecond

// moment reports whether a thread made progress less than a moment ago.
func (t *Thread) moment() bool { return max(t.Since, t.Idle) < settled }

// cycles finds ranks that wait for each other: one cycle, the shortest, for each set of ranks that reach each other. in has
// all ranks of such sets.
func (g *graph) cycles() (all []Finding, in map[int]bool) {
	in = map[int]bool{}
	stuck := g.stuck()
	for _, set := range g.components(stuck) {
		for _, rank := range set {
			in[rank] = true
		}
		cycle := g.shortest(set, stuck)
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
	next := append(slices.Clone(cycle[1:]), cycle[0])
	for i, rank := range cycle {
		names = append(names, fmt.Sprint(rank))
		calls = append(calls, g.waitFor(rank, next[i]).thread.Call)
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
	for i, rank := range cycle[:min(len(cycle), most)] {
		parts = append(parts, fmt.Sprintf("%d %s", rank, g.waitFor(rank, next[i]).text))
	}
	if more := len(cycle) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return text + ": " + strings.Join(parts, "; ")
}

// shortest is a shortest cycle in a set of ranks, from its lowest rank that is on one.
func (g *graph) shortest(set []int, stuck map[int]bool) (best []int) {
	const most = 64 // starts to try
	for _, start := range set[:min(len(set), most)] {
		before := map[int]int{}
		queue := []int{start}
		for len(queue) > 0 && before[start] == 0 {
			rank := queue[0]
			queue = queue[1:]
			for _, to := range g.stuckOn(rank, stuck) {
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

// components are the sets of stuck ranks that reach each other, after Tarjan.
func (g *graph) components(stuck map[int]bool) (sets [][]int) {
	index, low := map[int]int{}, map[int]int{}
	on := map[int]bool{}
	var stack []int
	var visit func(rank int)
	visit = func(rank int) {
		index[rank] = len(index) + 1
		low[rank] = index[rank]
		stack, on[rank] = append(stack, rank), true
		for _, to := range g.stuckOn(rank, stuck) {
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
		if len(set) > 1 || slices.Contains(g.stuckOn(rank, stuck), rank) {
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
			text = g.pathText(longest, e.ranks[0])
		} else {
			text = fmt.Sprintf("%s %s", g.subjects(who), g.commonText(who, first, e.ranks[0]))
		}
		if !in[e.ranks[0]] {
			text += "; " + list(e.ranks) + " " + conjugated(e.ranks, g.endText(e.ranks[0], in))
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
		next := g.needs(at)
		if at == rank {
			next = g.links(at)
		}
		for _, to := range next {
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
			for _, to := range g.links(rank) {
				if slices.Contains(level, to) && (to == end || !g.works(to)) {
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
func (g *graph) pathText(path []int, end int) string {
	var parts []string
	for i, rank := range path {
		if i == mostLinks {
			parts = append(parts, fmt.Sprintf("… %d more", len(path)-i))
			break
		}
		next := end
		if i+1 < len(path) {
			next = path[i+1]
		}
		subject := fmt.Sprint(rank)
		if g.works(rank) {
			subject = "a thread of " + subject
		}
		parts = append(parts, subject+" "+g.waitFor(rank, next).text)
	}
	return strings.Join(parts, "; ")
}

// subjects names ranks that wait, or of which threads wait.
func (g *graph) subjects(ranks []int) string {
	if !slices.ContainsFunc(ranks, g.works) {
		return ranksText(ranks)
	}
	return does(ranks, "a thread of ", "threads of ") + ranksText(ranks)
}

// commonText is what ranks wait for, if all do the same; else what one of them does.
func (g *graph) commonText(who []int, first, end int) string {
	text := ""
	for _, rank := range who {
		own := g.waitFor(rank, end).text
		if text != "" && own != text {
			return fmt.Sprintf("wait (%d %s)", first, g.waitFor(first, end).text)
		}
		text = own
	}
	return conjugated(who, text)
}

// conjugated puts what one rank does into the plural if there are more.
func conjugated(ranks []int, text string) string {
	if len(ranks) > 1 {
		for _, verb := range [][2]string{{"waits", "wait"}, {"is", "are"}, {"has", "have"}, {"computes", "compute"}, {"exchanges", "exchange"}} {
			if rest, ok := strings.CutPrefix(text, verb[0]); ok && (rest == "" || rest[0] == ' ' || rest[0] == ',') {
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
	working := slices.IndexFunc(p.Threads, func(t *Thread) bool { return !t.Waits() && !t.Sleeps })
	text := ""
	switch {
	case len(p.Threads) == 0:
		return "has made no MPI call"
	case working >= 0:
		text = computesText(p.Threads[working])
		if p.Condition == Running && p.PID > 0 && !p.Threads[working].Inside { // a debugger tells where
			text += fmt.Sprintf(" (process %d on %s)", p.PID, p.Host)
		}
	case p.Working > 0:
		text = "may call MPI"
	default: // its message is under way
		t := p.Threads[max(slices.IndexFunc(p.Threads, (*Thread).Waits), 0)]
		text = "is in " + t.Call + onObject(t)
	}
	switch waits := g.waits[rank]; {
	case len(waits) == 0:
		return text
	case !g.works(rank):
		return waits[0].text
	default:
		return waits[0].text + ", and another thread of it " + text
	}
}

func computesText(t *Thread) string {
	text := "computes"
	if d := Duration(t.Since); d != "" {
		text += " for " + d
	}
	if t.Inside { // and polls
		return "is in " + t.Call + onObject(t)
	}
	if t.Call != "" {
		text += ", after " + t.Call
		if t.Site != "" {
			text += " at " + t.Site
		}
	}
	return text
}
