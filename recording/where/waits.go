package where

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mpitx/text"
)

// wait is what a thread waits for.
type wait struct {
	thread  *Thread
	on      []int // ranks of MPI_COMM_WORLD for which it waits for certain
	maybe   []int // ranks for which it may wait as well
	named   []int // those of them that it names: not all that could send to a receive from any source
	needs   need
	unsure  bool   // further ranks, which are unknown
	ends    bool   // it may end whatever those ranks do: it polls
	loose   bool   // it is described, and never part of a cycle
	arrives bool   // a message that may end it is under way
	text    string // "waits for a message from 2, tag 7"
}

// all are the ranks that a wait waits or may wait for.
func (w *wait) all() []int { return compact(append(slices.Clone(w.on), w.maybe...)) }

// need is how many of its ranks a wait needs.
type need uint8

const (
	needsAll  need = iota
	needsSome      // all whose requests have not completed, which are one or more
	needsOne
)

// graph is who waits for whom.
type graph struct {
	job     *Job
	ranks   map[int]*Process
	members map[member]int // the world rank of each rank of each object
	waits   map[int][]wait // by rank; in the order of its threads
	unmet   map[int][]sent // by their places: messages that calls have sent and nobody will receive
	coming  map[int][]wait // by rank; waits for a message that is under way
	several map[sameCall]bool
}

// member is a rank of an object; side is its group in an intercommunicator.
type member struct {
	identity string
	side     uint64
	rank     int
}

func newGraph(job *Job) *graph {
	g := &graph{job: job, several: severalCalls(job), ranks: map[int]*Process{}, members: map[member]int{}, waits: map[int][]wait{}, coming: map[int][]wait{}}
	for _, p := range job.Processes {
		g.ranks[p.Rank] = p
		for _, o := range p.Objects {
			if o.Identity != "" && o.Rank >= 0 {
				g.members[member{o.Identity, o.Side, o.Rank}] = p.Rank
			}
		}
	}
	g.unmet = g.unmetSends()
	for _, p := range job.Processes {
		for _, t := range p.Threads {
			if w, ok := g.waitOf(p, t); ok && !w.thread.moment() && !t.Moved {
				g.waits[p.Rank] = append(g.waits[p.Rank], w)
			}
		}
	}
	g.dropMatched()
	for rank, waits := range g.waits {
		for _, w := range waits {
			if w.arrives {
				g.coming[rank] = append(g.coming[rank], w)
			}
		}
		g.waits[rank] = slices.DeleteFunc(waits, func(w wait) bool { return w.arrives })
	}
	return g
}

// worldRank is the rank in MPI_COMM_WORLD of a rank in an object; NoRank if it is unknown.
func (g *graph) worldRank(o *Object, rank int) int {
	switch {
	case o == nil || rank < 0 || o.Identity == "":
		return NoRank
	case o.Identity == "world":
		return rank
	}
	side := o.Side
	for m := range g.members {
		if o.Inter && m.identity == o.Identity && m.side != o.Side {
			side = m.side // the remote group's
			break
		}
	}
	if world, ok := g.members[member{o.Identity, side, rank}]; ok && (!o.Inter || side != o.Side) {
		return world
	}
	return NoRank
}

// peerText names a peer: by its rank in MPI_COMM_WORLD if that is known.
func (g *graph) peerText(o *Object, rank int) string {
	switch world := g.worldRank(o, rank); {
	case rank == AnySource:
		return "any rank"
	case world != NoRank:
		return fmt.Sprint(world)
	case o != nil && o.Inter:
		return fmt.Sprintf("%d of the remote group", rank)
	}
	return fmt.Sprintf("%d of %s", rank, objectText(o))
}

func tagText(tag int) string {
	switch tag {
	case AnyTag:
		return ", any tag"
	case NoTag:
		return ""
	}
	return fmt.Sprintf(", tag %d", tag)
}

// others are the ranks of an object but one; known is false if there may be more.
func (g *graph) others(o *Object, self int) (ranks []int, known bool) {
	if o == nil || o.Identity == "" {
		return nil, false
	}
	if o.Identity == "world" {
		size := o.Size
		if size == 0 {
			size = g.job.Size
		}
		for rank := range size {
			if rank != self {
				ranks = append(ranks, rank)
			}
		}
		return ranks, true
	}
	found := 0
	for m, world := range g.members {
		if m.identity != o.Identity {
			continue
		}
		if found++; world != self && (!o.Inter || m.side != o.Side) { // of an intercommunicator, those of the other group
			ranks = append(ranks, world)
		}
	}
	slices.Sort(ranks)
	return ranks, o.Size == 0 || found == o.Size
}

