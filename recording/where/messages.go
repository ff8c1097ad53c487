package where

import (
	"math"
	"slices"
	"time"
)

// messageBits is CHAIN_MESSAGE_BITS of agent/chain/state.h.
const messageBits = 9

// Messages counts the messages of a process by places. A place stands for some senders, receivers and tags, by the ranks in their communicator.
type Messages struct {
	Sent, Received []uint32
	Lost           uint64 // sent, at a place that is unknown
	Posted         int64  // requests that receive and have not completed
}

// messagePlace is messages_place of agent/chain/messages.h.
func messagePlace(source, destination, tag int) int {
	x := uint64(uint32(source))*0x9e3779b97f4a7c15 + uint64(uint32(destination))*0xc2b2ae3d27d4eb4f + uint64(uint32(tag))*0x165667b19e3779f9
	return int((x ^ x>>32) * 0x9e3779b97f4a7c15 >> (64 - messageBits))
}

// evidence is what the counts say about messages that could end a wait.
type evidence uint8

const (
	unknown evidence = iota
	none             // all that were sent have been received
	arrives          // some were sent and not received, or were received uncounted
)

// sent is a message that a call sends.
type sent struct {
	from, to int
	message
}

// unmetSends are the messages that calls have sent for long and that their receivers will not receive as they are, by places.
func (g *graph) unmetSends() map[int][]sent {
	all := map[int][]sent{}
	for _, p := range g.job.Processes {
		for _, t := range p.Threads {
			if p.Condition != Running || !t.Inside || t.Class == Poll || t.moment() {
				continue
			}
			for _, m := range t.innermost().messages(false) {
				to := g.worldRank(m.object, m.peer)
				if !m.certain || to == NoRank || g.willReceive(to) != none || g.accepts(p.Rank, m, to) {
					continue
				}
				if at := g.place(m.object, p.Rank, to, m.tag); at >= 0 {
					any := g.place(m.object, p.Rank, to, AnyTag)
					all[at], all[any] = append(all[at], sent{p.Rank, to, m}), append(all[any], sent{p.Rank, to, m})
				}
			}
		}
	}
	return all
}

// accepts reports whether a thread of a rank waits for a message.
func (g *graph) accepts(from int, m message, to int) bool {
	return slices.ContainsFunc(g.ranks[to].Threads, func(t *Thread) bool {
		return slices.ContainsFunc(t.innermost().messages(true), func(wanted message) bool { return g.matches(from, m, to, wanted) })
	})
}

// place is the place of messages between two ranks; NoRank: unknown.
func (g *graph) place(o *Object, from, to, tag int) int {
	source, destination := g.rankIn(o, from), g.rankIn(o, to)
	if source < 0 || destination < 0 {
		return NoRank
	}
	if tag == AnyTag {
		tag = math.MinInt32
	}
	return messagePlace(source, destination, tag)
}

// underWay reports whether messages are under way from one rank to another on a communicator: all processes together have sent more to their
// place than they have received.
func (g *graph) underWay(o *Object, from, to, tag int) evidence {
	at := g.place(o, from, to, tag)
	sent, received, known := g.counted(at)
	switch {
	case !known:
		return unknown
	case sent == received+uint32(len(g.unmet[at])): // these wait for another receive
		return none
	}
	return arrives
}

// received reports whether all messages of a place have been received.
func (g *graph) received(o *Object, from, to, tag int) bool {
	sent, received, known := g.counted(g.place(o, from, to, tag))
	return known && sent == received && sent > 0
}

// counted sums up the messages of a place. The sums are of counts that were read before (received) and after (sent) the moment for which they
// hold.
func (g *graph) counted(place int) (sent, received uint32, known bool) {
	before := g.job
	if before.earlier != nil {
		before = before.earlier
	}
	if place < 0 || len(before.Processes) != len(g.job.Processes) {
		return 0, 0, false
	}
	for _, p := range before.Processes {
		if p.Messages == nil || place >= len(p.Messages.Received) {
			return 0, 0, false
		}
		received += p.Messages.Received[place]
	}
	for _, p := range g.job.Processes {
		if p.Messages == nil || place >= len(p.Messages.Sent) || p.Messages.Lost > 0 {
			return 0, 0, false
		}
		sent += p.Messages.Sent[place]
	}
	return sent, received, true
}

// rankIn is the rank in an object of a rank of MPI_COMM_WORLD; NoRank: unknown.
func (g *graph) rankIn(o *Object, world int) int {
	switch {
	case o == nil || o.Identity == "":
		return NoRank
	case o.Identity == "world":
		return world
	}
	if theirs := g.object(world, o.Identity); theirs != nil {
		return theirs.Rank
	}
	return NoRank
}

// willReceive reports whether a rank has posted a receive that may accept a message which nobody seems to wait for.
func (g *graph) willReceive(rank int) evidence {
	p := g.ranks[rank]
	if p == nil || p.Messages == nil {
		return unknown
	}
	listed := int64(0) // the others are known, and dropMatched compares them
	for _, t := range p.Threads {
		for i := range t.Pending {
			if receives, _ := t.Pending[i].receiving(); receives && !t.Pending[i].probes() && t.Pending[i].Peer != ProcNull && t.Inside {
				listed++
			}
		}
	}
	if p.Messages.Posted <= listed {
		return none
	}
	return arrives
}

// underWayFor is how long the transfer of a message may take. Longer, and it may be one that another wait is for, or that was not counted.
const underWayFor = 10 * time.Second

// add adds a peer of a message to a wait. A message that may be under way, or one that a posted receive may accept, makes the wait less certain.
// sure: the message is not one of several, of which some may have completed.
func (w *wait) add(g *graph, self int, o *Object, receives, sure bool, peer, tag int) {
	var ranks []int
	switch world := g.worldRank(o, peer); {
	case peer == AnySource:
		others, known := g.others(o, self)
		ranks, w.needs, w.unsure = others, needsOne, w.unsure || !known
	case world == NoRank:
		w.unsure = true
	default:
		ranks, w.named = []int{world}, append(w.named, world)
	}
	for _, rank := range ranks {
		e := unknown
		switch {
		case receives:
			e = g.underWay(o, rank, self, tag)
		case g.received(o, self, rank, tag):
			w.arrives = w.arrives || sure
			continue
		case sure:
			e = g.willReceive(rank)
		}
		switch {
		case e == none:
			w.on = append(w.on, rank)
		case e == arrives && receives && max(w.thread.Since, w.thread.Idle) < underWayFor:
			w.arrives = w.arrives || sure
		default:
			w.maybe = append(w.maybe, rank)
		}
	}
}
