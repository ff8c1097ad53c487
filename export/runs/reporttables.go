package runs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
	"mpitx/text"
)

// peopleTable is a table of a report with at most this many rows; 0: with all.
func peopleTable(p *profile.Profile, name string, most int, t export.Terminal) *export.Rows {
	switch name {
	case ViewFunctions:
		return reportFunctions(p, p.Functions, (*profile.Function).Title, "FUNCTION", most, t)
	case ViewSites:
		return reportFunctions(p, p.Sites, (*profile.Function).Where, "CALL SITE", most, t)
	case ViewRanks:
		return rankTable(p, most, t)
	case ViewPhases:
		return phaseTable(p, most, t)
	case ViewCommunicators:
		return objectTable(p, most, t)
	case ViewAlgorithms:
		return algorithmTable(p, t)
	case ViewArrivals:
		return arrivalTable(p, t)
	}
	return sizeTable(p, t)
}

// first returns the first rows of a list, and its header, with how many of all there are.
func first[T any](list []T, most int, header string) ([]T, string) {
	if most == 0 || len(list) <= most {
		return list, header
	}
	return list[:most], fmt.Sprintf("%s (%d of %d)", header, most, len(list))
}

// reportFunctions lists functions or call sites.
func reportFunctions(p *profile.Profile, all []*profile.Function, name func(*profile.Function) string, header string, most int, t export.Terminal) *export.Rows {
	if most > 0 { // leave out what is not in the run time
		all = slices.DeleteFunc(slices.Clone(all), func(f *profile.Function) bool { return profile.Initializes(f.Name) })
	}
	list, header := first(all, most, header)
	return functionTable(slices.Collect(p.Rows(list)), name, header, "OF RUN", t)
}

// functionTable is a table of functions or call sites, the one with the most time first; of is the heading of their shares.
func functionTable(list []profile.FunctionRow, name func(*profile.Function) string, header, of string, t export.Terminal) *export.Rows {
	var longest time.Duration
	if len(list) > 0 {
		longest = list[0].Time
	}
	total := t.ScaleOf("ns", float64(longest))
	r := &export.Rows{Columns: []export.RowColumn{{Header: header, MinWidth: 28}, {Header: "TIME (" + total.Unit + ")", Right: true, Point: true}, errorColumn, {Header: of, Right: true},
		{Header: "CALLS", Right: true}, {Header: "P50", Right: true, Drop: 3}, {Header: "P99", Right: true, Drop: 2},
		{Header: "IMBALANCE", Right: true, Drop: 1}, {Header: "MAX AT"},
		{Header: "SENT", Right: true, DropFirst: true}, {Header: "RECEIVED", Right: true, DropFirst: true}, {Header: "MEAN", Right: true, DropFirst: true},
		{Header: "P95", Right: true, DropFirst: true}, {Header: "MAX", Right: true, DropFirst: true}, {Header: "WITHIN", Optional: true, DropFirst: true}}}
	each := func(d time.Duration) string { return t.Amount(float64(d), "ns") }
	for i := range list {
		f := &list[i]
		share, calls, mean := text.Percent(f.Share), any(f.Calls), any(each(f.Mean))
		if profile.Initializes(f.Name) {
			share = "-"
		}
		if f.Calls == 0 && f.Time > 0 { // only the time was sampled
			calls, mean = nil, nil
		}
		r.Rows = append(r.Rows, []any{name(f.Function), total.Texts(float64(f.Time))[0], ErrorText(&f.Totals, t), share, calls, each(f.P50), each(f.P99),
			text.Percent(f.Imbalance), text.RankList(f.Spread.MaxRanks), bytesText(t, f.Sent()), bytesText(t, f.Received()), mean, each(f.P95), each(f.Longest), f.Within})
	}
	return r
}

// errorColumn says how exact estimated times are. It is missing if none is estimated.
var errorColumn = export.RowColumn{Header: "ERROR", Right: true, Optional: true}

