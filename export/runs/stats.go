package runs

import (
	"fmt"
	"math"
	"slices"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/text"
)

// StatRows is the table for programs.
func StatRows(stats []recording.Stat, byRank bool) *export.Rows {
	r := &export.Rows{Schema: "mpitx.stats", Columns: []export.RowColumn{
		{Name: "variable"}, {Name: "class"}, {Name: "object"}, {Name: "as"}, {Name: "count"}, {Name: "min"}, {Name: "mean"}, {Name: "max"},
		{Name: "stddev"}, {Name: "min_ranks"}, {Name: "max_ranks"}, {Name: "total"}, {Name: "without_value"}, {Name: "resets"}, {Name: "unit"},
		{Name: "at_most"}, {Name: "incomplete_ranks"},
	}}
	for i := range stats {
		s := &stats[i]
		row := []any{s.Variable, s.Class.String(), s.Object, s.As.String(), s.Count, nil, nil, nil, nil, text.RankList(s.MinRanks), text.RankList(s.MaxRanks),
			nil, s.Without, s.Resets, unitOf(s), s.AtMost, text.RankList(s.Excluded)}
		if s.Count > 0 {
			row[5], row[6], row[7], row[8] = exact(s.Min), spelled(s.Mean), exact(s.Max), spelled(s.Dev)
			if s.As == recording.Delta {
				row[11] = exact(s.Total)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	addRanks(r, stats, byRank)
	return r
}

// StatTable is the table for people, with one unit per row.
func StatTable(stats []recording.Stat, byRank bool, term export.Terminal) *export.Rows {
	r := &export.Rows{Schema: "mpitx.stats", Columns: []export.RowColumn{
		{Header: "VARIABLE"}, {Header: "CLASS", Wide: true}, {Header: "OBJECT", Optional: true, Drop: 3}, {Header: "UNIT"},
		{Header: "MIN", Right: true, Point: true, Drop: 2}, {Header: "MEAN", Right: true, Point: true}, {Header: "MAX", Right: true, Point: true}, {Header: "MAX AT", Drop: 1},
		{Header: "MIN AT", DropFirst: true}, {Header: "STDDEV", Right: true, Point: true, DropFirst: true}, {Header: "COUNT", Right: true, DropFirst: true},
		{Header: "AS", DropFirst: true}, {Header: "TOTAL", Right: true, Point: true, Wide: true}, {Header: "NO VALUE", Right: true, Wide: true}, {Header: "RESETS", Right: true, Wide: true},
		{Header: "LEFT OUT", Optional: true},
	}}
	for i := range stats {
		s := &stats[i]
		scale := term.ScaleOf(unitOf(s), max(math.Abs(s.Min.Float64()), math.Abs(s.Max.Float64())))
		row := []any{s.Variable, s.Class.String(), s.Object, scale.Unit, nil, nil, nil, text.RankList(s.MaxRanks), text.RankList(s.MinRanks), nil, s.Count,
			s.As.String(), nil, s.Without, s.Resets, leftOutText(s.Excluded)}
		if s.Count > 0 {
			bound := ""
			if s.AtMost > 0 {
				if bound = "<="; term.UTF8 {
					bound = "≤"
				}
			}
			t := scale.Texts(s.Min.Float64(), s.Mean, s.Max.Float64(), s.Total.Float64(), s.Dev)
			amount := func(v recording.Value, words string) any {
				if name, ok := v.Item(); ok || v.Kind == recording.Text {
					return name
				}
				return bound + words
			}
			row[4], row[5], row[6], row[9] = amount(s.Min, t[0]), bound+t[1], amount(s.Max, t[2]), t[4]
			if s.As == recording.Delta {
				row[12] = amount(s.Total, t[3])
			}
		}
		r.Rows = append(r.Rows, row)
	}
	addRanks(r, stats, byRank)
	return r
}

// addRanks puts the ranks into the first columns, if there is a row for each.
func addRanks(r *export.Rows, stats []recording.Stat, byRank bool) {
	if !byRank {
		return
	}
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Header == "MIN AT" || c.Header == "MAX AT" {
			c.Header = "" // this rank
		}
	}
	of := []export.RowColumn{{Name: "rank", Header: "RANK", Right: true}, {Name: "host", Header: "HOST", Wide: true}}
	r.Columns = slices.Insert(r.Columns, 1, of...)
	for i := range r.Rows {
		r.Rows[i] = slices.Insert(r.Rows[i], 1, any(stats[i].Rank.Rank), any(stats[i].Rank.Host))
	}
}

// leftOutText names the incomplete ranks that a row leaves out.
func leftOutText(ranks []int) string {
	if len(ranks) == 0 {
		return ""
	}
	return text.RankList(ranks) + " (incomplete)"
}

// unitOf is the unit of a row.
func unitOf(s *recording.Stat) string {
	if s.As == recording.Rate {
		return s.Unit + "/s"
	}
	return s.Unit
}

// exact is a value in a table for programs.
func exact(v recording.Value) any {
	if n, ok := v.Int64(); ok {
		return n
	}
	if n, ok := v.Uint64(); ok {
		return n
	}
	if v.Kind == recording.Float || v.Kind == recording.Float32 {
		return spelled(v.Float64())
	}
	return v.String()
}

// spelled is a number in a table for programs, as text if it is infinite or not a number.
func spelled(f float64) any {
	if math.IsNaN(f) || math.Abs(f) > 1e308 {
		return fmt.Sprint(f)
	}
	return f
}
