package waits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	all = append(append(all, a.wrongOrder()...), a.unknown()...)
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
	first, cost, ranks := c[0], time.Duration(0), []int{}
	for _, x := range c {
		cost += x.Cost
		ranks = append(ranks, x.Rank)
	}
	slices.Sort(ranks)
	alone := 3*first.Cost > 2*cost
	if alone {
		cost, ranks = first.Cost, []int{first.Rank}
	}
	f := finding.Finding{Kind: "cause of waiting", Subject: first.Where(), Ranks: ranks, Share: float64(cost) / float64(max(a.Time, 1)), Figures: finding.Figures{"cost_ns": float64(cost)},
		Next: "mpitx report RUN waits --table causes"}
	if alone {
		f.Figures["excess_ns"] = float64(first.Excess)
	}
	f.Text = a.doing(&first, ranks) + fmt.Sprintf("; that costs %s of waiting, %s of all waiting", text.Duration(cost), text.Percent(float64(cost)/float64(max(a.Waiting, 1))))
	if alone && len(first.Ranks) > 0 {
		f.Text += fmt.Sprintf("; %s waited for it directly", text.Ranks(first.Ranks))
	}
	short := a.noCore[first.Rank].calling
	if first.What == Computing {
		short = a.noCore[first.Rank].computing
	}
	where := ""
	if first.NoCore != nil {
		short, where = *first.NoCore, " there"
	}
	if alone && 10*short >= max(first.Excess, first.Cost/time.Duration(max(a.Ranks-1, 1))) {
		f.Text += fmt.Sprintf("; rank %d was ready to run without a core%s for up to %s, which may be a part of it", first.Rank, where, text.Duration(short))
		f.Certainty = finding.Possible
	}
	return f
}

// doing says what ranks did while others waited.
func (a *Analysis) doing(c *Cause, ranks []int) string {
	who, where := text.Ranks(ranks), c.Where()
	several := len(ranks) > 1
	switch {
	case c.What != Computing && several:
		return fmt.Sprintf("%s, in turn, take time in %s that no wait explains (transfer, progress, a missing core, or what the trace does not show)", who, where)
	case c.What != Computing:
		return fmt.Sprintf("%s takes time in %s that no wait explains (transfer, progress, a missing core, or what the trace does not show)", who, where)
	}
	verb := text.Verb(len(ranks), "computes", "compute")
	switch {
	case a.Missing.Functions > 0:
		verb = text.Verb(len(ranks), "is outside of the recorded calls", "are outside of the recorded calls")
	case polls(c.Function):
		verb = text.Verb(len(ranks), "computes or polls", "compute or poll")
	case slices.ContainsFunc(ranks, a.threaded):
		verb = text.Verb(len(ranks), "computes, or waits for its own threads,", "compute, or wait for their own threads,")
	}
	switch {
	case several:
		return fmt.Sprintf("%s %s longer than others, in turn, before %s", who, verb, where)
	case c.Excess > 0:
		return fmt.Sprintf("%s %s %s longer than others before %s", who, verb, text.Duration(c.Excess), where)
	}
	return fmt.Sprintf("%s %s before %s while others wait", who, verb, where)
}

// polls reports whether a function asks without waiting, so that programs call it in loops.
func polls(function string) bool {
	return strings.HasPrefix(function, "MPI_Test") || function == "MPI_Iprobe" || function == "MPI_Improbe" || function == "MPI_Request_get_status"
}

// threaded reports whether several threads of a rank have calls.
func (a *Analysis) threaded(rank int) bool {
	n := 0
	for i := range a.program.tracks {
		if t := &a.program.tracks[i]; t.rank == rank && t.calls.len() > 0 {
			n++
		}
	}
	return n > 1
}

// unknown says how much waiting has no known cause.
func (a *Analysis) unknown() (all []finding.Finding) {
	cost := time.Duration(0)
	for _, c := range a.Causes {
		if c.What == Unexplained {
			cost += c.Cost
		}
	}
	if share := float64(cost) / float64(max(a.Time, 1)); share >= significant {
		all = append(all, finding.Finding{Kind: "unexplained", Certainty: finding.Undecided, Share: share, Figures: finding.Figures{"cost_ns": float64(cost)},
			Text: fmt.Sprintf("the cause of %s of waiting, %s of all waiting, is not known: the ranks were not in step for too many calls", text.Duration(cost), text.Percent(float64(cost)/float64(max(a.Waiting, 1))))})
	}
	return all
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
