package waits

import (
	"math/bits"
	"runtime"
)

// Region is a part of a rank's time: a call, without what it waited, or the computation before it.
type Region struct {
	Code    uint32 // see Program.Place
	Rank    int
	Compute bool
}

// unexplained is the Code of waits whose cause is not known.
const unexplained = ^uint32(0)

// mostLooked bounds the calls that are looked at to find what two tracks did since they were last in step.
const mostLooked = 1 << 12

// cause is what a region costs.
type cause struct {
	cost, direct int64    // of all waits, and of those for this rank itself
	ranks        []uint64 // that waited for it directly: one bit for each
}

// blame attributes each waiting nanosecond to what caused it.
//
// A call that waits for another track was there before it, although both were in step at some time before: when one received from the other
// or both were in a collective. What the other one did since then in excess of the waiting one is what the wait is shared out over, in proportion:
// computation, time in calls, and its own waits. What falls on those is added to them and shared out in turn, so that waits are taken from the
// latest to the earliest.
type blame struct {
	p           *Program
	pending     map[Ref]int64    // what later waits have added to a call's wait
	causes      map[int][]*cause // by rank and region, as in profiles
	unexplained int32            // the last region
}

// profile is what a track did in a time, by twice the code, and one more for the computation before.
type profile struct {
	keys   []int32 // the latest first
	time   []int64
	waits  []Ref
	length []int64
	waited int64
}

func (x *profile) clear() {
	for _, k := range x.keys {
		x.time[k] = 0
	}
	x.keys, x.waits, x.length, x.waited = x.keys[:0], x.waits[:0], x.length[:0], 0
}

func (x *profile) add(region int32, d int64) {
	if d <= 0 {
		return
	}
	if x.time[region] == 0 {
		x.keys = append(x.keys, region)
	}
	x.time[region] += d
}

// fill adds what a track did from a moment until a call began.
func (x *profile) fill(p *Program, track int32, since int64, until int32) {
	t := &p.tracks[track]
	for k := until; k >= 0; k-- {
		c := t.calls.at(k)
		code := int32(p.codeOf[c.site])
		if k < until {
			if c.end <= since {
				return
			}
			w := p.wait(Ref{track, k})
			waited := c.begin + w.length(c)
			x.add(2*code, c.end-max(waited, since))
			if n := waited - max(c.begin, since); n > 0 {
				x.waits, x.length, x.waited = append(x.waits, Ref{track, k}), append(x.length, n), x.waited+n
			}
		}
		x.add(2*code+1, c.begin-max(t.before(k), since))
	}
	x.add(p.beginning(t), t.start-since)
}

// beginning is the region of what a track did before its start: its call of MPI_Init, or the computation before a further thread's first call.
func (p *Program) beginning(t *track) int32 {
	if p.sites[t.origin].Function == threadStart && t.calls.len() > 0 {
		return 2*int32(p.codeOf[t.calls.at(0).site]) + 1
	}
	return 2 * int32(p.codeOf[t.origin])
}

// inStep is the last moment before the calls a and b at which track b had come as far as track a: a call of track a needed one of track b, or one of
// track b waited for track a. ok is false if that is too far back.
func (p *Program) inStep(a, b Ref) (at int64, ok bool) {
	ta, tb := &p.tracks[a.Track], &p.tracks[b.Track]
	i, k := a.Call-1, b.Call-1
	needs := 0 // of calls that need others; polling makes many that do not
	for range 16 * mostLooked {
		if needs > mostLooked {
			break
		}
		var ca, cb *call
		if i >= 0 {
			ca = ta.calls.at(i)
		}
		if k >= 0 {
			cb = tb.calls.at(k)
		}
		switch {
		case ca == nil && cb == nil:
			return min(ta.start, tb.start), true
		case cb == nil || ca != nil && ca.end >= cb.end:
			if ca.needs != 0 {
				needs++
				if on := p.depends(Ref{a.Track, i}, b.Track); on != nobody {
					return max(ca.begin, p.at(on).begin), true
				}
			}
			i--
		case cb.needs == 0:
			k--
		default:
			needs++
			if w := p.wait(Ref{b.Track, k}); w.kind != None && w.on.Track == a.Track {
				return w.until, true
			}
			k--
		}
	}
	return 0, false
}

// depends is the call of a track that a call needed; nobody: it needed none of it.
func (p *Program) depends(of Ref, track int32) Ref {
	t := &p.tracks[of.Track]
	c := t.calls.at(of.Call)
	if c.collective() {
		return p.dependsIn(p.meetings.at(int32(c.number())), of, track)
	}
	for n := c.first(); n != 0; {
		e := t.edges.at(int32(n - 1))
		n = e.next
		if e.from.Track == inMeeting && e.kind != starts {
			if on := p.dependsIn(p.meetings.at(e.from.Call), of, track); on != nobody {
				return on
			}
		}
		if e.from.Track == track && (!e.kind.ofReceiver() || p.wait(of).on == e.from) {
			return e.from
		}
	}
	return nobody
}

