// Package placement looks for a placement of ranks on nodes with which fewer bytes cross nodes. Each node keeps its number of ranks. The search
// is a heuristic: what it finds is never worse than the placement that it begins with, and need not be the best one. The same input gives the
// same result.
package placement

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// Graph is how many bytes each two ranks exchange.
type Graph struct {
	peers [][]peer // of each rank, by rank
}

type peer struct {
	rank  int
	bytes int64
}

// Traffic is what two ranks exchange, in one direction or both.
type Traffic struct {
	A, B  int
	Bytes uint64
}

// NewGraph makes a graph of n ranks, from 0.
func NewGraph(n int, traffic []Traffic) *Graph {
	g := &Graph{make([][]peer, n)}
	most := uint64(math.MaxInt64 / (4*len(traffic) + 4)) // sums fit
	for _, t := range traffic {
		if t.A != t.B && t.Bytes > 0 {
			bytes := int64(min(t.Bytes, most))
			g.peers[t.A] = append(g.peers[t.A], peer{t.B, bytes})
			g.peers[t.B] = append(g.peers[t.B], peer{t.A, bytes})
		}
	}
	for rank, all := range g.peers {
		slices.SortFunc(all, func(a, b peer) int { return a.rank - b.rank })
		merged := all[:0]
		for _, p := range all {
			if n := len(merged); n > 0 && merged[n-1].rank == p.rank {
				merged[n-1].bytes += p.bytes
			} else {
				merged = append(merged, p)
			}
		}
		g.peers[rank] = merged
	}
	return g
}

// Crossing is how many bytes cross nodes, if each rank is on this node.
func (g *Graph) Crossing(node []int) (bytes int64) {
	for rank, peers := range g.peers {
		for _, p := range peers {
			if rank < p.rank && node[rank] != node[p.rank] {
				bytes += p.bytes
			}
		}
	}
	return bytes
}

// The search ends after this many starts, or after this many steps: some seconds.
const (
	starts = 32
	steps  = 300_000_000
)

// search looks for a placement.
type search struct {
	*Graph
	size   []int // ranks of each node
	random *rand.Rand
	steps  int // that are left

	gain  []int64 // by rank: by how many bytes less would cross the nodes of a pair, if the rank changed between them
	bytes []int64 // by rank: what one rank exchanges with it
}

// Improve returns the node of each rank, with as few bytes between nodes as it can find; those of now if it finds nothing better. Nodes are
// numbers from 0.
func (g *Graph) Improve(now []int) []int {
	n := len(now)
	s := &search{Graph: g, random: rand.New(rand.NewPCG(1, 1)), steps: steps, gain: make([]int64, n), bytes: make([]int64, n)}
	for _, node := range now {
		for len(s.size) <= node {
			s.size = append(s.size, 0)
		}
		s.size[node]++
	}
	best, least := now, g.Crossing(now)
	for k := 0; k < starts && least > 0 && (k < 2 || s.steps > 0); k++ {
		node := slices.Clone(now)
		switch {
		case k == 0:
		case k%2 == 1:
			node = s.grown(k == 1)
		default:
			node = s.shuffled(best)
		}
		s.refine(node)
		if crossing := g.Crossing(node); crossing < least {
			best, least = node, crossing
		}
	}
	return s.renamed(best, now)
}

// ---- starts ----

// grown fills one node after the other: the rank that exchanges most with those on the node comes next. The first rank of a node is the one
// that exchanges most, or any.
func (s *search) grown(heaviest bool) []int {
	order := s.random.Perm(len(s.peers))
	if heaviest {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(s.total(b), s.total(a)), a-b) })
	}
	node := make([]int, len(order))
	for rank := range node {
		node[rank] = -1
	}
	nodes := make([]int, len(s.size))
	for k := range nodes {
		nodes[k] = k
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return s.size[b] - s.size[a] })
	for _, here := range nodes {
		f := frontier{}
		with := map[int]int64{}
		for range s.size[here] {
			rank := -1
			for len(f) > 0 && rank < 0 {
				if c := heap.Pop(&f).(candidate); node[c.rank] < 0 && with[c.rank] == c.bytes {
					rank = c.rank
				}
			}
			for rank < 0 {
				if node[order[0]] < 0 {
					rank = order[0]
				}
				order = order[1:]
			}
			node[rank] = here
			s.steps -= len(s.peers[rank]) + 1
			for _, p := range s.peers[rank] {
				if node[p.rank] < 0 {
					with[p.rank] += p.bytes
					heap.Push(&f, candidate{p.rank, with[p.rank], len(with)})
				}
			}
		}
	}
	return node
}

func (g *Graph) total(rank int) (bytes int64) {
	for _, p := range g.peers[rank] {
		bytes += p.bytes
	}
	return bytes
}

// candidate is a rank that exchanges bytes with the ranks of a node.
type candidate struct {
	rank  int
	bytes int64
	since int
}

// frontier has the candidate with the most bytes first; of several, the one that was found first.
type frontier []candidate

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(f[b].bytes, f[a].bytes), f[a].since-f[b].since, f[a].rank-f[b].rank) < 0
}
func (f frontier) Swap(a, b int) { f[a], f[b] = f[b], f[a] }
func (f *frontier) Push(c any)   { *f = append(*f, c.(candidate)) }
func (f *frontier) Pop() any {
	last := len(*f) - 1
	c := (*f)[last]
	*f = (*f)[:last]
	return c
}

// shuffled changes a part of the ranks.
func (s *search) shuffled(from []int) []int {
	node := slices.Clone(from)
	for range 2 + len(node)/10 {
		a, b := s.random.IntN(len(node)), s.random.IntN(len(node))
		node[a], node[b] = node[b], node[a]
	}
	return node
}

