package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// graph makes a catalog from lines "name: child child = cvar pvar:class". vars are its variables.
func graph(lines string, vars ...string) *Catalog {
	c := new(Catalog)
	for _, id := range vars {
		if name, class := SplitClass(id); class != 0 {
			c.Pvars = append(c.Pvars, Variable{Kind: Pvars, Name: name, Class: class})
		} else {
			c.Cvars = append(c.Cvars, Variable{Kind: Cvars, Name: name})
		}
	}
	for line := range strings.Lines(lines) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		children, members, _ := strings.Cut(rest, "=")
		k := Category{Name: name, Categories: strings.Fields(children)}
		for _, m := range strings.Fields(members) {
			if strings.Contains(m, ":") {
				k.Pvars = append(k.Pvars, m)
			} else {
				k.Cvars = append(k.Cvars, m)
			}
		}
		c.Categories = append(c.Categories, k)
	}
	c.sort()
	c.linkCategories()
	return c
}

func show(root *Node) string {
	var b strings.Builder
	root.Walk(func(n *Node, depth int) bool {
		fmt.Fprintf(&b, "%s%s %d", strings.Repeat(" ", depth), n.Name, n.Count)
		if n.Ref != nil {
			b.WriteString(" ^")
		}
		for _, v := range n.Vars {
			b.WriteString(" " + v.ID())
		}
		for _, e := range n.Events {
			b.WriteString(" !" + e.Name)
		}
		for _, s := range n.Sources {
			b.WriteString(" @" + s.Name)
		}
		b.WriteByte('\n')
		return true
	})
	return b.String()
}

func TestTree(t *testing.T) {
	for name, test := range map[string]struct {
		c    *Catalog
		want string
	}{
		"empty": {graph(""), " 0\n"},
		"nested": {graph("top: mid = a\nmid: low = b b\nlow: = p:timer a gone\nother: = c", "a", "b", "c", "d", "p:timer", "p:counter"),
			" 6\n other 1 c\n top 3 a\n  mid 3 b\n   low 2 a p:timer\n uncategorised 2 d p:counter\n"},
		"shared": {graph("x: z\ny: z = a\nz: = a b", "a", "b"),
			" 2\n x 2\n  z 2 a b\n y 2 a\n  z 2 ^\n"},
		"self":     {graph("x: x = a", "a"), " 1\n x 1 a\n"},
		"cycle":    {graph("x: y = a\ny: z = b\nz: x", "a", "b"), " 2\n x 2 a\n  y 2 b\n   z 2\n    x 2 ^\n"},
		"entrance": {graph("x: y = a\ny: x = b\nw: y", "a", "b"), " 2\n w 2\n  y 2 b\n   x 2 a\n    y 2 ^\n"},
		"dangling": {graph("x: gone gone = a", "a"), " 1\n x 1 a\n"},
		"colon":    {graph("x: = q:counter:timer", "q:counter:timer"), " 1\n x 1 q:counter:timer\n"},
	} {
		if d := cmp.Diff(test.want, show(Tree(test.c))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Each of 60 layers contains every category of the next layer: the paths are far too many to walk.
func TestTreeWide(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		for _, side := range "ab" {
			fmt.Fprintf(&b, "k%02d%c: k%02da k%02db = v\n", i, side, i+1, i+1)
		}
	}
	root := Tree(graph(b.String(), "v"))
	nodes := strings.Count(show(root), "\n")
	if nodes > 300 || root.Count != 1 {
		t.Errorf("%d nodes, %d variables", nodes, root.Count)
	}
}

func TestTreeDeep(t *testing.T) {
	const n = 3000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%05d: k%05d = v%05d\n", i, (i+1)%n, i)
	}
	var vars []string
	for i := range n {
		vars = append(vars, fmt.Sprintf("v%05d", i))
	}
	root := Tree(graph(b.String(), vars...))
	deepest := 0
	root.Walk(func(node *Node, depth int) bool {
		deepest = max(deepest, depth)
		if node.Count != n && node.Count != -1 {
			t.Errorf("%s has %d", node.Name, node.Count)
		}
		return true
	})
	if deepest > maxDepth+1 || root.Count != n {
		t.Errorf("%d deep, %d variables", deepest, root.Count)
	}
}
