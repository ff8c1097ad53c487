package waits

import (
	"slices"
	"strings"

	"mpitx/recording/trace"
)

// Windows with locks (MPI-4.1, section 12.5.3), and with post, start, complete and wait (MPI-4.1, section 12.5.2). A trace does not say which ranks are in a group, so the targets of an access
// epoch are those of its operations. For whom an epoch without operations waits is unknown.

// exposure is an epoch in which a rank exposes its memory of a window to others.
type exposure struct {
	post, wait Ref
	completes  []Ref // of the ranks that accessed it
}

// access is an epoch in which a rank accesses the memory of others.
type access struct {
	calls   []Ref // its start, operations and end
	targets map[int]bool
}

type windows struct {
	exposures map[onObject]*exposure // the last one of each target
	accesses  map[onObject]*access
	locks     map[onObject][]*lock      // that a rank has
	unlocked  map[*trace.Object][]*lock // in the order in which they ended
}

// lock is an epoch in which a rank has locked a window at a target.
type lock struct {
	target    int // everyone: at all ranks
	exclusive bool
	calls     []Ref // that may wait for other locks
	asked     int64 // when the first of them began
	end       Ref
}

const everyone = -1

// mostUnlocked bounds the epochs of a window that others may have waited for.
const mostUnlocked = 1 << 12

func (l *lock) conflicts(other *lock) bool {
	return (l.exclusive || other.exclusive) && (l.target == other.target || l.target == everyone || other.target == everyone)
}

// locking follows the epochs of locks.
func (r *Reader) locking(of Ref, key onObject, function string, c *trace.Call) {
	target := c.Peer
	if strings.HasSuffix(function, "_all") {
		target = everyone
	}
	held := r.locks[key]
	switch {
	case strings.HasPrefix(function, "MPI_Win_lock"):
		if c.Job == 0 && (target >= 0 || target == everyone) {
			r.locks[key] = append(held, &lock{target: target, exclusive: c.Exclusive, calls: []Ref{of}, asked: r.program.at(of).begin})
		}
	case strings.HasPrefix(function, "MPI_Win_flush"):
		for _, l := range held {
			if (target == everyone || target == l.target || l.target == everyone) && len(l.calls) < mostOperations {
				l.calls = append(l.calls, of)
			}
		}
	default:
		for i, l := range held {
			if l.target == target {
				l.end = of
				r.locks[key] = slices.Delete(held, i, i+1)
				r.unlock(c.Object, l)
				return
			}
		}
	}
}

// unlock finds the locks that an epoch waited for. Those before it ended before its own end began. If two ends overlap, it is not known which of the
// two had the lock first: a library may lock late.
func (r *Reader) unlock(window *trace.Object, l *lock) {
	p, all := r.program, r.unlocked[window]
	for i := len(all) - 1; i >= 0 && len(l.calls) > 0; i-- {
		end := p.at(all[i].end)
		if end.end < l.asked {
			break
		}
		if end.end > p.at(l.end).begin || !l.conflicts(all[i]) || all[i].end.Track == l.end.Track {
			continue
		}
		for len(l.calls) > 0 { // the latest that waited
			c := l.calls[len(l.calls)-1]
			if p.at(c).begin < end.begin {
				if end.begin <= p.at(c).end && r.held(l, all[:i+1], p.at(c).begin) {
					p.need(c, all[i].end, Locked, 0)
					l.calls = l.calls[:len(l.calls)-1]
				}
				break
			}
			l.calls = l.calls[:len(l.calls)-1] // began later, so it did not wait for this one or earlier ones
		}
	}
	l.calls = nil
	if len(all) >= mostUnlocked {
		all = slices.Delete(all, 0, mostUnlocked/2)
	}
	r.unlocked[window] = append(all, l)
}

// held reports whether the last of some epochs, or those right before it, had asked for locks in the way of another one by a moment. From then until its
// end the other one had to wait: what came later than a gap is not what it waited for.
func (r *Reader) held(l *lock, epochs []*lock, by int64) bool {
	asked := epochs[len(epochs)-1].asked
	for i := len(epochs) - 2; i >= 0 && asked > by; i-- {
		if e := epochs[i]; l.conflicts(e) {
			if r.program.at(e.end).end < asked {
				return false
			}
			asked = min(asked, e.asked)
		}
	}
	return asked <= by
}

// mostOperations bounds the operations of an epoch that may have waited.
const mostOperations = 1 << 10

func (r *Reader) window(of Ref, rank int, c *trace.Call) {
	key := onObject{c.Object, rank}
	switch function := strings.TrimSuffix(c.Function, "_c"); {
	case strings.HasPrefix(function, "MPI_Win_lock"), strings.HasPrefix(function, "MPI_Win_flush"), strings.HasPrefix(function, "MPI_Win_unlock"):
		r.locking(of, key, function, c)
	case function == "MPI_Win_post":
		r.exposures[key] = &exposure{post: of, wait: nobody}
	case function == "MPI_Win_wait":
		if e := r.exposures[key]; e != nil && e.wait == nobody {
			e.wait = of
			for _, complete := range e.completes {
				r.program.need(of, complete, LateComplete, 0)
			}
		}
	case function == "MPI_Win_start":
		r.accesses[key] = &access{calls: []Ref{of}, targets: map[int]bool{}}
	case c.OneSided && c.Job == 0:
		if a := r.accesses[key]; a != nil {
			if a.targets[c.Peer] = true; len(a.calls) < mostOperations {
				a.calls = append(a.calls, of)
			}
		}
	case function == "MPI_Win_complete":
		if a := r.accesses[key]; a != nil {
			delete(r.accesses, key)
			a.calls = append(a.calls, of)
			for target := range a.targets {
				r.accessed(a, of, r.exposures[onObject{c.Object, target}])
			}
		}
	}
}

// accessed says that an epoch, which a call ended, accessed an exposed memory.
func (r *Reader) accessed(a *access, complete Ref, e *exposure) {
	if e == nil || r.program.at(e.post).begin > r.program.at(complete).end {
		return
	}
	for _, call := range a.calls {
		if c, posted := r.program.at(call), r.program.at(e.post).begin; posted > c.begin && posted <= c.end {
			r.program.need(call, e.post, LatePost, 0)
		}
	}
	if e.wait == nobody {
		e.completes = append(e.completes, complete)
	} else if r.program.at(e.wait).end >= r.program.at(complete).begin {
		r.program.need(e.wait, complete, LateComplete, 0)
	}
}
