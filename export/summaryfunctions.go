package export

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mpitx/recording"
	"mpitx/text"
)

// functionTotal is the total of a function over all ranks; times are in nanoseconds.
type functionTotal struct {
	name             string
	time, max, calls float64
	maxRanks         []int
	ranks            int // ranks with a total
}

// imbalance is how far the largest value is above the mean.
func imbalance(most, mean float64) string { return share(most-mean, mean) }

// functionTotals are the totals that the ranks counted at their end, or else the sampled ones.
func functionTotals(run *recording.Run, stats []recording.Stat) []functionTotal {
	all := map[string]*functionTotal{}
	of := func(name string) *functionTotal {
		if all[name] == nil {
			all[name] = &functionTotal{name: name}
		}
		return all[name]
	}
	counted := 0
	for _, r := range run.Ranks {
		if run.Excludes(r) {
			continue
		}
		if len(r.Functions) > 0 {
			counted++
		}
		for _, f := range r.Functions {
			t := of(f.Name)
			t.add(float64(f.Time), r.Rank)
			t.calls += float64(f.Calls)
		}
	}
	for i := range stats {
		s := &stats[i]
		if s.As != recording.Delta || counted > 0 {
			continue
		}
		if name, ok := strings.CutPrefix(s.Variable, "mpitx:calls/"); ok {
			of(name).calls = s.Total.Float64()
		} else if name, ok := strings.CutPrefix(s.Variable, "mpitx:time/"); ok {
			t := of(name)
			t.time, t.max, t.maxRanks, t.ranks = s.Total.Float64(), s.Max.Float64(), s.MaxRanks, int(s.Count)
		}
	}
	var list []functionTotal
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		if counted > 0 {
			t.ranks = counted
		}
		if t.time > 0 {
			list = append(list, *t)
		}
	}
	slices.SortStableFunc(list, func(a, b functionTotal) int { return cmp.Compare(b.time, a.time) })
	return list
}

func (t *functionTotal) add(time float64, rank int) {
	t.time += time
	switch {
	case len(t.maxRanks) == 0 || time > t.max:
		t.max, t.maxRanks = time, append(t.maxRanks[:0], rank)
	case time == t.max:
		t.maxRanks = append(t.maxRanks, rank)
	}
}

// totalsTable lists the functions that took the most time.
func totalsTable(b *bytes.Buffer, all []functionTotal, inMPI float64, term Terminal) {
	if len(all) == 0 {
		return
	}
	counted := 0.0 // may include a moment after the last sample
	for _, f := range all {
		counted += f.time
	}
	inMPI = max(inMPI, counted)
	total, call := term.ScaleOf("ns", all[0].time), term.ScaleOf("ns", 1e3)
	header := "  FUNCTION"
	if len(all) > topFunctions {
		header += fmt.Sprintf(" (%d of %d)", topFunctions, len(all))
	}
	r := &Rows{Columns: []RowColumn{{Header: header, MinWidth: 20}, {Header: "TIME (" + total.Unit + ")", Right: true, Point: true}, {Header: "OF MPI", Right: true},
		{Header: "CALLS", Right: true}, {Header: call.Unit + "/CALL", Right: true, Point: true}, {Header: "IMBALANCE", Right: true, Drop: 1}, {Header: "MAX AT", Drop: 2}}}
	for _, f := range all[:min(len(all), topFunctions)] {
		row := []any{"  " + f.name, total.Texts(f.time)[0], share(f.time, inMPI), nil, nil, imbalance(f.max, f.time/float64(f.ranks)), text.RankList(f.maxRanks)}
		if f.calls > 0 {
			row[3], row[4] = strconv.FormatFloat(f.calls, 'f', 0, 64), call.Texts(f.time / f.calls)[0]
		}
		r.Rows = append(r.Rows, row)
	}
	r.Write(b, FormatTable, term)
}
