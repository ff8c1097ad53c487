package runs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mpitx/export"
	"mpitx/recording/compare"
	"mpitx/text"
)

// compareTable is a table of a comparison for people, with at most this many rows, of what changed; 0: with everything.
func compareTable(c *compare.Comparison, name string, most int, t export.Terminal) *export.Rows {
	items := compareItems(c, name)
	if most > 0 {
		items = slices.DeleteFunc(slices.Clone(items), func(it *compare.Item) bool { return !c.Notable(it) })
	}
	switch name {
	case "run":
		return changedRun(items, most, t)
	case "variables":
		return changedVariables(items, most, t)
	case "ranks":
		return changedRanks(items, t)
	}
	list, header := first(items, most, map[string]string{"functions": "FUNCTION", "sites": "CALL SITE", "phases": "PHASE", "peers": "MESSAGES", "onesided": "ONE-SIDED"}[name])
	unit := "ns"
	if name == "peers" || name == "onesided" {
		unit = "B"
	}
	greatest := 0.0
	for _, it := range list {
		greatest = max(greatest, it.Measures[0].Base.Mean(), it.Measures[0].New.Mean())
	}
	scale := t.ScaleOf(unit, greatest)
	r := &export.Rows{Columns: append([]export.RowColumn{{Header: header}}, deltaColumns("/"+scale.Unit)...)}
	extra := map[string][]export.RowColumn{
		"functions": {{Header: "CALLS", Right: true}, {Header: "A CALL", Right: true, Drop: 2}, {Header: "SENT", Right: true, DropFirst: true, Optional: true}},
		"sites":     {{Header: "CALLS", Right: true}, {Header: "A CALL", Right: true, Drop: 2}, {Header: "SENT", Right: true, DropFirst: true, Optional: true}},
		"phases":    {{Header: "IN MPI", Right: true}, {Header: "CALLS", Right: true}},
	}[name]
	if extra == nil {
		extra = []export.RowColumn{{Header: "COUNT", Right: true}}
	}
	r.Columns = append(r.Columns, extra...)
	r.Columns = append(r.Columns, rangeColumns()...)
	for _, it := range list {
		row := append([]any{itemText(it, name)}, deltaCells(it.Measures[0], scale, t)...)
		switch name {
		case "functions", "sites":
			calls := it.Measure("calls")
			row = append(row, arrowCell(calls, t), eachCell(it.Measure("time_ns"), calls, t), arrowCell(it.Measure("bytes_sent"), t))
		case "phases":
			row = append(row, arrowCell(it.Measure("in_mpi_ns"), t), arrowCell(it.Measure("calls"), t))
		default:
			row = append(row, arrowCell(it.Measure("messages"), t))
		}
		r.Rows = append(r.Rows, append(row, rangeCells(it.Measures[0], scale)...))
	}
	return r
}

// itemText names an item.
func itemText(it *compare.Item, table string) string {
	switch table {
	case "functions":
		if it.Within != "" {
			return it.Name + " in " + it.Within
		}
	case "sites":
		text := it.Name + ": " + it.Site
		if it.NewSite != "" {
			text += " → " + it.NewSite
		}
		if it.Within != "" {
			text += " (in " + it.Within + ")"
		}
		return text
	case "phases":
		if it.Name == "" {
			return "(outside)"
		}
	case "peers", "onesided":
		return fmt.Sprintf("from %d to %d", it.Source, it.Destination)
	}
	return it.Name
}

// deltaColumns show a quantity on both sides.
func deltaColumns(unit string) []export.RowColumn {
	return []export.RowColumn{{Header: "BASE" + unit, Right: true, Point: true}, {Header: "NEW" + unit, Right: true, Point: true}, {Header: "CHANGE", Right: true, Point: true},
		errorColumn, {Header: "%", Right: true}, {Header: " ", Optional: true}}
}

func deltaCells(m compare.Measure, s text.Scale, t export.Terminal) []any {
	if !m.Known() {
		cells := []any{nil, nil, nil, "", "only new", ""}
		if len(m.Base) > 0 {
			cells[0], cells[4] = s.Texts(m.Base.Mean())[0], "only base"
		} else if len(m.New) > 0 {
			cells[1] = s.Texts(m.New.Mean())[0]
		}
		return cells
	}
	words := s.Texts(m.Base.Mean(), m.New.Mean(), math.Abs(m.Change()))
	mark, failure := "", ""
	if m.Error() > 0 {
		failure = plusMinus(t) + s.Texts(m.Error())[0]
	}
	if m.WithinSpread() {
		mark = "~"
	}
	return []any{words[0], words[1], signed(m.Change(), words[2]), failure, relativeText(m.Delta), mark}
}

func signed(x float64, text string) string {
	switch {
	case x > 0:
		return "+" + text
	case x < 0:
		return "-" + text
	}
	return text
}

// relativeText is the relative change.
func relativeText(d compare.Delta) string {
	r, ok := d.Relative()
	switch {
	case d.Change() == 0:
		return ""
	case !ok:
		return "new"
	case d.New.Mean() == 0:
		return "gone"
	case r >= 100:
		return fmt.Sprintf("×%.0f", 1+r)
	case math.Abs(r) < 0.0995:
		return fmt.Sprintf("%+.1f %%", 100*r)
	}
	return fmt.Sprintf("%+.0f %%", 100*r)
}

// rangeColumns show the least and greatest number of several runs.
func rangeColumns() []export.RowColumn {
	return []export.RowColumn{{Header: "BASE RANGE", Right: true, DropFirst: true, Optional: true}, {Header: "NEW RANGE", Right: true, DropFirst: true, Optional: true}}
}

