package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/recording"
)

// What rank 0's process says to its stand-in: that it has said what follows, what there is to say of the run, that there is nothing
// in it, and that it is done.
const saidPromise, saidTold, saidEmpty, saidDone = 'p', 't', 'e', 'd'

// finish collects what the agents wrote, exports it, says what there is to say, and ends as the application did.
func (o *sampleOptions) finish(end ending, size int, wait time.Duration) error {
	written := o.hurry(end, size)
	o.ended = true
	err := o.conclude(size, wait)
	written()
	return &exitError{code: end.code, err: err, send: func(code int) int {
		o.parent.done()
		end.follow()
		return code
	}}
}

// hurry is for a job that has failed: its launcher may kill us, too, before what was recorded is written (Open MPI's does so a
// second after it has sent SIGTERM). If writing takes more than a moment, hurry says what follows, until written is called.
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
		o.promise()
	}()
	return func() {
		close(done)
		<-over
	}
}

// promise says what follows after the launcher has returned, and which command makes it if it does not. It can be called at any
// time, from any goroutine.
func (o *sampleOptions) promise() { o.promiseBecause("the job failed") }

func (o *sampleOptions) promiseBecause(why string) {
	if o.promised.Swap(true) {
		return
	}
	text := "what was recorded is in " + origin.Quote(o.shown())
	if !o.record {
		x := o.exportTo()
		what := origin.Quote(x.out) + " follows"
		if x.out == "-" {
			what = "the samples follow"
		}
		text = what + "; if not, run: " + x.command(o.shown())
	}
	fmt.Fprintf(o.a.errs, "mpitx: %s: %s\n", why, text) // complain would flush what another goroutine writes
	o.parent.say(saidPromise)
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
	if errors.Is(err, recording.ErrNotARun) || err == nil && len(run.Ranks) == 0 && len(run.Damage()) == 0 {
		if err == nil {
			run.Close()
		}
		found := readSeen(o.job.dir)
		o.discard()
		o.parent.say(saidEmpty)
		for _, line := range o.unrecorded(found) {
			o.a.complain("%s", line) // and the exit code stays the application's
		}
		return nil
	}
	if err != nil {
		return o.trouble(failf("read run %s: %v", o.job.dir, err))
	}
	defer run.Close()
	o.dropCopy()
	for _, why := range readSeen(o.job.dir).why { // of programs that are recorded in part, or next to one that is
		o.a.complain("%s", why)
	}
	os.Remove(seenPath(o.job.dir))
	shown := origin.Quote(o.shown())
	if alone(run) {
		if err := locate.Mismatch(o.launcher(), o.chosen, 1, true); err != nil {
			o.a.complain("each process was recorded as rank 0 of 1, in %s", shown)
			return err
		}
	}
	if !o.told {
		o.tell(run, size)
		o.summarize(run)
		o.parent.say(saidTold)
	}
	switch {
	case (o.record || o.inside()) && o.complete(run) && !hasSamples(run):
		o.a.complain("nothing was sampled: no directory is left")
		recording.Discard(o.job.dir)
	case o.record:
		o.a.complain("recorded in %s%s: mpitx stats %s, mpitx export %s -o csv --out FILE", shown, o.job.named(), shown, shown)
	default:
		return o.deliver(run)
	}
	return nil
}

// inside tells whether samples go into the run directory.
func (o *sampleOptions) inside() bool { return !o.record && o.export.out == "" && o.workload == "" }

// exportTo is the export with the file's name filled in.
func (o *sampleOptions) exportTo() exportFlags {
	x := o.export
	switch {
	case o.inside():
		x.out = filepath.Join(o.shown(), "samples."+x.extension())
	case x.out == "":
		x.out = "-"
	}
	return x
}

// deliver exports the run, and removes its directory unless something in it is not in the export.
func (o *sampleOptions) deliver(run *recording.Run) error {
	x, shown := o.exportTo(), origin.Quote(o.shown())
	x.part = fmt.Sprintf("%x", run.ID[:4])
	err := x.write(o.a, run)
	damaged := err == error(errDamaged)
	if err != nil && !damaged {
		o.a.complain("what was recorded is in %s: %s", shown, x.command(o.shown()))
		return o.trouble(err)
	}
	switch {
	case o.inside():
		os.Chmod(x.out, 0o600) // as everything in there
		o.a.complain("samples are in %s%s", x.out, o.job.named())
		return nil
	case x.out != o.asked && x.out != "-":
		o.a.complain("samples are in %s: %s was there already", x.out, o.asked)
	case o.promised.Load() && x.out != "-":
		o.a.complain("%s is written", x.out)
	}
	x.out = ""
	switch {
	case damaged:
		o.a.complain("%s is kept: parts of it could not be read: %s", shown, x.command(o.shown()))
	case !o.left && !o.complete(run):
		o.a.complain("some ranks had not ended: all of it will be in %s: %s", shown, x.command(o.shown()))
	case !o.left:
		recording.Discard(o.job.dir)
	}
	return nil
}

// trouble says what went wrong after an application, whose exit code stays its own; that of a workload is ours.
func (o *sampleOptions) trouble(err error) error {
	if o.workload != "" {
		return err
	}
	o.a.exit(err)
	return nil
}

// complete tells whether nothing more can come into the run directory.
func (o *sampleOptions) complete(run *recording.Run) bool {
	_, away := run.Away()
	return !o.left && !run.Running() && len(away) == 0
}

// hasSamples tells whether there is anything to export, or may have been.
func hasSamples(run *recording.Run) bool {
	for range run.Instants(recording.Options{}) {
		return true
	}
	return len(run.Damage()) > 0
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
			o.left = true
			o.a.complain("rank %d: its last samples are still in memory: %v: mpitx recover %s", r.Rank, r.Err, origin.Quote(o.shown()))
		}
	}
	if err != nil {
		o.left = true
		o.a.complain("the last samples are still in memory: %v: mpitx recover %s", err, origin.Quote(o.shown()))
	}
}

// over tells whether nothing more is to come. Where we started the launcher, all has ended that did not escape it.
func (o *sampleOptions) over(run *recording.Run, size int) bool {
	if o.ranks > 0 {
		_, away := run.Away()
		return !run.Running() && len(away) == 0
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

// discard removes a run directory of this job in which nothing is, whichever rank has made it.
func (o *sampleOptions) discard() {
	if !o.job.made && o.job.join() != nil {
		return
	}
	o.dropCopy()
	os.Remove(seenPath(o.job.dir))
	entries, err := os.ReadDir(o.job.dir)
	if err != nil || len(entries) > 1 || len(entries) == 1 && entries[0].Name() != runFile {
		return
	}
	os.Remove(filepath.Join(o.job.dir, runFile))
	os.Remove(o.job.dir)
}
