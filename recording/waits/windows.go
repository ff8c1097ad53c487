package waits

import (
	"strings"

	"mpitx/recording/trace"
)

// Windows with post, start, complete and wait (MPI-4.1, section 12.5.2). A trace does not say which ranks are in a group, so the targets of an access
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

type onWindow struct {
	window *trace.Object
	rank   int
}

type windows struct {
	exposures map[onWindow]*exposure // the last one of each target
	accesses  map[onWindow]*access
}

// mostOperations bounds the operations of an epoch that may have waited.
const mostOperations = 1 << 10

func (r *Reader) window(of Ref, rank int, c *trace.Call) {
	key := onWindow{c.Object, rank}
	switch function := strings.TrimSuffix(c.Function, "_c"); {
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
				r.accessed(a, of, r.exposures[onWindow{c.Object, target}])
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
