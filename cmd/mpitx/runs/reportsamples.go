package runs

import (
	"io"
	"slices"
	"time"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/network"
	"mpitx/text"
	"mpitx/ui/progress"
)

// showSamples shows the statistics of the variables that a run has sampled.
func showSamples(r *reading) error {
	if err := cli.Unsampled(r.run, r.dir); err != nil {
		return err
	}
	named, err := r.In(r.run)
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
	if from, to := o.From, o.To; to > from { // as a phase: what grows counts from its value at the start of the part
		o.From, o.To = 0, 0
		o.During = func(rank *recording.Rank, at time.Duration) bool {
			return at >= from && at < to && (during == nil || during(rank, at))
		}
	}
	read := r.run.Stats
	if r.byRank {
		read = r.run.StatsByRank
	}
	stats := read(o)
	bar.Clear()
	all, zero := len(stats), 0
	for i := range stats {
		if stats[i].Zero() {
			zero++
		}
	}
	if r.nonzero {
		stats = slices.DeleteFunc(stats, func(s recording.Stat) bool { return s.Zero() })
	}
	recording.SortStats(stats, r.sort)
	err = r.rows(func() *export.Rows { return runs.StatRows(stats, r.byRank) }, func(w io.Writer, t export.Terminal) error {
		switch {
		case rowFormat(r.Form()):
			return runs.StatRows(stats, r.byRank).Write(w, r.Form(), t)
		case len(stats) == 0: // a message says why
			return nil
		}
		if words := runs.SampleFindings(network.Findings(r.run, r.options()), "- ", t); words != "" {
			if _, err := io.WriteString(w, words+"\n"); err != nil {
				return err
			}
		}
		return runs.StatTable(stats, r.byRank, t).Write(w, r.Form(), t)
	})
	switch {
	case err != nil:
		return err
	case all == 0:
		r.App.Complain("%s: no samples were taken, or none are in this part", text.Quote(r.dir))
	case all > 0 && len(stats) == 0:
		r.App.Complain("%s: each of the %d variables is 0; leave --nonzero out to see them", r.dir, all)
	case r.term.IsTTY && !r.nonzero && zero > 20 && 2*zero > all:
		r.App.Complain("%d of %d variables are 0; hide them with --nonzero", zero, all)
	}
	cli.ReportGaps(r.App, r.run)
	if cli.ReportDamage(r.App, r.run) {
		return cli.ErrDamaged
	}
	return nil
}
