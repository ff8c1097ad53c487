package queues

import (
	"fmt"
	"slices"
	"time"

	"mpitx/recording/finding"
	"mpitx/text"
)

// describe puts a finding into words and figures.
func (f *Finding) describe() {
	receivers, s, senders := f.sides()
	each := f.Waited / time.Duration(max(f.Messages, 1))
	f.Figures = finding.Figures{"messages": float64(f.Messages), "messages_of_pairs": float64(f.Of), "waited_ns": float64(f.Waited), "mean_wait_ns": float64(each)}
	its, mean, all := map[bool]string{true: "its", false: "their"}[s != ""], text.Amount(float64(each), "ns"), ""
	be, own, plural := "was", "its", ""
	if f.Messages > 1 {
		mean, all = mean+" on average", ", "+text.Amount(float64(f.Waited), "ns")+" in all"
		be, own, plural = "were", "their", "s"
	}
	where := ""
	if f.Site != "" {
		where = ", most of all in " + f.Site
	}
	if f.Kind == LateSender {
		how := "waited " + mean + " in the queue of posted receives"
		if f.Derived {
			how = be + " posted " + mean + " before " + own + " message" + plural + " " + be + " sent"
		}
		late := ""
		switch f.relation {
		case onePair, samePeer:
			late = "; " + senders + " sends late"
		case sameRank:
			late = "; " + senders + " send late"
		case apart:
			late = f.roots()
		}
		f.Text = fmt.Sprintf("%s wait%s for %s: %d of %s receives on %s %s%s%s%s", receivers, s, senders, f.Messages, its, f.Comm, how, all, late, where)
		return
	}
	how := "came before " + own + " receive" + plural + ", and waited "
	if f.Derived {
		how = be + " sent before " + own + " receive" + plural + " " + be + " posted, and waited at most "
	}
	if f.relation == both {
		senders += ","
	}
	f.Text = fmt.Sprintf("%s receive%s late: %d of %s from %s on %s %s%s%s; post %s receives earlier%s",
		receivers, s, f.Messages, text.Count(f.Of, "message"), senders, f.Comm, how, mean, all, its, where)
}

// roots names the ranks that others wait for in turn, and that wait for nobody.
func (f *Finding) roots() string {
	var roots []int
	for _, p := range f.Pairs {
		if !slices.ContainsFunc(f.Pairs, func(o Pair) bool { return o.Rank == p.Peer }) {
			roots = append(roots, p.Peer)
		}
	}
	slices.Sort(roots)
	switch len(roots) {
	case 0:
		return ""
	case 1:
		return "; " + text.Ranks(roots) + " does not wait, and sends late"
	}
	return "; " + text.Ranks(roots) + " do not wait, and send late"
}

// sides are who waits, the ending of their verbs, and for whom.
func (f *Finding) sides() (receivers, s, senders string) {
	var peers []int
	for _, p := range f.Pairs {
		f.Ranks, peers = append(f.Ranks, p.Rank), append(peers, p.Peer)
	}
	for _, list := range []*[]int{&f.Ranks, &peers} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	receivers, senders = text.Ranks(f.Ranks), text.Ranks(peers)
	if len(f.Ranks) == 1 {
		s = "s"
	}
	switch f.relation {
	case mutual:
		senders = "each other"
	case both:
		if senders = "each other, in pairs of neighbours"; f.distance > 1 {
			senders = fmt.Sprintf("each other, in pairs %d ranks apart", f.distance)
		}
	case apart:
		receivers += " each"
		distance, side := f.distance, "before"
		if distance < 0 {
			distance, side = -distance, "after"
		}
		if senders = "the rank " + side; distance > 1 {
			senders = fmt.Sprintf("the rank that is %d %s", distance, side)
		}
	}
	return receivers, s, senders
}
