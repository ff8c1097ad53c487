package variables

import (
	"io"

	"mpitx/catalog"
	"mpitx/export"
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
		text := func(value catalog.Value) string { return value.Format(nil) }
		item := func(catalog.Value) string { return "" }
		if found := c.Lookup(o.Name); len(found) > 0 {
			v := found[0]
			item = func(value catalog.Value) string { return c.ItemOf(v, value) }
			text = func(value catalog.Value) string { return value.Format(c.Enum(v.Enum)) }
			if people { // programs get the numbers
				text = func(value catalog.Value) string { return c.ValueText(v, value) }
			}
		}
		row := []any{o.Name, nonNil(o.Ranks), text(o.Old), text(o.New), text(o.Back), string(o.Result), o.Detail}
		if items {
			row = append(row, item(o.Old), item(o.New), item(o.Back))
		}
		r.Rows = append(r.Rows, row)
	}
	return r.Write(w, f, t)
}
