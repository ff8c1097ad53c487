package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/internal/sites"
	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/ui/program"
	"mpitx/ui/term"
	"mpitx/ui/timeline"
)

type timelineOptions struct {
	a    *app
	part runPart
	at   time.Duration
	once bool
	themeFlag
}

func newTimeline(a *app) *cobra.Command {
	o := &timelineOptions{a: a}
	cmd := &cobra.Command{
		Use:         "timeline RUN",
		Annotations: paged,
		Short:       "Show a trace in the terminal: who calls what, when",
		Long: `Show the trace of a run (mpitx trace) on the full screen. Each thread of each
rank is a row, time runs to the right, and a letter says what kind of MPI
function takes most of the time of a cell. + and - zoom, the arrow keys move the
cursor, n and N go to the next and to the previous call. Below the rows is the
call under the cursor, with its messages: when they were sent and received, by
which call of which rank. Enter goes to that call. Press ? for all keys.

Large traces open at once: wide views begin as a sample and become exact while
the rest is read. A run that is being written is followed. After kill -9 the
trace has everything up to the last complete call of each rank.

--once prints one frame and works without a terminal.`,
		Example: `  mpirun -n 4 mpitx trace --dir run1 -- ./app input
  mpitx timeline run1
  mpitx timeline run1 --rank 0-3 --from 2s --to 2.5s
  mpitx timeline run1 --once --at 2.1s`,
		Args: arguments(1, 1, "a run directory"),
		RunE: a.once(o.run),
	}
	o.part.flags(cmd)
	f := cmd.Flags()
	f.Lookup("from").Usage = "show only from this `TIME` on, since the start of the job, such as 1.5s"
	f.Lookup("to").Usage = "show only until this `TIME`"
	f.Lookup("rank").Usage = "show only these `RANKS` of MPI_COMM_WORLD, such as 0,2-5"
	f.DurationVar(&o.at, "at", 0, "begin with the cursor at this `TIME` (default: in the middle)")
	cmd.RegisterFlagCompletionFunc("at", cobra.NoFileCompletions)
	f.BoolVar(&o.once, "once", false, "print one frame and exit")
	o.themeFlag.flags(cmd)
	cmd.ValidArgsFunction = completeRuns
	return cmd
}

const onceWidth = 100 // of a frame that is not printed on a terminal

func (o *timelineOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.part.parse(cmd); err != nil {
		return err
	}
	if o.at < 0 {
		return usagef("--at %s: must not be negative", o.at)
	}
	if !cmd.Flags().Changed("at") {
		o.at = -1
	}
	if why := noFullScreen(); !o.once && why != "" {
		return usagef("timeline: %s; --once prints one frame", why)
	}
	dir := origin.Quote(args[0])
	run, err := openSamples(args[0])
	if err != nil {
		return err
	}
	switch err := o.part.check(run); {
	case err != nil:
		run.Close()
		return err
	case !trace.Has(run):
		defer run.Close()
		if reportDamage(o.a, run) {
			return errDamaged
		}
		return failf("%s: the run has no trace; record one with mpirun -n 4 mpitx trace --dir DIR -- ./app", dir)
	}
	feed := timeline.Open(run, timeline.Options{From: o.part.from, To: o.part.to, Rank: o.part.rank(), At: o.at,
		Places: func(run *recording.Run) (func(*recording.Rank, uint64) string, func()) { return sites.Places(run) }})
	if from, to, ok := feed.Extent(); !ok && o.part.to > o.part.from && from >= to {
		feed.Close()
		return failf("%s: the trace has no calls between --from and --to; leave them out to see the whole trace", dir)
	}
	if o.once {
		return o.print(feed, run)
	}
	t, err := term.Detect(os.Stdout, o.a.env.Getenv, o.a.color)
	if err != nil {
		feed.Close()
		return usagef("%v", err)
	}
	file, problem := o.configure(o.a, &t)
	if problem != "" {
		o.a.complain("%s", problem)
	}
	o.a.out.Flush()
	if err := timeline.Run(context.Background(), feed, t, file, os.Stdin, os.Stdout); errors.Is(err, program.ErrSignal) {
		return exit(128 + int(syscall.SIGTERM))
	} else if err != nil {
		return err
	}
	return nil
}

// print is --once.
func (o *timelineOptions) print(feed *timeline.Feed, run *recording.Run) error {
	defer feed.Close()
	t, err := term.Detect(os.Stdout, o.a.env.Getenv, o.a.color)
	if err != nil {
		return usagef("%v", err)
	}
	o.configure(o.a, &t)
	terminal, err := o.a.terminal()
	if err != nil {
		return err
	}
	width := terminal.Width
	if width == 0 {
		width = onceWidth
	}
	fmt.Fprintln(o.a.out, timeline.Print(feed, t, width))
	return partial(o.a, run)
}
