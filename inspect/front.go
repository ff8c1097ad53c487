//go:build linux

package inspect

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"mpitx/catalog"
	"mpitx/inspect/transport"
	"mpitx/machine"
	"mpitx/machine/keep"
)

// front waits for the back ends of the two stages.
type front struct {
	Live
	o             Options
	timeout       <-chan time.Time
	before, after stage
	pending       *request // of the before stage, which is to be started
	hello         hello
	outcomes      catalog.Outcomes
	agreed        []byte // the verdict, on other ranks than 0
	settled       bool   // the ranks have the exit code
}

// Live is the running part of a job after it was collected.
type Live struct {
	Backend *transport.Child // after MPI_Init
	Events  chan transport.Event
	Signals chan os.Signal // that end it
}

// stage is the state of one stage.
type stage struct {
	*transport.Child // nil if not started
	process          *catalog.Process
	deltas           []*catalog.Delta // of other ranks, or nodes
	merged           *catalog.Merged  // without deltas: made while the other stage still starts
	result           *result          // the last frame
	failed           *failure
}

// phaseInit is the phase in which the launcher of another MPI shows.
const phaseInit = "MPI_Init"

// Collect reads both stages on all ranks. On rank 0 it returns when everything has arrived, on other ranks at the end
// of the job. One stage may be missing from the catalog; if both are, it fails.
func Collect(o Options) (*Job, error) {
	f := &front{o: o, Live: Live{Events: make(chan transport.Event, 64), Signals: make(chan os.Signal, 4)}, timeout: time.After(o.Timeout),
		hello: hello{Rank: max(0, o.Launch.Rank), Size: max(1, o.Launch.Size)}}
	keep.Endings(f.Signals)
	if err := f.start(); err != nil {
		return nil, err
	}
	f.run()
	if f.rank() != 0 {
		return f.follower()
	}
	return f.root()
}

func (f *front) start() (err error) {
	l := f.o.Launch
	patience := f.patience()
	r := request{Stage: Before, MPI: f.o.MPI, Shim: f.o.Shim, Self: f.o.Self, Alone: l.Rank < 0 && !f.o.Serve, Rank: l.Rank, Size: l.Size, Exclude: f.o.Exclude,
		Patience: patience, Limit: min(time.Second, f.o.Timeout/20), Total: f.o.Timeout / 2}
	if l.Size > 1 {
		r.Total = patience * 2 / 3 // rank 0 would count this rank as lost
	}
	// The after stage takes longest, so it starts first and has the processors to itself for a while. One rank of each
	// node reads the before stage; only jobs on several nodes have several to compare.
	leader := l.Rank <= 0 || l.LocalRank == 0
	after, before := r, r
	after.Stage, after.Before = After, leader && l.Size > 1 && l.Size != l.LocalSize
	if f.o.WriteStage == Before {
		before.Writes = f.o.Writes
	} else {
		after.Writes = f.o.Writes
	}
	if leader {
		f.pending = &before
	}
	f.Backend, err = f.child(after)
	f.after.Child = f.Backend
	return err
}

func (f *front) child(r request) (*transport.Child, error) {
	environ := f.o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	// The library prints the same before MPI_Init as after it, so its output is dropped here.
	return transport.Start(transport.Spec{Exe: f.o.Exe, Environ: environ, Name: string(r.Stage), Quiet: r.Stage == Before,
		Marked: f.o.Serve && r.Stage == After, Request: transport.Pack(r)}, f.Events)
}

// startBefore starts the before stage, once.
func (f *front) startBefore() {
	if f.pending == nil {
		return
	}
	var err error
	if f.before.Child, err = f.child(*f.pending); err != nil {
		f.before.failed = &failure{Text: err.Error()}
		f.Backend.Send(transport.FrameBefore, nil)
	}
	f.pending = nil
}

// patience is how long rank 0 waits for other ranks.
func (f *front) patience() time.Duration { return min(15*time.Second, f.o.Timeout/4) }

// Open MPI's launcher sends SIGCONT a second before it ends a job. SIGKILL may follow SIGTERM at once, and leave no time to print.
const (
	endGrace   = 400 * time.Millisecond // from SIGCONT on, for what has not arrived
	aliveEvery = 50 * time.Millisecond
	stoppedFor = 300 * time.Millisecond // a process that was not alive for longer was stopped, and SIGCONT resumes it
)

// run handles events until both back ends have sent everything, or have failed.
func (f *front) run() {
	continued := make(chan os.Signal, 1)
	if f.o.Launch.Rank == 0 {
		signal.Notify(continued, syscall.SIGCONT)
		defer signal.Stop(continued)
	}
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	last, resumed := time.Now(), time.Time{}
	var ending <-chan time.Time
	for f.waiting() {
		select {
		case e := <-f.Events:
			f.take(e)
		case now := <-alive.C:
			if now.Sub(last) > stoppedFor {
				resumed = now
			}
			last = now
			if pid := f.o.Launch.PID; f.o.Launch.Rank >= 0 && pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH {
				f.stop("the launcher has ended", false) // MPI_Init may not notice
			}
		case <-continued:
			if time.Since(last) < stoppedFor && time.Since(resumed) > stoppedFor {
				ending = time.After(endGrace)
			}
		case <-ending:
			f.stop("the launcher ends the job", false)
		case <-f.timeout:
			f.stop(fmt.Sprintf("no answer within %s (--timeout sets the limit)", f.o.Timeout), true)
		case <-f.o.Gone:
			f.kill()
			os.Exit(1) // not 0: the launcher ends the others
		case s := <-f.Signals:
			f.stop("ended by "+transport.SignalName(s), false)
			if n, _ := s.(syscall.Signal); n == syscall.SIGINT || n == syscall.SIGQUIT {
				// The user interrupted, so not even half an answer is printed.
				f.kill()
				os.Exit(128 + int(n))
			}
		}
	}
}

