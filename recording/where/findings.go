package where

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mpitx/recording/finding"
	"mpitx/text"
)

// findings are the findings of a job, the most certain ones first.
func (g *graph) findings() []finding.Finding {
	var all []finding.Finding
	all = append(all, g.endings()...)
	all = append(all, g.conditions()...)
	mismatches := g.mismatches()
	for _, f := range g.died(mismatches) {
		f.Text = "before that, " + f.Text
		all = append(all, f)
	}
	if !g.gone() { // else they are said by died
		all = append(all, mismatches...)
	}
	cycles, in, sure := g.cycles()
	misses, explained := g.nearMisses(in)
	causes, chains := g.chains(in, sure)
	for _, level := range []finding.Certainty{finding.Certain, finding.Possible} {
		for _, m := range misses {
			if m.Certainty == level {
				all = append(all, m)
			}
		}
		for _, c := range cycles {
			if sure, known := explained[c.Ranks[0]]; c.Certainty == level && (!known || sure > level) {
				all = append(all, c)
			}
		}
		if level == finding.Certain {
			all = append(all, causes...)
		}
	}
	all = append(all, chains...)
	return append(all, g.openWaits(all, in)...)
}

// openWaits describes the waits of ranks that no other finding names: waits that any of several ranks can end, and waits for a message that is
// under way. in has the ranks in cycles.
func (g *graph) openWaits(said []finding.Finding, in map[int]bool) (all []finding.Finding) {
	type open struct{ waits, others string }
	ranks := map[open][]int{}
	var order []open
	for _, p := range g.job.Processes {
		if in[p.Rank] || slices.ContainsFunc(said, func(f finding.Finding) bool { return slices.Contains(f.Ranks, p.Rank) }) {
			continue
		}
		add := func(w wait, words string) {
			o := open{words, g.workers(w.all())}
			if ranks[o] == nil {
				order = append(order, o)
			}
			ranks[o] = append(ranks[o], p.Rank)
		}
		for _, w := range g.coming[p.Rank] {
			if len(p.Threads) == 1 && w.thread.Inside && w.thread.Class == Receive && len(w.named) > 0 && !w.thread.moment() {
				w.maybe = w.named
				add(w, w.text+", which is under way")
			}
		}
		for _, w := range g.waits[p.Rank] {
			if !g.works(p.Rank) && w.needs == needsOne && !w.loose {
				add(w, w.text)
			}
		}
	}
	for _, o := range order {
		who := compact(ranks[o])
		all = append(all, finding.Finding{Kind: "wait", Ranks: who, Certainty: finding.Undecided, Figures: g.waited(who), Text: text.Ranks(who) + " " + inPlural(who, o.waits) + o.others})
	}
	return all
}

// waited are the figures of ranks that wait: how many, and for how long the one that has waited longest.
func (g *graph) waited(ranks []int) finding.Figures {
	longest := time.Duration(-1)
	for _, rank := range ranks {
		for _, t := range g.ranks[rank].Threads {
			if t.Waits() {
				longest = max(longest, t.unchangedFor())
			}
		}
	}
	figures := finding.Figures{"waiting_ranks": float64(len(ranks))}
	if longest >= 0 {
		figures["waited_ns"] = float64(longest)
	}
	return figures
}

// workers says what those of some ranks do that do not wait, if they do the same: "; 1-2 compute for 5.0 s"; "" else.
func (g *graph) workers(of []int) string {
	var ranks []int
	words := ""
	for _, rank := range of {
		p := g.ranks[rank]
		if p == nil || !p.active() && !g.works(rank) {
			continue
		}
		t := g.endText(rank, nil)
		if words = cmp.Or(words, t); words != t {
			return ""
		}
		ranks = append(ranks, rank)
	}
	if len(ranks) == 0 {
		return ""
	}
	return "; " + text.RankList(ranks) + " " + inPlural(ranks, words)
}

// Shorter states of a dead rank may have come from the end of the others.
const standstill = time.Second

// unchangedFor is how long a thread has done nothing else: a poll that finds nothing is nothing else.
func (t *Thread) unchangedFor() time.Duration {
	if t.Class == Poll {
		return t.Idle
	}
	return t.Since
}

// gone reports whether no process is left.
func (g *graph) gone() bool {
	return !slices.ContainsFunc(g.job.Processes, func(p *Process) bool { return p.Condition < Dead })
}

// died returns the findings of a job that has no processes left: mismatched calls, and what idle ranks were waiting for when they died.
func (g *graph) died(mismatches []finding.Finding) (all []finding.Finding) {
	if !g.gone() {
		return nil
	}
	was, still := *g.job, false
	was.Processes = nil
	for _, p := range g.job.Processes {
		copied := *p
		switch {
		case p.Condition != Dead:
		case p.early() && !slices.ContainsFunc(p.Threads, (*Thread).Waits): // the others may have waited for it
		case g.left(p):
			copied.Condition, copied.Threads, still = Running, p.forGood(), true
		case !slices.ContainsFunc(p.Threads, func(t *Thread) bool { return t.unchangedFor() < standstill }):
			copied.Condition, still = Running, true
		}
		was.Processes = append(was.Processes, &copied)
	}
	if all = mismatches; !still {
		return all
	}
	for _, f := range newGraph(&was).findings() {
		if slices.Contains([]string{"tags", "cycle", "wait"}, f.Kind) || f.Kind == "mismatch" && !slices.ContainsFunc(all, func(s finding.Finding) bool { return s.Text == f.Text }) {
			all = append(all, f)
		}
	}
	return all
}

// conditions are findings about processes that cannot continue.
func (g *graph) conditions() (all []finding.Finding) {
	for _, c := range []struct {
		condition       Condition
		one, many, what string
	}{
		{Stopped, "is", "are", ""},
		{Missing, "has", "have", "not finished MPI_Init, or died in it, or run without the agent or with another run directory"},
		{Unreachable, "is", "are", "on another node; run mpitx where there, or use --rsh ssh"},
		{Unknown, "has", "have", "recorded no state"},
	} {
		hosts := map[string][]int{}
		var order []string
		for _, p := range g.job.Processes {
			if p.Condition == c.condition {
				host := ""
				if c.condition == Unreachable {
					host = p.Host
				}
				if hosts[host] == nil {
					order = append(order, host)
				}
				hosts[host] = append(hosts[host], p.Rank)
			}
		}
		for _, host := range order {
			ranks := hosts[host]
			what := c.what
			if host != "" {
				what = "on another node, " + host + "; run mpitx where there, or use --rsh ssh"
			}
			if c.condition == Stopped {
				what = "stopped by a signal (SIGSTOP); kill -CONT" + g.pids(ranks) + text.Verb(len(ranks), " continues it", " continues them")
			}
			all = append(all, finding.Finding{Kind: c.condition.String(), Ranks: ranks, Text: text.Ranks(ranks) + " " + text.Verb(len(ranks), c.one, c.many) + " " + what})
		}
	}
	return all
}

// pids are the arguments of kill for some ranks.
func (g *graph) pids(ranks []int) (text string) {
	for _, r := range ranks {
		if pid := g.ranks[r].PID; pid > 0 {
			text += fmt.Sprint(" ", pid)
		}
	}
	return text
}