// dependsIn is the call of a track in a collective that another call needed.
func (p *Program) dependsIn(x *meeting, of Ref, track int32) Ref {
	on := p.with(x, track)
	rank, other := p.tracks[of.Track].rank, p.tracks[track].rank
	if on == nobody || p.at(on).begin > p.at(of).end || x.shape == fromRoot && other != int(x.root) || x.shape == toRoot && rank != int(x.root) || x.shape == fromLower && other > rank {
		return nobody
	}
	return on
}

// share gives a part of a cost: those of all parts, given in turn, add up to it.
type share struct {
	cost, whole, given, sofar int64
}

func (s *share) of(part int64) int64 {
	s.sofar += part
	high, low := bits.Mul64(uint64(s.cost), uint64(min(s.sofar, s.whole)))
	until, _ := bits.Div64(high%uint64(s.whole), low, uint64(s.whole))
	n := int64(until) - s.given
	s.given = int64(until)
	return n
}

// batch is waits that follow one another, and how the cost of each is shared out. That is found on another core.
type batch struct {
	waits    []waiting
	found    []excess
	parts    []part
	earlier  []before
	wait, on profile
	done     chan bool
}

// excess is what a track did in excess of one that waited for it, since both were in step.
type excess struct {
	ok             bool // it is known
	whole          int64
	waited         int64 // of it, in earlier waits
	allWaited      int64 // in earlier waits, in excess or not
	parts, earlier int   // where they end in the batch
}

// part is a region's part of an excess.
type part struct {
	region int32
	time   int64
}

// before is an earlier wait.
type before struct {
	of     Ref
	length int64
}

const batchSize = 512

func (p *Program) newBatch() *batch {
	b := &batch{done: make(chan bool, 1)}
	b.wait.time, b.on.time = make([]int64, 2*len(p.codes)), make([]int64, 2*len(p.codes))
	return b
}

// compare finds the excess of all waits of a batch.
func (b *batch) compare(p *Program) {
	b.found, b.parts, b.earlier = b.found[:0], b.parts[:0], b.earlier[:0]
	for i := range b.waits {
		x := b.excess(p, b.waits[i].of, &b.waits[i].wait)
		x.parts, x.earlier = len(b.parts), len(b.earlier)
		b.found = append(b.found, x)
	}
	b.done <- true
}

func (b *batch) excess(p *Program, of Ref, w *wait) (x excess) {
	since, ok := p.inStep(of, w.on)
	if !ok {
		return x
	}
	b.wait.clear()
	b.on.clear()
	b.wait.fill(p, of.Track, since, of.Call)
	b.on.fill(p, w.on.Track, since, w.on.Call)
	x = excess{ok: true, waited: max(b.on.waited-b.wait.waited, 0), allWaited: b.on.waited}
	for _, key := range b.on.keys {
		if n := b.on.time[key] - b.wait.time[key]; n > 0 {
			b.parts = append(b.parts, part{key, n})
			x.whole += n
		}
	}
	if x.waited > 0 {
		for n, other := range b.on.waits {
			b.earlier = append(b.earlier, before{other, b.on.length[n]})
		}
	}
	x.whole = max(x.whole+x.waited, w.until-p.at(of).begin)
	return x
}

// shareOut shares out the costs of the waits of a batch.
func (b *blame) shareOut(all *batch) {
	parts, earlier := 0, 0
	for i := range all.waits {
		x := &all.found[i]
		b.one(&all.waits[i], x, all.parts[parts:x.parts], all.earlier[earlier:x.earlier])
		parts, earlier = x.parts, x.earlier
	}
}

// one shares out the cost of a wait.
func (b *blame) one(w *waiting, x *excess, parts []part, before []before) {
	p := b.p
	length := w.wait.until - p.at(w.of).begin
	more := b.pending[w.of]
	delete(b.pending, w.of)
	victim, rank := p.tracks[w.of.Track].rank, p.tracks[w.wait.on.Track].rank
	if !x.ok {
		b.give(rank, b.unexplained, length+more, length, victim)
		return
	}
	direct, added := share{cost: length, whole: x.whole}, share{cost: more, whole: x.whole}
	for _, part := range parts {
		d := direct.of(part.time)
		b.give(rank, part.region, d+added.of(part.time), d, victim)
	}
	if x.waited > 0 {
		earlier := share{cost: direct.of(x.waited) + added.of(x.waited), whole: x.allWaited}
		for _, other := range before {
			b.pending[other.of] += earlier.of(other.length)
		}
	}
	if rest := length - direct.given; rest+more-added.given > 0 {
		b.give(rank, b.unexplained, rest+more-added.given, rest, victim)
	}
}

