package runs

import (
	"mpitx/export"
	"mpitx/recording/profile"
)

const mostLatecomers = 3 // of a call site, for people

// arrivalTable lists who came last to collective calls: the call site with the most lateness first.
func arrivalTable(p *profile.Profile, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "CALL SITE", MinWidth: 24}, {Header: "COMMUNICATOR", Drop: 2}, {Header: "OBSERVED", Right: true}, {Header: "RANK", Right: true},
		{Header: "LAST", Right: true}, {Header: "AFTER SECOND", Right: true}, {Header: "MAX", Right: true, Drop: 3}, {Header: "AFTER FIRST", Right: true, Drop: 4}, {Header: "UNWAITED", Right: true, Drop: 1, Optional: true},
		{Header: "UNKNOWN", Right: true, Optional: true}}}
	for _, a := range p.Arrivals {
		var unwaited, unknown any
		if a.Unwaited > 0 {
			unwaited = a.Unwaited
		}
		if n := a.Unknown(); n > 0 {
			unknown = n
		}
		if len(a.Ranks) == 0 {
			r.Rows = append(r.Rows, []any{a.Where(), a.Object.Text(), a.Observed, nil, nil, nil, nil, nil, unwaited, unknown})
		}
		for i := range a.Ranks[:min(len(a.Ranks), mostLatecomers)] {
			l := &a.Ranks[i]
			r.Rows = append(r.Rows, []any{a.Where(), a.Object.Text(), l.TookPart, l.Rank, l.Last, t.Amount(float64(l.AfterSecond.Mean), "ns"), t.Amount(float64(l.AfterSecond.Max), "ns"),
				t.Amount(float64(l.AfterFirst.Mean), "ns"), unwaited, unknown})
		}
	}
	return r
}

func arrivalRows(p *profile.Profile) *export.Rows {
	r := export.RowsOf("mpitx.report.arrivals", "name communicator site observed unwaited mismatched unordered unclocked rank took_part last"+
		" after_second_mean_ns after_second_median_ns after_second_max_ns after_first_mean_ns after_first_median_ns after_first_max_ns")
	for _, a := range p.Arrivals {
		site := []any{a.Function, a.Object.Text(), a.Place(), a.Observed, a.Unwaited, a.Mismatched, a.Unordered, a.Unclocked}
		if len(a.Ranks) == 0 {
			r.Rows = append(r.Rows, append(site, nil, nil, nil, nil, nil, nil, nil, nil, nil))
		}
		for _, l := range a.Ranks {
			r.Rows = append(r.Rows, append(site[:len(site):len(site)], l.Rank, l.TookPart, l.Last, int64(l.AfterSecond.Mean), int64(l.AfterSecond.Median), int64(l.AfterSecond.Max),
				int64(l.AfterFirst.Mean), int64(l.AfterFirst.Median), int64(l.AfterFirst.Max)))
		}
	}
	return r
}

// jsonArrivals are the arrivals at a call site in a document.
type jsonArrivals struct {
	*profile.Arrivals
	Communicator string          `json:"communicator"`
	Site         string          `json:"site,omitempty"`
	Stack        []profile.Frame `json:"stack,omitempty"`
}

func arrivalsOf(a *profile.Arrivals) jsonArrivals {
	return jsonArrivals{a, a.Object.Text(), a.Place(), a.Frames}
}
