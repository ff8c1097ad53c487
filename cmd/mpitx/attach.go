package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// standInVariable tells a process that it stands in for its parent, in a job: see standIn.
const standInVariable = "MPITX_STAND_IN"

// start makes the run directory and starts the application in the way that fits: under our own launcher, as this very process,
// or as a child of it. It returns the application's exit code.
func (o *sampleOptions) start(cmd *cobra.Command, args []string) error {
	command := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	var err error
	if o.job, err = makeRun(o.a.env, o.launch, o.dir, o.given, command); err != nil {
		return err
	}
	o.settings.job = o.job
	o.fitAgent(o.job.dir)
	if o.ranks > 0 {
		return o.launchRanks(cmd)
	}
	if o.launch.Rank <= 0 {
		o.settings.seen = makeSeen(o.job.dir)
	}
	environ, err := o.settings.environWith(o.a.env, o.chosen.Impl, o.agent)
	if err != nil {
		return err
	}
	if o.given != "" || o.launch.Rank > 0 {
		return failf("start %s: %v", o.argv[0], become(o.program.Path, o.argv, environ))
	}
	o.standIn()
	end, err := supervise(&exec.Cmd{Path: o.program.Path, Args: o.argv, Env: environ}, o.launch.Rank >= 0, o.promise)
	if err != nil {
		o.parent.done()
		o.discard()
		return failf("start %s: %v", o.argv[0], err)
	}
	size := max(1, o.launch.Size)
	return o.finish(end, size, patience(end, size))
}

// patience is how long the other ranks may take to end after ours has. A job whose rank 0 failed is not over until the
// launcher hears of it from us.
func patience(e ending, size int) time.Duration {
	switch {
	case size == 1:
		return 0
	case e.code != 0:
		return 200 * time.Millisecond
	}
	return 10 * time.Second
}

func (o *sampleOptions) launchRanks(cmd *cobra.Command) error {
	inner, err := innerCommand(cmd, "--job="+o.job.String())
	if err != nil {
		return err
	}
	argv, environ, err := o.a.env.LaunchCommand(o.chosen, o.ranks, inner)
	if err != nil {
		o.discard()
		return err
	}
	environ = slices.DeleteFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, "MPITX_MPI=") })
	if o.chosen.Lib != "" {
		environ = append(environ, "MPITX_MPI="+o.chosen.Lib)
	}
	end, err := supervise(&exec.Cmd{Path: argv[0], Args: argv, Env: environ}, false, nil)
	if err != nil {
		o.discard()
		return failf("start %s: %v", argv[0], err)
	}
	return o.finish(end, o.ranks, 2*time.Second) // launchers end before what they have killed
}
