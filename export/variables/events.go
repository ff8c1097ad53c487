package variables

import (
	"mpitx/export"
	"mpitx/recording/trace"
	"mpitx/text"
)

// EventTotals are the events of a run by name, for people or for programs.
func EventTotals(all []trace.EventTotal, people bool, t export.Terminal) *export.Rows {
	r := &export.Rows{Schema: "mpitx.event_totals", Columns: []export.RowColumn{
		{Name: "event", Header: "EVENT"}, {Name: "kind", Header: "KIND", Drop: 2}, {Name: "raised", Header: "RAISED", Right: true}, {Name: "recorded", Header: "RECORDED", Right: true},
		{Name: "first_ns", Header: "FIRST", Right: true, Drop: 3}, {Name: "last_ns", Header: "LAST", Right: true, Drop: 1}, {Name: "ranks", Header: "RANKS"}, {Name: "bound", Header: "BOUND", Optional: true},
	}}
	for i := range all {
		e := &all[i]
		row := []any{e.Name, e.Kind, nil, e.Recorded, nil, nil, text.RankList(e.Ranks), string(e.From)}
		if e.Raised > 0 {
			row[2] = e.Raised
		}
		if e.Recorded > 0 {
			row[4], row[5] = int64(e.First), int64(e.Last)
		}
		if people && e.Recorded > 0 {
			row[4], row[5] = t.Amount(float64(e.First), "ns"), t.Amount(float64(e.Last), "ns")
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}
