// Package network finds in the samples of a run what its network lost: segments that the job's own sockets sent again, packets that
// interfaces dropped meanwhile, and links that went down.
package network

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/text"
)

const (
	prefix   = "mpitx:net/"
	least    = 10   // fewer events say nothing
	leastOf  = 0.01 // nor does a smaller part of the segments or packets
	together = time.Second
)

// Has reports whether a column is about the network.
func Has(c *recording.Column) bool { return strings.HasPrefix(c.Variable, prefix) }

// step is how far counters grew between two samples of a rank: those of what was lost, and of all.
type step struct {
	from, to  time.Duration
	lost, all float64
}

// series are the steps of one source.
type series struct {
	at    time.Duration // of the last sample; -1: none
	sums  [2]float64    // of the lost, and of all, at that time
	steps []step
}

// sample adds a sample with the growth so far.
func (s *series) sample(at time.Duration, sums [2]float64) {
	if s.at >= 0 {
		s.steps = append(s.steps, step{s.at, at, sums[0] - s.sums[0], sums[1] - s.sums[1]})
	}
	s.at, s.sums = at, sums
}

// during are the sums of the steps that overlap a time.
func (s *series) during(from, to time.Duration) (lost, all float64) {
	for _, one := range s.steps {
		if one.from < to && one.to > from {
			lost, all = lost+one.lost, all+one.all
		}
	}
	return lost, all
}

// source is what counts: the sockets of a rank, one direction of an interface, or the link of a port.
type source struct {
	node *recording.Node
	name string // of an interface and its direction, "eth0/received"; of a port; "": of sockets
	rank *recording.Rank
}

// sourceOf says what a variable counts, and whether that was lost. ok is false for other variables.
func sourceOf(r *recording.Rank, variable string) (of source, lost, ok bool) {
	rest, ok := strings.CutPrefix(variable, prefix)
	k := strings.LastIndexByte(rest, '/')
	if !ok || k < 0 {
		return of, false, false
	}
	name, what := rest[:k], rest[k+1:]
	kind, direction, _ := strings.Cut(what, "_")
	switch {
	case name == "tcp":
		return source{r.Node, "", r}, what == "segments_retransmitted", strings.HasPrefix(what, "segments_")
	case strings.HasPrefix(name, "ib/"):
		return source{r.Node, name, r}, true, what == "link_downed"
	case name == "lo":
		return of, false, false
	}
	return source{r.Node, name + "/" + direction, r}, kind != "packets", kind == "packets" || kind == "errors" || kind == "drops"
}

// Findings are what stands out in the samples of a run. Interfaces count the packets of all programs, so that what they dropped is said only
// together with segments that the job sent again.
func Findings(run *recording.Run, o recording.Options) (list []finding.Finding) {
	all := read(run, o)
	if len(all) == 0 {
		return nil
	}
	elapsed := time.Duration(1)
	for _, s := range all {
		elapsed = max(elapsed, s.at)
	}
	for _, node := range run.Nodes {
		if f := retransmitted(node, all); f != nil {
			list = append(list, *f)
		}
		list = append(list, downed(node, all)...)
	}
	for i := range list {
		list[i].Share = min(list[i].Figures["time_ns"]/float64(elapsed), 1)
	}
	slices.SortStableFunc(list, func(a, b finding.Finding) int { return cmp.Compare(b.Share, a.Share) })
	return list
}

func read(run *recording.Run, o recording.Options) map[source]*series {
	o.As, o.Column = recording.Delta, func(c *recording.Column) bool {
		_, _, ok := sourceOf(c.Rank, c.Variable)
		return ok
	}
	if !slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool {
		return slices.ContainsFunc(r.Columns, func(c *recording.Column) bool { return c != nil && o.Column(c) })
	}) {
		return nil
	}
	all := map[source]*series{}
	sums := map[source][2]float64{}
	for in := range run.Instants(o) {
		clear(sums)
		for _, cell := range in.Cells {
			of, lost, _ := sourceOf(in.Rank, cell.Column.Variable)
			if cell.Column.Class == catalog.ClassLevel || !cell.Status.HasValue() {
				continue
			}
			sum := sums[of]
			if lost {
				sum[0] += cell.Value.Float64()
			} else {
				sum[1] += cell.Value.Float64()
			}
			sums[of] = sum
		}
		for of, sum := range sums {
			if all[of] == nil {
				all[of] = &series{at: -1}
			}
			all[of].sample(in.Time, sum)
		}
	}
	return all
}

// period is a time in which segments were sent again.
type period struct {
	from, to  time.Duration
	lost, all float64
}

func (p *period) share() float64 { return p.lost / max(p.all, 1) }

