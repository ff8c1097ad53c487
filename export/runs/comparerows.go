package runs

import (
	"io"
	"time"

	"mpitx/export"
	"mpitx/recording/compare"
)

const compareSchema = "mpitx.compare"

// The numbers of a quantity in documents.
var deltaNames = []string{"base", "new", "change", "relative", "base_min", "base_max", "new_min", "new_max", "within_spread", "base_error", "new_error"}

func deltaValues(d compare.Delta) []any {
	values := make([]any, len(deltaNames))
	side := func(s compare.Sample, mean, least, most int) {
		if len(s) > 0 {
			values[mean], values[least], values[most] = finite(s.Mean()), finite(s.Min()), finite(s.Max())
		}
	}
	side(d.Base, 0, 4, 5)
	side(d.New, 1, 6, 7)
	if d.Known() {
		values[2] = finite(d.Change())
	}
	if r, ok := d.Relative(); ok {
		values[3] = finite(r)
	}
	if d.Spread() || d.Error() > 0 {
		values[8] = d.WithinSpread()
	}
	if d.BaseError > 0 {
		values[9] = d.BaseError
	}
	if d.NewError > 0 {
		values[10] = d.NewError
	}
	return values
}

// finite is a number of a document, which has no infinity.
func finite(x float64) any {
	if x-x != 0 {
		return nil
	}
	return x
}

// compareRows is a table for programs, with a row for each quantity of each item; "" is all tables.
func compareRows(c *compare.Comparison, name string) *export.Rows {
	r := export.RowsOf(compareSchema, "table name within site new_site object source destination side measure unit")
	for _, n := range deltaNames {
		r.Columns = append(r.Columns, export.RowColumn{Name: n})
	}
	for _, table := range CompareTables {
		if name != "" && name != table {
			continue
		}
		for _, it := range compareItems(c, table) {
			source, destination := numbersOf(it, table)
			for _, m := range it.Measures {
				unit := m.Unit
				if unit == "part" {
					unit = ""
				}
				row := []any{table, it.Name, it.Within, it.Site, it.NewSite, it.Object, source, destination, it.Side.String(), m.Name, unit}
				r.Rows = append(r.Rows, append(row, deltaValues(m.Delta)...))
			}
		}
	}
	return r
}

// numbersOf are the ranks of an item of a table.
func numbersOf(it *compare.Item, table string) (source, destination any) {
	switch table {
	case "peers", "onesided":
		return it.Source, it.Destination
	case "ranks":
		return it.Source, nil
	}
	return nil, nil
}

type jsonSide struct {
	Run     string        `json:"run"`
	Program string        `json:"program"`
	Library string        `json:"library"`
	Size    int           `json:"size"`
	Elapsed time.Duration `json:"elapsed_ns"`

	// Incomplete are the ranks whose numbers may be too small, and which are in no mean.
	Incomplete []int `json:"incomplete_ranks,omitempty"`
}

// jsonItem is an item of a table, with its quantities as members.
type jsonItem struct {
	*compare.Item
	table string
}

func (x jsonItem) MarshalJSON() ([]byte, error) {
	var names []string
	var values []any
	add := func(name string, value any, given bool) {
		if given {
			names, values = append(names, name), append(values, value)
		}
	}
	source, destination := numbersOf(x.Item, x.table)
	unit := x.Measures[0].Unit
	add("name", x.Name, source == nil && x.table != "run")
	add("within", x.Within, x.Within != "")
	add("site", x.Site, x.Site != "")
	add("new_site", x.NewSite, x.NewSite != "")
	add("class", x.Class, x.Class != "")
	add("object", x.Object, x.Object != "")
	add("source", source, destination != nil)
	add("destination", destination, destination != nil)
	add("rank", source, x.table == "ranks")
	add("side", x.Side.String(), x.table != "run")
	add("unit", unit, x.table == "variables" && unit != "")
	for _, m := range x.Measures {
		add(m.Name, jsonDelta(m.Delta), true)
	}
	return export.AppendObject(nil, names, func(i int) any { return values[i] })
}

// jsonDelta writes only the numbers that are known.
type jsonDelta compare.Delta

func (x jsonDelta) MarshalJSON() ([]byte, error) {
	var names []string
	var values []any
	for i, v := range deltaValues(compare.Delta(x)) {
		if v != nil {
			names, values = append(names, deltaNames[i]), append(values, v)
		}
	}
	return export.AppendObject(nil, names, func(i int) any { return values[i] })
}

// compareJSON writes the document; docs/schema.md describes it.
func compareJSON(w io.Writer, c *compare.Comparison, o CompareOptions) error {
	d := &export.Document{W: w, B: []byte("{\n  \"schema\": \"" + compareSchema + "\",\n  \"version\": 1")}
	for side, runs := range c.Sides {
		export.AddList(d, compare.Side(side).String(), export.Mapped(runs, func(in compare.Input) jsonSide {
			s := jsonSide{Run: in.Run.Dir, Elapsed: in.Elapsed(), Incomplete: in.Run.IncompleteRanks()}
			for _, r := range in.Run.Ranks {
				s.Program, s.Library, s.Size = r.Program, export.OneLine(r.Library), max(s.Size, r.Size)
			}
			return s
		}))
	}
	export.AddList(d, "differences", c.Differences)
	if s, ok, _ := c.Scaling(); ok {
		d.Member("scaling", s)
	}
	export.AddList(d, "findings", o.Findings)
	for _, table := range CompareTables {
		items := export.Mapped(compareItems(c, table), func(it *compare.Item) jsonItem { return jsonItem{it, table} })
		if table != "run" {
			export.AddList(d, table, items)
		} else if len(items) > 0 {
			d.Member(table, items[0])
		}
	}
	return d.End()
}