func rangeCells(m compare.Measure, s text.Scale) []any {
	words := func(x compare.Sample) string {
		if len(x) < 2 {
			return ""
		}
		ends := s.Texts(x.Min(), x.Max())
		return ends[0] + ".." + ends[1]
	}
	return []any{words(m.Base), words(m.New)}
}

// arrowCell is a number that is the same on both sides, or both.
func arrowCell(m compare.Measure, t export.Terminal) string {
	a, b := m.Base.Mean(), m.New.Mean()
	if a == 0 && b == 0 {
		return ""
	}
	if m.Unit == "" {
		a, b = math.Round(a), math.Round(b)
	}
	scale := t.ScaleOf(m.Unit, max(a, b))
	texts := []string{strconv.FormatFloat(a, 'f', -1, 64), strconv.FormatFloat(b, 'f', -1, 64)}
	if m.Unit != "" {
		texts = scale.Texts(a, b)
	}
	text := texts[0]
	if a != b {
		text += map[bool]string{true: " → ", false: " -> "}[t.UTF8] + texts[1]
	}
	return strings.TrimSpace(text + " " + scale.Unit)
}

// eachCell is the mean time of a call.
func eachCell(time, calls compare.Measure, t export.Terminal) string {
	each := compare.Measure{Unit: time.Unit}
	for _, side := range []struct {
		time, calls compare.Sample
		to          *compare.Sample
	}{{time.Base, calls.Base, &each.Base}, {time.New, calls.New, &each.New}} {
		x := 0.0
		if n := side.calls.Mean(); n > 0 {
			x = math.Round(side.time.Mean() / n)
		}
		*side.to = compare.Sample{x}
	}
	return arrowCell(each, t)
}

// The rows of the whole run.
var runRows = []struct{ measure, title string }{
	{"elapsed_ns", "run time"}, {"useful_ns", "outside of MPI"}, {"in_mpi_ns", "in MPI"}, {"init_ns", "starting MPI"}, {"parallel_efficiency", "parallel efficiency"},
	{"computed_ns", "computing"}, {"core_wait_ns", "waiting for a core"}, {"slept_ns", "sleeping"}, {"load_balance", "load balance"}, {"communication_efficiency", "communication eff."}, {"calls", "MPI calls"}, {"messages_sent", "messages sent"}, {"bytes_sent", "bytes sent"},
	{"bytes_out", "collectives, RMA, files: out"}, {"bytes_in", "collectives, RMA, files: in"}, {"messages_received", "messages received"}, {"bytes_received", "bytes received"},
}

// changedRun has a line for each quantity of the run; if most is not 0, only of those that changed.
func changedRun(items []*compare.Item, most int, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: append([]export.RowColumn{{Header: "RUN"}}, deltaColumns("")...)}
	r.Columns = append(append(r.Columns, export.RowColumn{Header: "UNIT"}), rangeColumns()...)
	for _, it := range items {
		for _, q := range runRows {
			m := it.Measure(q.measure)
			if len(m.Base)+len(m.New) == 0 {
				continue // no run knows it
			}
			if most > 0 && (m.Change() == 0 || len(r.Rows) == most) {
				continue
			}
			r.Rows = append(r.Rows, measureRow([]any{q.title}, m, t))
		}
	}
	return r
}

// measureRow is a line with a unit of its own.
func measureRow(row []any, m compare.Measure, t export.Terminal) []any {
	unit := m.Unit
	if unit == "part" { // shown in percent
		unit = "s/s"
	}
	s := t.ScaleOf(unit, max(math.Abs(m.Base.Mean()), math.Abs(m.New.Mean())))
	cells := deltaCells(m, s, t)
	if unit == "s/s" {
		cells[4] = ""
	}
	row = append(append(row, cells...), s.Unit)
	return append(row, rangeCells(m, s)...)
}

// changedVariables has lines for the total of what grows, or for the mean and maximum of everything else.
func changedVariables(items []*compare.Item, most int, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: append([]export.RowColumn{{Header: "VARIABLE"}, {Header: "OBJECT", Optional: true, Drop: 1}, {Header: "OF"}}, deltaColumns("")...)}
	r.Columns = append(append(r.Columns, export.RowColumn{Header: "UNIT"}), rangeColumns()...)
	for i, it := range items {
		if most > 0 && len(r.Rows) >= most {
			r.Columns[0].Header = fmt.Sprintf("VARIABLE (%d of %d)", i, len(items))
			break
		}
		shown := it.Measures[:1]
		if maximum := it.Measure("max"); shown[0].Name == "mean" {
			shown = []compare.Measure{shown[0], maximum}
		} else if most == 0 {
			shown = it.Measures
		}
		for _, m := range shown {
			r.Rows = append(r.Rows, measureRow([]any{it.Name, it.Object, m.Name}, m, t))
		}
	}
	return r
}

// changedRanks lists ranks by their change of the time outside of MPI.
func changedRanks(items []*compare.Item, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: append([]export.RowColumn{{Header: "RANK"}, {Header: "TIME"}}, deltaColumns("")...)}
	r.Columns = append(append(r.Columns, export.RowColumn{Header: "UNIT"}), rangeColumns()...)
	for _, it := range items {
		for i, title := range []string{"outside of MPI", "in MPI", "run time"} {
			r.Rows = append(r.Rows, measureRow([]any{strconv.Itoa(it.Source), title}, it.Measures[i], t))
		}
	}
	return r
}
