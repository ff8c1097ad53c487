package runs

import (
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording/profile"
)

// algorithmTable lists how collective calls were served, without call sites: the function with the most time first.
func algorithmTable(p *profile.Profile, t export.Terminal) *export.Rows {
	var longest time.Duration
	all := p.AlgorithmsOfSizes()
	for _, a := range all {
		longest = max(longest, a.Time)
	}
	total := t.ScaleOf("ns", float64(longest))
	r := &export.Rows{Columns: []export.RowColumn{{Header: "FUNCTION"}, {Header: "COMMUNICATOR", Drop: 1}, {Header: "FROM", Right: true}, {Header: "TO", Right: true, Drop: 2},
		{Header: "ALGORITHM", MinWidth: 34}, {Header: "CALLS", Right: true}, {Header: "TIME (" + total.Unit + ")", Right: true, Point: true}, {Header: "MEAN", Right: true, Drop: 3}}}
	for _, a := range all {
		var from, to, mean any
		if a.Object.Known || len(a.Functions) > 0 {
			bytes, last := profile.SizesOf(a.Bucket)
			if from = t.Amount(float64(bytes), "B"); last != nil {
				to = t.Amount(float64(*last), "B")
			}
		}
		if a.Calls > 0 && a.Time > 0 {
			mean = t.Amount(float64(a.Time)/float64(a.Calls), "ns")
		}
		r.Rows = append(r.Rows, []any{a.Function, a.Object.Text(), from, to, a.Text(), a.Calls, total.Texts(float64(a.Time))[0], mean})
	}
	return r
}

func algorithmRows(p *profile.Profile) *export.Rows {
	r := export.RowsOf("mpitx.report.algorithms", "name communicator bytes_from bytes_to component decision algorithm parts functions calls time_ns bytes site")
	for _, a := range p.Algorithms {
		from, to := profile.SizesOf(a.Bucket)
		last := any(nil)
		if to != nil {
			last = *to
		}
		r.Rows = append(r.Rows, []any{a.Function, a.Object.Text(), from, last, a.Component, a.Decision, a.Algorithm, strings.Join(a.Parts, " "), strings.Join(a.Functions, " "),
			a.Calls, int64(a.Time), a.Bytes, a.Place()})
	}
	return r
}

// jsonAlgorithm is an algorithm in a document.
type jsonAlgorithm struct {
	*profile.Algorithm
	Communicator string          `json:"communicator"`
	From         uint64          `json:"bytes_from"`
	To           *uint64         `json:"bytes_to,omitempty"`
	Site         string          `json:"site,omitempty"`
	Stack        []profile.Frame `json:"stack,omitempty"`
}

func algorithmOf(a *profile.Algorithm) jsonAlgorithm {
	from, to := profile.SizesOf(a.Bucket)
	return jsonAlgorithm{a, a.Object.Text(), from, to, a.Place(), a.Frames}
}
