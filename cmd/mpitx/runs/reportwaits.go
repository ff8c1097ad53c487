package runs

import (
	"cmp"
	"io"
	"slices"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/recording/waits"
	"mpitx/text"
)

// showWaits shows why ranks waited.
func showWaits(r *reading) error {
	if !trace.Has(r.run) {
		return cli.Lacks(r.run, r.dir, "trace", "record one with mpitx trace --dir DIR -- ./app; of a profile, mpitx report RUN says which calls wait, and mpitx report RUN arrivals who came last to collective ones")
	}
	find, done := sites.Places(r.run)
	p := waits.Read(r.run, find)
	if r.part.To > r.part.From {
		p = p.Within(r.part.From, r.part.To)
	}
	a := p.Analyse()
	unread := cli.ReportSites(r.App, r.run, "report", done)
	if a.Run == 0 {
		r.App.Complain("%s: %s", text.Quote(r.dir), runs.NoCalls(a))
	}
	if slices.ContainsFunc(r.run.Ranks, func(r *recording.Rank) bool { return r.State == recording.StateDied }) {
		r.App.Complain("%s: ranks died: the calls that they were in are not in the trace, nor what they waited for then; mpitx where shows them", text.Quote(r.dir))
	}
	if a.Run > 0 { // else there is nothing that a missing core may explain
		a.NoCores(r.run)
	}
	a.Only(r.part.Has)
	rows := func() *export.Rows { return runs.WaitRows(a, r.table) }
	err := r.rows(rows, func(w io.Writer, t export.Terminal) error {
		return cli.WriteWaits(w, a, r.Form(), r.dir, r.table, t)
	})
	return cmp.Or(err, cli.Partial(r.App, r.run), unread)
}