// ErrorText is the error of an estimated time, relative to it; "" for a time that is exact.
func ErrorText(of *profile.Totals, t export.Terminal) string {
	return errorText(of.TimeError, of.Time, t)
}

// errorText is the error of an estimated time, relative to it; "" for a time that is exact.
func errorText(failure, of time.Duration, t export.Terminal) string {
	if failure == 0 {
		return ""
	}
	return plusMinus(t) + text.ErrorPercent(float64(failure), float64(of))
}

func plusMinus(t export.Terminal) string {
	if t.UTF8 {
		return "±"
	}
	return "+-"
}

// bytesText is a number of bytes with its unit; "" for none.
func bytesText(t export.Terminal, n uint64) string {
	if n == 0 {
		return ""
	}
	return t.Amount(float64(n), "B")
}

// rankTable shows how numbers differ over the ranks.
func rankTable(p *profile.Profile, most int, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "PER RANK", MinWidth: 24}, {Header: "MIN", Right: true, Point: true, Drop: 3}, {Header: "MEAN", Right: true, Point: true},
		{Header: "MAX", Right: true, Point: true}, {Header: "UNIT"}, errorColumn, {Header: "IMBALANCE", Right: true, Drop: 2}, {Header: "MAX AT", Drop: 4}, {Header: "MIN AT", Drop: 1}}}
	for _, q := range rankQuantities {
		s := p.SpreadOverRanks(q.of)
		if s.Max == 0 || most > 0 && len(r.Rows) == most {
			continue
		}
		scale := t.ScaleOf(q.unit, s.Max)
		words := scale.Texts(s.Min, s.Mean, s.Max)
		failure := ""
		if strings.HasPrefix(q.title, "time ") { // of the mean
			failure = errorText(p.InMPIError(), time.Duration(s.Mean*float64(len(p.Averaged()))), t)
		}
		r.Rows = append(r.Rows, []any{q.title, words[0], words[1], words[2], scale.Unit, failure, text.Percent(s.Imbalance()), strconv.Itoa(s.MaxRank), strconv.Itoa(s.MinRank)})
	}
	return r
}

var rankQuantities = []struct {
	title, unit string
	of          func(*profile.Rank) float64
}{
	{"time outside of MPI", "ns", func(r *profile.Rank) float64 { return float64(r.Useful()) }},
	{"time in MPI", "ns", func(r *profile.Rank) float64 { return float64(r.InMPI) }},
	{"MPI calls", "", func(r *profile.Rank) float64 { return float64(r.Calls) }},
	{"bytes sent", "B", func(r *profile.Rank) float64 { return float64(r.BytesSent) }},
	{"bytes received", "B", func(r *profile.Rank) float64 { return float64(r.BytesReceived) }},
	{"messages sent", "", func(r *profile.Rank) float64 { return float64(r.MessagesSent) }},
	{"messages received", "", func(r *profile.Rank) float64 { return float64(r.MessagesReceived) }},
	{"collectives, RMA, files: out", "B", func(r *profile.Rank) float64 { return float64(r.BytesOut) }},
	{"collectives, RMA, files: in", "B", func(r *profile.Rank) float64 { return float64(r.BytesIn) }},
	{"waited for a core outside of MPI", "ns", func(r *profile.Rank) float64 {
		return r.OnProcessor(func(of *processor.Rank) time.Duration { return of.Waited.Least })
	}},
	{"slept outside of MPI", "ns", func(r *profile.Rank) float64 {
		return r.OnProcessor(func(of *processor.Rank) time.Duration { return of.Slept.Least })
	}},
	{"processor time of all threads", "ns", func(r *profile.Rank) float64 {
		return r.OnProcessor(func(of *processor.Rank) time.Duration { return of.Time })
	}},
	{"run time", "ns", func(r *profile.Rank) float64 { return float64(r.Elapsed) }},
}

