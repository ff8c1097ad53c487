package runs

import (
	"cmp"
	"encoding/json"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/sites"
	"mpitx/recording/where"
)

const maxWhereStack = 64 // as in agent/tools/where/stacks.c

type whereOptions struct {
	a        *cli.App
	format   export.Format
	watch    bool
	interval time.Duration
	rsh      string // "": other hosts are not asked
	stack    int    // frames of stacks to print
	states   bool   // print the states for the mpitx of another host
}

func NewWhere(a *cli.App) *cobra.Command {
	o := &whereOptions{a: a}
	cmd := &cobra.Command{
		Use:         "where [RUN]",
		Annotations: cli.Paged,
		Short:       "Show the MPI call that each rank is in, and who waits for whom",
		Long: `Show what each rank of a job does now: the MPI call that it is in, with its
communicator, peer, tag and place in the program, and since when; or that it
computes. Ranks in the same state are one line, and the line with the fewest
ranks comes first. Above the table, mpitx where says who waits for whom, and
names cycles, mismatched collective calls, and ranks that are stopped or dead.
It looks twice before it does that, and calls a cycle possible if a rank in it
polls or a message may be under way.

It works on any run that mpitx started (run, sample, record, profile), while
the job runs, while it hangs, and after it was killed. It only reads files, and
does not slow the job. Without RUN, it takes the newest run in the current
directory, or in $MPITX_DIR, those that are running first, and says which.

--stack N adds the call stacks of ranks that have waited in a call for 0.2 s.
Ranks in one call with different stacks are several lines then. A stack that
ends with … has further frames, which are unknown.

The states are in the memory of the ranks' nodes. To see those of other nodes,
name a command that runs mpitx there without asking for a password, such as
--rsh ssh. The run directory must have the same path there.`,
		Example: `  mpirun -n 4 mpitx run --dir run1 -- ./app input &
  mpitx where
  mpitx where run1
  mpitx where run1 --stack 8
  mpitx where run1 --watch
  mpitx where run1 --rsh ssh
  mpitx where run1 -o json`,
		Args: cli.Arguments(0, 1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatCSV)
	cmd.Flags().BoolVar(&o.watch, "watch", false, "print the states again until the job ends; on a terminal in the same place")
	cmd.Flags().DurationVar(&o.interval, "interval", 2*time.Second, "with --watch: print every `TIME`")
	cmd.Flags().IntVar(&o.stack, "stack", 0, "print up to `N` frames of the call stacks of ranks that wait in a call; 0: none, at most "+strconv.Itoa(maxWhereStack))
	cmd.Flags().StringVar(&o.rsh, "rsh", "", "ask the other nodes of the job with this `COMMAND`, such as ssh (default: $MPITX_RSH)")
	cmd.Flags().BoolVar(&o.states, "states", false, "")
	cmd.Flags().MarkHidden("states")
	return cmd
}

func (o *whereOptions) run(cmd *cobra.Command, args []string) error {
	switch {
	case cmd.Flags().Changed("interval") && !o.watch:
		return cli.Usagef("--interval needs --watch")
	case o.stack < 0 || o.stack > maxWhereStack:
		return cli.Usagef("--stack: must be between 0 and %d", maxWhereStack)
	case o.interval < 100*time.Millisecond:
		return cli.Usagef("--interval: %s: must be at least 100ms", o.interval)
	case cmd.Flags().Changed("rsh") && strings.TrimSpace(o.rsh) == "":
		return cli.Usagef("--rsh: the command is empty; name one such as ssh")
	}
	if o.rsh == "" {
		o.rsh = os.Getenv("MPITX_RSH")
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	run, err := o.open(name)
	if err != nil {
		return err
	}
	interrupted := make(chan os.Signal, 1)
	if o.watch {
		signal.Notify(interrupted, os.Interrupt)
	}
	screen := redrawn{a: o.a, looks: o.a.Terminal, on: o.watch && (o.format == export.FormatTable || o.format == export.FormatWide)}
	for {
		if err := screen.draw(run.Running(), func(t export.Terminal) error { return o.print(run, t) }); err != nil {
			run.Close()
			return err
		}
		dir, running := run.Dir, run.Running()
		damaged := cli.ReportDamage(o.a, run)
		run.Close()
		switch {
		case damaged:
			return cli.ErrDamaged
		case !o.watch || !running:
			return nil
		}
		if err := o.a.Out.Flush(); err != nil {
			return err
		}
		select {
		case <-time.After(o.interval):
		case <-interrupted:
			return nil
		}
		if run, err = launch.OpenRun(dir); err != nil {
			return err
		}
	}
}

// open opens the run. It waits only for a job that has just started, or to watch it.
func (o *whereOptions) open(name string) (*recording.Run, error) {
	run, awaited, err := launch.FindLive(name, o.a.RunsDir(), o.a.Say)
	switch {
	case run != nil || err != nil:
		return run, err
	case o.watch || launch.JustStarted(cmp.Or(name, o.a.RunsDir())):
		return launch.AwaitRun(name, o.a.RunsDir(), o.a.Say)
	}
	if name != "" {
		return launch.OpenSamples(name) // says what to do
	}
	return nil, cli.Failf("%s; %s", awaited, launch.NameRun)
}

// print prints the states of all ranks once.
func (o *whereOptions) print(run *recording.Run, t export.Terminal) error {
	callers := sites.NewCallers(run.Start)
	defer callers.Close()
	var stacks where.Stacks
	if o.stack > 0 {
		stacks = callers.Stacks(o.stack)
	}
	if o.states {
		return json.NewEncoder(o.a.Out).Encode(where.ReadStacks(run, callers.Site, stacks))
	}
	job := where.Look(func() *where.Job {
		job := where.ReadStacks(run, callers.Site, stacks)
		if strings.TrimSpace(o.rsh) != "" {
			for _, words := range job.AskHosts(run.Dir, o.rsh, o.stack) {
				o.a.Complain("%s", words)
			}
		}
		return job
	})
	if !job.Recorded() {
		return cli.Lacks(run, run.Dir, "states of ranks", "it was recorded by another version of mpitx, or none has finished MPI_Init")
	}
	answer := &runs.Where{Run: run, Job: job, Report: where.Analyze(job), Notes: launch.Incomplete(run)}
	if o.format == export.FormatCSV {
		for _, note := range answer.Notes {
			o.a.Complain("%s", note)
		}
	}
	return answer.Write(o.a.Out, o.format, t)
}
