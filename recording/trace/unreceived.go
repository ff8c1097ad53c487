package trace

import (
	"cmp"
	"slices"
	"time"

	"mpitx/recording"
)

// Unreceived is messages that were sent and never received: those of one call site, communicator, receiver and tag.
type Unreceived struct {
	Rank     *recording.Rank // the sender
	To       int             // the receiver's number in the run
	Object   *Object
	Tag      int
	Function string // that sent them
	Site     uint64 // of the sender
	Place    string // the site for people: see Resolve
	Count    uint64
	Bytes    uint64
	Sent     []time.Duration // when, in order
	Ended    bool            // the receiver has called MPI_Finalize; else it was killed, or exited, and may have received them later
	Nearest  *Near           // the receive that came nearest; nil: there was none
}

// Near is a receive that did not take a message, though communicator, source or tag are the same.
type Near struct {
	Rank      *recording.Rank
	Function  string
	Object    *Object
	Peer, Tag int // also Any
	Site      uint64
	Place     string
	Waiting   bool // it was posted and took no message until the end
}

// Resolve sets the places of messages and receives.
func Resolve(all []Unreceived, place func(r *recording.Rank, address uint64) string) {
	for i := range all {
		u := &all[i]
		if u.Place = place(u.Rank, u.Site); u.Nearest != nil {
			u.Nearest.Place = place(u.Nearest.Rank, u.Nearest.Site)
		}
	}
}

// leftovers are the messages and receives that have found no other side at the end of a trace.
type leftovers struct {
	sends map[numbered]bool
	posts map[int32][]pattern // of receives that have not completed, by rank; objects by their numbers on all ranks
	doubt map[int32]bool      // ranks that may have received messages which the trace does not show
}

const mostLeft = 1 << 16

func (m *matcher) leftovers(j *joiner) *leftovers {
	l := &leftovers{map[numbered]bool{}, map[int32][]pattern{}, map[int32]bool{}}
	for _, n := range j.waiting {
		if s := &j.sides[n]; !s.received && s.place != nowhere && s.inside && !s.apart && len(l.sends) < mostLeft {
			l.sends[s.numbered] = true
		}
	}
	full := len(j.waiting) >= maxUnmatched
	for _, rank := range m.trace.run.Ranks {
		part := slices.ContainsFunc(rank.Notes, func(n recording.Note) bool { return n.Code == recording.NotePart })
		p := m.of(rank)
		r := m.receivers[p]
		if full || part || rank.Incomplete() != "" || rank.Counters.LostEvents > 0 || rank.State != recording.StateEnded && rank.State != recording.StateDied ||
			r != nil && (r.losses > 0 || len(r.parts) > 0 || r.unknown || len(r.posts) >= maxPosted) {
			l.doubt[int32(rank.Rank)] = true
			continue
		}
		if r == nil {
			continue
		}
		for _, post := range r.posts {
			of := post.of
			if of != (pattern{}) {
				of = m.everywhere(p, of)
			}
			l.posts[int32(rank.Rank)] = append(l.posts[int32(rank.Rank)], of)
		}
	}
	return l
}

// everywhere is a pattern with the object's number on all ranks; the zero pattern, which matches everything, if that is not known.
func (m *matcher) everywhere(p *process, of pattern) pattern {
	o := p.object(of.object)
	if o == nil || o.number == 0 {
		return pattern{}
	}
	return pattern{o.number, int32(p.peer(int(of.peer), 0)), of.tag}
}

func (of pattern) takes(n numbered) bool {
	return of == pattern{} || of.object == n.object && (of.peer == Any || of.peer == n.source) && (of.tag == Any || of.tag == n.tag)
}

