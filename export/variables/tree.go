package variables

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
)

// branches are the characters of a tree.
type branches struct{ tee, last, bar, blank string }

var (
	unicodeBranches = branches{"├── ", "└── ", "│   ", "    "}
	asciiBranches   = branches{"|-- ", "`-- ", "|   ", "    "}
)

// treeKinds are the kinds that a tree has as leaves.
const treeKinds = catalog.Cvars | catalog.Pvars | catalog.Events | catalog.Sources

// Tree writes the tree of categories (catalog.Tree) with variables and events of some kinds as leaves. Branches without any are left out, and a
// category with several parents is drawn once.
func Tree(w io.Writer, c *catalog.Catalog, t export.Terminal, k catalog.Kind) error {
	if k&treeKinds == 0 {
		k = catalog.AllKinds
	}
	c = only(c, (k|catalog.Categories|catalog.Enums)&^catalog.Virtual)
	d := &drawing{out: bufio.NewWriter(w), c: c, term: t, sign: asciiBranches, value: FindField("value")}
	if t.UTF8 {
		d.sign = unicodeBranches
	}
	for _, top := range catalog.Tree(c).Children {
		d.node(top, "", "")
	}
	return d.out.Flush()
}

// drawing writes a tree. The writer keeps its first error.
type drawing struct {
	out   *bufio.Writer
	c     *catalog.Catalog
	term  export.Terminal
	sign  branches
	value *Field
}

// node draws a category and its contents, with the prefix first on its own line and rest on the others.
func (d *drawing) node(n *catalog.Node, first, rest string) {
	if n.Count == 0 {
		return
	}
	name := d.term.Safe(n.Name)
	label := ""
	if n.Category == nil {
		name = "(" + name + ")"
	}
	if n.Count > 0 {
		label = " (" + strconv.Itoa(n.Count) + ")"
	}
	if n.Ref != nil {
		d.line(first, "", name+label+", shown elsewhere in this tree")
		return
	}
	if n.Category != nil && n.Category.Description != "" {
		label += "  " + d.term.Safe(export.OneLine(n.Category.Description))
	}
	d.line(first, name, label)
	var children []*catalog.Node
	for _, child := range n.Children {
		if child.Count != 0 {
			children = append(children, child)
		}
	}
	leaves := d.leaves(n)
	for i, child := range children {
		f, r := d.branch(i == len(children)-1 && len(leaves) == 0)
		d.node(child, rest+f, rest+r)
	}
	for i, leaf := range leaves {
		f, _ := d.branch(i == len(leaves)-1)
		d.line(rest+f, "", d.term.Safe(leaf))
	}
}

// leaves are the lines of the entries that a category lists itself.
func (d *drawing) leaves(n *catalog.Node) []string {
	leaves := make([]string, 0, len(n.Vars)+len(n.Events)+len(n.Sources))
	for _, v := range n.Vars {
		leaves = append(leaves, v.ID()+" = "+d.value.Text(d.c, v))
	}
	for _, e := range n.Events {
		leaves = append(leaves, e.Name+" (event: "+either(elementNames(e), "no elements")+")")
	}
	for _, s := range n.Sources {
		leaves = append(leaves, s.Name+" ("+numbered(s.Order)+")")
	}
	return leaves
}

func (d *drawing) branch(last bool) (first, rest string) {
	if last {
		return d.sign.last, d.sign.blank
	}
	return d.sign.tee, d.sign.bar
}

// line writes one line, cut to the terminal, with the name highlighted.
func (d *drawing) line(indent, name, text string) {
	if d.term.Width > 0 {
		room := d.term.Width - export.Width(indent)
		if room < 4 { // too deep to draw in full
			indent, room = d.term.Cut(indent, max(d.term.Width/2, 1)), max(d.term.Width-d.term.Width/2, 1)
		}
		name = d.term.Cut(name, room)
		text = d.term.Cut(text, room-export.Width(name))
	}
	d.out.WriteString(strings.TrimRight(indent+d.term.Paint(export.HeadingStyle, name)+text, " ") + "\n")
}
