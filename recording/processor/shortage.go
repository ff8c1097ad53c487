package processor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
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
			worst.Text += fmt.Sprintf("; %s of ranks had too few cores as well", counted(others-1, "other group"))
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

// shortage is about the rank that waited most; nil if that is not much.
func (g *Group) shortage() *Shortage {
	sure, maybe := &Shortage{Group: g, Sure: true}, &Shortage{Group: g}
	for _, r := range g.Ranks {
		if share := part(r.Waited.Least, r.whole()); share > sure.Share {
			sure.Rank, sure.Share = r, share
		}
		if share := r.waitShare(); share > maybe.Share {
			maybe.Rank, maybe.Share = r, share
		}
	}
	switch {
	case sure.Share >= significant:
		least := ""
		if !sure.Rank.Waited.Known(0.02, sure.Rank.whole()) {
			least = "at least "
		}
		sure.Text = fmt.Sprintf("%s: rank %d waited %s%s of the run for a core", g.Text(), sure.Rank.Number, least, percent(sure.Share))
		if sure.Rank.Estimated {
			sure.Text += ", estimated from interruptions"
		}
		if !g.Short() {
			sure.Text += ", which other threads or programs had"
		}
		return sure
	case maybe.Share >= significant:
		maybe.Text = fmt.Sprintf("%s: rank %d was ready to run without a core for %s of the run", g.Text(), maybe.Rank.Number, percent(maybe.Share))
		if maybe.Rank.Elapsed() > 0 {
			maybe.Text += ", in MPI, where yielding while it waits for others looks the same"
		} else {
			maybe.Text += "; in MPI, yielding while it waits for others looks the same"
		}
		return maybe
	}
	return nil
}

// Text is "4 ranks on 2 cores".
func (g *Group) Text() string {
	text := counted(len(g.Ranks), "rank")
	if g.Cores > 0 {
		text += " on " + counted(g.Cores, "core")
	}
	if g.Quota > 0 && g.Quota < float64(g.Cores) {
		text += " (limited to the time of " + strconv.FormatFloat(g.Quota, 'g', 3, 64) + ")"
	}
	return text
}

// Delay is the longest time by which ranks may have been late because cores were missing. Any rank can delay any other, whenever it waits.
func (p *Processor) Delay() (sum time.Duration) {
	if p == nil {
		return 0
	}
	for _, r := range p.Ranks {
		sum += max(r.ThreadWait, r.Waited.Most)
	}
	return sum
}

func part(x, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(x) / float64(whole)
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func percent(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }
