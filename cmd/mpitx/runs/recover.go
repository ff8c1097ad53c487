package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/text"
)

func NewRecover(a *cli.App) *cobra.Command {
	var force, stale bool
	cmd := &cobra.Command{
		Use:   "recover RUN | --stale",
		Short: "Recover the last data of a job that died",
		Long: `Recover what a dead job recorded and had not written yet: the last data before a
crash or kill -9 are in memory files (in /dev/shm) that outlive the process.
mpitx recover appends them to the run directory and removes the memory files.
It leaves running processes alone. If the job used several nodes, run it on
each node.

With --stale, it looks for memory files of dead processes on this machine,
removes those whose run directory no longer exists, and names the runs of the
others.`,
		Example: `  mpitx recover run1
  mpitx recover --stale`,
		Args: func(cmd *cobra.Command, args []string) error {
			if stale {
				return cli.NoArguments(cmd, args)
			}
			return cli.Arguments(1, 1, "a run directory (or --stale)")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if l := a.Env.Launcher(); l.Rank > 0 && l.LocalRank != 0 {
				return nil // one process per node
			}
			if stale && force {
				return cli.Usagef("--force needs a run; leave it or --stale out")
			}
			if stale {
				return removeStale(a)
			}
			return recoverRun(a, args[0], force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "treat processes as dead even if they seem to run")
	cmd.Flags().BoolVar(&stale, "stale", false, "remove the memory files on this machine whose run no longer exists")
	cmd.ValidArgsFunction = cli.CompleteRuns
	return cmd
}

func recoverRun(a *cli.App, dir string, force bool) error {
	run, notRun := launch.OpenRun(dir)
	if notRun == nil {
		run.Close()
	}
	all, err := recording.Recover(dir, force)
	if notRun != nil && len(all) == 0 {
		return notRun
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return cli.Failf("recover %s: %v", dir, err)
	}
	code := cli.ExitDone
	var hosts []string
	var ranks []int
	for _, r := range all {
		who := fmt.Sprintf("rank %d (process %d on %s)", r.Rank, r.PID, r.Host)
		switch {
		case r.Err != nil:
			a.Complain("%s: %v; its memory file was kept", who, r.Err)
			code = cli.ExitPartial
		case r.State == recording.StateRunning:
			a.Complain("%s: still running, so its memory file was kept; use --force if it is dead", who)
			code = cli.ExitPartial
		case r.State == recording.StateUnreachable:
			hosts, ranks = append(hosts, r.Host), append(ranks, r.Rank)
			code = cli.ExitPartial
		case r.Unstarted:
			fmt.Fprintf(a.Out, "%s: nothing was recorded, because the process died while the agent started; its memory file was removed\n", who)
		default:
			fmt.Fprintf(a.Out, "%s: %d chunks, %d bytes recovered\n", who, r.Chunks, r.Bytes)
			if r.Damaged > 0 {
				a.Complain("%s: lost %s of its memory file", who, text.Count(r.Damaged, "damaged chunk"))
				code = cli.ExitPartial
			}
		}
	}
	if len(ranks) > 0 {
		slices.Sort(hosts)
		slices.Sort(ranks)
		a.Complain("%s", launch.Elsewhere(dir, slices.Compact(hosts), ranks, "the memory files are not on this machine"))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.Out, "nothing to recover: all processes wrote all their data")
	}
	return cli.Exit(code)
}

// removeStale removes memory files that belong to no run.
func removeStale(a *cli.App) error {
	code := cli.ExitDone
	left := recording.Leftovers("/dev/shm", a.Env.Getenv("TMPDIR"), "/tmp")
	for _, l := range left {
		who := fmt.Sprintf("%s (rank %d, process %d, %d bytes)", l.Path, l.Rank, l.PID, l.Size)
		if l.Known {
			fmt.Fprintf(a.Out, "%s: belongs to a run; use mpitx recover %s\n", who, text.Quote(l.Dir))
			continue
		}
		if err := l.Remove(); err != nil {
			a.Complain("%s: %v; the file was kept", who, err)
			code = cli.ExitPartial
			continue
		}
		fmt.Fprintf(a.Out, "%s: removed, because its run %s no longer exists\n", who, l.Dir)
	}
	if len(left) == 0 {
		fmt.Fprintln(a.Out, "no memory files of dead processes on this machine")
	}
	return cli.Exit(code)
}