// phaseTable lists phases.
func phaseTable(p *profile.Profile, most int, t export.Terminal) *export.Rows {
	list, header := first(p.Phases, most, "PHASE")
	r := &export.Rows{Columns: []export.RowColumn{{Header: header}, {Header: "TIME", Right: true}, {Header: "ENTERED", Right: true, Drop: 6}, {Header: "IN MPI", Right: true}, errorColumn,
		{Header: "PARALLEL EFF.", Right: true}, {Header: "BALANCE", Right: true, Drop: 5}, {Header: "COMMUNICATION", Right: true, Drop: 4}, {Header: "CALLS", Right: true, Drop: 3},
		{Header: "SENT", Right: true, Drop: 2}, {Header: "RECEIVED", Right: true, Drop: 1}}}
	for _, ph := range list {
		name := ph.Name
		if name == "" {
			name = "(outside)"
		}
		var elapsed, in, failure time.Duration
		for _, rank := range ph.Ranks {
			elapsed, in, failure = elapsed+rank.Elapsed, in+rank.InMPI, profile.Together(failure, rank.InMPIError)
		}
		share := 0.0
		if elapsed > 0 {
			share = float64(in) / float64(elapsed)
		}
		e := ph.Efficiency
		r.Rows = append(r.Rows, []any{name, t.Amount(float64(e.Elapsed), "ns"), ph.Entered, text.Percent(share), errorText(failure, in, t), text.Percent(e.Parallel), text.Percent(e.LoadBalance),
			text.Percent(e.Communication), ph.Calls, bytesText(t, ph.Sent()), bytesText(t, ph.Received())})
	}
	return r
}

// objectTable lists communicators, windows and files.
func objectTable(p *profile.Profile, most int, t export.Terminal) *export.Rows {
	list, header := first(p.Objects, most, "COMMUNICATOR")
	var longest time.Duration
	for _, o := range list {
		longest = max(longest, o.Time)
	}
	total := t.ScaleOf("ns", float64(longest))
	r := &export.Rows{Columns: []export.RowColumn{{Header: header, MinWidth: 20}, {Header: "SIZE", Right: true}, {Header: "GROUPS", Right: true, Drop: 2}, {Header: "TIME (" + total.Unit + ")", Right: true, Point: true},
		errorColumn, {Header: "OF RUN", Right: true}, {Header: "CALLS", Right: true}, {Header: "SENT", Right: true, Drop: 4}, {Header: "RECEIVED", Right: true, Drop: 3}, {Header: "KIND", Drop: 1}}}
	for _, o := range list {
		var size, groups any
		if o.Known && o.Kind != profile.File {
			size, groups = o.Size, o.Groups
		}
		r.Rows = append(r.Rows, []any{o.Text(), size, groups, total.Texts(float64(o.Time))[0], ErrorText(&o.Totals, t), text.Percent(p.Share(o.Time)), o.Calls, bytesText(t, o.Sent()), bytesText(t, o.Received()), o.Kind.String()})
	}
	return r
}

// sizeTable lists the sizes of messages of each function, without empty buckets.
func sizeTable(p *profile.Profile, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "FUNCTION"}, {Header: "WAY"}, {Header: "FROM", Right: true}, {Header: "TO", Right: true}, {Header: "MESSAGES", Right: true}, {Header: "SHARE", Right: true}}}
	for _, s := range p.Sizes {
		all := s.Count()
		for _, b := range s.Buckets() {
			last := any(nil)
			if b.To != nil {
				last = t.Amount(float64(*b.To), "B")
			}
			share := text.Percent(float64(b.Messages) / float64(all))
			r.Rows = append(r.Rows, []any{s.Function, wayOf(s), t.Amount(float64(b.From), "B"), last, b.Messages, share})
		}
	}
	return r
}

func wayOf(s *profile.Sizes) string {
	if s.Received {
		return "received"
	}
	return "sent"
}
