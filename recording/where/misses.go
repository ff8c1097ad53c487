package where

import (
	"fmt"
	"slices"

	"mpitx/recording/finding"
)

// miss is a message that a rank sends and another one that its receiver waits for.
type miss struct {
	send, receive *wait
	sent, wanted  message
	from, to      int
}

// nearMisses finds pairs of a send and a receive that would match but for the tag or the communicator, one for two ranks. Both wait with all of
// their threads, so that neither will call another function. explained has how sure it is; in has the ranks that wait in cycles.
func (g *graph) nearMisses(in map[int]bool) (all []finding.Finding, explained map[int]finding.Certainty) {
	explained = map[int]finding.Certainty{}
	pairs := map[[2]int]bool{}
	for _, p := range g.job.Processes {
		if g.works(p.Rank) {
			continue
		}
		for i := range g.waits[p.Rank] {
			for _, m := range g.missesOf(p.Rank, &g.waits[p.Rank][i]) {
				pair := [2]int{min(m.from, m.to), max(m.from, m.to)}
				if pairs[pair] || !m.sure() && !(in[m.from] && in[m.to] && slices.Contains(m.send.all(), m.to)) {
					continue // if its sender waits for another rank, its receive may still come
				}
				f := g.missed(m)
				all, pairs[pair] = append(all, f), true
				explained[m.from], explained[m.to] = f.Certainty, f.Certainty
			}
		}
	}
	return all, explained
}

// missesOf are the messages that a rank nearly receives by a wait for one rank.
func (g *graph) missesOf(to int, r *wait) (all []miss) {
	from := r.all()
	if r.unsure || r.loose || len(from) == 0 || r.needs == needsOne && len(from) > 1 {
		return nil
	}
	for _, wanted := range r.thread.messages(true) {
		sender := g.worldRank(wanted.object, wanted.peer)
		if wanted.peer == AnySource {
			sender = from[0]
		}
		if sender == to || !slices.Contains(from, sender) || g.works(sender) {
			continue
		}
		for i := range g.waits[sender] {
			s := &g.waits[sender][i]
			for _, m := range s.thread.sends() {
				near := miss{s, r, m, wanted, sender, to}
				if g.worldRank(m.object, m.peer) == to && !g.matches(sender, m, to, wanted) && (near.sure() || g.likely(&near)) {
					all = append(all, near)
				}
			}
		}
	}
	return all
}

// sure reports whether the rank sends no other message, and waits for no other.
func (m *miss) sure() bool { return m.sent.certain && m.wanted.certain }

// likely reports whether only the communicator differs from what the rank waits for, and the message was not received.
func (g *graph) likely(m *miss) bool {
	return !sameObject(m.sent.object, m.wanted.object) && (m.wanted.tag == AnyTag || m.wanted.tag == m.sent.tag) && !g.received(m.sent.object, m.from, m.to, m.sent.tag)
}

// sends are the messages that a thread sends or has sent by its call.
func (t *Thread) sends() []message {
	if t.Class == Exchange {
		return []message{{t.Object, t.Peer, t.Tag, false}}
	}
	return t.messages(false)
}

// missed says what differs.
func (g *graph) missed(m miss) finding.Finding {
	what, sent, wanted := "the tags differ", tagged(m.sent.tag), tagged(m.wanted.tag)
	if !sameObject(m.sent.object, m.wanted.object) {
		if what = "the communicators differ"; m.wanted.tag != AnyTag && m.sent.tag != m.wanted.tag {
			what = "the communicators and the tags differ"
		}
		sent, wanted = sent+" on "+objectText(m.sent.object), wanted+" on "+objectText(m.wanted.object)
	}
	f := finding.Finding{Kind: "tags", Ranks: compact([]int{m.from, m.to}), Figures: g.waited([]int{m.to})}
	if !m.sure() || slices.ContainsFunc([]*wait{m.send, m.receive}, func(w *wait) bool { return w.ends || len(w.maybe) > 0 }) || g.ranks[m.from].sleepers() || g.ranks[m.to].sleepers() {
		f.Certainty, what = finding.Possible, "possible: "+what // another receive may accept it, or another message is under way
	}
	f.Text = fmt.Sprintf("%s: %d sends to %d with %s in %s, and %d waits for a message from %d with %s in %s",
		what, m.from, m.to, sent, m.send.thread.tests(), m.to, m.from, wanted, m.receive.thread.tests())
	return f
}

func tagged(tag int) string {
	if tag == AnyTag {
		return "any tag"
	}
	return fmt.Sprintf("tag %d", tag)
}

// innermost is the call that a thread is in: that of a callback, if a callback has called MPI.
func (t *Thread) innermost() *Thread {
	for t.Inner != nil {
		t = t.Inner
	}
	return t
}