// Unreceived finds the messages that were never received, in a trace that was read with Options.Flows and is of all ranks and times. A
// message is left out if its receiver may have received it: by a receive that was posted and has not completed, in a call that the process
// was in when it ended, or outside of the trace. It reads the trace once more if there are any.
func (t *Trace) Unreceived() []Unreceived {
	if t.left == nil || t.options.To > t.options.From || t.options.Rank != nil {
		return nil
	}
	calls := t.openReceives()
	t.dropTaken(calls)
	if len(t.left.sends) == 0 {
		return nil
	}
	x := collector{trace: t, all: map[unreceivedKey]*Unreceived{}, near: map[nearKey]*Near{}, posts: map[requestID]*Near{}}
	d := newDecoder(t)
	totals := t.Totals
	for e := range t.run.Events(d.options()) {
		d.event(e, func(e *Event) bool {
			x.event(e)
			return true
		})
	}
	t.Totals = totals
	return x.result(calls)
}

// dropTaken removes the messages that may have been received.
func (t *Trace) dropTaken(calls []Near) {
	byStream := map[stream][]numbered{}
	for n := range t.left.sends {
		byStream[n.stream] = append(byStream[n.stream], n)
	}
	posts := map[int32][]pattern{}
	for rank, all := range t.left.posts {
		posts[rank] = slices.Clone(all)
	}
	for _, c := range calls {
		of := pattern{}
		if c.Object != nil && c.Object.number != 0 {
			of = pattern{c.Object.number, int32(c.Peer), int32(c.Tag)}
		}
		posts[int32(c.Rank.Rank)] = append(posts[int32(c.Rank.Rank)], of)
	}
	streams := slices.SortedFunc(func(yield func(stream) bool) {
		for s := range byStream {
			if !yield(s) {
				return
			}
		}
	}, compareStreams)
	for _, s := range streams {
		sends := byStream[s]
		slices.SortFunc(sends, func(a, b numbered) int { return cmp.Compare(a.sequence, b.sequence) })
		for _, n := range sends {
			all := posts[s.destination]
			i := slices.IndexFunc(all, func(of pattern) bool { return of.takes(n) })
			if !t.left.doubt[s.destination] && i < 0 {
				continue
			}
			delete(t.left.sends, n)
			if i >= 0 {
				posts[s.destination] = slices.Delete(all, i, i+1)
			}
		}
	}
}

func compareStreams(a, b stream) int {
	return cmp.Or(cmp.Compare(a.destination, b.destination), cmp.Compare(a.source, b.source), cmp.Compare(a.object, b.object), cmp.Compare(a.tag, b.tag))
}

// ---- reading them ----

type unreceivedKey struct {
	rank     *recording.Rank
	function string
	site     uint64
	to, tag  int
	object   *Object
}

// nearKey is a receiver and a sender.
type nearKey struct{ rank, peer int }

type collector struct {
	trace *Trace
	all   map[unreceivedKey]*Unreceived
	near  map[nearKey]*Near // the last receives
	posts map[requestID]*Near
}

const mostNear = 1 << 16

func (x *collector) event(e *Event) {
	if e.Call == nil {
		return
	}
	for i := range e.Call.Messages {
		m := &e.Call.Messages[i]
		if m.Received {
			delete(x.posts, requestID{e.Rank, m.Request})
			if key := (nearKey{e.Rank.Rank, m.Peer}); x.near[key] != nil || len(x.near) < mostNear {
				x.near[key] = &Near{e.Rank, m.Function, m.Object, m.Peer, m.Tag, cmp.Or(m.Site, e.Call.Site), "", false}
			}
			continue
		}
		if m.Flow == 0 && m.Object != nil {
			x.sent(e, m)
		}
	}
	c := e.Call
	if c.Request != 0 && len(c.Messages) == 0 && len(x.posts) < mostNear {
		x.posts[requestID{e.Rank, c.Request}] = &Near{e.Rank, c.Function, c.Object, c.Peer, c.Tag, c.Site, "", true}
	}
}

func (x *collector) sent(e *Event, m *Message) {
	n := numbered{stream{m.Object.number, int32(e.Rank.Rank), int32(m.Peer), int32(m.Tag), m.channel}, m.Sequence}
	if len(x.trace.matched.gone) > 0 {
		n.sequence, _ = x.trace.matched.number(n.stream, n.sequence)
	}
	if m.Cancelled || !x.trace.left.sends[n] {
		return
	}
	key := unreceivedKey{e.Rank, m.Function, cmp.Or(m.Site, e.Call.Site), m.Peer, m.Tag, m.Object}
	u := x.all[key]
	if u == nil {
		u = &Unreceived{Rank: e.Rank, To: m.Peer, Object: m.Object, Tag: m.Tag, Function: m.Function, Site: cmp.Or(m.Site, e.Call.Site)}
		x.all[key] = u
	}
	u.Count++
	u.Bytes += m.Bytes
	u.Sent = append(u.Sent, m.Posted)
}

