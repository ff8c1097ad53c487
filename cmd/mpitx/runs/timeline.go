package runs

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine/keep"
	"mpitx/recording"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/screen/program"
	"mpitx/ui/term"
	"mpitx/ui/timeline"
)

type timelineOptions struct {
	a    *cli.App
	part cli.RunPart
	at   time.Duration
	once bool
	cli.ThemeFlag
}

func NewTimeline(a *cli.App) *cobra.Command {
	o := &timelineOptions{a: a}
	cmd := &cobra.Command{
		Use:         "timeline RUN",
		Annotations: cli.Paged,
		Short:       "Show a trace in the terminal: who calls what, when",
		Long: `Show the trace of a run (mpitx trace) on the full screen. Each thread of each
rank is a row, time runs to the right, and a letter says what kind of MPI
function takes most of the time of a cell. + and - zoom, the arrow keys move the
cursor, n and N go to the next and to the previous call. Below the rows is the
call under the cursor, with its messages: when they were sent and received, by
which call of which rank. Enter goes to that call. Press ? for all keys.

Large traces open at once: wide views begin as a sample and become exact while
the rest is read. A run that is being written is followed, and one that is not
there yet is waited for. After kill -9 the trace has everything up to the last
complete call of each rank.

--once prints one frame and works without a terminal.`,
		Example: `  mpirun -n 4 mpitx trace --dir run1 -- ./app input
  mpitx timeline run1
  mpitx timeline run1 --rank 0-3 --from 2s --to 2.5s
  mpitx timeline run1 --once --at 2.1s`,
		Args: cli.Arguments(1, 1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	o.part.Flags(cmd)
	f := cmd.Flags()
	f.Lookup("from").Usage = "show only from this `TIME` on, since the start of the job, such as 1.5s"
	f.Lookup("to").Usage = "show only until this `TIME`"
	f.Lookup("rank").Usage = "show only these `RANKS` of MPI_COMM_WORLD, such as 0,2-5"
	f.DurationVar(&o.at, "at", 0, "begin with the cursor at this `TIME` (default: in the middle, or at the last call of a live run)")
	cmd.RegisterFlagCompletionFunc("at", cobra.NoFileCompletions)
	f.BoolVar(&o.once, "once", false, "print one frame and exit")
	o.ThemeFlag.Flags(cmd)
	cmd.ValidArgsFunction = cli.CompleteRuns
	return cmd
}

const onceWidth = 100 // of a frame that is not printed on a terminal

func (o *timelineOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.part.Parse(cmd); err != nil {
		return err
	}
	if o.at < 0 {
		return cli.Usagef("--at %s: must not be negative", o.at)
	}
	if !cmd.Flags().Changed("at") {
		o.at = -1
	}
	if why := cli.NoFullScreen(); !o.once && why != "" {
		return cli.Usagef("timeline: %s; --once prints one frame", why)
	}
	if o.once {
		return o.print(args[0])
	}
	t, err := term.Detect(os.Stdout, o.a.Env.Getenv, o.a.Color)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	file, problem := o.Configure(o.a, &t)
	if problem != "" {
		o.a.Complain("%s", problem)
	}
	o.a.Out.Flush()
	find := func() (*timeline.Feed, string, error) { return o.find(args[0]) }
	ctx, forget := keep.QuitContext()
	defer forget()
	if err := timeline.Run(ctx, find, t, file); errors.Is(err, program.ErrSignal) {
		return cli.Exit(128 + int(syscall.SIGTERM))
	} else if err != nil {
		return err
	}
	return nil
}

// find opens the trace of a run. If the trace is not there yet, awaited says what is missing.
func (o *timelineOptions) find(name string) (feed *timeline.Feed, awaited string, err error) {
	run, awaited, err := launch.FindRun(name)
	if run == nil {
		return nil, awaited, err
	}
	if run.Running() {
		if err := o.part.Check(run); err != nil {
			awaited = err.Error()
		} else if !trace.Has(run) {
			awaited = name + ": no MPI call was traced yet"
		}
	}
	if awaited != "" {
		run.Close()
		return nil, awaited, nil
	}
	feed, err = o.feed(run)
	return feed, "", err
}

// feed begins to read the trace of a run, and closes the run if it cannot.
func (o *timelineOptions) feed(run *recording.Run) (*timeline.Feed, error) {
	err := o.part.Check(run)
	if err == nil && !trace.Has(run) {
		err = cli.Lacks(run, run.Dir, "trace", "record one with mpirun -n 4 mpitx trace --dir DIR -- ./app")
	}
	if err != nil {
		run.Close()
		return nil, err
	}
	feed := timeline.Open(run, timeline.Options{From: o.part.From, To: o.part.To, Rank: o.part.Rank(), At: o.at,
		Places: func(run *recording.Run) (func(*recording.Rank, uint64) string, func()) {
			find, done := sites.Places(run)
			return find, func() { done() }
		}})
	if from, to, ok := feed.Extent(); !ok && o.part.To > o.part.From && from >= to && (o.once || !run.Running()) {
		feed.Close()
		return nil, cli.Failf("%s: the trace has no calls between --from and --to; leave them out to see the whole trace", text.Quote(run.Dir))
	}
	return feed, nil
}

// print is --once.
func (o *timelineOptions) print(name string) error {
	run, err := launch.OpenSamples(name)
	if err != nil {
		return err
	}
	feed, err := o.feed(run)
	if err != nil {
		return err
	}
	defer feed.Close()
	t, err := term.Detect(os.Stdout, o.a.Env.Getenv, o.a.Color)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	o.Configure(o.a, &t)
	terminal, err := o.a.Terminal()
	if err != nil {
		return err
	}
	width := terminal.Width
	if width == 0 {
		width = onceWidth
	}
	fmt.Fprintln(o.a.Out, timeline.Print(feed, t, width))
	return cli.Partial(o.a, run)
}
