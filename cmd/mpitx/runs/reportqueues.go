package runs

import (
	"cmp"
	"io"
	"slices"
	"time"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording/processor"
	"mpitx/recording/queues"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/text"
)

// showQueues shows what messages and receives waited for.
func showQueues(r *reading) error {
	options, run, name := r.options(), r.run, text.Quote(r.dir)
	q := queues.Read(run, options)
	calls := queues.Derive(run, options)
	if q == nil || r.derived {
		q = calls
	}
	if q == nil {
		return cli.Lacks(run, r.dir, "trace", "record one with mpitx trace --dir DIR -- ./app, with --event 'PERUSE_*' on an MPI with PERUSE")
	}
	if r.table == "metrics" && q.Source != "PERUSE" {
		return cli.Lacks(run, r.dir, "events of PERUSE", "record them with mpitx trace --event 'PERUSE_*' -- ./app, with an MPI that raises them")
	}
	q.AddCalls(calls)
	q.NoCores(processor.Read(run, nil))
	find, done := sites.Places(run)
	q.ResolveSites(find)
	unread := cli.ReportSites(r.App, run, "report", done)
	switch {
	case len(q.Peers) == 0 && q.Derived:
		r.App.Complain("%s: the trace has no messages whose send and receive are both known; mpitx profile says who waits in other calls", name)
	case len(q.Peers) == 0:
		r.App.Complain("%s: no events of queues were raised", name)
	}
	if q.Unpaired > 0 {
		r.App.Complain("%s: %d events end what did not begin in the recorded time; they are not in the mean times", name, q.Unpaired)
	}
	if q.Lost > 0 {
		r.App.Complain("%s: %d events were lost, as there was no room for them: numbers are too small", name, q.Lost)
	}
	if q.Later > 0 {
		r.App.Complain("%s: only the messages until %s are counted, since there are too many; %d later ones are missing: choose a part with --from and --to", name, q.To.Round(time.Microsecond), q.Later)
	}
	if !q.Derived {
		for _, line := range runs.GapLines(run, slices.DeleteFunc(trace.EventGaps(run, options.Rank), runs.NotOfQueues), nil) {
			r.App.Complain("%s: %s", name, line)
		}
	}
	rows := func() *export.Rows { return runs.QueueRows(q, r.table) }
	err := r.rows(rows, func(w io.Writer, t export.Terminal) error { return runs.Queues(w, q, r.Form(), r.table, t) })
	return cmp.Or(err, cli.Partial(r.App, run), unread)
}
