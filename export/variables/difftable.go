package variables

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/olekukonko/tablewriter/tw"

	"mpitx/catalog/diff"
	"mpitx/export"
)

// diffColumns are the widths of the table for a terminal. why is 0 if the reason goes below each item.
type diffColumns struct{ name, what, why int }

const (
	changeWidth = 8
	leastWhat   = 32 // cells of what changed, before names and reasons get theirs
)

func diffLayout(d *diff.Diff, t export.Terminal) diffColumns {
	name, why := len("NAME"), 0
	for i := range d.Items {
		name = max(name, export.Width(t.Safe(diffName(&d.Items[i]))))
		why = max(why, export.Width(d.Items[i].Reason))
	}
	name = min(name, max(t.Width*2/5, 10))
	c := diffColumns{name: name, why: why}
	rest := t.Width - changeWidth - export.Gap - name - export.Gap
	if c.what = rest - export.Gap - why; c.what < leastWhat {
		c.what, c.why = max(rest, 10), 0
	}
	return c
}

// diffFitted writes the table for a terminal. If a name or a change does not fit into its column, the changes of the item are in lines of
// their own below it.
func diffFitted(b *bytes.Buffer, d *diff.Diff, t export.Terminal) {
	c := diffLayout(d, t)
	p := &export.Printer{Term: t}
	p.Start(b)
	p.Widths = []int{changeWidth, c.name, c.what, c.why}
	header := []string{"CHANGE", "NAME", "WHAT", "WHY"}
	if c.why == 0 {
		header, p.Widths = header[:3], p.Widths[:3]
	}
	p.Header([][]string{header}, tw.Formatting{})
	for i := range d.Items {
		c.item(p, &d.Items[i], t)
	}
	p.Close()
}

func (c *diffColumns) item(p *export.Printer, it *diff.Item, t export.Terminal) {
	change, name, why := string(it.Change), t.Safe(diffName(it)), t.Safe(it.Reason)
	var what []string
	fits := export.Width(name) <= c.name
	for _, f := range lineFields(it) {
		text := t.Safe(fieldChange(it, f, t))
		fits = fits && export.Width(text) <= c.what
		what = append(what, text)
	}
	if c.why == 0 {
		defer p.Note(why)
		why = ""
	}
	if fits {
		for _, text := range what {
			p.Row([]string{change, name, text, why}, tw.Formatting{})
			change, name, why = "", "", ""
		}
		return
	}
	if export.Width(name) <= c.name {
		p.Row([]string{change, name, "", why}, tw.Formatting{})
	} else {
		room := t.Width - changeWidth - export.Gap
		if c.why > 0 {
			room = c.name + export.Gap + c.what
		}
		for _, line := range wrapParts(name, room) {
			p.Out.WriteString(change + strings.Repeat(" ", changeWidth+export.Gap-len(change)) + line)
			if why != "" {
				p.Out.WriteString(strings.Repeat(" ", max(room-export.Width(line), 0)+export.Gap) + why)
			}
			p.Out.WriteByte('\n')
			change, why = "", ""
		}
	}
	for _, f := range lineFields(it) {
		for _, text := range changeTexts(it, f, t, max(t.Width-len(changeIndent), 10)) {
			p.Out.WriteString(changeIndent + strings.Join(text, "\n"+changeIndent+"  ") + "\n")
		}
	}
}

// changeIndent is before what changed, below a name.
const changeIndent = "            "

// changeTexts say what changed, in the lines of one or two texts. A new value is whole; an old one that does not fit is shortened to what
// differs.
func changeTexts(it *diff.Item, f diff.Field, t export.Terminal, width int) (texts [][]string) {
	whole := t.Safe(fieldChange(it, f, t))
	switch {
	case whole == "":
		return nil
	case export.Width(whole) <= width:
		return [][]string{{whole}}
	}
	width -= export.Gap
	f.A, f.B = t.Safe(export.OneLine(f.A)), t.Safe(export.OneLine(f.B))
	if diff.IsList(f.Name) {
		for _, one := range []diff.Field{{Name: f.Name, A: f.A}, {Name: f.Name, B: f.B}} {
			if one.A != "" || one.B != "" {
				texts = append(texts, wrapItems(fieldChange(it, one, t), width))
			}
		}
		return texts
	}
	if f.Name != "name" && f.A != "" && f.B != "" {
		both := ""
		f.A, f.B, both = f.Apart()
		f.A, _ = t.Apart(f.A, f.B, width-len(f.Name)-len(" → ")) // the arrow ends the line
		f.A, f.B = f.A+both, f.B+both
	}
	return [][]string{wrapParts(fieldChange(it, f, t), width)}
}

// wrapItems breaks a list between its items.
func wrapItems(list string, width int) []string {
	lines := []string{""}
	for i, item := range strings.SplitAfter(list, ", ") {
		last := &lines[len(lines)-1]
		if i > 0 && export.Width(*last)+export.Width(strings.TrimRight(item, " ")) > width {
			*last = strings.TrimRight(*last, " ")
			lines = append(lines, "")
			last = &lines[len(lines)-1]
		}
		*last += item
	}
	var all []string
	for _, line := range lines {
		all = append(all, wrapParts(line, width)...)
	}
	return all
}

// wrapParts breaks a text at blanks, or if its words are too long, after commas, underscores and the like.
func wrapParts(s string, width int) (lines []string) {
	for export.Width(s) > width {
		line := ansi.Truncate(s, width+1, "")
		end := strings.LastIndexByte(line, ' ')
		if end < len(line)/2 {
			line = ansi.Truncate(s, width, "")
			if end = strings.LastIndexAny(line, " ,|_/:;") + 1; end < len(line)/3 {
				end = max(len(line), 1)
			}
		}
		lines = append(lines, strings.TrimRight(s[:end], " "))
		s = strings.TrimLeft(s[end:], " ")
	}
	return append(lines, s)
}

func diffName(it *diff.Item) string { return strings.TrimSpace(kindWord(it) + " " + it.Name) }
