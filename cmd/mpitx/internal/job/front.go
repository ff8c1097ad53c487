//go:build linux

package job

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

type front struct {
	o             Options
	events        chan event
	signals       chan os.Signal
	timeout       <-chan time.Time
	after, before *child
	pending       *Request // of the before stage, which is to be started

	hello         hello
	beforeProcess *catalog.Process
	beforeMerged  *catalog.Merged // without nodes: made while the other stage still starts
	beforeSaid    bool            // the before stage has ended with its result
	process       *catalog.Process
	deltas, nodes []*catalog.Delta
	result        *result
	outcomes      catalog.Outcomes
	failed        map[Stage]*failure
	agreed        *int
	settled       bool // the ranks have the exit code

	serve      bool
	gone       chan struct{} // closed when nobody listens any more; nil: somebody always does
	joined     chan struct{} // of a rank other than 0: closed when it hears of rank 0's end
	invitation []byte
}

// phaseInit is the phase in which a launcher of another MPI shows.
const phaseInit = "MPI_Init"

// Collect reads both stages, over all ranks. It returns on rank 0 once everything is there, and elsewhere at the end of
// the job. Either stage may be missing from the catalog; that both are is an error.
func Collect(o Options) (*Job, error) {
	f := newFront(o)
	if err := f.start(); err != nil {
		return nil, err
	}
	f.run()
	if f.rank() != 0 {
		return f.follower()
	}
	return f.root()
}

