package where

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
	return Finding{Kind: "mismatch", Ranks: ranks, Text: fmt.Sprintf("%s on %s (call %d): %s", what, object, number, strings.Join(parts, ", "))}
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
	return Finding{Kind: "mismatch", Ranks: compact(append(slices.Clone(in.ranks), beyond...)), Text: text}, true
}

// entry is a collective call of a rank.
type entry struct {
	call   string // blocking or not
	object *Object
	root   int    // in the object; NoRank: none
	number uint64 // on the object; 0: unknown
}

// blocking is the name of the operation: of MPI_Ibarrier MPI_Barrier.
func (e *entry) blocking() string {
	name := strings.TrimSuffix(strings.TrimSuffix(e.call, "_c"), "_init")
	if rest, ok := strings.CutPrefix(name, "MPI_I"); ok && isStart(e.call) && rest != "" {
		name = "MPI_" + strings.ToUpper(rest[:1]) + rest[1:]
	}
	return name
}

// Collectives that a process may leave before all have entered them: those that pass data from the root, and those that pass data to it.
var (
	fromRoot = []string{"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}
	toRoot   = []string{"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"}
	loose    = []string{"MPI_Scan", "MPI_Exscan", "MPI_Comm_free", "MPI_Comm_set_info"}
)

// needs reports whether a rank cannot complete a collective before another one has entered it. Otherwise, it depends on the library.
func (g *graph) needs(e *entry, self, other int) bool {
	name, root := e.blocking(), g.world(e.object, e.root)
	switch {
	case slices.Contains(loose, name) || strings.HasPrefix(name, "MPI_Neighbor_"):
		return false
	case e.object.Inter:
		return !slices.Contains(fromRoot, name) && !slices.Contains(toRoot, name)
	case slices.Contains(fromRoot, name):
		return other == root
	case slices.Contains(toRoot, name):
		return self == root
	}
	return true
}

// missing adds to a wait the members that have not entered a collective. It returns what they have not done.
func (w *wait) missing(g *graph, self int, e *entry) (text string) {
	others, known := g.others(e.object, self)
	if !known || e.number == 0 {
		w.unsure = true
		return ""
	}
	var out []int
	for _, rank := range others {
		if g.entered(rank, e.object.Identity) >= e.number {
			continue
		}
		if out = append(out, rank); g.needs(e, self, rank) {
			w.on = append(w.on, rank)
		} else {
			w.maybe = append(w.maybe, rank)
		}
	}
	if w.named = append(w.named, out...); len(out) == 0 {
		return ""
	}
	return ", which " + list(out) + " " + does(out, "has", "have") + " not entered"
}

// collective is the wait of a collective call: for the members that have not entered this call yet.
func (g *graph) collective(p *Process, t *Thread) (w wait, ok bool) {
	w.thread = t
	e := entry{call: t.Call, object: t.Object, root: NoRank, number: t.Collective}
	if t.Role == Root {
		e.root = t.Peer
	}
	w.text = "is in " + t.Call + onObject(t) + w.missing(g, p.Rank, &e)
	return w, true
}

// entered is the number of collective calls that a rank has entered on an object.
func (g *graph) entered(rank int, identity string) uint64 {
	p := g.ranks[rank]
	if p == nil {
		return 0
	}
	for _, o := range p.Objects {
		if o.Identity == identity {
			return o.Collectives
		}
	}
	return 0
}