// ---- improvement ----

// refine exchanges ranks between two nodes, as long as that makes fewer bytes cross.
func (s *search) refine(node []int) {
	members := make([][]int, len(s.size))
	for rank, k := range node {
		members[k] = append(members[k], rank)
	}
	changed := make([]bool, len(s.size))
	for k := range changed {
		changed[k] = true
	}
	for some := true; some && s.steps > 0; {
		some = false
		changes := make([]bool, len(s.size))
		for a := range members {
			for _, b := range s.neighbors(a, members[a], node) {
				if (changed[a] || changed[b] || changes[a] || changes[b]) && s.steps > 0 && s.exchange(members[a], members[b], node) {
					changes[a], changes[b], some = true, true, true
				}
			}
		}
		changed = changes
	}
}

// neighbors are the nodes after one that its ranks exchange bytes with.
func (s *search) neighbors(of int, members, node []int) (all []int) {
	seen := map[int]bool{}
	for _, rank := range members {
		s.steps -= len(s.peers[rank])
		for _, p := range s.peers[rank] {
			if to := node[p.rank]; to > of && !seen[to] {
				seen[to] = true
				all = append(all, to)
			}
		}
	}
	slices.Sort(all)
	return all
}

// patience is how many exchanges in a row may bring nothing: several together may.
const patience = 6

// exchange makes the exchanges between two nodes that together keep the most bytes inside, as Kernighan and Lin do. It reports whether there
// were any.
func (s *search) exchange(x, y, node []int) bool {
	a, b := node[x[0]], node[y[0]]
	for _, rank := range slices.Concat(x, y) {
		s.gain[rank] = 0
		s.steps -= len(s.peers[rank]) + 1
		for _, p := range s.peers[rank] {
			switch to := node[p.rank]; {
			case to == node[rank]:
				s.gain[rank] -= p.bytes
			case to == a || to == b:
				s.gain[rank] += p.bytes
			}
		}
	}
	// The first ranks of both lists are those that were exchanged.
	made, kept := 0, 0
	var sum, most int64
	for made < min(len(x), len(y)) && made-kept < patience {
		byGain := func(p, q int) int { return cmp.Or(cmp.Compare(s.gain[q], s.gain[p]), p-q) }
		slices.SortFunc(x[made:], byGain)
		slices.SortFunc(y[made:], byGain)
		s.steps -= len(x) + len(y) - 2*made
		i, j, gain := s.best(x[made:], y[made:])
		if made == kept && gain <= 0 && s.gain[x[made]]+s.gain[y[made]] <= 0 && len(s.size) > 2 {
			break
		}
		i, j = i+made, j+made
		s.moved(x[i], a, b, node)
		s.moved(y[j], b, a, node)
		x[i], x[made] = x[made], x[i]
		y[j], y[made] = y[made], y[j]
		x[made], y[made] = y[made], x[made]
		made++
		if sum += gain; sum > most {
			most, kept = sum, made
		}
	}
	for k := kept; k < made; k++ {
		x[k], y[k] = y[k], x[k]
		node[x[k]], node[y[k]] = a, b
	}
	return kept > 0
}

// best finds the two ranks whose exchange keeps the most bytes inside. Both lists are sorted by gain.
func (s *search) best(x, y []int) (i, j int, gain int64) {
	gain = math.MinInt64
	for k, p := range x {
		if s.gain[p]+s.gain[y[0]] <= gain {
			break
		}
		for _, q := range s.peers[p] {
			s.bytes[q.rank] = q.bytes
		}
		for l, q := range y {
			s.steps--
			if s.gain[p]+s.gain[q] <= gain {
				break
			}
			if g := s.gain[p] + s.gain[q] - 2*s.bytes[q]; g > gain {
				i, j, gain = k, l, g
			}
		}
		for _, q := range s.peers[p] {
			s.bytes[q.rank] = 0
		}
		s.steps -= 2 * len(s.peers[p])
	}
	return i, j, gain
}

// moved moves a rank from a node to another one, and corrects the gains of its peers there.
func (s *search) moved(rank, from, to int, node []int) {
	node[rank] = to
	s.steps -= len(s.peers[rank])
	for _, p := range s.peers[rank] {
		switch node[p.rank] {
		case from:
			s.gain[p.rank] += 2 * p.bytes
		case to:
			s.gain[p.rank] -= 2 * p.bytes
		}
	}
}

// ---- names of nodes ----

// renamed gives the nodes of a placement the numbers with which few ranks change their node. Only nodes of one size can change names.
func (s *search) renamed(node, now []int) []int {
	type overlap struct{ node, now, ranks int }
	at := map[[2]int]int{}
	var all []overlap
	for rank := range node {
		key := [2]int{node[rank], now[rank]}
		if s.size[key[0]] != s.size[key[1]] {
			continue
		}
		if _, known := at[key]; !known {
			at[key] = len(all)
			all = append(all, overlap{key[0], key[1], 0})
		}
		all[at[key]].ranks++
	}
	slices.SortStableFunc(all, func(a, b overlap) int { return b.ranks - a.ranks }) // of equal ones, those of the first ranks
	name, taken := make([]int, len(s.size)), make([]bool, len(s.size))
	for k := range name {
		name[k] = -1
	}
	for _, o := range all {
		if name[o.node] < 0 && !taken[o.now] {
			name[o.node], taken[o.now] = o.now, true
		}
	}
	for k := range name {
		for to := range taken {
			if name[k] < 0 && !taken[to] && s.size[k] == s.size[to] {
				name[k], taken[to] = to, true
			}
		}
	}
	out := make([]int, len(node))
	for rank, k := range node {
		out[rank] = name[k]
	}
	return out
}
