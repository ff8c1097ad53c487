package variables

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/export"
	"mpitx/text"
)

// DiffFormats are the formats of a diff.
var DiffFormats = []export.Format{export.FormatTable, export.FormatWide, FormatMarkdown, export.FormatJSON, export.FormatNDJSON, export.FormatCSV}

const diffSchema = "mpitx.diff"

// Diff writes what changed between two catalogs.
func Diff(w io.Writer, d *diff.Diff, f export.Format, t export.Terminal) error {
	switch f {
	case export.FormatJSON:
		return diffJSON(w, d)
	case export.FormatNDJSON, export.FormatCSV:
		return diffRows(d).Write(w, f, t)
	case FormatMarkdown:
		return diffMarkdown(w, d, t)
	case export.FormatTable, export.FormatWide, "":
		return diffText(w, d, f, t)
	}
	return fmt.Errorf("a diff has no format %q", f)
}

// diffText writes the head and one table.
func diffText(w io.Writer, d *diff.Diff, f export.Format, t export.Terminal) error {
	var b bytes.Buffer
	for i, name := range []string{"A", "B"} {
		t.Hanging(&b, name+"  ", sideLine(&d.Sides[i]))
	}
	if len(d.Library) > 0 {
		t.Hanging(&b, "   ", "Different: "+libraryChanges(d))
	}
	for _, n := range d.Notes {
		t.Hanging(&b, "   ", n+".")
	}
	t.Hanging(&b, "   ", diffCounts(d))
	if len(d.Items) > 0 {
		b.WriteByte('\n')
		table := diffTable(d, t)
		if f == export.FormatWide {
			table = diffWide(d)
		}
		if f != export.FormatWide && t.Width > 0 {
			diffFitted(&b, d, t)
		} else if err := table.Write(&b, f, t); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// sideLine says what a side is.
func sideLine(s *diff.Side) string {
	var parts []string
	for k := range catalog.AllKinds.Table() {
		if n := s.Count(k.Kind); n > 0 && k.Kind&(catalog.Cvars|catalog.Pvars|catalog.Events) != 0 {
			parts = append(parts, text.Count(n, k.Name))
		}
	}
	if s.Job.Size > 1 {
		parts = append(parts, text.Count(s.Job.Size, "rank"))
	}
	return fmt.Sprintf("%s: %s; %s", s.Name, diff.LibraryName(&s.Library), strings.Join(parts, ", "))
}

func libraryChanges(d *diff.Diff) string {
	return strings.Join(export.Mapped(d.Library, func(f diff.Field) string { return diff.LibraryChange(f, "→") }), "; ")
}

// diffCounts counts the changes: of entries, and of those that changed by field.
func diffCounts(d *diff.Diff) string {
	switch {
	case len(d.Items) > 0:
	case d.LeftOut > 0:
		return fmt.Sprintf("No differences of this kind; %s not shown.", text.Count(d.LeftOut, "other"))
	default:
		return fmt.Sprintf("No differences in %s.", countedEntries(d.Common))
	}
	var parts []string
	for _, c := range diff.Changes {
		if n := d.Count(string(c)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c))
		}
	}
	return fmt.Sprintf("%s: %s.", text.Count(len(d.Items), "difference"), strings.Join(parts, ", "))
}

func countedEntries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// diffTable is the table for a pipe. An item has a line for each field that differs.
func diffTable(d *diff.Diff, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "CHANGE"}, {Header: "NAME"}, {Header: "WHAT"}, {Header: "WHY"}}}
	for i := range d.Items {
		it := &d.Items[i]
		start, why := []any{string(it.Change), diffName(it)}, it.Reason
		for _, f := range lineFields(it) {
			r.Rows = append(r.Rows, append(start, fieldChange(it, f, t), why))
			start, why = []any{"", ""}, ""
		}
	}
	return r
}

// diffWide has everything, uncut.
func diffWide(d *diff.Diff) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "CHANGE"}, {Header: "KIND", Optional: true}, {Header: "NAME"}, {Header: "FIELD"}, {Header: "A"}, {Header: "B"}, {Header: "LIKELY", Optional: true}, {Header: "WEIGHT", Right: true},
		{Header: "WHY"}}}
	for i := range d.Items {
		it := &d.Items[i]
		likely := ""
		if it.Change == diff.Renamed {
			likely = confidenceText(it)
		}
		for _, f := range lineFields(it) {
			r.Rows = append(r.Rows, []any{string(it.Change), kindWord(it), it.Name, f.Name, export.OneLine(f.A), export.OneLine(f.B), likely, it.Weight, it.Reason})
		}
	}
	return r
}

