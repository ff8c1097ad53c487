package export

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// branches are the characters a tree is drawn with.
type branches struct{ tee, last, bar, blank string }

var (
	unicodeBranches = branches{"├── ", "└── ", "│   ", "    "}
	asciiBranches   = branches{"|-- ", "`-- ", "|   ", "    "}
)

// Tree writes the categories as a tree (catalog.Tree), with the variables of some kinds as its leaves. Branches without
// any are left out; a category in several others is drawn once.
func Tree(w io.Writer, c *catalog.Catalog, t Terminal, k catalog.Kind) error {
	if k&(catalog.Cvars|catalog.Pvars) == 0 {
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

// drawing is a tree being drawn. The writer keeps its first error.
type drawing struct {
	out   *bufio.Writer
	c     *catalog.Catalog
	term  Terminal
	sign  branches
	value *Field
}

// node draws a category and what is in it: its own line after first, the others after rest.
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
		d.line(first, "", name+label+", drawn at its other place")
		return
	}
	if n.Category != nil && n.Category.Description != "" {
		label += "  " + d.term.Safe(oneLine(n.Category.Description))
	}
	d.line(first, name, label)
	var children []*catalog.Node
	for _, child := range n.Children {
		if child.Count != 0 {
			children = append(children, child)
		}
	}
	for i, child := range children {
		f, r := d.branch(i == len(children)-1 && len(n.Vars) == 0)
		d.node(child, rest+f, rest+r)
	}
	for i, v := range n.Vars {
		f, _ := d.branch(i == len(n.Vars)-1)
		d.line(rest+f, "", d.term.Safe(v.ID()+" = "+d.value.Text(d.c, v)))
	}
}

func (d *drawing) branch(last bool) (first, rest string) {
	if last {
		return d.sign.last, d.sign.blank
	}
	return d.sign.tee, d.sign.bar
}

// line writes one line, cut to the terminal; the name stands out.
func (d *drawing) line(indent, name, text string) {
	if d.term.Width > 0 {
		room := d.term.Width - Width(indent)
		if room < 4 { // too deep to be drawn in full
			indent, room = d.term.Cut(indent, max(d.term.Width/2, 1)), max(d.term.Width-d.term.Width/2, 1)
		}
		name = d.term.Cut(name, room)
		text = d.term.Cut(text, room-Width(name))
	}
	d.out.WriteString(strings.TrimRight(indent+d.term.paint(headingStyle, name)+text, " ") + "\n")
}
