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

// Finding is a pair of ranks of which one waits for the other.
type Finding struct {
	Kind       FindingKind
	Rank, Peer int
	Comm       string
	Messages   uint64        // that waited, or were waited for
	Of         uint64        // all messages of the pair; 0: not known
	Waited     time.Duration // in total; 0: not known
	Site       *Site         // with the longest wait: of the late receives, or of the late sends; nil: not known
	Derived    bool          // late receives: at most; a late sender: at least
}

// Findings returns at most n findings, those with the longest waits first. A wait of less than a hundredth of the recorded time is none,
// unless most messages of the pair came before their receive.
func (q *Queues) Findings(n int) []Finding {
	var all []Finding
	least := (q.To - q.From) / 100
	for i := range q.Peers {
		p := &q.Peers[i]
		if p.Peer < 0 {
			continue
		}
		of := p.Unexpected + p.Expected
		if !q.Expects() {
			of = 0
		}
		if wait := p.Spans[InUnexpected]; p.Unexpected > 0 && (wait.Total >= max(least, 1) || 2*p.Unexpected > of && p.Unexpected+p.Expected >= 10) {
			all = append(all, Finding{LateReceives, p.Rank, p.Peer, p.Comm, p.Unexpected, of, wait.Total, q.site(p, LateReceives), q.Derived})
		}
		if wait := p.Spans[InPosted]; wait.Total >= max(least, 1) {
			all = append(all, Finding{LateSender, p.Rank, p.Peer, p.Comm, wait.Count, of, wait.Total, q.site(p, LateSender), q.Derived})
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(b.Messages, a.Messages))
	})
	return all[:min(n, len(all))]
}

func (q *Queues) site(p *Peer, kind FindingKind) *Site {
	return q.sites[siteKey{peerKey{p.Rank, p.Comm, p.Peer}, kind}]
}
