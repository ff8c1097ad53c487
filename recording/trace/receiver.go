package trace

import (
	"cmp"
	"math"
	"slices"

	"mpitx/recording"
)

// maxMoved bounds the receives that did not complete in the order in which they were posted. Further ones have no flow.
const maxMoved = 1 << 18

// maxHeld bounds the receives of a stream that wait for earlier ones.
const maxHeld = 4096

// pattern is the communicator, source and tag that a receive is posted for; Any matches all. The zero value is not known, and matches
// everything.
type pattern struct {
	object    uint32 // the rank's own number
	peer, tag int32
}

// posted is a receive that has not completed.
type posted struct {
	of         pattern
	at         uint64 // see receiver.next
	done       bool
	concurrent bool
}

// arrival is a received message.
type arrival struct {
	numbered // by completion
	side
	at    uint64 // when the receive was posted: see receiver.next
	known bool
}

// receiver finds the order in which the receives of a rank match messages: that in which they were posted. The agent numbers them as
// they complete. If receives that were posted earlier and could take messages of the same stream are still waiting, their order
// decides, so the arrival is held until they have completed.
type receiver struct {
	*matcher
	posts     map[uint32]*posted // by request
	patterns  map[pattern]*queue // in the order of posting
	wildcards int                // posted for several sources or tags, or for what is not known; not completed
	held      map[stream]*held
	free      []*posted
	rank      *recording.Rank
	losses    int      // of events of the rank, so far
	parts     []uint32 // of the trace, so far, that follow calls which were not recorded: the newest request before each
	newest    uint64
	unknown   bool // a message arrived of which it is not known which one it was
}

// queue holds the receives that were posted for a pattern. Some have completed, but not the first one.
type queue struct {
	waiting []*posted
	first   int
}

// maxPatterns bounds the empty queues that are kept.
const maxPatterns = 1024

type held struct {
	pattern  pattern
	arrivals []arrival
	gap      bool // arrivals between these were lost
}

func newReceiver(m *matcher, rank *recording.Rank) *receiver {
	r := &receiver{matcher: m, posts: map[uint32]*posted{}, patterns: map[pattern]*queue{}, held: map[stream]*held{}, rank: rank}
	r.postLost()
	return r
}

// next is when a receive was posted: in ticks, but later than all before it. Calls of several threads that overlap are marked as
// concurrent. MPI_Startall posts in the order of its requests.
func (r *receiver) next(ticks uint64) uint64 {
	r.newest = max(r.newest+1, ticks)
	return r.newest
}

// lose notes that events were lost.
func (r *receiver) lose() {
	r.losses++
	r.postLost()
}

// postLost posts the receives whose posts were lost here: a loss may be known only at the end of a call that posts, too.
func (r *receiver) postLost() {
	for _, request := range r.lost[r.rank][r.losses] {
		r.post(request, 0, pattern{}, true)
	}
}

func (r *receiver) findLost(request uint32, of pattern, s stream) {
	if r.losses == 0 && !r.rank.KeepLast {
		r.findOutside(request, of, s)
		return
	}
	all := r.found[r.rank]
	if all == nil {
		all = map[int][]uint32{}
		r.found[r.rank] = all
	}
	if len(all[r.losses]) < maxPosted {
		all[r.losses] = append(all[r.losses], request)
	}
}

// part begins a part that follows calls which were not recorded, and posts the receives that these have posted.
func (r *receiver) part(newest uint32, at uint64) {
	for _, p := range r.known.posted[r.rank][len(r.parts)] {
		r.post(p.request, at, p.of, false)
	}
	r.parts = append(r.parts, newest)
}

// findOutside notes a receive that was posted while nothing was recorded. Requests are numbered in the order in which they are made, so
// the number says before which part. For a persistent one, which may have been started later, this part is not the newest one.
func (r *receiver) findOutside(request uint32, of pattern, s stream) {
	part, _ := slices.BinarySearch(r.parts, request)
	switch {
	case part == len(r.parts): // calls of its function were not recorded
	case part < len(r.parts)-1:
		r.seen.unsure[s] = true
	default:
		all := r.seen.posted[r.rank]
		if all == nil {
			all = map[int][]postedOutside{}
			r.seen.posted[r.rank] = all
		}
		at, known := slices.BinarySearchFunc(all[part], request, func(p postedOutside, request uint32) int { return cmp.Compare(p.request, request) })
		if !known && len(all[part]) < maxPosted {
			all[part] = slices.Insert(all[part], at, postedOutside{request, of})
		}
	}
}

func (r *receiver) post(request uint32, at uint64, of pattern, concurrent bool) {
	if len(r.posts) >= maxPosted || r.posts[request] != nil {
		return // it will be unknown when it completes; or MPI_Imrecv of a message that MPI_Mprobe has matched
	}
	var p *posted
	if n := len(r.free); n > 0 {
		p, r.free = r.free[n-1], r.free[:n-1]
	} else {
		p = new(posted)
	}
	*p = posted{of: of, at: r.next(at), concurrent: concurrent}
	r.posts[request] = p
	q := r.patterns[of]
	if q == nil {
		q = new(queue)
		r.patterns[of] = q
	}
	q.waiting = append(q.waiting, p)
	if of.wildcard() {
		r.wildcards++
	}
}

