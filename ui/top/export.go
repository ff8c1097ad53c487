package top

import (
	"fmt"
	"math"
	"time"

	"mpitx/export"
)

// Table is a frame's variables over all ranks, a row each, for people or for programs.
func (f *Frame) Table(people bool) *export.Rows {
	r := &export.Rows{Schema: "mpitx.top", Columns: []export.RowColumn{
		{Name: "variable", Header: "VARIABLE"}, {Name: "class", Header: "CLASS", Wide: true}, {Name: "object", Header: "OBJECT", Optional: true, Drop: 6},
		{Name: "as", Header: "AS", Drop: 3}, {Name: "ranks", Header: "RANKS", Right: true, DropFirst: true}, {Name: "sum", Header: "SUM", Right: true},
		{Name: "min", Header: "MIN", Right: true, Drop: 5}, {Name: "min_rank", Header: "AT", Right: true, Drop: 1}, {Name: "mean", Header: "MEAN", Right: true, Drop: 2},
		{Name: "max", Header: "MAX", Right: true, Drop: 7}, {Name: "max_rank", Header: "AT", Right: true, Drop: 4}, {Name: "text", Header: "TEXT", Optional: true}, {Name: "unit"},
	}}
	for i := range f.Rows {
		x := &f.Rows[i]
		row := []any{x.Variable, x.Class.String(), x.Object, x.As.String(), x.Ranks, nil, nil, nil, nil, nil, nil, x.Text, x.Unit}
		if x.Number && x.Ranks > 0 {
			row[5], row[6], row[7] = shown(x.Sum, x.Unit, people), shown(x.Min, x.Unit, people), x.MinAt[0]
			row[8], row[9], row[10] = shown(x.Mean, x.Unit, people), shown(x.Max, x.Unit, people), x.MaxAt[0]
			if people {
				row[7], row[10] = x.at(x.MinAt), x.at(x.MaxAt)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// RankTable has a row for each variable and rank.
func RankTable(f *Frame, details []*Detail, people bool) *export.Rows {
	r := &export.Rows{Schema: "mpitx.top-ranks", Columns: []export.RowColumn{
		{Name: "variable", Header: "VARIABLE"}, {Name: "class", Header: "CLASS", Wide: true}, {Name: "object", Header: "OBJECT", Optional: true, Drop: 3},
		{Name: "rank", Header: "RANK", Right: true}, {Name: "host", Header: "HOST", Wide: true}, {Name: "state", Header: "STATE", Drop: 2},
		{Name: "raw", Header: "RAW", Right: true}, {Name: "delta", Header: "DELTA", Right: true, Drop: 4}, {Name: "rate", Header: "RATE/s", Right: true, Drop: 5},
		{Name: "text", Header: "TEXT", Optional: true}, {Name: "status", Header: "STATUS", Drop: 1}, {Name: "unit"},
	}}
	states := map[int]string{}
	for i := range f.Ranks {
		states[f.Ranks[i].Rank] = f.Ranks[i].Word()
	}
	for _, d := range details {
		for k := range d.Ranks {
			v := &d.Ranks[k]
			r.Rows = append(r.Rows, []any{d.Variable, d.Class.String(), d.Object, v.Rank, v.Host, states[v.Rank],
				shown(v.Raw, d.Unit, people), shown(v.Delta, d.Unit, people), shown(v.Rate, d.Unit+"/s", people), v.Text, v.Status.String(), d.Unit})
		}
	}
	return r
}

// Histories has a row for each rank and bin with a value, for programs.
func (d *Detail) Histories() *export.Rows {
	r := &export.Rows{Schema: "mpitx.top-history", Columns: []export.RowColumn{
		{Name: "variable"}, {Name: "class"}, {Name: "object"}, {Name: "as"}, {Name: "rank"}, {Name: "host"}, {Name: "seconds"}, {Name: "value"},
	}}
	for k := range d.Ranks {
		v := &d.Ranks[k]
		for b, x := range d.History[k] {
			if !math.IsNaN(x) {
				end := d.End - d.BinWidth*time.Duration(len(d.History[k])-1-b)
				r.Rows = append(r.Rows, []any{d.Variable, d.Class.String(), d.Object, d.As.String(), v.Rank, v.Host, end.Seconds(), finite(x)})
			}
		}
	}
	return r
}

// shown is a number; for people it is as on the screen.
func shown(x float64, unit string, people bool) any {
	if people && !math.IsNaN(x) {
		return amount(x, unit)
	}
	return finite(x)
}

// finite is a number that every format can hold; nil: there is none.
func finite(x float64) any {
	switch {
	case math.IsNaN(x):
		return nil
	case math.Abs(x) < 1<<53 && x == math.Trunc(x):
		return int64(x)
	case math.IsInf(x, 0): // no number in JSON
		return fmt.Sprint(x)
	}
	return x
}
