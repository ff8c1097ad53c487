package where

import (
	"slices"
	"time"

	"mpitx/recording/finding"
)

// Between is the least time between two looks that may name a cycle.
const Between = 250 * time.Millisecond

// outsideLooks is how long the agent takes to find out that a thread has gone to sleep outside of MPI.
const outsideLooks = 500 * time.Millisecond

// kernel is what the kernel says of a thread at one moment.
type kernel struct {
	asleep bool
	ran    time.Duration // on the processor, so far
}

// Look looks at a job: twice, if the first look shows what one look cannot prove. A look reads one rank after the other, so that it may show states
// that never existed at the same time. A thread that seems to compute may have just gone to sleep.
func Look(read func() *Job) *Job {
	first := read()
	switch {
	case first.undecided():
		time.Sleep(outsideLooks)
	case first.provable():
		time.Sleep(Between)
	default:
		return first
	}
	second := read()
	Compare(first, second)
	return second
}

// undecided reports whether a thread that seems to compute is asleep.
func (j *Job) undecided() bool {
	return slices.ContainsFunc(j.Processes, func(p *Process) bool {
		return slices.ContainsFunc(p.Threads, func(t *Thread) bool { return t.kernel.asleep })
	})
}

// provable reports whether a running job shows something that a second look must confirm.
func (j *Job) provable() bool {
	return slices.ContainsFunc(j.Processes, func(p *Process) bool { return p.Condition == Running }) &&
		slices.ContainsFunc(newGraph(j).findings(), func(f finding.Finding) bool { return slices.Contains([]string{"cycle", "tags", "mismatch"}, f.Kind) })
}

// Compare marks in the later of two looks at a job what has moved since the earlier one.
func Compare(earlier, later *Job) {
	type id struct{ rank, pid, thread int }
	first := *earlier
	first.earlier = nil
	later.earlier = &first
	before := map[id]*Thread{}
	for _, p := range earlier.Processes {
		for _, t := range p.Threads {
			before[id{p.Rank, p.PID, t.ID}] = t
		}
	}
	for _, p := range later.Processes {
		if p.Condition != Running {
			continue
		}
		for _, t := range p.Threads {
			b := before[id{p.Rank, p.PID, t.ID}]
			t.Moved = b == nil || !b.same(t)
			if b != nil && b.Calls == t.Calls && b.kernel.asleep && t.kernel.asleep && t.kernel.ran-b.kernel.ran < Between/10 {
				t.Outside = "unknown"
			}
		}
	}
}

// same reports whether two looks show a thread in the same state: polling goes on, other calls do not.
func (t *Thread) same(later *Thread) bool {
	if (t.Inner == nil) != (later.Inner == nil) || t.Inner != nil && !t.Inner.same(later.Inner) {
		return false
	}
	if t.Class == Poll && later.Class == Poll {
		return t.Progress == later.Progress && slices.EqualFunc(t.Pending, later.Pending, func(a, b Request) bool {
			return a.Call == b.Call && a.Peer == b.Peer && a.Tag == b.Tag && a.Collective == b.Collective && onNamed(a.Object) == onNamed(b.Object)
		})
	}
	return t.Calls == later.Calls && t.Inside == later.Inside
}

// settled is how long a rank must have made no progress before it counts as waiting: ranks of a job that makes progress wait for each other for
// moments.
const settled = time.Second

// moment reports whether a thread has just made progress.
func (t *Thread) moment() bool { return t.Moved || max(t.Since, t.Idle) < settled }

// active reports whether a thread of a process has just made progress.
func (p *Process) active() bool {
	return p.Condition == Running && slices.ContainsFunc(p.Threads, (*Thread).moment)
}