func (of pattern) wildcard() bool { return of == pattern{} || of.peer == Any || of.tag == Any }

// done marks a receive as completed, and removes those from its queue that are not needed any more.
func (r *receiver) done(request uint32, p *posted) {
	p.done = true
	delete(r.posts, request)
	if p.of.wildcard() {
		r.wildcards--
	}
	q := r.patterns[p.of]
	for q.first < len(q.waiting) && q.waiting[q.first].done {
		r.free = append(r.free, q.waiting[q.first])
		q.first++
	}
	switch {
	case q.first == len(q.waiting) && len(r.patterns) > maxPatterns:
		delete(r.patterns, p.of)
	case q.first > len(q.waiting)/2:
		q.waiting, q.first = append(q.waiting[:0], q.waiting[q.first:]...), 0
	}
}

// earliest is when the first receive was posted that is waiting for a pattern; the greatest number if there is none.
func (r *receiver) earliest(of pattern) uint64 {
	if q := r.patterns[of]; q != nil && q.first < len(q.waiting) {
		return q.waiting[q.first].at
	}
	return math.MaxUint64
}

// waitingSince is when the first receive was posted that is waiting and could take a message.
func (r *receiver) waitingSince(of pattern) uint64 {
	if len(r.posts) == 0 {
		return math.MaxUint64
	}
	first := r.earliest(of)
	if r.wildcards > 0 {
		for _, other := range [...]pattern{{of.object, Any, of.tag}, {of.object, of.peer, Any}, {of.object, Any, Any}, {}} {
			first = min(first, r.earliest(other))
		}
	}
	return first
}

// complete adds a receive that has completed.
func (r *receiver) complete(a arrival, request uint32, of pattern) {
	r.unknown = r.unknown || !a.known
	changed := false // the first one that waits
	if request == 0 {
		a.at = r.next(a.at)
	} else {
		p := r.posts[request]
		if p == nil {
			a.ambiguous = true // its post was lost
			r.findLost(request, of, a.stream)
		} else {
			changed = r.earliest(p.of) == p.at
			a.at = p.at
			a.ambiguous = a.ambiguous || p.concurrent
			r.done(request, p)
		}
	}
	h := r.held[a.stream]
	switch {
	case !a.known || h == nil && r.waitingSince(of) > a.at:
		r.join(a.numbered, a.side, a.known)
	case h == nil:
		r.held[a.stream] = &held{pattern: of, arrivals: []arrival{a}}
	default:
		h.gap = h.gap || a.sequence != h.arrivals[len(h.arrivals)-1].sequence+1
		h.arrivals = append(h.arrivals, a)
	}
	if len(r.held) > 0 && (changed || h != nil && len(h.arrivals) >= maxHeld) {
		r.settle()
	}
}

// cancel removes a receive that was cancelled.
func (r *receiver) cancel(request uint32) {
	if p := r.posts[request]; p != nil {
		r.done(request, p)
		r.settle()
	}
}

// settle joins the arrivals that need not be held any more.
func (r *receiver) settle() {
	for s, h := range r.held {
		if len(h.arrivals) >= maxHeld {
			h.gap = true
			r.release(s, h, math.MaxUint64)
		} else {
			r.release(s, h, r.waitingSince(h.pattern))
		}
	}
}

// release joins the arrivals that were posted before a time.
func (r *receiver) release(s stream, h *held, before uint64) {
	if !slices.ContainsFunc(h.arrivals, func(a arrival) bool { return a.at < before }) {
		return
	}
	first := h.arrivals[0].sequence // they are numbered without a gap, by completion
	for _, a := range h.arrivals {
		first = min(first, a.sequence)
	}
	slices.SortStableFunc(h.arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for n < len(h.arrivals) && h.arrivals[n].at < before {
		a := &h.arrivals[n]
		number := first + uint32(n)
		if h.gap {
			a.ambiguous, number = true, a.sequence
		}
		a.sequence = number
		r.join(a.numbered, a.side, true)
		n++
	}
	if h.arrivals = h.arrivals[n:]; len(h.arrivals) == 0 {
		delete(r.held, s)
		return
	}
	// The rest keeps the numbers that are left, as if it had completed in this order.
	for i := range h.arrivals {
		if !h.gap {
			h.arrivals[i].sequence = first + uint32(n+i)
		}
	}
}

// finish joins what is held. Receives that are still waiting at the end of a process that ended have taken no message. If the end of the
// trace is missing, they may have, and so decide the order of those that were posted later.
func (r *receiver) finish() {
	whole := r.rank.End == recording.EndFinalize && r.rank.Counters.LostEvents == 0 && len(r.parts) == 0
	for s, h := range r.held {
		h.gap = h.gap || !whole
		r.release(s, h, math.MaxUint64)
	}
}
