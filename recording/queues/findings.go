package queues

import (
	"cmp"
	"slices"
	"time"
)

// FindingKind is a kind of finding.
type FindingKind string

// The kinds.
const (
	LateReceives FindingKind = "late_receives" // messages waited for their receives: post these earlier
	LateSender   FindingKind = "late_sender"   // receives waited for their messages
)

// What a pair of ranks must reach to be worth a finding. Waits that are shorter than a message takes on a network are part of any exchange.
const (
	leastShare    = 0.02                  // of the recorded time
	leastWait     = 10 * time.Microsecond // of a message on average
	leastMessages = 0.1                   // of the pair's messages, of those that came before their receive
	similar       = 4                     // times at most are the longest and the shortest wait of pairs in one finding apart
)

// Pair is a rank that receives from another one.
type Pair struct {
	Rank     int           `json:"rank"`
	Peer     int           `json:"peer"`
	Messages uint64        `json:"messages"`  // that waited, or were waited for
	Of       uint64        `json:"of"`        // all messages of the pair
	Waited   time.Duration `json:"waited_ns"` // in all, of these Messages
}

// Relation is what the pairs of a finding have in common.
type Relation string

// The relations.
const (
	OnePair  Relation = "pair"
	SameRank Relation = "rank"   // one rank receives from several
	SamePeer Relation = "peer"   // several ranks receive from one
	Apart    Relation = "apart"  // each rank receives from the one that is Distance before it
	Mutual   Relation = "mutual" // each rank receives from each other one
	Both     Relation = "both"   // two ranks that are Distance apart receive from each other
)

// Finding is a set of pairs of ranks. In each pair, one rank waits for the other.
type Finding struct {
	Kind     FindingKind   `json:"kind"`
	Comm     string        `json:"communicator"`
	Pairs    []Pair        `json:"pairs"` // by rank and peer
	Relation Relation      `json:"-"`
	Distance int           `json:"-"`        // of Apart and Both; negative: each rank receives from one after it
	Most     Pair          `json:"-"`        // the one with the longest wait
	Messages uint64        `json:"messages"` // of all pairs, as are those below
	Of       uint64        `json:"of"`
	Waited   time.Duration `json:"waited_ns"`
	Site     *Site         `json:"-"`       // with the longest wait: of the late receives, or of the late sends; nil: not known
	Derived  bool          `json:"derived"` // late receives: at most; a late sender: at least
}

// Findings returns at most n findings, those with the longest waits first. Pairs of ranks with similar waits of which one can say the same
// are one finding. If ranks had no core, a message must have waited longer than that can explain. Events that tell neither times nor communicators leave the findings to the calls.
func (q *Queues) Findings(n int) []Finding {
	if !q.Expects() {
		if q.calls == nil {
			return nil
		}
		return q.calls.Findings(n)
	}
	size := 0
	var single []Finding
	for i := range q.Peers {
		p := &q.Peers[i]
		size = max(size, p.Rank+1, p.Peer+1)
		for _, kind := range []FindingKind{LateReceives, LateSender} {
			if pair := p.pair(kind); p.Peer >= 0 && q.matters(kind, pair) {
				single = append(single, Finding{Kind: kind, Comm: p.Comm, Pairs: []Pair{pair}, Relation: OnePair, Most: pair, Site: q.site(p, kind), Derived: q.Derived})
			}
		}
	}
	slices.SortStableFunc(single, func(a, b Finding) int { return cmp.Compare(b.Most.Waited, a.Most.Waited) })
	var all []Finding
	for len(single) > 0 {
		var f Finding
		f, single = merge(single, size)
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(b.Waited, a.Waited) })
	return all[:min(n, len(all))]
}

func (p *Peer) pair(kind FindingKind) Pair {
	waits := p.Spans[InUnexpected]
	if kind == LateSender {
		waits = p.Spans[InPosted]
	}
	return Pair{p.Rank, p.Peer, waits.Count, p.Unexpected + p.Expected, waits.Total}
}

func (q *Queues) matters(kind FindingKind, p Pair) bool {
	if len(q.Shortages) > 0 {
		p.Waited -= time.Duration(p.Messages) * min(q.delay, p.Waited)
	}
	return p.Messages > 0 && p.Waited >= time.Duration(leastShare*float64(q.To-q.From)) && p.Waited >= time.Duration(p.Messages)*leastWait &&
		(kind == LateSender || float64(p.Messages) >= leastMessages*float64(p.Of))
}

// merge makes one finding of the first one and of all that say the same, and returns the others.
func merge(all []Finding, size int) (f Finding, others []Finding) {
	f = all[0]
	distance := func(p Pair) int { return ((p.Rank-p.Peer)%size + size) % size }
	var same []Pair // kind and communicator, with a similar wait
	for i := range all {
		if x := &all[i]; x.Kind == f.Kind && x.Comm == f.Comm && similar*x.Most.Waited >= f.Most.Waited {
			same = append(same, x.Most)
		}
	}
	apart := func(p Pair) int { return min(distance(p), size-distance(p)) }
	for _, r := range []struct {
		relation Relation
		pairs    []Pair
		of       func(Pair) int
	}{{Mutual, mutual(same), func(Pair) int { return 0 }}, {Both, bothWays(same), apart}, {SamePeer, same, func(p Pair) int { return p.Peer }},
		{SameRank, same, func(p Pair) int { return p.Rank }}, {Apart, same, distance}} {
		pairs := slices.DeleteFunc(slices.Clone(r.pairs), func(p Pair) bool { return r.of(p) != r.of(f.Most) })
		if len(pairs) > len(f.Pairs) && slices.Contains(pairs, f.Most) {
			f.Relation, f.Pairs = r.relation, pairs
		}
	}
	switch f.Relation {
	case Both:
		f.Distance = apart(f.Most)
	case Apart:
		if f.Distance = distance(f.Most); 2*f.Distance > size {
			f.Distance -= size
		}
	}
	slices.SortFunc(f.Pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Peer, b.Peer)) })
	for _, p := range f.Pairs {
		f.Messages += p.Messages
		f.Of += p.Of
		f.Waited += p.Waited
	}
	taken := endsOf(f.Pairs)
	others = slices.DeleteFunc(slices.Clone(all), func(x Finding) bool {
		return x.Kind == f.Kind && x.Comm == f.Comm && taken[ends{x.Most.Rank, x.Most.Peer}]
	})
	return f, others
}

// mutual returns the pairs if they are all pairs of their ranks, and otherwise none.
func mutual(pairs []Pair) []Pair {
	ranks := map[int]bool{}
	for _, p := range pairs {
		ranks[p.Rank], ranks[p.Peer] = true, true
	}
	if n := len(ranks); len(pairs) != n*(n-1) {
		return nil
	}
	return pairs
}

// ends are the ranks of a pair.
type ends struct{ rank, peer int }

func endsOf(pairs []Pair) map[ends]bool {
	all := make(map[ends]bool, len(pairs))
	for _, p := range pairs {
		all[ends{p.Rank, p.Peer}] = true
	}
	return all
}

// bothWays returns the pairs of which the opposite pair is there, too.
func bothWays(pairs []Pair) []Pair {
	all := endsOf(pairs)
	return slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return !all[ends{p.Peer, p.Rank}] })
}

func (q *Queues) site(p *Peer, kind FindingKind) *Site {
	return q.sites[siteKey{peerKey{p.Rank, p.Comm, p.Peer}, kind}]
}
