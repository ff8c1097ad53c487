package export

import (
	"bytes"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"mpitx/catalog/diff"
)

// diffColumns are the widths of the table for a terminal. why is 0 if the reason goes below each item.
type diffColumns struct{ name, what, why int }

const (
	changeWidth = 8
	leastWhat   = 32 // cells of what changed, before names and reasons get theirs
	valueLines  = 4  // of the new value, at most
)

func diffLayout(d *diff.Diff, t Terminal) diffColumns {
	name, why := len("NAME"), 0
	for i := range d.Items {
		name = max(name, Width(t.Safe(diffName(&d.Items[i]))))
		why = max(why, Width(d.Items[i].Reason))
	}
	name = min(name, max(t.Width*2/5, 10))
	c := diffColumns{name: name, why: why}
	rest := t.Width - changeWidth - gap - name - gap
	if c.what = rest - gap - why; c.what < leastWhat {
		c.what, c.why = max(rest, 10), 0
	}
	return c
}

// diffFitted writes the table for a terminal. Long cells go on in the next line; a name that is too long has a line of its own.
func diffFitted(b *bytes.Buffer, d *diff.Diff, t Terminal) {
	c := diffLayout(d, t)
	p := &printer{term: t}
	p.Start(b)
	p.widths = []int{changeWidth, c.name, c.what, c.why}
	header := []string{"CHANGE", "NAME", "WHAT", "WHY"}
	if c.why == 0 {
		header, p.widths = header[:3], p.widths[:3]
	}
	p.Header([][]string{header}, tw.Formatting{})
	for i := range d.Items {
		it := &d.Items[i]
		var what, why []string
		for _, f := range lineFields(it) {
			what = append(what, c.change(it, f, t)...)
		}
		change, name := string(it.Change), t.Safe(diffName(it))
		if Width(name) > c.name {
			name = t.Cut(name, t.Width-changeWidth-gap)
			if strings.Join(what, "") != "" {
				what = append([]string{""}, what...)
			}
		}
		if c.why > 0 {
			why = wrap(t.Safe(it.Reason), c.why)
		}
		for k := range max(len(what), len(why)) {
			p.Row([]string{change, name, at(what, k), at(why, k)}, tw.Formatting{})
			change, name = "", ""
		}
		if c.why == 0 && it.Reason != "" {
			p.note(t.Safe(it.Reason))
		}
	}
	p.Close()
}

// change says in lines what changed. Of the new value, all shows; the old one is cut to what differs, and so are lists.
func (c *diffColumns) change(it *diff.Item, f diff.Field, t Terminal) []string {
	whole := fieldChange(it, f, t)
	if Width(t.Safe(whole)) <= c.what {
		return []string{t.Safe(whole)}
	}
	f.A, f.B = t.Safe(oneLine(f.A)), t.Safe(oneLine(f.B))
	if diff.IsList(f.Name) {
		return c.list(it, f, t)
	}
	if f.Name != "name" && f.A != "" && f.B != "" {
		both := ""
		f.A, f.B, both = f.Apart()
		f.A, _ = t.Apart(f.A, f.B, c.what-len(f.Name)-len(" → ")) // the arrow ends the line
		f.A, f.B = f.A+both, f.B+both
	}
	if most := valueLines * c.what; Width(f.B) > most {
		_, f.B = t.Apart(f.A, f.B, most)
	}
	return wrap(fieldChange(it, f, t), c.what)
}

// list says what is new in a list and what it lacks, each in a line.
func (c *diffColumns) list(it *diff.Item, f diff.Field, t Terminal) (lines []string) {
	for _, one := range []diff.Field{{Name: f.Name, A: f.A}, {Name: f.Name, B: f.B}} {
		if one.A != "" || one.B != "" {
			lines = append(lines, t.Cut(fieldChange(it, one, t), c.what))
		}
	}
	return lines
}

func diffName(it *diff.Item) string { return strings.TrimSpace(kindWord(it) + " " + it.Name()) }

// at is a line, or "" after the last one.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
