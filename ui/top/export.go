package top

import (
	"fmt"
	"math"
	"slices"
	"time"

	"mpitx/export"
)

// Table is a frame's variables over all ranks, a row each.
func (f *Frame) Table() *export.Rows {
	r := export.RowsOf("mpitx.top", "variable class object as ranks sum min min_rank mean max max_rank text unit")
	for i := range f.Rows {
		x := &f.Rows[i]
		row := []any{x.Variable, x.Class.String(), x.Object, x.As.String(), x.Ranks, nil, nil, nil, nil, nil, nil, x.Text, x.Unit}
		if x.Number && x.Ranks > 0 {
			row[5], row[6], row[7] = finite(x.Sum), finite(x.Min), x.MinAt[0]
			row[8], row[9], row[10] = finite(x.Mean), finite(x.Max), x.MaxAt[0]
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// rankTable has a row for each rank of a variable.
func rankTable(f *Frame, d *Detail) *export.Rows {
	r := export.RowsOf("mpitx.top-ranks", "variable class object rank host state raw delta rate text status unit")
	for k := range d.Ranks {
		v := &d.Ranks[k]
		_, state := f.hostAndState(v.Rank)
		r.Rows = append(r.Rows, []any{d.Variable, d.Class.String(), d.Object, v.Rank, v.Host, state,
			finite(v.Raw), finite(v.Delta), finite(v.Rate), v.Text, v.Status.String(), d.Unit})
	}
	return r
}

func (f *Frame) hostAndState(rank int) (host, state string) {
	if k := slices.IndexFunc(f.Ranks, func(r RankInfo) bool { return r.Rank == rank }); k >= 0 {
		return f.Ranks[k].Host, f.Ranks[k].Word()
	}
	return "", ""
}

// Histories has a row for each rank and bin with a value, for programs.
func (d *Detail) Histories() *export.Rows {
	r := export.RowsOf("mpitx.top-history", "variable class object as rank host seconds value")
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
