package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/recording"
)

// standInVariable tells a process that it stands in for its parent, in a job: see standIn.
const standInVariable = "MPITX_STAND_IN"

// start makes the run directory and starts the application in the way that fits: under our own launcher, as this very process,
// or as a child of it. It returns answered with the application's exit code.
func (o *sampleOptions) start(flags *pflag.FlagSet, args []string) error {
	command := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	var err error
	if o.job, err = makeRun(o.a.env, o.launch, o.dir, o.given, command); err != nil {
		return err
	}
	o.settings.job = o.job
	o.fitAgent(o.job.dir)
	if o.ranks > 0 {
		return o.launchRanks(flags, args)
	}
	environ, err := o.settings.environWith(o.a.env, o.chosen.Impl, o.agent)
	if err != nil {
		return err
	}
	if o.given != "" || o.launch.Rank > 0 {
		return failf("start %s: %v", o.argv[0], become(o.program.Path, o.argv, environ))
	}
	o.release = o.standIn()
	end, err := supervise(&exec.Cmd{Path: o.program.Path, Args: o.argv, Env: environ}, o.launch.Rank >= 0, o.condemned)
	if err != nil {
		o.release()
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

func (o *sampleOptions) launchRanks(defined *pflag.FlagSet, args []string) error {
	exe, err := os.Executable()
	if err != nil {
		return failf("start: %v", err)
	}
	flags := os.Args[1 : len(os.Args)-len(args)]
	if n := len(flags); n > 0 && flags[n-1] == "--" {
		flags = flags[:n-1]
	}
	inner := append(append([]string{exe}, withoutRanks(defined, flags)...), "--job="+o.job.String())
	if len(args) > 0 {
		inner = append(append(inner, "--"), args...)
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

// finish collects what the agents wrote, exports it, says what there is to say, and ends as the application did.
func (o *sampleOptions) finish(end ending, size int, wait time.Duration) error {
	written := o.hurry(end, size)
	failed := o.conclude(size, wait)
	written()
	if failed != nil {
		o.a.exit(failed)
		if end.code == exitDone {
			end.code = exitFailed
		}
	}
	o.a.out.Flush()
	if o.release != nil {
		o.release()
	}
	end.follow()
	return answered{end.code}
}

// hurry is for a job that has failed: its launcher may kill us, too, before what was recorded is written (Open MPI's does so a
// second after it has sent SIGTERM). Where that takes more than a moment it says where all of it is, until written is called.
func (o *sampleOptions) hurry(end ending, size int) (written func()) {
	if o.launch.Rank < 0 || size == 1 || end.code == exitDone {
		return func() {}
	}
	done, over := make(chan struct{}), make(chan struct{})
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() {
		defer close(over)
		select {
		case <-done:
			return
		case <-term:
		case <-time.After(500 * time.Millisecond):
		}
		o.condemned()
	}()
	return func() {
		close(done)
		<-over
	}
}

// condemned says where everything is, should the launcher end this process before it is written. It can be called at any time.
func (o *sampleOptions) condemned() {
	dir := origin.Quote(o.shown()) // and not by complain, which writes out what is being written elsewhere
	fmt.Fprintf(o.a.errs, "mpitx: the job failed, and its launcher may end this, too, before all is written: what was recorded is in %s: mpitx export %s\n", dir, dir)
}

// shown is the name of the run directory, short where it is here.
func (o *sampleOptions) shown() string {
	if here, err := os.Getwd(); err == nil && filepath.Dir(o.job.dir) == here {
		return filepath.Base(o.job.dir)
	}
	return o.job.dir
}

func (o *sampleOptions) conclude(size int, wait time.Duration) error {
	run, err := o.settled(size, wait)
	if errors.Is(err, recording.ErrNotARun) || err == nil && len(run.Ranks) == 0 {
		if err == nil {
			run.Close()
		}
		o.discard()
		why := "no process of it called MPI_Init through the agent"
		if len(o.program.Notes) > 0 {
			why = strings.Join(o.program.Notes, "; ")
		}
		if o.program.Linked == nil && o.mpi == "" {
			why += ": the agent was that of " + o.chosen.Name() + ", and sees no other MPI: --mpi chooses"
		}
		o.a.complain("nothing was recorded: %s", why) // and the exit code stays the application's
		return nil
	}
	if err != nil {
		return failf("read run %s: %v", o.job.dir, err)
	}
	defer run.Close()
	o.dropCopy()
	dir, shown := o.shown(), origin.Quote(o.shown())
	if alone(run) {
		if err := locate.Mismatch(o.launcher(), o.chosen, 1, true); err != nil {
			o.a.complain("each process was recorded as rank 0 of 1, in %s", shown)
			return err
		}
	}
	o.tell(run, size)
	if o.record {
		o.a.complain("recorded in %s%s: mpitx stats %s, mpitx export %s -o csv --out FILE", shown, o.job.named(), shown, shown)
		return nil
	}
	x := o.export
	inside := x.out == "" && o.workload == ""
	switch {
	case inside:
		x.out = filepath.Join(dir, "samples."+x.extension())
	case x.out == "":
		x.out = "-"
	}
	if err := x.write(o.a, run); err != nil && err != error(errDamaged) {
		o.a.complain("what was recorded is in %s: mpitx export %s", shown, shown)
		return err
	}
	if inside {
		os.Chmod(x.out, 0o600) // as everything in there
		o.a.complain("samples are in %s%s", x.out, o.job.named())
	} else if run.Running() || slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.State == recording.StateUnreachable }) {
		o.a.complain("some ranks had not ended: all of it will be in %s: mpitx export %s", shown, shown)
	} else {
		recording.Discard(o.job.dir)
	}
	return nil
}

// settled opens the run once all ranks have ended, or after a while; what dead ones left behind is brought in.
func (o *sampleOptions) settled(size int, wait time.Duration) (*recording.Run, error) {
	deadline := time.Now().Add(wait)
	for {
		run, err := recording.Open(o.job.dir)
		if err == nil && o.over(run, size) || time.Now().After(deadline) || err != nil && wait == 0 {
			if err == nil && slices.ContainsFunc(run.Ranks, (*recording.Rank).Left) {
				run.Close()
				o.collect()
				return recording.Open(o.job.dir)
			}
			return run, err
		}
		if err == nil {
			nothing := len(run.Ranks) == 0
			run.Close()
			if nothing {
				err = recording.ErrNotARun
			}
		}
		if err != nil { // rank 0, whose application has ended, has recorded nothing
			return nil, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// collect brings in what processes of this node have left in memory: dead ones, and those that could not write to the run directory
// any more (chroot, another user, a limit on the size of files).
func (o *sampleOptions) collect() {
	all, err := recording.Recover(o.job.dir, false)
	for _, r := range all {
		if r.Err != nil {
			o.a.complain("rank %d: its last samples are still in memory: %v: mpitx recover %s", r.Rank, r.Err, origin.Quote(o.shown()))
		}
	}
	if err != nil {
		o.a.complain("the last samples are still in memory: %v: mpitx recover %s", err, origin.Quote(o.shown()))
	}
}

// over tells whether nothing more is to come. Where we started the launcher, all has ended that did not escape it.
func (o *sampleOptions) over(run *recording.Run, size int) bool {
	if o.ranks > 0 {
		return !run.Running()
	}
	seen := map[int]bool{}
	for _, r := range run.Ranks {
		if r.State == recording.StateUnreachable {
			return false
		}
		seen[r.Rank] = true
	}
	return (len(seen) >= size || alone(run) && len(run.Ranks) >= size) && !run.Running()
}

// alone tells whether each process was in a job of its own.
func alone(run *recording.Run) bool {
	return !slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.Size != 1 })
}

// launcher is what started the ranks.
func (o *sampleOptions) launcher() locate.Launch {
	if o.ranks == 0 {
		return o.launch
	}
	l := locate.Launch{Name: "slurm", Size: o.ranks}
	if o.chosen.Launcher != "" {
		l.Name, l.Family, l.Exe = map[string]string{locate.OpenMPI: "orte", locate.MPICH: "hydra"}[o.chosen.Impl], o.chosen.Impl, o.chosen.Launcher
	}
	return l
}

// discard removes a run directory in which nothing is.
func (o *sampleOptions) discard() {
	if o.job.made {
		o.dropCopy()
		os.Remove(filepath.Join(o.job.dir, runFile))
		os.Remove(o.job.dir)
	}
}
