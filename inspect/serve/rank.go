//go:build linux

package serve

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"mpitx/inspect"
	"mpitx/inspect/transport"
	"mpitx/machine/keep"
)

// rankServer is the front of a rank other than 0. It connects its back end with rank 0's front.
type rankServer struct {
	job  *inspect.Job
	c    net.Conn
	open tasks // tasks of the back end
	died bool
}

// serveRank collects and then runs such a front. It returns the exit code.
func serveRank(o inspect.Options) int {
	gone, joined := make(chan struct{}), make(chan struct{})
	o.Gone = gone
	go watchParent(os.Getppid(), gone, joined)
	job, err := inspect.Collect(o)
	var failed *inspect.Error
	switch {
	case errors.As(err, &failed): // launchers end the job at the first rank that fails, and the other ranks may continue without this one
		if !failed.Quiet {
			fmt.Fprintln(os.Stderr, "mpitx:", err)
		}
		awaitEnd(gone)
		return 1
	case err != nil:
		fmt.Fprintln(os.Stderr, "mpitx:", err)
		return 1
	}
	return follow(job, gone, joined)
}

// follow carries out what rank 0's front asks for. joined is closed once that front is reached.
func follow(job *inspect.Job, gone, joined chan struct{}) int {
	var inv transport.Invitation
	if transport.Unpack(job.Invitation, &inv) != nil {
		return 1
	}
	c, err := transport.Join(inv, job.Rank, job.Host)
	if err != nil {
		// The MPI process stays, because the others' would end with it. The explorer continues without this rank.
		fmt.Fprintf(os.Stderr, "mpitx: %s cannot %v\n", inspect.Where(job.Host, job.Rank), err)
		awaitEnd(gone)
		job.Backend.Kill()
		return 1
	}
	close(joined)
	r := &rankServer{job: job, c: c, open: tasks{}}
	return r.run()
}

func (r *rankServer) run() int {
	frames := make(chan transport.Frame, 16)
	go func() {
		transport.ReadFrames(r.c, func(f transport.Frame) { frames <- f })
		close(frames)
	}()
	var late <-chan time.Time
	ordered := false // rank 0 asked this rank to exit
	for {
		select {
		case f, ok := <-frames:
			switch {
			case !ok && ordered:
				frames = nil
			case !ok: // rank 0 has exited
				r.job.Backend.Kill()
				return 1
			default:
				r.order(f)
			}
			if f.Kind == transport.FrameVerdict {
				ordered = true
				late = time.After(2 * endLimit)
			}
		case e := <-r.job.Events:
			e.Note()
			switch {
			case e.From != r.job.Backend:
			case e.Kind == 0 && ordered:
				return e.Status.ExitStatus()
			case e.Kind == 0:
				r.died = true
				r.say(transport.FrameDied, place{r.open.variable(e.From.Where()), e.From.Death(e.Status)})
				late = time.After(2 * endLimit)
			case e.Kind == transport.FrameAnswer:
				var a answer
				if transport.Unpack(e.Payload, &a) == nil {
					delete(r.open, a.Number)
				}
				transport.WriteFrame(r.c, e.Kind, e.Payload)
			}
		case <-r.job.Signals:
			// A launcher ends the job, often because this rank's back end died: rank 0 must still be notified.
			if late == nil {
				late = time.After(time.Second)
			}
		case <-late:
			r.job.Backend.Kill()
			return 1
		}
	}
}

func (r *rankServer) say(kind byte, at place) {
	transport.WriteFrame(r.c, kind, transport.Pack(at))
}

// order passes a frame of rank 0's front on to the back end.
func (r *rankServer) order(f transport.Frame) {
	switch f.Kind {
	case transport.FrameWhere:
		r.say(transport.FrameWhere, place{Variable: r.open.variable(r.job.Backend.Where())})
		return
	case transport.FrameTask:
		var t task
		if transport.Unpack(f.Payload, &t) == nil {
			r.open[t.Number] = t
		}
	}
	if !r.died {
		r.job.Backend.Send(f.Kind, f.Payload)
	}
}

// watchParent closes gone when the launcher has died. A rank that has not reached rank 0 yet has no other way to
// notice.
func watchParent(parent int, gone, joined chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-joined:
			return
		case <-tick.C:
			if os.Getppid() != parent {
				close(gone)
				return
			}
		}
	}
}

// awaitEnd waits for the end of the job.
func awaitEnd(gone <-chan struct{}) {
	signals := make(chan os.Signal, 1)
	keep.Endings(signals)
	select {
	case <-signals:
	case <-gone:
	}
}