func (x *collector) result(calls []Near) (all []Unreceived) {
	finalized := map[int]bool{}
	for _, r := range x.trace.run.Ranks {
		finalized[r.Rank] = r.State == recording.StateEnded && r.End == recording.EndFinalize
	}
	waiting := slices.Clone(calls)
	for _, n := range x.posts {
		waiting = append(waiting, *n)
	}
	for _, u := range x.all {
		u.Ended = finalized[u.To]
		slices.Sort(u.Sent)
		best := 0
		consider := func(n *Near) {
			if score := u.nearness(n); score > best {
				best, u.Nearest = score, n
			}
		}
		for i := range waiting {
			consider(&waiting[i])
		}
		if n := x.near[nearKey{u.To, u.Rank.Rank}]; n != nil {
			consider(n)
		}
		all = append(all, *u)
	}
	slices.SortFunc(all, func(a, b Unreceived) int {
		return cmp.Or(cmp.Compare(a.Sent[0], b.Sent[0]), cmp.Compare(a.Rank.Rank, b.Rank.Rank), cmp.Compare(a.To, b.To), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Site, b.Site))
	})
	return all
}

// nearness is how near a receive comes to messages; 0: it is another one's.
func (u *Unreceived) nearness(n *Near) (score int) {
	peer, tag, object := n.Peer == u.Rank.Rank || n.Peer == Any, n.Tag == u.Tag || n.Tag == Any, n.Object == u.Object
	switch {
	case n.Rank.Rank != u.To:
		return 0
	case peer && object:
		score = 4
	case peer && tag:
		score = 3
	case object && tag:
		score = 2
	default:
		return 0
	}
	if n.Waiting {
		score += 4
	}
	return score
}

// ---- calls that the processes were in ----

// The bits of a row's field "arguments": enum chain_argument of agent/chain/state.h.
const (
	argumentSource   = 16
	argumentExchange = 256
	argumentPolls    = 8192
)

// openReceives are the receiving calls that processes were in when they ended.
func (t *Trace) openReceives() (all []Near) {
	handles := map[*recording.Rank]map[uint64]*Object{}
	for r := range rows(t.run, "objects", nil) {
		rank := r.Table.Rank
		if handles[rank] == nil {
			handles[rank] = map[uint64]*Object{}
		}
		if r.number("freed") == 0 {
			handles[rank][r.number("handle")] = t.objects[rank][uint32(r.number("id"))]
		}
	}
	for r := range rows(t.run, "where", nil) {
		rank := r.Table.Rank
		arguments := r.number("arguments")
		if rank.State != recording.StateDied || r.number("thread") == 0 || r.number("inside") == 0 || r.number("left") == r.number("calls") ||
			arguments&(argumentSource|argumentExchange) == 0 || arguments&argumentPolls != 0 {
			continue
		}
		peer, tag := r.signed("peer"), r.signed("tag")
		if arguments&argumentExchange != 0 {
			peer, tag = r.signed("source"), r.signed("source_tag")
		}
		n := Near{Rank: rank, Function: r.text("function"), Object: handles[rank][r.number("handle")], Peer: Any, Tag: int(max(tag, Any)), Site: r.number("address"), Waiting: true}
		switch {
		case peer == procNull[rank.Family]:
			continue
		case peer >= 0 && n.Object != nil && n.Object.Name == "MPI_COMM_WORLD":
			n.Peer = rank.Spawned.First + int(peer)
		}
		all = append(all, n)
	}
	return all
}

// procNull is what families call MPI_PROC_NULL.
var procNull = map[string]int64{"openmpi": -2, "abi": -3, "mpich": -1, "demo": -1}