// message is "waits for a message from 2, tag 7" or "waits until 2 receives a message, tag 7".
func (g *graph) message(receives bool, o *Object, peer, tag int) string {
	on := ""
	if o != nil && o.Identity != "world" && (o.Name != "" || o.Made != "") {
		on = " on " + objectText(o)
	}
	if receives {
		return "waits for a message from " + g.peerText(o, peer) + tagText(tag) + on
	}
	return "waits for " + g.peerText(o, peer) + " to receive a message" + tagText(tag) + on
}

// waitOf is what a thread waits for; false if it does not wait, or for nobody.
func (g *graph) waitOf(p *Process, t *Thread) (w wait, ok bool) {
	if p.Condition != Running || !t.Waits() {
		return w, false
	}
	if t.Inner != nil {
		if w, ok = g.waitOf(p, t.Inner); ok {
			w.text += ", in a callback of " + t.Call
		}
		return w, ok
	}
	w.thread = t
	switch t.Class {
	case Send, Receive:
		if t.Peer == ProcNull || t.Role == NoPeer {
			return w, false
		}
		w.add(g, p.Rank, t.Object, t.Class == Receive, true, t.Peer, t.Tag)
		w.text = g.message(t.Class == Receive, t.Object, t.Peer, t.Tag)
	case Exchange:
		if t.Source != ProcNull {
			w.add(g, p.Rank, t.Object, true, true, t.Source, t.SourceTag)
		}
		if to := g.worldRank(t.Object, t.Peer); to != NoRank && w.needs == needsAll && !g.receives(to, p.Rank, t) {
			w.add(g, p.Rank, t.Object, false, false, t.Peer, t.Tag)
		}
		w.text = "exchanges messages: to " + g.peerText(t.Object, t.Peer) + tagText(t.Tag) + ", from " + g.peerText(t.Object, t.Source) + tagText(t.SourceTag)
	case WaitAll, WaitAny, Poll:
		return g.requests(p, t)
	case Collective:
		return g.collective(p, t)
	default:
		if t.Object != nil && t.Object.Kind == "window" {
			return g.oneSided(p, t), true
		}
		w.text, w.unsure, w.loose = "is in "+t.Call+onObject(t), true, true
	}
	w.on = compact(w.on)
	return w, true
}

func compact(ranks []int) []int {
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// requests is the wait of a call on requests, or of a thread that polls.
func (g *graph) requests(p *Process, t *Thread) (w wait, ok bool) {
	w.thread, w.ends = t, t.Class == Poll
	if t.Reads != nil {
		w.text, w.unsure, w.loose = g.readsText(t), true, true
		return w, true
	}
	if t.Role == Source && len(t.Tests) == 0 { // MPI_Iprobe, in a run of an older version
		w.add(g, p.Rank, t.Object, true, true, t.Peer, t.Tag)
		w.on, w.text = compact(w.on), g.message(true, t.Object, t.Peer, t.Tag)
		return w, t.Peer != ProcNull
	}
	var parts []string
	for i := range t.Pending {
		r := &t.Pending[i]
		if receives, p2p := r.receiving(); !p2p && r.Collective > 0 && r.Object != nil {
			parts = append(parts, r.Call+onNamed(r.Object)+w.missing(g, p.Rank, r.Object, r.entry(), r.Starts))
		} else if !p2p {
			w.unsure = true
			parts = append(parts, r.Call+onNamed(r.Object))
		} else if r.Peer == NoRank { // MPI_Imrecv
			w.unsure = true
			parts = append(parts, r.Call+onNamed(r.Object))
		} else if r.Peer != ProcNull {
			w.add(g, p.Rank, r.Object, receives, len(t.Pending)+t.More == 1, r.Peer, r.Tag)
			parts = append(parts, strings.TrimPrefix(g.message(receives, r.Object, r.Peer, r.Tag), "waits for "))
		}
	}
	n := len(t.Pending) + t.More
	switch {
	case n < 2:
	case t.Class == WaitAny || t.Class == Poll && t.tests() != "MPI_Testall":
		w.needs = needsOne
	case w.needs == needsAll && len(w.on) == 0:
		w.needs, w.arrives = needsSome, w.arrives || len(w.maybe) == 0 && !w.unsure
	}
	w.unsure = w.unsure || t.More > 0 || !t.Looked
	const most = 3
	if more := n - most; len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("%d more", more))
	}
	w.text = "waits in " + t.Call
	if t.Class == Poll {
		w.text = "polls with " + t.tests()
	}
	switch words := strings.Join(parts, "; "); {
	case n == 1 && words != "" && t.Class != Poll:
		w.text = "waits for " + words
	case words != "" && t.Class == Poll:
		w.text += " for " + strings.Join(parts, " or ")
		words = ""
	case n > 1:
		w.text += " for " + map[bool]string{true: "one of "}[w.needs == needsOne] + text.Count(n, "request")
		if words != "" {
			w.text += " (" + words + ")"
		}
	}
	w.on = compact(w.on)
	return w, true
}

