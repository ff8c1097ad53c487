package where

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/recording/finding"
	"mpitx/text"
)

// links are the ranks that the threads of a rank wait for. One of several ranks may be enough for a thread: it does not wait for any in
// particular.
func (g *graph) links(rank int) (on []int) {
	for _, w := range g.waits[rank] {
		if all := w.all(); w.needs != needsOne || len(all) == 1 && !w.unsure {
			on = append(on, all...)
		}
	}
	return compact(on)
}

// needed are the ranks that a rank waits for with all of its threads.
func (g *graph) needed(rank int) []int {
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

// sleepers reports whether threads of a process sleep that may call MPI when they are woken: by a signal, or by another process.
func (p *Process) sleepers() bool {
	return p.Dormant > 0 || slices.ContainsFunc(p.Threads, func(t *Thread) bool { return t.Sleeps })
}

// waitFor is the wait of a rank for another rank, or its first one.
func (g *graph) waitFor(rank, on int) *wait {
	waits := g.waits[rank]
	for i := range waits {
		if slices.Contains(waits[i].on, on) || slices.Contains(waits[i].maybe, on) {
			return &waits[i]
		}
	}
	return &waits[0]
}

// alternatives are the ranks on which it depends whether a wait ends, and how many of them must go on for that; 0: it may end whatever they do.
func (w *wait) alternatives(level finding.Certainty) (on []int, needed int) {
	on = w.all()
	switch {
	case w.loose, level == finding.Certain && w.ends:
		return on, 0
	case w.needs != needsAll && (w.unsure || level == finding.Certain && len(w.maybe) > 0):
		return on, 0
	case w.needs != needsAll, level == finding.Possible && len(w.on) == 0: // one rank that goes on may be what it waits for
		return on, min(len(on), 1)
	}
	on = compact(slices.Clone(w.on)) // it lasts as long as one of these does not go on
	return on, len(on)
}

// stuck are the ranks that cannot continue, whatever all others do. If that is only possible, some of them may continue nevertheless.
func (g *graph) stuck(level finding.Certainty) map[int]bool {
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
		if g.works(p.Rank) || level == finding.Certain && p.sleepers() {
			release(p.Rank)
		}
		for i, w := range g.waits[p.Rank] {
			on, needed := w.alternatives(level)
			if needed == 0 {
				release(p.Rank)
			}
			left[waiter{p.Rank, i}] = needed
			for _, to := range on {
				if waiters[to] = append(waiters[to], waiter{p.Rank, i}); g.ranks[to] == nil {
					release(to)
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

// knot is a set of stuck ranks.
type knot struct {
	*graph
	level finding.Certainty
	stuck map[int]bool
}

// on are the stuck ranks that the threads of a stuck rank wait for; named: only those that they name.
func (k *knot) on(rank int, named bool) (on []int) {
	if !k.stuck[rank] {
		return nil
	}
	for _, w := range k.waits[rank] {
		alternatives, _ := w.alternatives(k.level)
		for _, to := range alternatives {
			if k.stuck[to] && (!named || slices.Contains(w.named, to)) {
				on = append(on, to)
			}
		}
	}
	return compact(on)
}

// cycles finds ranks that wait for each other: one cycle, the shortest, for each set of ranks that reach each other. in has
// all ranks of such sets, and how sure it is.
func (g *graph) cycles() (all []finding.Finding, in map[int]bool, sure map[int]finding.Certainty) {
	in, sure = map[int]bool{}, map[int]finding.Certainty{}
	for _, level := range []finding.Certainty{finding.Certain, finding.Possible} {
		k := &knot{g, level, g.stuck(level)}
		for _, set := range k.components() {
			if slices.ContainsFunc(set, func(rank int) bool { return in[rank] }) {
				continue
			}
			for _, rank := range set {
				in[rank], sure[rank] = true, level
			}
			if f, ok := k.across(set); ok {
				all = append(all, f)
				continue
			}
			cycle := k.shortest(set)
			words := k.cycleText(cycle)
			if level != finding.Certain {
				words = "possible " + words
			}
			if len(set) > len(cycle) {
				rest := slices.DeleteFunc(slices.Clone(set), func(r int) bool { return slices.Contains(cycle, r) })
				words += "; " + text.Ranks(rest) + " " + text.Verb(len(rest), "waits", "wait") + " with them"
			}
			all = append(all, finding.Finding{Kind: "cycle", Ranks: cycle, Certainty: level, Text: words, Figures: g.waited(cycle)})
		}
	}
	return all, in, sure
}

func (g *graph) cycleText(cycle []int) string {
	var names, calls []string
	next := append(slices.Clone(cycle[1:]), cycle[0])
	for i, rank := range cycle {
		names = append(names, fmt.Sprint(rank))
		calls = append(calls, g.waitFor(rank, next[i]).thread.tests())
	}
	words := "cycle: " + strings.Join(append(names, names[0]), " → ")
	polls := slices.DeleteFunc(slices.Clone(cycle), func(rank int) bool {
		return !slices.ContainsFunc(g.waits[rank], func(w wait) bool { return w.ends })
	})
	end := ""
	if slices.Sort(polls); len(polls) > 0 {
		end = "; " + text.Ranks(polls) + " " + text.Verb(len(polls), "polls and may go on", "poll and may go on")
	}
	asleep := slices.DeleteFunc(slices.Clone(cycle), func(rank int) bool { return !g.ranks[rank].sleepers() })
	if slices.Sort(asleep); len(asleep) > 0 {
		end += "; another thread of " + text.Ranks(asleep) + " may call MPI"
	}
	if len(slices.Compact(slices.Sorted(slices.Values(calls)))) == 1 {
		if len(cycle) == 1 {
			return words + ", in " + calls[0] + ": it waits for itself" + end
		}
		return words + ", all in " + calls[0] + end
	}
	const most = 6
	var parts []string
	for i, rank := range cycle[:min(len(cycle), most)] {
		parts = append(parts, fmt.Sprintf("%d %s", rank, g.waitFor(rank, next[i]).text))
	}
	if more := len(cycle) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return words + ": " + strings.Join(parts, "; ") + end
}

// shortest is a shortest cycle in a set of ranks, from its lowest rank that is on one. It prefers waits for ranks that are named.
func (k *knot) shortest(set []int) []int {
	if best := k.shortestBy(set, true); best != nil {
		return best
	}
	return k.shortestBy(set, false)
}

func (k *knot) shortestBy(set []int, named bool) (best []int) {
	const most = 64 // starts to try
	for _, start := range set[:min(len(set), most)] {
		before := map[int]int{}
		queue := []int{start}
		for len(queue) > 0 && before[start] == 0 {
			rank := queue[0]
			queue = queue[1:]
			for _, to := range k.on(rank, named) {
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
func (k *knot) components() (sets [][]int) {
	index, low := map[int]int{}, map[int]int{}
	on := map[int]bool{}
	var stack []int
	var visit func(rank int)
	visit = func(rank int) {
		index[rank] = len(index) + 1
		low[rank] = index[rank]
		stack, on[rank] = append(stack, rank), true
		for _, to := range k.on(rank, false) {
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
		first := slices.Index(stack, rank)
		set := slices.Sorted(slices.Values(stack[first:]))
		for _, r := range set {
			on[r] = false
		}
		stack = stack[:first]
		if len(set) > 1 || slices.Contains(k.on(rank, false), rank) {
			sets = append(sets, set)
		}
	}
	for _, p := range k.job.Processes {
		if index[p.Rank] == 0 {
			visit(p.Rank)
		}
	}
	slices.SortFunc(sets, func(a, b []int) int { return a[0] - b[0] })
	return sets
}
