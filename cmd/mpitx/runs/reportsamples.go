package runs

import (
	"cmp"
	"io"
	"maps"
	"math"
	"slices"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/ui/progress"
)

// statOrder are the values of --sort; numbers are sorted largest first.
var statOrder = map[string]func(*recording.Stat) float64{
	"name":   nil,
	"count":  func(s *recording.Stat) float64 { return float64(s.Count) },
	"min":    func(s *recording.Stat) float64 { return s.Min.Float64() },
	"mean":   func(s *recording.Stat) float64 { return s.Mean },
	"max":    func(s *recording.Stat) float64 { return s.Max.Float64() },
	"stddev": func(s *recording.Stat) float64 { return s.Dev },
	"total":  func(s *recording.Stat) float64 { return s.Total.Float64() },
}

func statOrders() []string { return slices.Sorted(maps.Keys(statOrder)) }

// showSamples shows the statistics of the variables that a run has sampled.
func showSamples(r *reading) error {
	named, err := r.named(r.run)
	if err != nil {
		return err
	}
	during, err := r.during(r.run, r.dir)
	if err != nil {
		return err
	}
	bar := progress.New("summing up")
	o := r.options()
	o.As, o.Column, o.During, o.Progress = r.as, named.Column(), during, bar.Update
	stats := statsOf(r.run, o, r.byRank)
	bar.Clear()
	all, zero := len(stats), 0
	for i := range stats {
		if stats[i].Zero() {
			zero++
		}
	}
	if r.nonzero {
		stats = slices.DeleteFunc(stats, func(s export.Stat) bool { return s.Zero() })
	}
	sortStats(stats, r.sort)
	err = r.rows(func() *export.Rows { return export.StatRows(stats, r.byRank) }, func(w io.Writer, t export.Terminal) error {
		switch {
		case rowFormat(r.Form()):
			return export.StatRows(stats, r.byRank).Write(w, r.Form(), t)
		case len(stats) == 0: // a message says why
			return nil
		}
		return export.StatTable(stats, r.byRank, t).Write(w, r.Form(), t)
	})
	switch {
	case err != nil:
		return err
	case all > 0 && len(stats) == 0:
		r.App.Complain("%s: each of the %d variables is 0; leave --nonzero out to see them", r.dir, all)
	case r.term.IsTTY && !r.nonzero && zero > 20 && 2*zero > all:
		r.App.Complain("%d of %d variables are 0; hide them with --nonzero", zero, all)
	}
	cli.SayUnsampled(r.App, r.run, r.dir)
	cli.ReportGaps(r.App, r.run)
	if cli.ReportDamage(r.App, r.run) {
		return cli.ErrDamaged
	}
	return nil
}

// statsOf are the statistics over all ranks, or those of each rank.
func statsOf(run *recording.Run, o recording.Options, byRank bool) (all []export.Stat) {
	if !byRank {
		for _, s := range run.Stats(o) {
			all = append(all, export.Stat{Stat: s})
		}
		return all
	}
	chosen := o.Rank
	for _, rank := range run.Ranks {
		if chosen != nil && !chosen(rank) {
			continue
		}
		o.Rank = func(r *recording.Rank) bool { return r == rank }
		for _, s := range run.Stats(o) {
			all = append(all, export.Stat{Stat: s, Rank: rank.Rank, Host: rank.Host})
		}
	}
	slices.SortStableFunc(all, func(a, b export.Stat) int {
		return cmp.Or(cmp.Compare(a.Variable, b.Variable), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Object, b.Object), cmp.Compare(a.As, b.As))
	})
	return all
}

func sortStats(stats []export.Stat, order string) {
	by := statOrder[order]
	if by == nil { // already sorted by name
		return
	}
	slices.SortStableFunc(stats, func(a, b export.Stat) int {
		x, y := by(&a.Stat), by(&b.Stat)
		switch noX, noY := math.IsNaN(x), math.IsNaN(y); {
		case noX != noY && noX:
			return 1
		case noX != noY:
			return -1
		}
		return cmp.Or(cmp.Compare(b.Unit, a.Unit), cmp.Compare(y, x))
	})
}