func newFront(o Options) *front {
	f := &front{o: o, events: make(chan event, 64), signals: make(chan os.Signal, 4), timeout: time.After(o.Timeout),
		failed: map[Stage]*failure{}, hello: hello{Rank: max(0, o.Launch.Rank), Size: max(1, o.Launch.Size)}}
	signal.Notify(f.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	return f
}

func (f *front) start() (err error) {
	l := f.o.Launch
	patience := f.patience()
	r := Request{Stage: Before, MPI: f.o.MPI, Shim: f.o.Shim, Self: f.o.Self, Alone: l.Rank < 0 && !f.serve, Serve: f.serve, Exclude: f.o.Exclude, Patience: patience,
		Limit: min(time.Second, f.o.Timeout/20), Total: f.o.Timeout / 2,
		Launch: Launch{Rank: l.Rank, Size: l.Size, Leader: l.Rank <= 0 || l.LocalRank == 0}}
	if l.Size > 1 {
		r.Total = patience * 2 / 3 // rank 0 would give us up
	}
	// The after stage takes longest, so it goes first, and has the processors to itself until it is under way. Only a job
	// on several nodes has several before stages to compare.
	after, before := r, r
	after.Stage, after.Before = After, r.Launch.Leader && l.Size > 1 && l.Size != l.LocalSize
	if f.o.WriteStage == Before {
		before.Writes = f.o.Writes
	} else {
		after.Writes = f.o.Writes
	}
	if r.Launch.Leader {
		f.pending = &before
	}
	f.after, err = f.child(after)
	return err
}

func (f *front) child(r Request) (*child, error) {
	environ := f.o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	return start(f.o.Exe, environ, r, f.events)
}

// startBefore starts the before stage unless it has been.
func (f *front) startBefore() {
	if f.pending == nil {
		return
	}
	var err error
	if f.before, err = f.child(*f.pending); err != nil {
		f.failed[Before] = &failure{Text: err.Error()}
		f.after.tell(frameBefore, nil)
	}
	f.pending = nil
}

// patience is how long rank 0 waits for other ranks.
func (f *front) patience() time.Duration { return min(15*time.Second, f.o.Timeout/4) }

// run takes events until both children have said everything, or will not.
func (f *front) run() {
	for f.waiting() {
		select {
		case e := <-f.events:
			f.take(e)
		case <-f.timeout:
			f.stop(fmt.Sprintf("no answer within %s (--timeout sets the limit)", f.o.Timeout), true)
		case <-f.gone:
			f.killAll()
			os.Exit(1) // not 0: the launcher ends the others
		case s := <-f.signals:
			f.stop("ended by "+signalName(s), false)
			if s == syscall.SIGINT {
				// The user's wish: not even the half that there is.
				f.killAll()
				os.Exit(130)
			}
		}
	}
}

// rank is this process's rank: the launcher's word, where it gives one, as in a job that fell apart every rank is 0 to
// the library.
func (f *front) rank() int {
	if f.o.Launch.Rank >= 0 {
		return f.o.Launch.Rank
	}
	return f.hello.Rank
}

// waiting reports whether something is still to come. Rank 0 has all with its back end's result; another rank ends with
// its back end.
func (f *front) waiting() bool {
	beforeDone := f.before == nil && f.pending == nil || f.beforeSaid || f.failed[Before] != nil
	afterDone := f.result != nil || f.failed[After] != nil
	if f.rank() != 0 {
		afterDone = f.after.ended || f.invitation != nil
		beforeDone = beforeDone || afterDone
	}
	return !beforeDone || !afterDone
}

func (f *front) stop(why string, hung bool) {
	if f.pending != nil {
		f.pending = nil
		f.failed[Before] = &failure{Text: why, Ended: !hung}
	}
	for _, c := range []*child{f.before, f.after} {
		if c == nil || c.ended || f.failed[c.stage] != nil {
			continue
		}
		if c.stage == Before && f.beforeSaid || c.stage == After && f.result != nil {
			continue
		}
		text := why
		if hung {
			text = c.phase + ": " + why
		}
		f.failed[c.stage] = &failure{Text: text, Ended: !hung}
		c.kill()
		if f.rank() != 0 {
			c.ended = true
		}
	}
}

func signalName(s os.Signal) string {
	if n, ok := s.(syscall.Signal); ok {
		return unix.SignalName(n)
	}
	return s.String()
}

func (f *front) killAll() {
	for _, c := range []*child{f.before, f.after} {
		if c != nil && !c.ended {
			c.kill()
		}
	}
}

func (f *front) take(e event) {
	c := e.from
	f.startBefore()
	switch e.kind {
	case 0:
		c.ended = true
		done := f.result != nil || f.agreed != nil
		if c.stage == Before {
			done = f.beforeSaid
		}
		if !done && f.failed[c.stage] == nil {
			f.failed[c.stage] = f.death(c, e.status)
		}
		if c.stage == Before && f.beforeProcess == nil {
			f.after.tell(frameBefore, nil)
		}
	case frameEnd:
		c.ended = true
	case framePhase:
		c.phase = string(e.payload)
		if f.o.Phase != nil && c.stage == After {
			f.o.Phase(c.phase)
		}
	case frameHello:
		unpack(e.payload, &f.hello)
	case frameProcess:
		p, err := catalog.DecodeProcess(e.payload)
		switch {
		case err != nil:
			f.failed[c.stage] = &failure{Text: err.Error()}
		case c.stage == Before:
			f.beforeProcess = p
			f.after.tell(frameBefore, e.payload)
			f.beforeMerged = catalog.Merge(p, nil, nil)
		default:
			f.process = p
		}
	case frameDelta, frameNode:
		// A damaged one leaves its rank without an answer.
		ds, _ := catalog.DecodeDeltas(e.payload)
		if e.kind == frameDelta {
			f.deltas = append(f.deltas, ds...)
		} else {
			f.nodes = append(f.nodes, ds...)
		}
	case frameResult:
		var r result
		if err := unpack(e.payload, &r); err != nil {
			f.failed[c.stage] = &failure{Text: err.Error()}
			return
		}
		f.outcomes = append(f.outcomes, r.Outcomes...)
		if c.stage == After {
			f.result = &r
			if f.o.Listing && f.beforeSaid && len(r.Lost) == 0 {
				c.tell(frameVerdict, []byte{0})
				f.settled = true
			}
		} else {
			f.beforeSaid = true
		}
	case frameError:
		var fl failure
		unpack(e.payload, &fl)
		f.failed[c.stage] = &fl
	case frameAgreed:
		if len(e.payload) == 0 {
			return
		}
		code := int(e.payload[0])
		f.agreed = &code
		if len(e.payload) > 1 {
			f.invitation = e.payload[1:]
		}
	}
}

// death is what to say of a child that has ended without an answer.
func (f *front) death(c *child, status syscall.WaitStatus) *failure {
	text := c.death(status)
	if c.stage == After && c.phase == phaseInit && !endedByOthers(status) {
		if err := locate.InitFailed(f.o.Launch, f.o.MPI, text); err != nil {
			return &failure{Text: err.Error(), Whole: true}
		}
	}
	return &failure{Text: text, Ended: endedByOthers(status)}
}

// follower is the end of a rank other than 0: what failed here is said here, by name.
func (f *front) follower() (*Job, error) {
	if f.agreed != nil {
		return &Job{agreed: *f.agreed, f: f}, nil
	}
	fl := f.failed[After]
	if fl == nil {
		fl = &failure{Text: "ended without an answer"}
	}
	if !fl.Whole && !fl.Ended {
		// Launchers end the job with the first rank that fails: rank 0 needs the time to give up on us, and to print.
		select {
		case <-time.After(f.patience() + 2*time.Second):
		case <-f.signals:
		}
	}
	host := f.hello.Host
	if host == "" {
		host, _ = os.Hostname()
	}
	return nil, &Error{Text: fmt.Sprintf("rank %d on %s: %s", f.rank(), host, fl.Text), Quiet: fl.Whole || fl.Ended}
}

func (f *front) root() (*Job, error) {
	after, before := f.failed[After], f.failed[Before]
	if after != nil && after.Whole {
		f.killAll()
		return nil, &Error{Text: after.Text}
	}
	j := &Job{Root: true, Outcomes: f.outcomes, f: f}
	am := &catalog.Merged{}
	bm := &catalog.Merged{}
	if f.process != nil && f.result != nil {
		am = catalog.Merge(f.process, f.deltas, f.result.Lost)
		j.Lost = f.result.lostText()
	} else if after != nil {
		am.Stage.Error = after.Text
	}
	if f.beforeProcess != nil {
		if bm = f.beforeMerged; len(f.nodes) > 0 {
			bm = catalog.Merge(f.beforeProcess, f.nodes, nil)
		}
	} else if before != nil {
		bm.Stage.Error = before.Text
	}
	if !am.Stage.Read && !bm.Stage.Read {
		f.killAll()
		text := "the library could not be read: " + am.Stage.Error
		if bm.Stage.Error != "" && bm.Stage.Error != am.Stage.Error {
			text += "; before MPI_Init: " + bm.Stage.Error
		}
		return nil, &Error{Text: text}
	}
	j.Catalog = catalog.Join(bm, am)
	j.Catalog.Creator = f.o.Creator
	j.Catalog.Created = time.Now().UTC().Truncate(time.Second)
	j.Catalog.Job.Launcher = f.o.Launch.Name
	j.Catalog.Library.BuildID = f.o.MPI.BuildID
	if f.result != nil {
		for k := range j.Catalog.Job.Ranks {
			if r := &j.Catalog.Job.Ranks[k]; r.Host == "" {
				r.Host = f.result.Hosts[r.Rank]
			}
		}
	}
	return j, nil
}

// Settle tells all ranks the exit code, so that they end while rank 0 prints.
func (j *Job) Settle(code int) {
	if j.f == nil || !j.Root || j.f.settled || j.f.after.ended {
		return
	}
	j.f.settled = true
	j.f.after.tell(frameVerdict, []byte{byte(code)})
}

// Finish waits for the end of the job, and returns the code to exit with. Other ranks got the code of the first Settle or
// Finish.
func (j *Job) Finish(code int) int {
	f := j.f
	if f == nil {
		return code
	}
	if !j.Root {
		return j.agreed
	}
	j.Settle(code)
	if len(j.Lost) > 0 {
		return code // the back end cannot finalize MPI, and goes with us
	}
	late := time.After(10 * time.Second)
	for !f.after.ended {
		select {
		case e := <-f.events:
			if e.kind == 0 || e.kind == frameEnd {
				e.from.ended = true
			}
		case <-late:
			f.after.kill()
			return max(code, 1)
		case <-f.signals:
			f.killAll()
			return 130
		}
	}
	f.killAll()
	return code
}