func onObject(t *Thread) string {
	if !t.HasObject {
		return ""
	}
	return " on " + objectText(t.Object)
}

func onNamed(o *Object) string {
	if o == nil {
		return ""
	}
	return " on " + objectText(o)
}

// message is a message that a thread sends or waits for.
type message struct {
	object    *Object
	peer, tag int
	certain   bool // it has not been sent or received before
}

// messages are the messages that a thread sends, or those that it waits for.
func (t *Thread) messages(receives bool) (list []message) {
	switch t.Class {
	case Send, Receive:
		if receives == (t.Class == Receive) {
			list = append(list, message{t.Object, t.Peer, t.Tag, true})
		}
	case Exchange: // what it sends may have been received by an earlier call
		if receives {
			list = append(list, message{t.Object, t.Source, t.SourceTag, true})
		}
	case WaitAll, WaitAny, Poll:
		for i := range t.Pending {
			r := &t.Pending[i]
			if is, p2p := r.receiving(); p2p && is == receives {
				list = append(list, message{r.Object, r.Peer, r.Tag, len(t.Pending)+t.More == 1})
			}
		}
	}
	return list
}

// matches reports whether a receive accepts a message.
func (g *graph) matches(sender int, sent message, receiver int, wanted message) bool {
	return sameObject(sent.object, wanted.object) && (wanted.peer == AnySource || g.worldRank(wanted.object, wanted.peer) == sender) &&
		g.worldRank(sent.object, sent.peer) == receiver && (wanted.tag == AnyTag || wanted.tag == sent.tag)
}

func sameObject(a, b *Object) bool {
	return a != nil && b != nil && a.Identity != "" && a.Identity == b.Identity
}

// receives reports whether a rank is in a call that receives what a thread sends by MPI_Sendrecv.
func (g *graph) receives(rank, sender int, send *Thread) bool {
	p := g.ranks[rank]
	return p != nil && slices.ContainsFunc(p.Threads, func(t *Thread) bool {
		return t.Inside && (t.Class == Receive || t.Class == Exchange) && g.matches(sender, message{send.Object, send.Peer, send.Tag, true}, rank, t.messages(true)[0])
	})
}

// underWay is how long the transfer of a message may take, if it is not certain that it has not been transferred before.
const underWay = 10 * time.Second

// dropMatched removes the waits of a send and a receive that match: their message is under way.
func (g *graph) dropMatched() {
	type place struct{ rank, wait int }
	matched := map[place]bool{}
	for sender, sends := range g.waits {
		for i, s := range sends {
			for _, m := range s.thread.messages(false) {
				to := g.worldRank(m.object, m.peer)
				for k, r := range g.waits[to] {
					for _, wanted := range r.thread.messages(true) {
						certain := m.certain && wanted.certain || min(s.thread.Since, r.thread.Since) < underWay
						if certain && g.matches(sender, m, to, wanted) {
							matched[place{sender, i}] = true
							matched[place{to, k}] = matched[place{to, k}] || r.thread.Class != Exchange
						}
					}
				}
			}
		}
	}
	for rank, waits := range g.waits {
		var kept []wait
		for i, w := range waits {
			if !matched[place{rank, i}] {
				kept = append(kept, w)
			}
		}
		g.waits[rank] = kept
	}
}
