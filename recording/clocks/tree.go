package clocks

import (
	"cmp"
	"math"
	"slices"
	"time"

	"mpitx/recording"
)

// edge leads to a neighbour in the tree.
type edge struct {
	to    int
	curve recording.Curve // from the neighbour's clock
	error float64
}

// span connects the nodes by the pairs with the smallest errors. The node of the root keeps its clock, and the others get its time. In each
// group of nodes that is not connected with it, the first node keeps its clock.
func (m *model) span() {
	order := make([]*fitted, 0, len(m.pairs))
	for i := range m.pairs {
		if m.pairs[i].curve != nil {
			order = append(order, &m.pairs[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *fitted) int { return cmp.Compare(a.error, b.error) })
	group, tree := make([]int, m.nodes), make([][]edge, m.nodes)
	for i := range group {
		group[i] = i
	}
	find := func(n int) int {
		for group[n] != n {
			group[n] = group[group[n]]
			n = group[n]
		}
		return n
	}
	for _, p := range order {
		if a, b := find(p.Nodes[0]), find(p.Nodes[1]); a != b {
			group[a] = b
			tree[p.Nodes[0]] = append(tree[p.Nodes[0]], edge{p.Nodes[1], p.curve.Inverse(), p.error})
			tree[p.Nodes[1]] = append(tree[p.Nodes[1]], edge{p.Nodes[0], p.curve, p.error})
		}
	}
	m.curves = map[int]recording.Curve{}
	above, depth, errors := make([]int, m.nodes), make([]int, m.nodes), make([]float64, m.nodes)
	roots := make([]int, m.nodes)
	for i := range roots {
		roots[i] = -1
	}
	for i := -1; i < m.nodes; i++ {
		start := max(i, 0)
		if i < 0 {
			start = m.root
		}
		if roots[start] >= 0 {
			continue
		}
		roots[start], above[start] = start, start
		for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
			n := queue[0]
			for _, e := range tree[n] {
				if roots[e.to] >= 0 {
					continue
				}
				roots[e.to], above[e.to], depth[e.to], errors[e.to] = start, n, depth[n]+1, e.error
				m.curves[e.to] = e.curve.Then(m.curves[n])
				queue = append(queue, e.to)
			}
		}
	}
	for i := range m.pairs {
		p := &m.pairs[i]
		if p.Known = roots[p.Nodes[0]] == roots[p.Nodes[1]]; p.Known {
			sum := 0.0
			for a, b := p.Nodes[0], p.Nodes[1]; a != b; {
				if depth[a] < depth[b] {
					a, b = b, a
				}
				sum += errors[a]
				a = above[a]
			}
			p.Error = time.Duration(math.Ceil(min(sum, math.MaxInt64/4)))
		}
	}
}
