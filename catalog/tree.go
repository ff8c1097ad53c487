package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// Node is a category in the tree, or an artificial node: the root, the branch of variables and events without a category, the
// branch of event sources, or the branch of mpitx's own variables.
type Node struct {
	Name     string
	Category *Category   // nil: an artificial node; the root's Name is ""
	Children []*Node     // by name
	Vars     []*Variable // members of this category: control variables by name, then performance variables
	Events   []*Event    // members of this category, or events of PERUSE, by name
	Sources  []*Source   // of the branch of event sources
	Count    int         // different variables, events and sources in it and all below it; -1 if the tree is too large to count
	Ref      *Node       // the same category elsewhere in the tree, with the children and variables
}

// Uncategorised is the name of the branch of variables and events without a category.
const Uncategorised = "uncategorised"

// SourcesNode is the name of the branch of event sources.
const SourcesNode = "event sources"

// PeruseNode is the name of the branch of events of PERUSE.
const PeruseNode = "PERUSE"

// Own is the name of the branch of mpitx's own variables.
const Own = "mpitx"

const (
	maxDepth = 64       // of the tree; deeper categories are put at the top
	maxSteps = 20 << 20 // of counting
)

// Tree returns the tree of categories (MPI-3.1, section 14.3.8), sorted by name. At the top are categories that no other category
// contains, then those that are only in a cycle, then the uncategorised variables and events, the event sources, the events of
// PERUSE and mpitx's own variables, if there are any. A category
// with several parents has its children at its first place; elsewhere Ref points there, so that no input makes the tree large
// or endless. Members that the catalog does not have, as after a filter, are left out.
func Tree(c *Catalog) *Node {
	t := &treeBuilder{
		vars:       make(map[identity]*Variable, len(c.Cvars)+len(c.Pvars)),
		categories: make(map[string]*Category, len(c.Categories)),
		nodes:      make(map[string]*Node, len(c.Categories)),
		listed:     make(map[*Variable]bool),
		events:     make(map[string]*Event, len(c.Events)),
		inCategory: make(map[*Event]bool),
	}
	for v := range c.variables(Variables &^ agentKinds) {
		t.vars[identify(v)] = v
	}
	for i := range c.Categories {
		t.categories[c.Categories[i].Name] = &c.Categories[i]
	}
	for i := range c.Events {
		t.events[c.Events[i].Name] = &c.Events[i]
	}
	root := &Node{Children: t.tops(c)}
	if rest := t.uncategorised(c); rest != nil {
		root.Children = append(root.Children, rest)
	}
	if len(c.Sources) > 0 {
		all := &Node{Name: SourcesNode}
		for i := range c.Sources {
			all.Sources = append(all.Sources, &c.Sources[i])
		}
		root.Children = append(root.Children, all)
	}
	if peruse := (&Node{Name: PeruseNode}); len(c.Events) > 0 {
		for i := range c.Events {
			if c.Events[i].Peruse() {
				peruse.Events = append(peruse.Events, &c.Events[i])
			}
		}
		if peruse.Events != nil {
			root.Children = append(root.Children, peruse)
		}
	}
	if len(c.Virtual) > 0 {
		own := &Node{Name: Own}
		for i := range c.Virtual {
			own.Vars = append(own.Vars, &c.Virtual[i])
		}
		root.Children = append(root.Children, own)
	}
	t.resolve()
	t.count(root)
	return root
}

type treeBuilder struct {
	vars       map[identity]*Variable
	categories map[string]*Category
	nodes      map[string]*Node // the nodes without a Ref
	refs       []*Node
	listed     map[*Variable]bool
	events     map[string]*Event
	inCategory map[*Event]bool
}

