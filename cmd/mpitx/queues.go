package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/internal/sites"
	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/queues"
	"mpitx/recording/trace"
)

type queuesOptions struct {
	a        *app
	format   export.Format
	table    string
	ranks    string
	from, to time.Duration
	derived  bool
}

func newQueues(a *app) *cobra.Command {
	o := &queuesOptions{a: a}
	cmd := &cobra.Command{
		Use:         "queues RUN",
		Annotations: paged,
		Short:       "Print which messages and receives waited in the queues of MPI",
		Long: `Print what messages and receives waited for, from the trace of a run (mpitx
trace). If the library raised events of its queues, the numbers are exact: those
of PERUSE (Open MPI built with --enable-peruse, mpitx trace --event 'PERUSE_*'),
or MPICH's MPI_T events of unexpected messages (--event 'unexp_*'). Otherwise
they are bounds, derived from when messages were sent and receives posted.

A message that comes before its receive waits in the queue of unexpected
messages, and is copied once more: its receive was posted late. A receive that
is posted before its message comes waits in the queue of posted receives: its
message was sent late. For each rank, peer and communicator, the first table has
the numbers of both, and the mean times: in each queue (LATE RECV, LATE
MSG), of the transfer, from the activation of a request to its match and to
its transfer, from its completion until the program was notified, and of a
search in the queues; TOTAL is from the activation of a request until the program
was notified. The second table has the lengths of the queues.

Columns of events that the library does not raise are left out.`,
		Example: `  mpirun -n 4 mpitx trace --event 'PERUSE_*' --dir run1 -- ./app
  mpitx queues run1
  mpitx queues run1 --rank 0 -o json`,
		Args: arguments(1, 1, "a run directory"),
		RunE: a.once(o.run),
	}
	f := cmd.Flags()
	chooseFormat(cmd, &o.format, "output `FORMAT`", export.QueuesFormats...)
	choose(cmd, &o.table, "table", "", "", "only this `TABLE`: peers or lengths", export.QueuesTables...)
	f.StringVar(&o.ranks, "rank", "", "only these `RANKS` of MPI_COMM_WORLD, such as 0,2-5")
	f.DurationVar(&o.from, "from", 0, "only events from this `TIME` of the run on, such as 1.5s")
	f.DurationVar(&o.to, "to", 0, "only events before this `TIME` of the run")
	f.BoolVar(&o.derived, "derived", false, "compute from calls even if the library raised events")
	cmd.RegisterFlagCompletionFunc("rank", cobra.NoFileCompletions)
	cmd.ValidArgsFunction = completeRuns
	return cmd
}

func (o *queuesOptions) run(_ *cobra.Command, args []string) error {
	ranks, err := export.ParseRanks(o.ranks)
	if err != nil {
		return usagef("--rank: %v", err)
	}
	if o.from < 0 || o.to < 0 || o.to > 0 && o.to <= o.from {
		return usagef("--from, --to: the range is empty")
	}
	term, err := o.a.terminal()
	if err != nil {
		return err
	}
	run, err := openSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	options := recording.Options{From: o.from, To: o.to}
	if o.from > 0 && o.to == 0 {
		options.To = time.Duration(1<<63 - 1)
	}
	if len(ranks) > 0 {
		options.Rank = func(r *recording.Rank) bool { return slices.Contains(ranks, r.Rank) }
	}
	name := origin.Quote(args[0])
	q := queues.Read(run, options)
	calls := queues.Derive(run, options)
	if q == nil || o.derived {
		q = calls
	}
	if q == nil {
		return failf("%s: the run has no trace; record one with mpitx trace --dir DIR -- ./app, with --event 'PERUSE_*' on an MPI with PERUSE", name)
	}
	q.AddCalls(calls)
	find, done := sites.Places(run)
	defer done()
	q.ResolveSites(find)
	switch {
	case len(q.Peers) == 0 && q.Derived:
		o.a.complain("%s: the trace has no messages whose send and receive are both known", name)
	case len(q.Peers) == 0:
		o.a.complain("%s: no events of queues were raised", name)
	}
	if q.Unpaired > 0 {
		o.a.complain("%s: %d events end what did not begin in the recorded time; they are not in the mean times", name, q.Unpaired)
	}
	if q.Lost > 0 {
		o.a.complain("%s: %d events were lost, as there was no room for them: numbers are too small", name, q.Lost)
	}
	if !q.Derived {
		for _, line := range gapLines(run, slices.DeleteFunc(trace.EventGaps(run, options.Rank), notOfQueues), nil) {
			o.a.complain("%s: %s", name, line)
		}
	}
	if err := export.Queues(o.a.out, q, o.format, o.table, term); err != nil {
		return err
	}
	return partial(o.a, run)
}
