package explorer

import "slices"

// listCounts says which branches of the tree each variable is in.
type listCounts struct {
	branches []*branch // by number: each before its kids
	in       []int32   // the number of the branch that lists a variable; if several do, or none does: -1 - its place in several
	several  [][]int32 // the numbers of all branches that a variable is in, here or below, the one that lists it first; the first: none
}

// newCensus numbers the branches of a tree of n variables.
func newCensus(x *index, root *branch, n int) listCounts {
	c := listCounts{in: make([]int32, n), several: [][]int32{nil}}
	for k := range c.in {
		c.in[k] = -1
	}
	lists := func(b *branch, vars []int32) {
		for _, k := range vars {
			switch at := c.in[k]; {
			case at >= 0:
				c.several = append(c.several, []int32{at, b.number})
				c.in[k] = -int32(len(c.several))
			case at == -1:
				c.in[k] = b.number
			default:
				c.several[-1-at] = append(c.several[-1-at], b.number)
			}
		}
	}
	var walk func(b *branch)
	walk = func(b *branch) {
		b.number = int32(len(c.branches))
		c.branches = append(c.branches, b)
		for _, kid := range b.kids {
			walk(kid)
		}
		lists(b, b.own) // the deepest one first
	}
	walk(root)
	for _, b := range c.branches {
		if b.ref != nil {
			lists(b, b.ref.below(x))
		}
	}
	for i, in := range c.several {
		for _, n := range in {
			for up := c.branches[n].parent; up != nil; up = up.parent {
				if !slices.Contains(c.several[i], up.number) {
					c.several[i] = append(c.several[i], up.number)
				}
			}
		}
	}
	return c
}

// holder is the deepest branch that lists variable k itself; nil: none.
func (c *listCounts) holder(k int32) *branch {
	at := c.in[k]
	if at < -1 {
		at = c.several[-1-at][0]
	}
	if at < 0 {
		return nil
	}
	return c.branches[at]
}

// count is how many of some variables are in each branch, by the branches' numbers.
func (c *listCounts) count(vars []int32) []int32 {
	counts := make([]int32, len(c.branches))
	var several []int32
	for _, k := range vars {
		if at := c.in[k]; at >= 0 {
			counts[at]++
		} else {
			several = append(several, at)
		}
	}
	for i := len(counts) - 1; i > 0; i-- {
		counts[c.branches[i].parent.number] += counts[i]
	}
	for _, at := range several {
		for _, n := range c.several[-1-at] {
			counts[n]++
		}
	}
	counts[0] = int32(len(vars))
	return counts
}

// tally counts the variables of each branch that the search and the filter let through.
type tally struct {
	generation int
	counts     []int32 // by branch.number
}

func (m *Model) narrowed() bool { return m.query != "" || filterText(m.criteria) != "" }

// countOf is the number of variables of a branch and those below it that the search and the filter let through.
func (m *Model) countOf(b *branch) int {
	if !m.narrowed() {
		return b.count
	}
	if t := &m.counts; t.generation != m.generation {
		passed := m.shown
		if m.query == "" {
			passed = filtered(m.x, m.criteria, m.x.all)
		}
		*t = tally{m.generation, m.x.count(passed)}
	}
	return int(m.counts.counts[b.number])
}