// rank is this process's rank. The launcher's number comes first: in a job that fell apart, every rank is 0 to the
// library.
func (f *front) rank() int {
	if f.o.Launch.Rank >= 0 {
		return f.o.Launch.Rank
	}
	return f.hello.Rank
}

func (s *stage) done() bool { return s.result != nil || s.failed != nil }

// waiting reports whether more events are expected. Rank 0 is done with its back end's result; other ranks when their
// back end exits or they are invited to serve.
func (f *front) waiting() bool {
	beforeDone := f.before.done() || f.before.Child == nil && f.pending == nil
	if f.rank() != 0 {
		return !f.Backend.Ended && len(f.agreed) < 2
	}
	return !beforeDone || !f.after.done()
}

// stop ends the back ends that have not sent everything.
func (f *front) stop(why string, hung bool) {
	if f.pending != nil {
		f.pending = nil
		f.before.failed = &failure{Text: why, Ended: !hung}
	}
	for _, s := range []*stage{&f.before, &f.after} {
		if s.Child == nil || s.Ended || s.done() {
			continue
		}
		s.failed = &failure{Text: why, Ended: !hung}
		if hung {
			s.failed.Text = s.Phase + ": " + why
		}
		s.Kill()
		s.Ended = s.Ended || f.rank() != 0
	}
}

func (f *front) kill() {
	f.before.Kill()
	f.after.Kill()
}

func (f *front) take(e transport.Event) {
	f.startBefore()
	e.Note()
	s := &f.after
	if e.From == f.before.Child {
		s = &f.before
	}
	var damaged error
	switch e.Kind {
	case 0:
		if !s.done() && len(f.agreed) == 0 {
			s.failed = f.unexpectedExit(s, e.Status)
		}
		if s == &f.before && s.process == nil {
			f.Backend.Send(transport.FrameBefore, nil)
		}
	case transport.FramePhase:
		if f.o.Phase != nil && s == &f.after {
			f.o.Phase(s.Phase)
		}
	case transport.FrameHello:
		transport.Unpack(e.Payload, &f.hello)
	case transport.FrameProcess:
		s.process, damaged = catalog.DecodeProcess(e.Payload)
		if s == &f.before && damaged == nil {
			f.Backend.Send(transport.FrameBefore, e.Payload)
			s.merged = catalog.Merge(s.process, nil, nil)
		}
	case transport.FrameDelta, transport.FrameNode:
		ds, _ := catalog.DecodeDeltas(e.Payload) // the rank of a damaged delta counts as silent
		if e.Kind == transport.FrameNode {
			s = &f.before
		}
		s.deltas = append(s.deltas, ds...)
	case transport.FrameResult:
		var r result
		if damaged = transport.Unpack(e.Payload, &r); damaged != nil {
			break
		}
		s.result = &r
		f.outcomes = append(f.outcomes, r.Outcomes...)
		if s == &f.after && f.o.Listing && f.before.result != nil && len(r.Lost) == 0 {
			f.settle(0)
		}
	case transport.FrameError:
		s.failed = &failure{}
		transport.Unpack(e.Payload, s.failed)
	case transport.FrameAgreed:
		f.agreed = e.Payload
	}
	if damaged != nil {
		s.failed = &failure{Text: damaged.Error()}
	}
}

// unexpectedExit describes the exit of a back end without an answer.
func (f *front) unexpectedExit(s *stage, status syscall.WaitStatus) *failure {
	text := s.Death(status)
	others := transport.EndedByOthers(status)
	if s == &f.after && s.Phase == phaseInit && !others {
		if err := machine.InitFailed(f.o.Launch, f.o.MPI, text); err != nil {
			return &failure{Text: err.Error(), Whole: true}
		}
	}
	return &failure{Text: text, Ended: others}
}

// follower ends a rank other than 0; it reports the failures of this rank.
func (f *front) follower() (*Job, error) {
	j := &Job{Live: f.Live, Rank: f.rank(), Host: f.hello.Host, f: f}
	if len(f.agreed) > 0 {
		j.agreed, j.Invitation = int(f.agreed[0]), f.agreed[1:]
		return j, nil
	}
	why := cmp.Or(f.after.failed, &failure{Text: "exited without an answer"})
	if !why.Whole && !why.Ended && !f.o.Serve {
		// Launchers end the job when the first rank fails; rank 0 needs time to notice and to print.
		select {
		case <-time.After(f.patience() + 2*time.Second):
		case <-f.Signals:
		}
	}
	if j.Host == "" {
		j.Host, _ = os.Hostname()
	}
	return nil, &Error{Text: Where(j.Host, j.Rank) + ": " + why.Text, Quiet: why.Whole || why.Ended}
}