// kindWord is empty for control variables, which most entries are.
func kindWord(it *diff.Item) string {
	if it.Kind == catalog.Cvars {
		return ""
	}
	return it.Kind.Info().One
}

// fieldChange says in a few words what changed.
func fieldChange(it *diff.Item, f diff.Field, t export.Terminal) string {
	arrow := map[bool]string{true: " → ", false: " -> "}[t.UTF8]
	a, b := export.OneLine(f.A), export.OneLine(f.B)
	switch {
	case f.Name == "" && it.Change == diff.Vanished && it.HasValue():
		return "was " + diff.ValueText(a)
	case f.Name == "" && it.HasValue():
		return diff.ValueText(b)
	case f.Name == "":
		return ""
	case f.Name == "name":
		return strings.TrimLeft(arrow, " ") + b + ", " + confidenceText(it) + " likely"
	case f.Name == "description":
		return "description reworded"
	case f.Name == "synonym":
		return "also known as " + a + b
	case diff.IsList(f.Name) && a == "":
		return f.Name + ": new " + b
	case diff.IsList(f.Name) && b == "":
		return f.Name + ": without " + a
	}
	a, b, both := diff.Field{A: a, B: b}.Apart()
	return f.Name + " " + diff.ValueText(a) + arrow + diff.ValueText(b) + both
}

func confidenceText(it *diff.Item) string { return fmt.Sprintf("%.0f %%", 100*it.Confidence) }

// lineFields are the fields of an item's lines, also of one that appeared, vanished or was renamed.
func lineFields(it *diff.Item) []diff.Field {
	switch it.Change {
	case diff.Appeared:
		return append([]diff.Field{{B: it.Value}}, it.Fields...)
	case diff.Vanished:
		return append([]diff.Field{{A: it.Value}}, it.Fields...)
	case diff.Renamed:
		return append([]diff.Field{{Name: "name", A: it.Name, B: it.NewName}}, it.Fields...)
	}
	return it.Fields
}

// diffRows is the table for programs, with a row for each field that differs.
func diffRows(d *diff.Diff) *export.Rows {
	r := export.RowsOf(diffSchema, "change kind name new_name confidence weight reason field a b")
	for _, f := range d.Library {
		r.Rows = append(r.Rows, []any{string(diff.Changed), "library", "", "", nil, nil, "", f.Name, f.A, f.B})
	}
	for i := range d.Items {
		it, likely := &d.Items[i], any(nil)
		if it.Change == diff.Renamed {
			likely = it.Confidence
		}
		for _, f := range lineFields(it) {
			r.Rows = append(r.Rows, []any{string(it.Change), it.Kind.Info().One, it.Name, it.NewName, likely, it.Weight, it.Reason, f.Name, f.A, f.B})
		}
	}
	return r
}

type jsonDiffSide struct {
	Name    string         `json:"name"`
	Library string         `json:"library"`
	Text    string         `json:"text"`
	Family  string         `json:"family"`
	Created string         `json:"created,omitzero"`
	Size    int            `json:"size"`
	Counts  map[string]int `json:"counts"`
}

// diffJSON writes the document; docs/schema.md describes it.
func diffJSON(w io.Writer, d *diff.Diff) error {
	j := &export.Document{W: w, B: []byte("{\n  \"schema\": \"" + diffSchema + "\",\n  \"version\": 1")}
	for i, name := range []string{"a", "b"} {
		s := &d.Sides[i]
		side := jsonDiffSide{Name: s.Name, Library: diff.LibraryName(&s.Library), Text: export.OneLine(s.Library.Text), Family: s.Library.Family, Size: s.Job.Size, Counts: map[string]int{}}
		if !s.Created.IsZero() {
			side.Created = s.Created.Format("2006-01-02T15:04:05Z07:00")
		}
		for k := range (catalog.AllKinds &^ catalog.Virtual).Table() {
			side.Counts[k.Word] = s.Count(k.Kind)
		}
		j.Member(name, side)
	}
	j.Member("same", d.Same())
	counts := map[string]int{}
	for _, c := range diff.Changes {
		counts[string(c)] = d.Count(string(c))
	}
	j.Member("counts", counts)
	export.AddList(j, "notes", d.Notes)
	export.AddList(j, "library", d.Library)
	export.AddList(j, "changes", d.Items)
	return j.End()
}
