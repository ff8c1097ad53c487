package explorer

import (
	"slices"
	"strings"

	"mpitx/catalog"
)

const (
	crowd     = 40 // a branch with more variables is divided by the beginnings of their names
	minGroup  = 3  // variables of a group, at least
	maxGroups = 6  // levels of made-up groups
)

// branch is a node of the tree: a category, all variables, or a made-up group of names with the same beginning.
type branch struct {
	name     string
	label    string            // name without the names of the branches above
	category *catalog.Category // nil: made up
	parent   *branch
	kids     []*branch
	own      []int32 // entries that this branch lists itself
	count    int     // different entries here and below
	depth    int
	open     bool
	ref      *branch // where this category is unfolded
	number   int32   // in the listCounts
}

func newTree(x *index) *branch {
	root := &branch{name: "all variables", label: "all variables", open: true, count: len(x.all)}
	nodes := map[*catalog.Node]*branch{}
	refs := map[*branch]*catalog.Node{}
	var convert func(n *catalog.Node, parent *branch)
	convert = func(n *catalog.Node, parent *branch) {
		b := &branch{name: n.Name, label: n.Name, category: n.Category, parent: parent, depth: parent.depth + 1, count: n.Count}
		if rest, ok := strings.CutPrefix(n.Name, parent.name+"_"); ok && rest != "" {
			b.label = rest
		}
		parent.kids = append(parent.kids, b)
		nodes[n] = b
		if n.Ref != nil {
			refs[b] = n.Ref
			return
		}
		for _, v := range n.Vars {
			b.own = append(b.own, x.byID[v.ID()])
		}
		for _, e := range n.Events {
			b.own = append(b.own, x.others[e])
		}
		for _, s := range n.Sources {
			b.own = append(b.own, x.others[s])
		}
		for _, k := range n.Children {
			convert(k, b)
		}
		if len(b.own) > crowd {
			b.group(x, 0, 0)
		}
	}
	tree := catalog.Tree(x.cat)
	if len(x.cat.Categories) == 0 { // else the only branch would be "uncategorised"
		root.own = x.all
		root.group(x, 0, 0)
		return root
	}
	for _, n := range tree.Children {
		convert(n, root)
	}
	for b, n := range refs {
		b.ref = nodes[n]
	}
	return root
}

// group moves variables into made-up branches by the next word of their names, after skip bytes that all names share.
func (b *branch) group(x *index, skip, level int) {
	if level == maxGroups {
		return
	}
	skip = max(skip, common(x, b.own))
	groups := map[string][]int32{}
	for _, k := range b.own {
		if w := word(x.entries[k].low, skip); w != "" {
			groups[w] = append(groups[w], k)
		}
	}
	names := make([]string, 0, len(groups))
	for w, g := range groups {
		if len(g) >= minGroup && len(g) < len(b.own) {
			names = append(names, w)
		}
	}
	if len(names) < 2 {
		return
	}
	slices.Sort(names)
	moved := map[int32]bool{}
	for _, w := range names {
		g := groups[w]
		kid := &branch{name: w + "*", label: w[skip:] + "*", parent: b, depth: b.depth + 1, own: g, count: len(g)}
		b.kids = append(b.kids, kid)
		for _, k := range g {
			moved[k] = true
		}
		if len(g) > crowd {
			kid.group(x, len(w), level+1)
		}
	}
	b.own = slices.DeleteFunc(slices.Clone(b.own), func(k int32) bool { return moved[k] })
}

// common is the length of the common beginning of all names, up to the end of a word.
func common(x *index, vars []int32) int {
	if len(vars) == 0 {
		return 0
	}
	p := x.entries[vars[0]].low
	for _, k := range vars[1:] {
		p = p[:shared(p, x.entries[k].low)]
	}
	return strings.LastIndexByte(p, '_') + 1
}

// word is a name up to the end of the word after skip bytes, its separator included; "" if the name ends before.
func word(s string, skip int) string {
	if skip >= len(s) {
		return ""
	}
	i := strings.IndexByte(s[skip:], '_')
	if i < 0 {
		return ""
	}
	return s[:skip+i+1]
}

// below returns the variables of a branch and of all branches below it, in the index's order.
func (b *branch) below(x *index) []int32 {
	if b.ref != nil {
		b = b.ref
	}
	if b.parent == nil {
		return x.all
	}
	in := make([]bool, len(x.entries))
	seen := map[*branch]bool{}
	var add func(*branch)
	add = func(b *branch) {
		if b.ref != nil {
			b = b.ref
		}
		if seen[b] {
			return
		}
		seen[b] = true
		for _, k := range b.own {
			in[k] = true
		}
		for _, kid := range b.kids {
			add(kid)
		}
	}
	add(b)
	vars := []int32{}
	for k, yes := range in {
		if yes {
			vars = append(vars, int32(k))
		}
	}
	return vars
}

// visible appends the branches that the tree shows, from top to bottom: those of open branches that pass.
func (b *branch) visible(rows []*branch, pass func(*branch) bool) []*branch {
	rows = append(rows, b)
	if b.open {
		for _, kid := range b.kids {
			if pass(kid) {
				rows = kid.visible(rows, pass)
			}
		}
	}
	return rows
}

// listTree updates the rows of the tree. A search or a filter hides the branches without a match, except the present one and those above
// it. The cursor is on the present branch. While that is the same, its line of the screen is too, also after a search or a filter.
func (m *Model) listTree() {
	narrowed := m.narrowed()
	m.rows = m.x.root.visible(m.rows[:0], func(b *branch) bool {
		return !narrowed || m.countOf(b) > 0 || b.above(m.branch)
	})
	before := listedTree{m.tree, m.treeBranch}
	switch {
	case narrowed && !m.treeNarrow:
		m.wideTree = before
	case !narrowed && m.treeNarrow:
		before = m.wideTree
	}
	m.tree.at, m.tree.top = max(0, slices.Index(m.rows, m.branch)), before.top
	if m.branch == before.branch {
		m.tree.top = max(0, m.tree.at-max(before.at-before.top, 0))
	}
	m.treeBranch, m.treeNarrow = m.branch, narrowed
}

// listedTree is the tree as it was once: its scrolling, and the branch with the cursor.
type listedTree struct {
	scroll
	branch *branch
}

// above says whether a branch is another one, or holds it.
func (b *branch) above(other *branch) bool {
	for ; other != nil; other = other.parent {
		if other == b {
			return true
		}
	}
	return false
}

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
