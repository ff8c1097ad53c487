package launch

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"mpitx/recording"
	"mpitx/text"
)

// announceIfSlow handles a failed job: its launcher may kill mpitx before the samples are written (Open MPI's does so a second
// after SIGTERM). If writing takes longer than a moment, a message announces what will be written.
func (r *Job) announceIfSlow() {
	if r.launch.Rank < 0 || r.size == 1 || r.Code == 0 {
		return
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
		r.announce("the job failed")
	}()
	r.written = func() {
		close(done)
		<-over
	}
}

// gather opens the run after all ranks have exited, or after a while, and recovers the samples of dead ranks. It
// returns nil if nothing was recorded.
func (r *Job) gather(wait time.Duration) (*recording.Run, error) {
	run, err := r.settled(wait)
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.job.removed():
		r.discardMemory(wait)
	case errors.Is(err, recording.ErrNotARun):
		r.collect()
	case err == nil && (len(run.Ranks) < r.size || slices.ContainsFunc(run.Ranks, (*recording.Rank).Recoverable)):
		run.Close()
		r.collect()
		run, err = recording.Open(r.job.dir)
	}
	if errors.Is(err, recording.ErrNotARun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(run.Ranks) == 0 && len(run.Damage()) == 0 {
		run.Close()
		return nil, nil
	}
	_, away := run.Unreachable()
	r.StillRunning = run.Running() || len(away) > 0
	return run, nil
}

// settled waits, for a limited time, until all ranks have exited. If rank 0's application has exited and recorded
// nothing, it does not wait.
func (r *Job) settled(wait time.Duration) (*recording.Run, error) {
	for deadline := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		run, err := recording.Open(r.job.dir)
		if err != nil || len(run.Ranks) == 0 || r.over(run) || time.Now().After(deadline) {
			return run, err
		}
		run.Close()
	}
}

// discardMemory removes the memory files of this job, whose run directory was removed, when their processes have exited.
func (r *Job) discardMemory(wait time.Duration) {
	for deadline := time.Now().Add(wait); recording.DiscardMemory(r.job.dir); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.Say("some ranks are still running; after they have ended, run mpitx recover --stale to free their memory files")
			return
		}
	}
}

// handOver leaves the run to the stand-in if this job has failed and ranks may still run: the launcher kills them, and
// their samples can be collected, only after this process has exited.
func (r *Job) handOver(run *recording.Run) bool {
	if r.standIn == nil || r.Code == 0 || run == nil || r.promise.Kept != "" || r.over(run) {
		return false
	}
	run.Close()
	r.announce("the job failed")
	r.Say("the data of ranks that are still running are collected after the launcher has ended them; if no message follows, run mpitx recover %s", text.Quote(r.Shown))
	r.standIn.say(saidOver)
	return true
}

// collect recovers samples in memory files on this node: of dead processes, and of processes that could no longer
// write to the run directory (chroot, another user, a file size limit).
func (r *Job) collect() {
	all, err := recording.Recover(r.job.dir, false)
	for _, rank := range all {
		if rank.Unstarted {
			r.unstarted = append(r.unstarted, rank.Rank)
		}
		if rank.Err != nil {
			r.Unrecovered = true
			r.Say("rank %d: its last data are still in memory: %v; use mpitx recover %s", rank.Rank, rank.Err, text.Quote(r.Shown))
		}
	}
	if err != nil {
		r.Unrecovered = true
		r.Say("the last data are still in memory: %v; use mpitx recover %s", err, text.Quote(r.Shown))
	}
}

// over reports whether the run is complete. If mpitx started the launcher, all its processes have exited, except those
// that escaped it.
func (r *Job) over(run *recording.Run) bool {
	if r.Ranks > 0 {
		_, away := run.Unreachable()
		return !run.Running() && len(away) == 0
	}
	seen := map[int]bool{}
	for _, rank := range run.Ranks {
		if rank.State == recording.StateUnreachable {
			return false
		}
		if rank.Spawned.First == 0 {
			seen[rank.Rank] = true
		}
	}
	for rank := range r.absent() {
		seen[rank] = true
	}
	return (len(seen) >= r.size || alone(run) && len(run.Ranks) >= r.size) && !run.Running()
}

// alone reports whether each process was a job of its own.
func alone(run *recording.Run) bool {
	return !slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.Size != 1 || r.Spawned.First > 0 })
}
