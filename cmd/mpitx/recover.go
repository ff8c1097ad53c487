package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"mpitx/launch"
	"mpitx/recording"
	"mpitx/text"
)

func newRecover(a *app) *cobra.Command {
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
				return noArguments(cmd, args)
			}
			return arguments(1, 1, "a run directory (or --stale)")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if l := a.env.Launcher(); l.Rank > 0 && l.LocalRank != 0 {
				return nil // one process per node
			}
			if stale && force {
				return usagef("--force needs a run; leave it or --stale out")
			}
			if stale {
				return sweep(a)
			}
			return recoverRun(a, args[0], force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "treat processes as dead even if they seem to run")
	cmd.Flags().BoolVar(&stale, "stale", false, "remove the memory files on this machine whose run no longer exists")
	cmd.ValidArgsFunction = completeRuns
	return cmd
}

func recoverRun(a *app, dir string, force bool) error {
	run, notRun := openRun(dir)
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
		return failf("recover %s: %v", dir, err)
	}
	code := exitDone
	var hosts []string
	var ranks []int
	for _, r := range all {
		who := fmt.Sprintf("rank %d (process %d on %s)", r.Rank, r.PID, r.Host)
		switch {
		case r.Err != nil:
			a.complain("%s: %v; its memory file was kept", who, r.Err)
			code = exitPartial
		case r.State == recording.StateRunning:
			a.complain("%s: still running, so its memory file was kept; use --force if it is dead", who)
			code = exitPartial
		case r.State == recording.StateUnreachable:
			hosts, ranks = append(hosts, r.Host), append(ranks, r.Rank)
			code = exitPartial
		case r.Unstarted:
			fmt.Fprintf(a.out, "%s: nothing was recorded, because the process died while the agent started; its memory file was removed\n", who)
		default:
			fmt.Fprintf(a.out, "%s: %d chunks, %d bytes recovered\n", who, r.Chunks, r.Bytes)
			if r.Damaged > 0 {
				a.complain("%s: lost %s of its memory file", who, count(r.Damaged, "damaged chunk"))
				code = exitPartial
			}
		}
	}
	if len(ranks) > 0 {
		slices.Sort(hosts)
		slices.Sort(ranks)
		a.complain("%s", launch.Elsewhere(dir, slices.Compact(hosts), ranks, "the memory files are not on this machine"))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.out, "nothing to recover: all processes wrote all their data")
	}
	return exit(code)
}

// sweep removes memory files that belong to no run.
func sweep(a *app) error {
	code := exitDone
	left := recording.Leftovers("/dev/shm", a.env.Getenv("TMPDIR"), "/tmp")
	for _, l := range left {
		who := fmt.Sprintf("%s (rank %d, process %d, %d bytes)", l.Path, l.Rank, l.PID, l.Size)
		if l.Known {
			fmt.Fprintf(a.out, "%s: belongs to a run; use mpitx recover %s\n", who, text.Quote(l.Dir))
			continue
		}
		if err := l.Remove(); err != nil {
			a.complain("%s: %v; the file was kept", who, err)
			code = exitPartial
			continue
		}
		fmt.Fprintf(a.out, "%s: removed, because its run %s no longer exists\n", who, l.Dir)
	}
	if len(left) == 0 {
		fmt.Fprintln(a.out, "no memory files of dead processes on this machine")
	}
	return exit(code)
}
