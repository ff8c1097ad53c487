package profile

import (
	"iter"
	"slices"
	"strings"
	"time"

	"mpitx/recording"
)

// FunctionRow is a function or a call site, and what tables and documents say about it.
type FunctionRow struct {
	*Function
	Site      string        `json:"site,omitempty"`
	Stack     []Frame       `json:"stack,omitempty"`
	Share     float64       `json:"share"` // see ShareOf
	Mean      time.Duration `json:"mean_ns"`
	P50       time.Duration `json:"p50_ns"`
	P95       time.Duration `json:"p95_ns"`
	P99       time.Duration `json:"p99_ns"`
	Imbalance float64       `json:"imbalance"`
	Durations []Bucket      `json:"durations,omitempty"`
	Spread    Spread        `json:"-"` // of the times of ranks
}

// Row is the row of one of the profile's functions or sites.
func (p *Profile) Row(f *Function) FunctionRow {
	s := p.SpreadOf(f.Ranks, Time)
	return FunctionRow{Function: f, Site: f.Place(), Stack: f.Places(), Share: p.ShareOf(f), Mean: f.Mean(), P50: f.Percentile(50), P95: f.Percentile(95), P99: f.Percentile(99),
		Imbalance: s.Imbalance(), Durations: f.Durations.Buckets(), Spread: s}
}

// Rows makes the rows of functions or sites, one by one.
func (p *Profile) Rows(all []*Function) iter.Seq[FunctionRow] {
	return func(yield func(FunctionRow) bool) {
		for _, f := range all {
			if !yield(p.Row(f)) {
				return
			}
		}
	}
}

// Title is a function's name, and for calls of the library itself the application's call.
func (f *Function) Title() string {
	if f.Within != "" {
		return f.Name + " in " + f.Within
	}
	return f.Name
}

// Sampled are the functions of a sampled run, with times and calls only, those with the most time first: what the ranks counted until
// their end, or else what was sampled. Shares are of a time in nanoseconds, or of the time of all functions if that is longer.
func Sampled(run *recording.Run, stats []recording.Stat, whole float64) (rows []FunctionRow) {
	p, all, sampled := &Profile{Run: run}, map[string]*Function{}, map[string]Spread{}
	of := func(name string) *Function {
		if all[name] == nil {
			all[name] = &Function{Name: name}
		}
		return all[name]
	}
	for _, r := range run.Ranks {
		if len(r.Functions) == 0 || run.Excludes(r) {
			continue
		}
		rank := &Rank{Number: r.Rank, Process: r}
		p.Ranks = append(p.Ranks, rank)
		for _, counted := range r.Functions {
			f, totals := of(counted.Name), Totals{Calls: counted.Calls, Time: counted.Time}
			f.add(&totals)
			addRank(&f.Ranks, rank, &totals)
		}
	}
	for i := range stats {
		s := &stats[i]
		if s.As != recording.Delta || len(p.Ranks) > 0 {
			continue
		}
		if name, ok := strings.CutPrefix(s.Variable, "mpitx:calls/"); ok {
			of(name).Calls = uint64(s.Total.Float64())
		} else if name, ok := strings.CutPrefix(s.Variable, "mpitx:time/"); ok {
			of(name).Time = time.Duration(s.Total.Float64())
			sampled[name] = Spread{Mean: s.Mean, Max: s.Max.Float64(), MaxRanks: s.MaxRanks}
		}
	}
	list := slices.DeleteFunc(byTime(all), func(f *Function) bool { return f.Time == 0 })
	counted := 0.0 // may include a moment after the last sample
	for _, f := range list {
		counted += float64(f.Time)
	}
	for row := range p.Rows(list) {
		if s, ok := sampled[row.Name]; ok {
			row.Spread, row.Imbalance = s, s.Imbalance()
		}
		row.Share = float64(row.Time) / max(whole, counted)
		rows = append(rows, row)
	}
	return rows
}
