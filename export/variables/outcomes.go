package variables

import (
	"io"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/settings"
	"mpitx/text"
)

// WriteSchema identifies the document that Outcomes writes.
const WriteSchema = "mpitx.write"

// Outcomes writes the results of writes, with values by their enumeration items' names.
func Outcomes(w io.Writer, c *catalog.Catalog, same []catalog.SameOutcome, f export.Format, t export.Terminal) error {
	r := export.Rows{Schema: WriteSchema, Columns: []export.RowColumn{
		{Name: "variable", Header: "VARIABLE"}, {Name: "ranks", Header: "RANKS"}, {Name: "old", Header: "OLD"},
		{Name: "new", Header: "NEW"}, {Name: "read_back", Header: "READ BACK"}, {Name: "outcome", Header: "OUTCOME"},
		{Name: "reason", Header: "REASON"},
	}}
	people := f == export.FormatTable || f == export.FormatWide || f == ""
	items := f == export.FormatJSON || f == export.FormatNDJSON
	if items {
		r.Columns = append(r.Columns, export.RowColumn{Name: "old_item"}, export.RowColumn{Name: "new_item"}, export.RowColumn{Name: "read_back_item"})
	}
	for _, o := range same {
		spelt := func(value catalog.Value) string { return value.Format(nil) }
		item := func(catalog.Value) string { return "" }
		if found := c.Lookup(o.Name); len(found) > 0 {
			v := found[0]
			item = func(value catalog.Value) string { return c.ItemOf(v, value) }
			spelt = func(value catalog.Value) string { return value.Format(c.Enum(v.Enum)) }
			if people { // programs get the numbers
				spelt = func(value catalog.Value) string { return c.ValueText(v, value) }
			}
		}
		row := []any{o.Name, nonNil(o.Ranks), spelt(o.Old), spelt(o.New), spelt(o.Back), string(o.Result), o.Detail}
		if items {
			row = append(row, item(o.Old), item(o.New), item(o.Back))
		}
		r.Rows = append(r.Rows, row)
	}
	return r.Write(w, f, t)
}

// Exported are the outcomes of settings that were saved for the next run. What was left out is named with the reason.
func Exported(c *catalog.Catalog, all []settings.Assignment, left []string) (rows []catalog.SameOutcome) {
	for _, a := range all {
		row := catalog.SameOutcome{Outcome: catalog.Outcome{Name: a.Variable.Name, New: a.Value, Result: catalog.WriteNext}}
		for rank := range c.Job.Size {
			row.Ranks = append(row.Ranks, rank)
		}
		if r := a.Variable.Current(); r != nil {
			row.Old = r.Value
		}
		if a.NeededBy != nil {
			row.Detail = strings.Join(a.NeededBy, ", ") + " " + text.Verb(len(a.NeededBy), "needs", "need") + " it"
		}
		for _, l := range left {
			if why, is := strings.CutPrefix(l, a.Variable.Name+": "); is {
				row.Result, row.Detail = catalog.WriteNever, why
			}
		}
		rows = append(rows, row)
	}
	return rows
}
