package ui

import "slices"

// tally counts the variables of each branch that the search and the filter let through.
type tally struct {
	generation int
	counts     []int32 // by branch.number
}

// countOf is the number of variables of a branch and those below it that the search and the filter let through.
func (m *Model) countOf(b *branch) int {
	if m.query == "" && filterText(m.criteria) == "" {
		return b.count
	}
	t := &m.counts
	if t.generation != m.generation {
		*t = tally{m.generation, make([]int32, m.x.branches())}
		passed := m.shown
		if m.query == "" {
			passed = filtered(m.x, m.criteria, m.x.all)
		}
		for _, k := range passed {
			for _, n := range m.x.in[m.x.inAt[k]:m.x.inEnd[k]] {
				t.counts[n]++
			}
		}
		t.counts[m.x.root.number] = int32(len(passed))
	}
	return int(t.counts[b.number])
}

// branches numbers the branches of the tree, and records in which of them each variable is. It returns their number.
func (x *index) branches() int {
	if x.inAt != nil {
		return x.numbers
	}
	var all []*branch
	var number func(b *branch)
	number = func(b *branch) {
		b.number = int32(len(all))
		all = append(all, b)
		for _, kid := range b.kids {
			number(kid)
		}
	}
	number(x.root)
	each := func(do func(k, branch int32)) {
		for _, b := range all {
			own := b.own
			if b.ref != nil {
				own = b.ref.below(x)
			}
			for _, k := range own {
				for up := b; up != nil; up = up.parent {
					do(k, up.number)
				}
			}
		}
	}
	x.inAt = make([]int32, len(x.entries)+1)
	each(func(k, _ int32) { x.inAt[k+1]++ })
	for k := range x.entries {
		x.inAt[k+1] += x.inAt[k]
	}
	x.in, x.inEnd = make([]int32, x.inAt[len(x.entries)]), slices.Clone(x.inAt[:len(x.entries)])
	each(func(k, n int32) {
		if !slices.Contains(x.in[x.inAt[k]:x.inEnd[k]], n) { // one that is in several categories
			x.in[x.inEnd[k]] = n
			x.inEnd[k]++
		}
	})
	x.numbers = len(all)
	return x.numbers
}
