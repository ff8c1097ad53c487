package waits

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mpitx/recording/finding"
	"mpitx/text"
)

// significant is the part of all ranks' time from which on waits stand out.
const significant = 0.02

// Where names a region in the program: "MPI_Send in main app.c:33".
func (x At) Where() string {
	words := cmp.Or(x.Function, "unknown")
	if x.Place != "" {
		words += " in " + x.Place
	}
	if x.Phase != "" {
		words += ", phase " + x.Phase
	}
	return words
}

// Findings are first that cores were missing, then what costs most: computation and calls of one rank or of several in turn, and messages that are received in another order than they
// come. The most expensive comes first.
func (a *Analysis) Findings() (all []finding.Finding) {
	for _, c := range a.together() {
		if share := float64(c[0].Cost) / float64(max(a.Time, 1)); c[0].What == Unexplained || share < significant && len(c) == 1 {
			continue
		}
		if f := a.costs(c); f.Share >= significant {
			all = append(all, f)
		}
	}
	all = append(all, a.wrongOrder()...)
	slices.SortStableFunc(all, func(x, y finding.Finding) int { return cmp.Compare(y.Share, x.Share) })
	var short []finding.Finding
	for _, s := range a.Shortages {
		short = append(short, finding.Finding{Kind: "processor", Text: s.Text + "; what takes longer than on other ranks may have waited for a core", Next: "whether the job can have more cores, or needs fewer ranks"})
	}
	return append(short, all...)
}

// together groups the causes that differ in their rank only. The most expensive of each group comes first.
func (a *Analysis) together() (groups [][]Cause) {
	type key struct {
		what string
		At
	}
	index := map[key]int{}
	for _, c := range a.Causes {
		at := key{c.What, c.At}
		n, ok := index[at]
		if !ok {
			n = len(groups)
			index[at] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], c)
	}
	return groups
}

// costs says what a region costs others.
func (a *Analysis) costs(c []Cause) finding.Finding {
	cost, ranks := time.Duration(0), []int{}
	for _, x := range c {
		cost += x.Cost
		ranks = append(ranks, x.Rank)
	}
	slices.Sort(ranks)
	first := c[0]
	f := finding.Finding{Kind: "cause of waiting", Subject: first.Where(), Share: float64(cost) / float64(max(a.Time, 1)), Figures: finding.Figures{"cost_ns": float64(cost)},
		Next: "mpitx report RUN waits --table causes"}
	part := fmt.Sprintf("that costs %s of waiting, %s of all waiting", text.Duration(cost), text.Percent(float64(cost)/float64(max(a.Waiting, 1))))
	alone := 2*first.Cost > cost
	if alone {
		f.Ranks = []int{first.Rank}
		f.Figures["excess_ns"] = float64(first.Excess)
	} else {
		f.Ranks = ranks
	}
	where := first.Where()
	switch {
	case alone && first.What == Computing && first.Excess > 0:
		f.Text = fmt.Sprintf("rank %d computes %s longer than others before %s; ", first.Rank, text.Duration(first.Excess), where)
	case alone && first.What == Computing:
		f.Text = fmt.Sprintf("rank %d computes before %s while others wait; ", first.Rank, where)
	case first.What == Computing:
		f.Text = fmt.Sprintf("%s compute longer than others, in turn, before %s; ", text.Ranks(ranks), where)
	case alone:
		f.Text = fmt.Sprintf("rank %d takes time in %s that no wait explains (transfer, progress, a missing core); ", first.Rank, where)
	default:
		f.Text = fmt.Sprintf("%s, in turn, take time in %s that no wait explains (transfer, progress, a missing core); ", text.Ranks(ranks), where)
	}
	f.Text += part
	if alone && len(first.Ranks) > 0 {
		f.Text += fmt.Sprintf("; %s waited for it directly", text.Ranks(first.Ranks))
	}
	short := a.noCore[first.Rank].calling
	if first.What == Computing {
		short = a.noCore[first.Rank].computing
	}
	if alone && 10*short >= max(first.Excess, first.Cost/time.Duration(max(a.Ranks-1, 1))) {
		f.Text += fmt.Sprintf("; rank %d was ready to run without a core for up to %s, which may be a part of it", first.Rank, text.Duration(short))
		f.Certainty = finding.Possible
	}
	return f
}

// wrongOrder says where messages are received in another order than they come.
func (a *Analysis) wrongOrder() (all []finding.Finding) {
	type sums struct {
		waiting time.Duration
		ranks   []int
	}
	sites := map[At]*sums{}
	for _, s := range a.States {
		if s.Kind == WrongOrder {
			if sites[s.At] == nil {
				sites[s.At] = &sums{}
			}
			sites[s.At].waiting += s.Waiting
			sites[s.At].ranks = append(sites[s.At].ranks, s.Rank)
		}
	}
	for at, s := range sites {
		share := float64(s.waiting) / float64(max(a.Time, 1))
		if share < significant {
			continue
		}
		slices.Sort(s.ranks)
		s.ranks = slices.Compact(s.ranks)
		all = append(all, finding.Finding{Kind: "wrong order", Subject: at.Where(), Ranks: s.ranks, Share: share, Figures: finding.Figures{"waiting_ns": float64(s.waiting)},
			Text: fmt.Sprintf("%s %s %s in %s for a message while another one was there that %s later", text.Ranks(s.ranks), text.Verb(len(s.ranks), "waits", "wait"),
				text.Duration(s.waiting), at.Where(), text.Verb(len(s.ranks), "it receives", "they receive")),
			Next: "MPI_Waitany, MPI_Waitall or MPI_ANY_SOURCE there"})
	}
	slices.SortFunc(all, func(x, y finding.Finding) int { return cmp.Compare(x.Subject, y.Subject) })
	return all
}
