package queues

import (
	"cmp"
	"slices"
	"time"

	"mpitx/recording/finding"
)

// The kinds of findings.
const (
	LateReceives = "late_receives" // messages waited for their receives: post these earlier
	LateSender   = "late_sender"   // receives waited for their messages
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

// relation is what the pairs of a finding have in common.
type relation int

const (
	onePair  relation = iota
	sameRank          // one rank receives from several
	samePeer          // several ranks receive from one
	apart             // each rank receives from the one that is a distance before it
	mutual            // each rank receives from each other one
	both              // two ranks that are a distance apart receive from each other
)

// Finding is about pairs of ranks. In each pair, one rank waits for the other.
type Finding struct {
	finding.Finding
	Rank     int           `json:"rank"` // of the pair with the longest wait
	Peer     int           `json:"peer"`
	Comm     string        `json:"communicator"`
	Pairs    []Pair        `json:"pairs"`    // by rank and peer
	Messages uint64        `json:"messages"` // of all pairs, as are those below
	Of       uint64        `json:"of"`
	Waited   time.Duration `json:"waited_ns"`
	Site     string        `json:"site,omitempty"` // with the longest wait: of the late receives, or of the late sends; "": not known
	Derived  bool          `json:"derived"`        // late receives: at most; a late sender: at least

	relation relation
	distance int // of apart and both; negative: each rank receives from one after it
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
	var single []Finding // of one pair each
	for i := range q.Peers {
		p := &q.Peers[i]
		size = max(size, p.Rank+1, p.Peer+1)
		for _, kind := range []string{LateReceives, LateSender} {
			if pair := p.pair(kind); p.Peer >= 0 && q.matters(kind, pair) {
				single = append(single, q.about(p, kind, pair))
			}
		}
	}
	slices.SortStableFunc(single, func(a, b Finding) int { return cmp.Compare(b.Pairs[0].Waited, a.Pairs[0].Waited) })
	var all []Finding
	for len(single) > 0 {
		var f Finding
		f, single = merge(single, size)
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(b.Waited, a.Waited) })
	all = all[:min(n, len(all))]
	for i := range all {
		all[i].describe()
	}
	return all
}

func (q *Queues) about(p *Peer, kind string, pair Pair) Finding {
	f := Finding{Finding: finding.Finding{Kind: kind, Subject: p.Comm, Share: min(float64(pair.Waited)/float64(q.To-q.From), 1)},
		Rank: p.Rank, Peer: p.Peer, Comm: p.Comm, Pairs: []Pair{pair}, Derived: q.Derived}
	if q.Derived && kind == LateReceives { // the message may have come after its receive
		f.Certainty = finding.Possible
	}
	if s := q.sites[siteKey{peerKey{p.Rank, p.Comm, p.Peer}, kind}]; s != nil {
		f.Site = s.text
	}
	return f
}

func (p *Peer) pair(kind string) Pair {
	waits := p.Spans[InUnexpected]
	if kind == LateSender {
		waits = p.Spans[InPosted]
	}
	return Pair{p.Rank, p.Peer, waits.Count, p.Unexpected + p.Expected, waits.Total}
}

func (q *Queues) matters(kind string, p Pair) bool {
	if len(q.Shortages) > 0 {
		p.Waited -= time.Duration(p.Messages) * min(q.delay, p.Waited)
	}
	return p.Messages > 0 && p.Waited >= time.Duration(leastShare*float64(q.To-q.From)) && p.Waited >= time.Duration(p.Messages)*leastWait &&
		(kind == LateSender || float64(p.Messages) >= leastMessages*float64(p.Of))
}

// merge makes one finding of the first one and of all that say the same, and returns the others.
func merge(all []Finding, size int) (f Finding, others []Finding) {
	f = all[0]
	first := f.Pairs[0]
	distance := func(p Pair) int { return ((p.Rank-p.Peer)%size + size) % size }
	var same []Pair // kind and communicator, with a similar wait
	for i := range all {
		if x := &all[i]; x.Kind == f.Kind && x.Comm == f.Comm && similar*x.Pairs[0].Waited >= first.Waited {
			same = append(same, x.Pairs[0])
		}
	}
	between := func(p Pair) int { return min(distance(p), size-distance(p)) }
	for _, r := range []struct {
		relation relation
		pairs    []Pair
		of       func(Pair) int
	}{{mutual, allPairs(same), func(Pair) int { return 0 }}, {both, bothWays(same), between}, {samePeer, same, func(p Pair) int { return p.Peer }},
		{sameRank, same, func(p Pair) int { return p.Rank }}, {apart, same, distance}} {
		pairs := slices.DeleteFunc(slices.Clone(r.pairs), func(p Pair) bool { return r.of(p) != r.of(first) })
		if len(pairs) > len(f.Pairs) && slices.Contains(pairs, first) {
			f.relation, f.Pairs = r.relation, pairs
		}
	}
	switch f.relation {
	case both:
		f.distance = between(first)
	case apart:
		if f.distance = distance(first); 2*f.distance > size {
			f.distance -= size
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
		return x.Kind == f.Kind && x.Comm == f.Comm && taken[ends{x.Rank, x.Peer}]
	})
	return f, others
}

// allPairs returns the pairs if they are all pairs of their ranks, and otherwise none.
func allPairs(pairs []Pair) []Pair {
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
