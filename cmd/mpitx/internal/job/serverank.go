//go:build linux

package job

import (
	"fmt"
	"net"
	"os"
	"time"
)

// rankServer is the front of a rank other than 0: it stands between its back end and rank 0's front.
type rankServer struct {
	f    *front
	c    net.Conn
	open map[uint64]task // given to the back end, and not yet answered
	died bool
}

// serveRank is the rest of such a front's life. It returns the exit code.
func (f *front) serveRank() int {
	var inv invitation
	if f.invitation == nil || unpack(f.invitation, &inv) != nil {
		// Launchers end the job with the first rank that fails, and the others may go on without us.
		if f.agreed == nil {
			fl := f.failed[After]
			if fl == nil {
				fl = &failure{Text: "ended without an answer"}
			}
			fmt.Fprintf(os.Stderr, "mpitx: rank %d: %s\n", f.rank(), fl.Text)
			f.awaitEnd()
		}
		return 1
	}
	c, err := join(inv, f.rank(), f.hello.Host)
	if err != nil {
		// The MPI process stays, as the others' would end with it; the explorer goes on without this rank.
		fmt.Fprintf(os.Stderr, "mpitx: rank %d on %s cannot %v\n", f.rank(), orUnknown(f.hello.Host), err)
		f.awaitEnd()
		f.killAll()
		return 1
	}
	if f.joined != nil {
		close(f.joined)
	}
	r := &rankServer{f: f, c: c, open: map[uint64]task{}}
	return r.run()
}

func (r *rankServer) run() int {
	frames := make(chan frame, 16)
	go func() {
		defer close(frames)
		for {
			kind, payload, err := readFrame(r.c)
			if err != nil {
				return
			}
			frames <- frame{kind, payload}
		}
	}()
	var late <-chan time.Time
	ordered := false // to end
	for {
		select {
		case fr, ok := <-frames:
			if !ok { // rank 0 is gone
				if ordered {
					frames = nil
					continue
				}
				r.f.killAll()
				return 1
			}
			r.order(fr)
			if fr.kind == frameVerdict {
				ordered = true
				late = time.After(2 * endLimit)
			}
		case e := <-r.f.events:
			if e.from != r.f.after {
				r.f.take(e)
				continue
			}
			switch e.kind {
			case 0:
				e.from.ended = true
				if ordered {
					return e.status.ExitStatus()
				}
				r.died = true
				writeFrame(r.c, frameDied, pack(place{r.f.after.mark.where(r.open), e.from.death(e.status)}))
				late = time.After(2 * endLimit)
			case frameAnswer:
				var a answer
				if unpack(e.payload, &a) == nil {
					delete(r.open, a.Number)
				}
				writeFrame(r.c, e.kind, e.payload)
			default:
				r.f.take(e)
			}
		case <-r.f.signals:
			// A launcher ends the job, often because our back end died: rank 0 must still hear of it.
			if late == nil {
				late = time.After(time.Second)
			}
		case <-late:
			r.f.killAll()
			return 1
		}
	}
}

// order passes on what rank 0's front wants.
func (r *rankServer) order(fr frame) {
	switch fr.kind {
	case frameWhere:
		writeFrame(r.c, frameWhere, pack(place{Variable: r.f.after.mark.where(r.open)}))
		return
	case frameTask:
		var t task
		if unpack(fr.payload, &t) == nil {
			r.open[t.Number] = t
		}
	}
	if !r.died {
		r.f.after.tell(fr.kind, fr.payload)
	}
}

// watchParent closes gone when the launcher has died without a word: whoever has not yet come to rank 0 hears of it in no
// other way.
func (f *front) watchParent(parent int) {
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-f.joined:
			tick.Stop()
			return
		case <-tick.C:
			if os.Getppid() != parent {
				close(f.gone)
				return
			}
		}
	}
}

// awaitEnd waits for the end of the job.
func (f *front) awaitEnd() {
	select {
	case <-f.signals:
	case <-f.gone:
	}
}
