package waits

import (
	"cmp"
	"slices"
	"time"
)

// Part is the efficiency of a phase, or of the ranks of a node.
type Part struct {
	Phase         string        `json:"phase"` // "": outside of all, or of a node
	Node          string        `json:"node"`  // "": of a phase
	Ranks         int           `json:"ranks"`
	Time          time.Duration `json:"time_ns"` // of the rank that spends most in the phase; of a node the run time
	Parallel      float64       `json:"parallel"`
	LoadBalance   float64       `json:"load_balance"`
	Communication float64       `json:"communication"`
}

// spent is a rank's time in a part, and what of it is outside of MPI.
type spent struct{ all, outside int64 }

// parts are the efficiencies of the phases if there are several, and of the nodes if there are several. A phase has its calls and the computation before
// each. Of several threads of a rank, the one that computes longest counts.
func (p *Program) parts(a *Analysis) {
	phases, nodes := map[string]map[int]spent{}, map[int]map[int]spent{}
	for i := range p.tracks {
		t := &p.tracks[i]
		if t.calls.len() == 0 {
			continue
		}
		of, outside := map[string]spent{}, int64(0)
		before := t.start
		for _, block := range t.calls.blocks {
			for k := range block {
				c := &block[k]
				phase := p.sites[c.site].Phase
				s := of[phase]
				s.all, s.outside = s.all+c.end-before, s.outside+c.begin-before
				of[phase] = s
				outside += c.begin - before
				before = c.end
			}
		}
		longest(nodes, t.node, t.rank, spent{int64(a.Run), outside})
		for phase, s := range of {
			longest(phases, phase, t.rank, s)
		}
	}
	if len(phases) > 1 {
		for phase, ranks := range phases {
			a.Parts = append(a.Parts, partOf(Part{Phase: phase}, ranks))
		}
		slices.SortFunc(a.Parts, func(x, y Part) int { return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Phase, y.Phase)) })
	}
	if len(nodes) > 1 {
		for i, name := range p.Nodes {
			if ranks := nodes[i]; ranks != nil {
				a.Parts = append(a.Parts, partOf(Part{Node: name}, ranks))
			}
		}
	}
}

// longest notes what a rank spends in a part, of its threads the longest time outside of MPI.
func longest[K comparable](parts map[K]map[int]spent, part K, rank int, s spent) {
	if parts[part] == nil {
		parts[part] = map[int]spent{}
	}
	if old, ok := parts[part][rank]; !ok || s.outside > old.outside {
		parts[part][rank] = s
	}
}

func partOf(x Part, ranks map[int]spent) Part {
	all, outside, sum := int64(0), int64(0), int64(0)
	for _, s := range ranks {
		all, outside, sum = max(all, s.all), max(outside, s.outside), sum+s.outside
	}
	x.Ranks, x.Time = len(ranks), time.Duration(all)
	if all > 0 && outside > 0 {
		mean := float64(sum) / float64(len(ranks))
		x.Parallel, x.LoadBalance, x.Communication = mean/float64(all), mean/float64(outside), float64(outside)/float64(all)
	}
	return x
}
