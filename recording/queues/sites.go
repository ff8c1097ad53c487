package queues

import (
	"cmp"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// Site is where the program made the calls that others wait for most: where it posted late receives, or sent late messages.
type Site struct {
	Rank     *recording.Rank
	Address  uint64
	Messages uint64        // of this site that waited, or were waited for
	Waited   time.Duration // in total
	Text     string        // function, file and line: see ResolveSites
}

type place struct {
	rank    *recording.Rank
	address uint64
}

type siteKey struct {
	peerKey
	kind FindingKind
}

// sites finds the site with the longest wait for each pair of ranks.
func (d *deriver) sites(pairs []pair) map[siteKey]*Site {
	type at struct {
		siteKey
		place
	}
	all := map[at]*Site{}
	for i := range pairs {
		p := &pairs[i]
		kind, where, waited := LateReceives, p.receiver, p.posted-p.sent
		if waited <= 0 {
			kind, where, waited = LateSender, p.sender, -waited
		}
		if where.address == 0 {
			continue
		}
		key := at{siteKey{peerKey{int(p.rank), d.names[p.comm], int(p.peer)}, kind}, where}
		s := all[key]
		if s == nil {
			s = &Site{Rank: where.rank, Address: where.address}
			all[key] = s
		}
		s.Messages++
		s.Waited += waited
	}
	most := map[siteKey]*Site{}
	for key, s := range all {
		if m := most[key.siteKey]; m == nil || cmp.Or(cmp.Compare(s.Waited, m.Waited), cmp.Compare(m.Address, s.Address)) > 0 {
			most[key.siteKey] = s
		}
	}
	return most
}

// AddCalls takes the call sites of the calls in the same run, and the findings of events that do not tell enough: what Derive has returned.
func (q *Queues) AddCalls(calls *Queues) {
	if calls != nil {
		q.calls, q.sites, q.Unreceived = calls, calls.sites, calls.Unreceived
	}
}

// ResolveSites sets the texts of call sites.
func (q *Queues) ResolveSites(text func(r *recording.Rank, address uint64) string) {
	for _, s := range q.sites {
		s.Text = text(s.Rank, s.Address)
	}
	trace.Resolve(q.Unreceived, text)
}