func (b *blame) give(rank int, region int32, cost, direct int64, victim int) {
	all := b.causes[rank]
	if all == nil {
		all = make([]*cause, b.unexplained+1)
		b.causes[rank] = all
	}
	c := all[region]
	if c == nil {
		c = &cause{}
		all[region] = c
	}
	c.cost += cost
	if direct > 0 {
		c.direct += direct
		for len(c.ranks) <= victim/64 {
			c.ranks = append(c.ranks, 0)
		}
		c.ranks[victim/64] |= 1 << (victim % 64)
	}
}

// causes attributes all waits.
func (p *Program) causes() map[Region]*cause {
	regions := 2 * len(p.codes)
	b := &blame{p: p, pending: map[Ref]int64{}, causes: map[int][]*cause{}, unexplained: int32(regions)}
	h := &latest{p: p}
	for i := range p.tracks {
		h.push(int32(i), p.tracks[i].calls.len())
	}
	var running, free []*batch // in order
	for len(h.all) > 0 || len(running) > 0 {
		if len(h.all) > 0 && len(running) < 2*runtime.GOMAXPROCS(0) {
			if len(free) == 0 {
				free = append(free, p.newBatch())
			}
			next := free[len(free)-1]
			free = free[:len(free)-1]
			h.take(next)
			go next.compare(p)
			running = append(running, next)
			continue
		}
		<-running[0].done
		b.shareOut(running[0])
		free, running = append(free, running[0]), running[1:]
	}
	for of, cost := range b.pending { // waits that ended at the same time as later ones
		b.give(p.tracks[of.Track].rank, b.unexplained, cost, 0, 0)
	}
	all := map[Region]*cause{}
	for rank, causes := range b.causes {
		for i, c := range causes {
			r := Region{uint32(i / 2), rank, i%2 == 1}
			if i == regions {
				r.Code = unexplained
			}
			if c != nil {
				all[r] = c
			}
		}
	}
	return all
}

// waitBefore is the last wait of a track before a call.
func (p *Program) waitBefore(of Ref) (Ref, wait, bool) {
	t := &p.tracks[of.Track]
	for of.Call--; of.Call >= 0; of.Call-- {
		if t.calls.at(of.Call).needs&waitsBit != 0 {
			return of, p.find(of), true
		}
	}
	return of, wait{}, false
}

// waiting is the latest wait of a track that has not been shared out.
type waiting struct {
	of   Ref
	wait wait
	end  int64
}

// latest is a heap with the latest wait of all tracks first. A wait adds only to those that ended before it did.
type latest struct {
	p   *Program
	all []waiting
}

// push adds the last wait of a track before a call.
func (h *latest) push(track, before int32) {
	if of, w, ok := h.p.waitBefore(Ref{track, before}); ok {
		h.all = append(h.all, waiting{of, w, h.p.at(of).end})
		for i := len(h.all) - 1; i > 0 && h.later(i, (i-1)/2); i = (i - 1) / 2 {
			h.all[i], h.all[(i-1)/2] = h.all[(i-1)/2], h.all[i]
		}
	}
}

// take moves the latest waits to a batch.
func (h *latest) take(b *batch) {
	for b.waits = b.waits[:0]; len(b.waits) < batchSize && len(h.all) > 0; {
		b.waits = append(b.waits, h.all[0])
		if of, w, ok := h.p.waitBefore(h.all[0].of); ok {
			h.all[0] = waiting{of, w, h.p.at(of).end}
		} else {
			h.all[0] = h.all[len(h.all)-1]
			h.all = h.all[:len(h.all)-1]
		}
		h.down()
	}
}

// down moves the first element to its place.
func (h *latest) down() {
	for i := 0; 2*i+1 < len(h.all); {
		next := 2*i + 1
		if next+1 < len(h.all) && h.later(next+1, next) {
			next++
		}
		if !h.later(next, i) {
			return
		}
		h.all[i], h.all[next] = h.all[next], h.all[i]
		i = next
	}
}

func (h *latest) later(i, j int) bool {
	a, b := &h.all[i], &h.all[j]
	switch {
	case a.wait.until != b.wait.until:
		return a.wait.until > b.wait.until
	case a.end != b.end:
		return a.end > b.end
	}
	return h.p.precedes(a.of.Track, b.of.Track)
}
