package where

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Finding is a sentence about what is wrong.
type Finding struct {
	Kind      string // "mismatch", "cycle", "tags", "wait", "stopped", …
	Ranks     []int
	Certainty Certainty
	Text      string
}

// findings are the findings of a job, the most certain ones first.
func (g *graph) findings() []Finding {
	var all []Finding
	all = append(all, g.endings()...)
	all = append(all, g.conditions()...)
	for _, f := range g.died() {
		all = append(all, Finding{Kind: f.Kind, Ranks: f.Ranks, Certainty: f.Certainty, Text: "before that, " + f.Text})
	}
	all = append(all, g.mismatches()...)
	cycles, in, sure := g.cycles()
	misses, explained := g.nearMisses(in)
	causes, chains := g.chains(in, sure)
	for _, level := range []Certainty{Certain, Possible} {
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
		if level == Certain {
			all = append(all, causes...)
		}
	}
	all = append(all, chains...)
	return append(all, g.openWaits(all, in)...)
}

// openWaits describe waits that one of several ranks may end, of ranks of which nothing else is said. in has the ranks in cycles.
func (g *graph) openWaits(said []Finding, in map[int]bool) (all []Finding) {
	ranks := map[string][]int{}
	var texts []string
	for _, p := range g.job.Processes {
		if in[p.Rank] || g.works(p.Rank) || slices.ContainsFunc(said, func(f Finding) bool { return slices.Contains(f.Ranks, p.Rank) }) {
			continue
		}
		for _, w := range g.waits[p.Rank] {
			if w.needs != needsOne || w.loose {
				continue
			}
			if ranks[w.text] == nil {
				texts = append(texts, w.text)
			}
			ranks[w.text] = append(ranks[w.text], p.Rank)
		}
	}
	for _, text := range texts {
		who := compact(ranks[text])
		all = append(all, Finding{Kind: "wait", Ranks: who, Certainty: Undecided, Text: ranksText(who) + " " + conjugated(who, text)})
	}
	return all
}

// Shorter states of a dead rank may have come from the end of the others.
const standstill = time.Second

// died are the findings of a job of which all processes are gone, about the ranks that stood still when they died.
func (g *graph) died() (all []Finding) {
	was, still := *g.job, 0
	was.Processes = nil
	for _, p := range g.job.Processes {
		copied := *p
		switch {
		case p.Condition < Dead:
			return nil
		case p.Condition == Dead && p.early() && !slices.ContainsFunc(p.Threads, (*Thread).Waits): // the others may have waited for it
		case p.Condition == Dead && g.left(p):
			copied.Condition, copied.Threads, still = Running, p.forGood(), still+1
		case p.Condition == Dead && !slices.ContainsFunc(p.Threads, func(t *Thread) bool { return t.Since < standstill }):
			copied.Condition, still = Running, still+1
		}
		was.Processes = append(was.Processes, &copied)
	}
	if still == 0 {
		return nil
	}
	same := g.mismatches() // of dead ranks, as the other findings
	for _, f := range newGraph(&was).findings() {
		if slices.Contains([]string{"tags", "cycle", "wait"}, f.Kind) || f.Kind == "mismatch" && !slices.ContainsFunc(same, func(s Finding) bool { return s.Text == f.Text }) {
			all = append(all, f)
		}
	}
	return all
}

// ranksText is "rank 3" or "ranks 0-2,4".
func ranksText(ranks []int) string {
	noun := "rank "
	if len(ranks) > 1 {
		noun = "ranks "
	}
	return noun + list(ranks)
}

// list is "0-2,4".
func list(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		part := fmt.Sprint(ranks[i])
		if k > i {
			part += "-" + fmt.Sprint(ranks[k])
		}
		parts, i = append(parts, part), k+1
	}
	return strings.Join(parts, ",")
}

// does is the verb for some ranks.
func does(ranks []int, one, many string) string {
	if len(ranks) == 1 {
		return one
	}
	return many
}

// conditions are findings about processes that cannot continue.
func (g *graph) conditions() (all []Finding) {
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
				what = "stopped by a signal (SIGSTOP); kill -CONT" + g.pids(ranks) + does(ranks, " continues it", " continues them")
			}
			all = append(all, Finding{Kind: c.condition.String(), Ranks: ranks, Text: ranksText(ranks) + " " + does(ranks, c.one, c.many) + " " + what})
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