// retransmitted finds the period in which a node sent most segments again.
func retransmitted(node *recording.Node, all map[source]*series) *finding.Finding {
	var own []*series
	var ranks []int
	for of, s := range all {
		if of.node == node && of.name == "" {
			own = append(own, s)
			if lost, _ := s.during(0, s.at); lost > 0 {
				ranks = append(ranks, of.rank.Rank)
			}
		}
	}
	slices.Sort(ranks)
	periods := slices.DeleteFunc(periodsOf(own), func(p period) bool { return p.lost < least || p.all < p.lost || p.share() < leastOf })
	if len(periods) == 0 {
		return nil
	}
	worst := slices.MaxFunc(periods, func(a, b period) int { return cmp.Compare(a.lost, b.lost) })
	words := fmt.Sprintf("%s retransmitted %s of its TCP segments from %s to %s (%.0f of %.0f, of the sockets of %s)", node.Host,
		text.RoughPercent(worst.share()), seconds(worst.from), seconds(worst.to), worst.lost, worst.all, text.Ranks(ranks))
	if n := len(periods) - 1; n > 0 {
		words += fmt.Sprintf(", and as much at %s", text.Count(n, "other time"))
	}
	f := &finding.Finding{Kind: "retransmissions", Subject: node.Host, Ranks: ranks, Text: words,
		Next:    "what interfaces counted then, also of the other nodes: mpitx export RUN -o csv --pvar 'mpitx:net/*' (recorded with --pvar 'mpitx:net/*')",
		Figures: finding.Figures{"retransmitted": worst.lost, "segments": worst.all, "share": worst.share(), "from_ns": float64(worst.from), "to_ns": float64(worst.to), "time_ns": float64(worst.to - worst.from)}}
	for _, also := range dropped(worst, all) {
		f.Text += "; " + also.Text
		f.Also = append(f.Also, also)
	}
	return f
}

// periodsOf joins the parts of the time in which too much was lost, if they are close to each other. A few losses now and then are in none.
func periodsOf(all []*series) (list []period) {
	const width = together / 2
	bins := map[time.Duration]*period{}
	for _, s := range all {
		for _, one := range s.steps {
			k := one.to / width
			p := bins[k]
			if p == nil {
				p = &period{}
				bins[k] = p
			}
			if one.lost > 0 && (p.lost == 0 || one.from < p.from) {
				p.from = one.from
			}
			if one.lost > 0 {
				p.to = max(p.to, one.to)
			}
			p.lost, p.all = p.lost+one.lost, p.all+one.all
		}
	}
	for _, k := range slices.Sorted(maps.Keys(bins)) {
		p := bins[k]
		if p.lost == 0 || p.share() < leastOf {
			continue
		}
		if n := len(list); n > 0 && p.from-list[n-1].to <= together {
			list[n-1].to = max(list[n-1].to, p.to)
			continue
		}
		list = append(list, *p)
	}
	for i := range list {
		list[i].lost, list[i].all = 0, 0
		for _, s := range all {
			lost, sent := s.during(list[i].from, list[i].to)
			list[i].lost, list[i].all = list[i].lost+lost, list[i].all+sent
		}
	}
	return list
}

// dropped finds interfaces that dropped packets, or had errors, in a period in which the job's segments were lost.
func dropped(p period, all map[source]*series) (list []finding.Finding) {
	for of, s := range all {
		if of.name == "" || strings.HasPrefix(of.name, "ib/") {
			continue
		}
		lost, packets := s.during(p.from, p.to)
		if lost < least || packets == 0 || lost/(lost+packets) < leastOf {
			continue
		}
		k := strings.LastIndexByte(of.name, '/')
		words := fmt.Sprintf("meanwhile interface %s of %s dropped %.0f packets, or had errors in them, and %s %.0f: of this job or of other programs", of.name[:k],
			of.node.Host, lost, of.name[k+1:], packets)
		list = append(list, finding.Finding{Kind: "interface drops", Subject: of.node.Host + " " + of.name[:k], Certainty: finding.Possible, Text: words,
			Figures: finding.Figures{"lost": lost, "packets": packets}})
	}
	slices.SortFunc(list, func(a, b finding.Finding) int { return cmp.Compare(a.Text, b.Text) })
	return list
}

// downed finds links of InfiniBand that went down.
func downed(node *recording.Node, all map[source]*series) (list []finding.Finding) {
	for of, s := range all {
		if of.node != node || !strings.HasPrefix(of.name, "ib/") {
			continue
		}
		var p period
		for _, one := range s.steps {
			if one.lost > 0 {
				p = period{from: map[bool]time.Duration{true: one.from, false: p.from}[p.lost == 0], to: one.to, lost: p.lost + one.lost}
			}
		}
		if p.lost > 0 {
			list = append(list, finding.Finding{Kind: "link down", Subject: node.Host + " " + of.name,
				Text: fmt.Sprintf("the link of InfiniBand port %s of %s went down %s from %s to %s", strings.TrimPrefix(of.name, "ib/"), node.Host,
					text.Count(int(p.lost), "time"), seconds(p.from), seconds(p.to)),
				Next: "the cable and the switch of this port", Figures: finding.Figures{"times": p.lost, "from_ns": float64(p.from), "to_ns": float64(p.to), "time_ns": float64(p.to - p.from)}})
		}
	}
	slices.SortFunc(list, func(a, b finding.Finding) int { return cmp.Compare(a.Text, b.Text) })
	return list
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
