package runs

import (
	"cmp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/processor"
	"mpitx/recording/queues"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/text"
)

type queuesOptions struct {
	a       *cli.App
	format  export.Format
	table   string
	part    cli.RunPart
	derived bool
}

func NewQueues(a *cli.App) *cobra.Command {
	o := &queuesOptions{a: a}
	cmd := &cobra.Command{
		Use:         "queues RUN",
		Annotations: cli.Paged,
		Short:       "Show late sends and late receives",
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
its transfer, from its completion until the program was notified (NOTIFIED
AFTER), from the activation until then (TO NOTIFY), and of a search in the
queues. The second table has the lengths of the queues.

Columns of events that the library does not raise are left out. A terminal shows
the columns that fit.`,
		Example: `  mpirun -n 4 mpitx trace --event 'PERUSE_*' --dir run1 -- ./app
  mpitx queues run1
  mpitx queues run1 --rank 0 -o json`,
		Args: cli.Arguments(1, 1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	f := cmd.Flags()
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.QueuesFormats...)
	cli.Choose(cmd, &o.table, "table", "", "", "only this `TABLE`: peers or lengths", export.QueuesTables...)
	o.part.Flags(cmd)
	f.BoolVar(&o.derived, "derived", false, "compute from calls even if the library raised events")
	cmd.ValidArgsFunction = cli.CompleteRuns
	return cmd
}

func (o *queuesOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.part.Parse(cmd); err != nil {
		return err
	}
	term, err := o.a.Terminal()
	if err != nil {
		return err
	}
	run, err := cli.OpenSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	if err := o.part.Check(run); err != nil {
		return err
	}
	options := recording.Options{From: o.part.From, To: o.part.To, Rank: o.part.Rank()}
	name := text.Quote(args[0])
	q := queues.Read(run, options)
	calls := queues.Derive(run, options)
	if q == nil || o.derived {
		q = calls
	}
	if q == nil {
		return cli.Failf("%s: the run has no trace; record one with mpitx trace --dir DIR -- ./app, with --event 'PERUSE_*' on an MPI with PERUSE", name)
	}
	q.AddCalls(calls)
	q.NoCores(processor.Read(run, nil))
	find, done := sites.Places(run)
	q.ResolveSites(find)
	unread := cli.ReportUnreadable(o.a, done(), "queues")
	switch {
	case len(q.Peers) == 0 && q.Derived:
		o.a.Complain("%s: the trace has no messages whose send and receive are both known; mpitx profile says who waits in other calls", name)
	case len(q.Peers) == 0:
		o.a.Complain("%s: no events of queues were raised", name)
	}
	if q.Unpaired > 0 {
		o.a.Complain("%s: %d events end what did not begin in the recorded time; they are not in the mean times", name, q.Unpaired)
	}
	if q.Lost > 0 {
		o.a.Complain("%s: %d events were lost, as there was no room for them: numbers are too small", name, q.Lost)
	}
	if q.Later > 0 {
		o.a.Complain("%s: only the messages until %s are counted, since there are too many; %d later ones are missing: choose a part with --from and --to", name, q.To.Round(time.Microsecond), q.Later)
	}
	if !q.Derived {
		for _, line := range cli.GapLines(run, slices.DeleteFunc(trace.EventGaps(run, options.Rank), cli.NotOfQueues), nil) {
			o.a.Complain("%s: %s", name, line)
		}
	}
	if err := export.Queues(o.a.Out, q, o.format, o.table, term); err != nil {
		return err
	}
	return cmp.Or(cli.Partial(o.a, run), unread)
}
