package processor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/recording/finding"
	"mpitx/text"
)

const significant = 0.05 // part of the run: shorter waits are not worth a sentence

// Shortage is that ranks had no core when they could have run.
type Shortage struct {
	Group *Group
	Rank  *Rank   // the one that waited most
	Share float64 // of the run, for which it waited at least
	Text  string

	// Sure says that the rank waited outside of MPI. In MPI, a rank that yields to others while it waits for a message looks as one that waits
	// for a core.
	Sure bool
}

// Finding is the finding that ranks had no core.
func (s *Shortage) Finding() finding.Finding {
	f := finding.Finding{Kind: "processor", Ranks: []int{s.Rank.Number}, Share: s.Share, Text: s.Text,
		Figures: finding.Figures{"wait_share": s.Share, "ranks": float64(len(s.Group.Ranks)), "cores": float64(s.Group.Cores)}}
	if !s.Sure {
		f.Certainty = finding.Possible
	}
	return f
}

// Shortages returns what is known, the most important first: one for ranks that outnumber their cores, and one for the others.
func (p *Processor) Shortages() (list []Shortage) {
	if p == nil {
		return nil
	}
	var short []*Group
	enough := &Group{}
	for i := range p.Groups {
		if g := &p.Groups[i]; g.Short() {
			short = append(short, g)
		} else {
			enough.add(g)
		}
	}
	var worst *Shortage
	others := 0
	for _, g := range short {
		s := g.shortage()
		if s == nil {
			continue
		}
		if others++; worst == nil || s.Sure && !worst.Sure || s.Sure == worst.Sure && s.Share > worst.Share {
			worst = s
		}
	}
	if worst != nil {
		if others > 1 {
			worst.Text += fmt.Sprintf("; %s of ranks had too few cores as well", text.Count(others-1, "other group"))
		}
		list = append(list, *worst)
	}
	if s := enough.shortage(); s != nil {
		list = append(list, *s)
	}
	slices.SortStableFunc(list, func(a, b Shortage) int { return cmp.Compare(b.Share, a.Share) })
	return list
}

func (g *Group) add(o *Group) {
	if len(g.Ranks) == 0 {
		g.Host, g.Cores, g.Quota = o.Host, o.Cores, o.Quota
	} else {
		g.Host, g.Quota = "", 0
		if g.Cores *= min(o.Cores, 1); g.Cores > 0 {
			g.Cores += o.Cores
		}
	}
	g.Ranks = append(g.Ranks, o.Ranks...)
}

// waiter is a thread of a rank that waited for a core.
type waiter struct {
	rank, thread *Rank
	share        float64 // of the run
}

func (w *waiter) String() string {
	if w.rank == w.thread {
		return fmt.Sprintf("rank %d", w.rank.Number)
	}
	return fmt.Sprintf("a thread of rank %d", w.rank.Number)
}

// worst is the thread that waited most, by a measure of a thread of a run. alike says that all ranks waited about as long, at least for the
// share that is returned.
func (g *Group) worst(share func(thread, of *Rank) float64) (worst waiter, least float64, alike bool) {
	least = 1
	for _, r := range g.Ranks {
		most := 0.0
		for _, t := range append([]*Rank{r}, r.Others...) {
			x := share(t, r)
			if most = max(most, x); x > worst.share {
				worst = waiter{r, t, x}
			}
		}
		least = min(least, most)
	}
	return worst, least, len(g.Ranks) > 1 && least >= 0.75*worst.share
}

// shortage is about the rank that waited most, or all of them; nil if that is not much.
func (g *Group) shortage() *Shortage {
	sure, least, alike := g.worst(func(t, of *Rank) float64 { return part(t.Waited.Least, of.runTime()) })
	if sure.share >= significant {
		words := fmt.Sprintf("%s: %v waited ", g.Text(), &sure)
		if !sure.thread.Waited.Known(0.02, sure.rank.runTime()) {
			words += "at least "
		}
		words += text.RoughPercent(sure.share)
		if alike {
			words = fmt.Sprintf("%s: ranks waited %s", g.Text(), between(least, sure.share))
		}
		words += " of the run for a core"
		if sure.thread.Estimated {
			words += ", estimated from interruptions"
		}
		if !g.Short() {
			words += ", which other threads or programs had"
		}
		return &Shortage{Group: g, Rank: sure.rank, Share: sure.share, Text: words, Sure: true}
	}
	maybe, least, alike := g.worst(func(t, of *Rank) float64 { return t.waitShare(of) })
	if maybe.share < significant {
		return nil
	}
	words, waits := fmt.Sprintf("%s: %v was ready to run without a core for %s", g.Text(), &maybe, text.RoughPercent(maybe.share)), "it waits"
	if alike {
		words, waits = fmt.Sprintf("%s: ranks were ready to run without a core for %s", g.Text(), between(least, maybe.share)), "they wait"
	}
	words += " of the run"
	if maybe.thread.Elapsed() > 0 {
		words += ", in MPI, where yielding while " + waits + " for others looks the same"
	} else {
		words += "; in MPI, yielding while " + waits + " for others looks the same"
	}
	return &Shortage{Group: g, Rank: maybe.rank, Share: maybe.share, Text: words}
}

// between is a range in percent: "55-62 %".
func between(least, most float64) string {
	if a, b := text.RoughPercent(least), text.RoughPercent(most); a != b {
		return strings.TrimSuffix(a, " %") + "-" + b
	}
	return text.RoughPercent(most)
}

// Text is "4 ranks on 2 cores".
func (g *Group) Text() string {
	words := text.Count(len(g.Ranks), "rank")
	if g.Cores > 0 {
		words += " on " + text.Count(g.Cores, "core")
	}
	if g.Quota > 0 && g.Quota < float64(g.Cores) {
		words += " (limited to the time of " + strconv.FormatFloat(g.Quota, 'g', 3, 64) + ")"
	}
	return words
}

// Delay is the longest time by which ranks may have been late because cores were missing. Any thread can delay any other, whenever it waits.
func (p *Processor) Delay() (sum time.Duration) {
	if p == nil {
		return 0
	}
	for _, r := range p.Ranks {
		for _, t := range append([]*Rank{r}, r.Others...) {
			sum += max(t.ThreadWait, t.Waited.Most)
		}
	}
	return sum
}

func part(x, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(x) / float64(whole)
}
