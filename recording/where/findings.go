package where

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Finding is a sentence about what is wrong.
type Finding struct {
	Kind  string // "mismatch", "cycle", "tags", "wait", "stopped", …
	Ranks []int
	Text  string
}

// findings are the findings of a job, the most certain ones first.
func (g *graph) findings() []Finding {
	var all []Finding
	all = append(all, g.conditions()...)
	for _, f := range g.died() {
		all = append(all, Finding{f.Kind, f.Ranks, "before that, " + f.Text})
	}
	all = append(all, g.mismatches()...)
	tags, explained := g.wrongTags()
	all = append(all, tags...)
	cycles, in := g.cycles()
	for _, c := range cycles {
		if !explained[c.Ranks[0]] {
			all = append(all, c)
		}
	}
	return append(all, g.chains(in)...)
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
		case p.Condition == Dead && !slices.ContainsFunc(p.Threads, func(t *Thread) bool { return t.Since < standstill }):
			copied.Condition, still = Running, still+1
		}
		was.Processes = append(was.Processes, &copied)
	}
	if still == 0 {
		return nil
	}
	for _, f := range newGraph(&was).findings() {
		if slices.Contains([]string{"tags", "cycle", "wait"}, f.Kind) { // the others are the same for dead ranks
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
		{Dead, "has", "have", "died"},
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
			all = append(all, Finding{c.condition.String(), ranks, ranksText(ranks) + " " + does(ranks, c.one, c.many) + " " + what})
		}
	}
	return all
}

// inCollective are the ranks in one collective call on one object.
type inCollective struct {
	call  string
	root  int
	ranks []int

	moment bool // some rank has just entered it
}

// mismatches are collective calls on one communicator that do not match.
func (g *graph) mismatches() (all []Finding) {
	type place struct {
		identity string
		number   uint64
	}
	calls := map[place][]*inCollective{}
	names := map[string]*Object{}
	var order []place
	for _, p := range g.job.Processes {
		for _, t := range p.Threads {
			if t.Class != Collective || !t.Inside || t.Collective == 0 || t.Object == nil || t.Object.Identity == "" {
				continue
			}
			at := place{t.Object.Identity, t.Collective}
			names[at.identity] = t.Object
			if calls[at] == nil {
				order = append(order, at)
			}
			root := NoRank
			if t.Role == Root && !t.Object.Inter {
				root = t.Peer
			}
			k := slices.IndexFunc(calls[at], func(c *inCollective) bool { return c.call == t.Call && c.root == root })
			if k < 0 {
				k = len(calls[at])
				calls[at] = append(calls[at], &inCollective{call: t.Call, root: root})
			}
			calls[at][k].ranks = append(calls[at][k].ranks, p.Rank)
			calls[at][k].moment = calls[at][k].moment || t.moment()
		}
	}
	slices.SortStableFunc(order, func(a, b place) int {
		return cmp.Or(strings.Compare(a.identity, b.identity), cmp.Compare(a.number, b.number))
	})
	for _, at := range order {
		if found := calls[at]; len(found) > 1 {
			slices.SortStableFunc(found, func(a, b *inCollective) int { return len(a.ranks) - len(b.ranks) })
			all = append(all, differing(found, objectText(names[at.identity]), at.number))
			continue
		}
		if f, ok := g.overtaken(at.identity, at.number, calls[at][0]); ok {
			all = append(all, f)
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

// differing says which ranks call what.
func differing(found []*inCollective, object string, number uint64) Finding {
	var parts []string
	var ranks []int
	same := !slices.ContainsFunc(found, func(c *inCollective) bool { return c.call != found[0].call })
	for _, c := range found {
		call := c.call
		if same {
			call = fmt.Sprintf("root %d", c.root)
		}
		verb := map[bool]string{true: does(c.ranks, " uses ", " use "), false: does(c.ranks, " is in ", " are in ")}[same]
		parts = append(parts, ranksText(c.ranks)+verb+call)
		ranks = append(ranks, c.ranks...)
	}
	what := "mismatched collectives"
	if same {
		what = "mismatched roots of " + found[0].call
	}
	slices.Sort(ranks)
	return Finding{"mismatch", ranks, fmt.Sprintf("%s on %s (call %d): %s", what, object, number, strings.Join(parts, ", "))}
}

// Collectives that no process can leave before all have entered them.
var synchronizing = []string{"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw",
	"MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create"}

// overtaken finds ranks that have left a collective call in which others wait for all: they have called another one.
func (g *graph) overtaken(identity string, number uint64, in *inCollective) (f Finding, ok bool) {
	if in.moment || !slices.Contains(synchronizing, strings.TrimSuffix(in.call, "_c")) { // one may leave it just before the others do
		return f, false
	}
	object := ""
	var beyond []int
	for _, p := range g.job.Processes {
		for _, o := range p.Objects {
			if o.Identity != identity || o.Collectives < number || slices.Contains(in.ranks, p.Rank) {
				continue
			}
			object = objectText(o)
			beyond = append(beyond, p.Rank)
		}
	}
	if len(beyond) == 0 {
		return f, false
	}
	text := fmt.Sprintf("mismatched collectives on %s: %s %s in collective call %d, %s, which %s left: %s made a different call there",
		object, ranksText(in.ranks), does(in.ranks, "is", "are"), number, in.call, ranksText(beyond)+" "+does(beyond, "has", "have"), does(beyond, "it", "they"))
	return Finding{"mismatch", compact(append(slices.Clone(in.ranks), beyond...)), text}, true
}

// wrongTags finds pairs of a send and a receive that would match but for the tag or the communicator.
func (g *graph) wrongTags() (all []Finding, explained map[int]bool) {
	explained = map[int]bool{}
	for _, p := range g.job.Processes {
		for _, r := range g.waits[p.Rank] {
			if r.thread.Class != Receive || r.thread.Peer < 0 || g.works(p.Rank) {
				continue
			}
			sender := g.world(r.thread.Object, r.thread.Peer)
			for _, s := range g.waits[sender] {
				if s.thread.Class != Send || g.world(s.thread.Object, s.thread.Peer) != p.Rank || g.works(sender) || r.thread.moment() || s.thread.moment() {
					continue
				}
				what, sent, wanted := "the tags differ", fmt.Sprintf("tag %d", s.thread.Tag), fmt.Sprintf("tag %d", r.thread.Tag)
				if !sameObject(s.thread.Object, r.thread.Object) {
					what, sent, wanted = "the communicators differ", objectText(s.thread.Object), objectText(r.thread.Object)
				}
				all = append(all, Finding{"tags", compact([]int{p.Rank, sender}), fmt.Sprintf("%s: %d sends to %d with %s in %s, and %d waits for a message from %d with %s in %s",
					what, sender, p.Rank, sent, s.thread.Call, p.Rank, sender, wanted, r.thread.Call)})
				explained[p.Rank], explained[sender] = true, true
			}
		}
	}
	return all, explained
}
