package where

import (
	"fmt"
	"slices"
)

// miss is a message that a rank sends and another one that its receiver waits for.
type miss struct {
	send, receive *wait
	sent, wanted  message
	from, to      int
}

// nearMisses finds pairs of a send and a receive that would match but for the tag or the communicator. Both ranks wait with all of their threads,
// so that neither will call another function.
func (g *graph) nearMisses() (all []Finding, explained map[int]bool) {
	explained = map[int]bool{}
	for _, p := range g.job.Processes {
		if g.works(p.Rank) {
			continue
		}
		for i := range g.waits[p.Rank] {
			for _, m := range g.missesOf(p.Rank, &g.waits[p.Rank][i]) {
				all = append(all, g.missed(m))
				explained[m.from], explained[m.to] = true, true
			}
		}
	}
	return all, explained
}

// missesOf are the messages that a rank nearly receives by a wait for one message, from one rank.
func (g *graph) missesOf(to int, r *wait) (all []miss) {
	wanted := r.thread.innermost().messages(true)
	if from := r.all(); len(wanted) == 1 && wanted[0].certain && len(from) == 1 && !r.unsure && from[0] != to && !g.works(from[0]) {
		for i := range g.waits[from[0]] {
			s := &g.waits[from[0]][i]
			for _, m := range s.thread.innermost().messages(false) {
				if m.certain && g.world(m.object, m.peer) == to && m.object.known() && wanted[0].object.known() && !g.matches(from[0], m, to, wanted[0]) {
					all = append(all, miss{s, r, m, wanted[0], from[0], to})
				}
			}
		}
	}
	return all
}

// missed says what differs.
func (g *graph) missed(m miss) Finding {
	what, sent, wanted := "the tags differ", tagged(m.sent.tag), tagged(m.wanted.tag)
	if !sameObject(m.sent.object, m.wanted.object) {
		if what = "the communicators differ"; m.wanted.tag != AnyTag && m.sent.tag != m.wanted.tag {
			what = "the communicators and the tags differ"
		}
		sent, wanted = sent+" on "+objectText(m.sent.object), wanted+" on "+objectText(m.wanted.object)
	}
	f := Finding{Kind: "tags", Ranks: compact([]int{m.from, m.to})}
	if slices.ContainsFunc([]*wait{m.send, m.receive}, func(w *wait) bool { return w.ends || len(w.maybe) > 0 }) || g.ranks[m.from].sleepers() || g.ranks[m.to].sleepers() {
		f.Certainty, what = Possible, "possible: "+what // another receive may accept it, or another message is under way
	}
	f.Text = fmt.Sprintf("%s: %d sends to %d with %s in %s, and %d waits for a message from %d with %s in %s",
		what, m.from, m.to, sent, m.send.thread.innermost().tests(), m.to, m.from, wanted, m.receive.thread.innermost().tests())
	return f
}

func tagged(tag int) string {
	if tag == AnyTag {
		return "any tag"
	}
	return fmt.Sprintf("tag %d", tag)
}

// known reports whether it is known which processes share an object.
func (o *Object) known() bool { return o != nil && o.Identity != "" }

// innermost is the call that a thread is in: that of a callback, if a callback has called MPI.
func (t *Thread) innermost() *Thread {
	for t.Inner != nil {
		t = t.Inner
	}
	return t
}