// tops builds all nodes and returns those at the top.
func (t *treeBuilder) tops(c *Catalog) []*Node {
	inside := map[string]bool{}
	for i := range c.Categories {
		for _, child := range c.Categories[i].Categories {
			if child != c.Categories[i].Name {
				inside[child] = true
			}
		}
	}
	var tops []*Node
	for _, cyclic := range []bool{false, true} {
		for i := range c.Categories {
			name := c.Categories[i].Name
			if inside[name] == cyclic && t.nodes[name] == nil {
				tops = append(tops, t.node(&c.Categories[i], 1))
			}
		}
	}
	slices.SortStableFunc(tops, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	return tops
}

// node makes the node of a category, or one that refers to it.
func (t *treeBuilder) node(k *Category, depth int) *Node {
	n := &Node{Name: k.Name, Category: k}
	if t.nodes[k.Name] != nil || depth > maxDepth {
		t.refs = append(t.refs, n)
		return n
	}
	t.nodes[k.Name] = n
	for _, name := range k.Cvars {
		t.list(n, identity{kind: Cvars, name: name})
	}
	for _, id := range k.Pvars {
		t.list(n, pvarIdentity(id))
	}
	n.Vars = distinctVars(n.Vars)
	for _, name := range union(nil, k.EventTypes) {
		if e := t.events[name]; e != nil {
			n.Events = append(n.Events, e)
			t.inCategory[e] = true
		}
	}
	for _, name := range union(nil, k.Categories) {
		if child := t.categories[name]; child != nil && name != k.Name {
			n.Children = append(n.Children, t.node(child, depth+1))
		}
	}
	return n
}

func (t *treeBuilder) list(n *Node, id identity) {
	if v := t.vars[id]; v != nil {
		n.Vars = append(n.Vars, v)
		t.listed[v] = true
	}
}

// pvarIdentity parses "name:class".
func pvarIdentity(id string) identity {
	name, class := SplitClass(id)
	return identity{Pvars, name, class}
}

// SplitClass splits an ID "name:class"; names may contain colons themselves. The class is 0 if there is none.
func SplitClass(s string) (string, Class) {
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		if c, err := ParseClass(s[i+1:]); err == nil && c != 0 {
			return s[:i], c
		}
	}
	return s, 0
}

func distinctVars(vars []*Variable) []*Variable {
	slices.SortStableFunc(vars, func(a, b *Variable) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.compare(b))
	})
	return slices.Compact(vars)
}

func (t *treeBuilder) uncategorised(c *Catalog) *Node {
	n := &Node{Name: Uncategorised}
	for v := range c.variables(Variables &^ agentKinds) {
		if !t.listed[v] {
			n.Vars = append(n.Vars, v)
		}
	}
	for i := range c.Events {
		if e := &c.Events[i]; !t.inCategory[e] && !e.Peruse() {
			n.Events = append(n.Events, e)
		}
	}
	if n.Vars == nil && n.Events == nil {
		return nil
	}
	return n
}

func (t *treeBuilder) resolve() {
	for _, n := range t.refs {
		n.Ref = t.nodes[n.Name]
	}
}

// count sets every node's number of entries. Each node is counted by itself, as the nodes below two nodes may overlap.
func (t *treeBuilder) count(root *Node) {
	steps := 0
	var each func(*Node)
	each = func(n *Node) {
		if n.Ref == nil {
			n.Count = countBelow(n, &steps)
		}
		for _, child := range n.Children {
			each(child)
		}
	}
	each(root)
	for _, n := range t.refs {
		n.Count = n.Ref.Count
	}
}

func countBelow(n *Node, steps *int) int {
	entries, nodes := map[Entry]bool{}, map[*Node]bool{}
	for todo := []*Node{n}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n.Ref != nil {
			n = n.Ref
		}
		if nodes[n] {
			continue
		}
		nodes[n] = true
		if *steps += 1 + len(n.Vars) + len(n.Events) + len(n.Sources) + len(n.Children); *steps > maxSteps {
			return -1
		}
		for _, v := range n.Vars {
			entries[v] = true
		}
		for _, e := range n.Events {
			entries[e] = true
		}
		for _, s := range n.Sources {
			entries[s] = true
		}
		todo = append(todo, n.Children...)
	}
	return len(entries)
}

// Walk calls each for this node, at depth 0, and all nodes below it, until each returns false. It does not follow Ref.
func (n *Node) Walk(each func(n *Node, depth int) bool) bool { return n.walk(each, 0) }

func (n *Node) walk(each func(n *Node, depth int) bool, depth int) bool {
	if !each(n, depth) {
		return false
	}
	for _, child := range n.Children {
		if !child.walk(each, depth+1) {
			return false
		}
	}
	return true
}
