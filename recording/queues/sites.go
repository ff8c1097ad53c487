package queues

import (
	"cmp"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// place is where the program made a call.
type place struct {
	rank    *recording.Rank
	address uint64
}

// site is where the program made the calls that others wait for most: where it posted late receives, or sent late messages.
type site struct {
	place
	waited time.Duration // in total
	text   string        // function, file and line: see ResolveSites
}

type siteKey struct {
	peerKey
	kind string
}

// sites finds the site with the longest wait for each pair of ranks.
func (d *deriver) sites(pairs []pair) map[siteKey]*site {
	type at struct {
		siteKey
		place
	}
	all := map[at]*site{}
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
			s = &site{place: where}
			all[key] = s
		}
		s.waited += waited
	}
	most := map[siteKey]*site{}
	for key, s := range all {
		if m := most[key.siteKey]; m == nil || cmp.Or(cmp.Compare(s.waited, m.waited), cmp.Compare(m.address, s.address)) > 0 {
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

// ResolveSites sets the texts of call sites, which Findings has then.
func (q *Queues) ResolveSites(text func(r *recording.Rank, address uint64) string) {
	for _, s := range q.sites {
		s.text = text(s.rank, s.address)
	}
	trace.Resolve(q.Unreceived, text)
}
