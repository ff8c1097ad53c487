package where

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mpitx/recording/finding"
	"mpitx/text"
)

// inCollective are the ranks that have made one collective call on one object.
type inCollective struct {
	call  string
	root  int
	ranks []int // in the call, or of requests that it started
	left  []int // that have gone on
}

// place is a collective call of all members of an object.
type place struct {
	identity string
	number   uint64
}

// waitedFor are the collective calls that ranks are in, or for whose requests they wait.
func (g *graph) waitedFor() (calls map[place][]*inCollective, names map[string]*Object, order []place) {
	calls, names = map[place][]*inCollective{}, map[string]*Object{}
	add := func(rank int, o *Object, e Entry) {
		e.Call = strings.TrimSuffix(e.Call, "_c")
		if e.Number == 0 || o == nil || o.Identity == "" {
			return
		}
		at := place{o.Identity, e.Number}
		names[at.identity] = o
		if calls[at] == nil {
			order = append(order, at)
		}
		if known := g.recent(rank, o.Identity, e.Number); known != nil {
			e.Root = known.Root
		}
		if in := g.in(calls, at, o, e); !slices.Contains(in.ranks, rank) {
			in.ranks = append(in.ranks, rank)
		}
	}
	for _, p := range g.job.Processes {
		for _, t := range p.Threads {
			if t.Class == Collective && t.Inside {
				e := Entry{t.Call, NoRank, t.Collective}
				if t.Role == Root {
					e.Root = t.Peer
				}
				add(p.Rank, t.Object, e)
			}
			for i := range t.Pending {
				if r := &t.Pending[i]; r.Collective > 0 && t.Waits() {
					add(p.Rank, r.Object, *r.entry())
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b place) int {
		return cmp.Or(strings.Compare(a.identity, b.identity), cmp.Compare(a.number, b.number))
	})
	return calls, names, order
}

// in is the call at a place that an entry is of.
func (g *graph) in(calls map[place][]*inCollective, at place, o *Object, e Entry) *inCollective {
	if e.Call = strings.TrimSuffix(e.Call, "_c"); o.Inter {
		e.Root = NoRank
	}
	for _, c := range calls[at] {
		if c.call == e.Call && c.root == e.Root {
			return c
		}
	}
	c := &inCollective{call: e.Call, root: e.Root}
	calls[at] = append(calls[at], c)
	return c
}

// mismatches are collective calls on one communicator that do not match. Two looks must show the same.
func (g *graph) mismatches() []finding.Finding {
	all := g.differing()
	if g.job.earlier == nil {
		return all
	}
	before := newGraph(g.job.earlier).differing()
	return slices.DeleteFunc(all, func(f finding.Finding) bool {
		return !slices.ContainsFunc(before, func(b finding.Finding) bool { return b.Text == f.Text })
	})
}

// differing are the mismatches that one look shows.
func (g *graph) differing() (all []finding.Finding) {
	calls, names, order := g.waitedFor()
	order = append(order, g.leftDifferently(calls, names)...)
	for _, at := range order {
		for _, p := range g.job.Processes { // those that have made the call and gone on
			o := g.object(p.Rank, at.identity)
			e := g.recent(p.Rank, at.identity, at.number)
			if e == nil || slices.ContainsFunc(calls[at], func(c *inCollective) bool { return slices.Contains(c.ranks, p.Rank) }) {
				continue
			}
			c := g.in(calls, at, o, *e)
			c.left = append(c.left, p.Rank)
		}
		found := calls[at]
		if len(found) < 2 {
			all = append(all, g.overtaken(at, found[0], names[at.identity])...)
			continue
		}
		slices.SortStableFunc(found, func(a, b *inCollective) int { return len(a.ranks) + len(a.left) - len(b.ranks) - len(b.left) })
		f := mismatch(found, objectText(names[at.identity]), at.number)
		if g.failed(at.identity) {
			f.Certainty, f.Text = finding.Possible, "possible "+f.Text
		}
		all = append(all, f)
	}
	return all
}

// leftDifferently are the calls that no rank is in any more, and that differed.
func (g *graph) leftDifferently(calls map[place][]*inCollective, names map[string]*Object) (order []place) {
	first := map[place]Entry{}
	for _, p := range g.job.Processes {
		for _, o := range p.Objects {
			for _, e := range o.Recent {
				at := place{o.Identity, e.Number}
				if e.Call = strings.TrimSuffix(e.Call, "_c"); o.Inter {
					e.Root = NoRank
				}
				was, known := first[at]
				if first[at] = e; known && was != e && calls[at] == nil && e.Number > 0 && o.Identity != "" {
					calls[at], names[at.identity] = []*inCollective{}, o
					order = append(order, at)
				}
			}
		}
	}
	return order
}

// Collectives that no process can leave before all have entered them.
var synchronizing = []string{"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw",
	"MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create"}

// overtaken finds ranks that have left a collective call in which others wait for all. What they called there was so long ago that it is unknown.
func (g *graph) overtaken(at place, in *inCollective, o *Object) (all []finding.Finding) {
	if len(in.ranks) == 0 || !slices.Contains(synchronizing, in.call) {
		return nil
	}
	for _, rank := range in.ranks {
		if slices.ContainsFunc(g.ranks[rank].Threads, (*Thread).moment) {
			return nil
		}
	}
	var beyond []int
	for _, p := range g.job.Processes {
		if theirs := g.object(p.Rank, at.identity); theirs != nil && theirs.Collectives > at.number && g.recent(p.Rank, at.identity, at.number) == nil && !slices.Contains(in.ranks, p.Rank) {
			beyond = append(beyond, p.Rank)
		}
	}
	if len(beyond) == 0 {
		return nil
	}
	words := fmt.Sprintf("possible mismatched collectives on %s: %s %s in collective call %d, %s, which %s %s left: %s made a different call there",
		objectText(o), text.Ranks(in.ranks), text.Verb(len(in.ranks), "is", "are"), at.number, in.call, text.Ranks(beyond), text.Verb(len(beyond), "has", "have"), text.Verb(len(beyond), "it", "they"))
	figures := g.waited(in.ranks)
	figures["call"] = float64(at.number)
	return []finding.Finding{{Kind: "mismatch", Subject: objectText(o), Ranks: compact(append(slices.Clone(in.ranks), beyond...)), Certainty: finding.Possible,
		Text: words, Figures: figures}}
}

// mismatch says which ranks call what.
func mismatch(found []*inCollective, object string, number uint64) finding.Finding {
	var parts []string
	var ranks []int
	same := !slices.ContainsFunc(found, func(c *inCollective) bool { return c.call != found[0].call })
	for _, c := range found {
		call, in, left := c.call, [2]string{" is in ", " are in "}, [2]string{" was in ", " were in "}
		if isStart(c.call) {
			in, left = [2]string{" waits for ", " wait for "}, [2]string{" called ", " called "}
		}
		if same {
			call, in, left = fmt.Sprintf("root %d", c.root), [2]string{" uses ", " use "}, [2]string{" used ", " used "}
		}
		if len(c.ranks) > 0 {
			parts = append(parts, text.Ranks(c.ranks)+text.Verb(len(c.ranks), in[0], in[1])+call)
		}
		if len(c.left) > 0 {
			parts = append(parts, text.Ranks(c.left)+text.Verb(len(c.left), left[0], left[1])+call)
		}
		ranks = append(append(ranks, c.ranks...), c.left...)
	}
	what := "mismatched collectives"
	if same {
		what = "mismatched roots of " + found[0].call
	}
	slices.Sort(ranks)
	return finding.Finding{Kind: "mismatch", Subject: object, Ranks: ranks, Figures: finding.Figures{"call": float64(number)},
		Text: fmt.Sprintf("%s on %s (call %d): %s", what, object, number, strings.Join(parts, ", "))}
}

// blocking is the name of the operation: of MPI_Ibarrier MPI_Barrier.
func (e *Entry) blocking() string {
	name := strings.TrimSuffix(strings.TrimSuffix(e.Call, "_c"), "_init")
	if rest, ok := strings.CutPrefix(name, "MPI_I"); ok && isStart(e.Call) && rest != "" {
		name = "MPI_" + strings.ToUpper(rest[:1]) + rest[1:]
	}
	return name
}

// entry is the collective call that started a request.
func (r *Request) entry() *Entry { return &Entry{r.Call, NoRank, r.Collective} }

// Collectives that a process may leave before all have entered them: those that pass data from the root, and those that pass data to it.
var (
	fromRoot = []string{"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}
	toRoot   = []string{"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"}
	loose    = []string{"MPI_Scan", "MPI_Exscan", "MPI_Comm_free", "MPI_Comm_set_info", "MPI_Win_set_info"} // and those on files
)

// needs reports whether a rank cannot complete a collective before another one has entered it. Otherwise, it depends on the library.
func (g *graph) needs(o *Object, e *Entry, self, other int) bool {
	name, root := e.blocking(), g.worldRank(o, e.Root)
	switch {
	case slices.Contains(loose, name) || strings.HasPrefix(name, "MPI_Neighbor_") || o.Kind == "file":
		return false
	case o.Inter:
		return !slices.Contains(fromRoot, name) && !slices.Contains(toRoot, name)
	case slices.Contains(fromRoot, name):
		return other == root
	case slices.Contains(toRoot, name):
		return self == root
	}
	return true
}

// missing adds to a wait the members that have not entered a collective, or not started it as often. It returns what they have not done.
func (w *wait) missing(g *graph, self int, o *Object, e *Entry, starts uint64) (words string) {
	others, known := g.others(o, self)
	if !known || e.Number == 0 {
		w.unsure = true
		return ""
	}
	if own := g.recent(self, o.Identity, e.Number); own != nil {
		e = own
	}
	what := "entered"
	var out []int
	for _, rank := range others {
		theirs := g.object(rank, o.Identity)
		switch {
		case theirs == nil || theirs.Collectives < e.Number:
		case starts == 0:
			continue
		default:
			n, known := theirs.Starts[e.Number]
			if w.unsure = w.unsure || !known; !known || n >= starts {
				continue
			}
			what = "started"
		}
		if out = append(out, rank); g.needs(o, e, self, rank) && !g.failed(o.Identity) {
			w.on = append(w.on, rank)
		} else {
			w.maybe = append(w.maybe, rank)
		}
	}
	if w.named = append(w.named, out...); len(out) == 0 {
		return ""
	}
	return ", which " + text.RankList(out) + " " + text.Verb(len(out), "has", "have") + " not " + what
}

// collective is the wait of a collective call: for the members that have not entered this call yet.
func (g *graph) collective(p *Process, t *Thread) (w wait, ok bool) {
	w.thread = t
	w.text = "is in " + g.callText(t)
	if t.Object == nil {
		w.unsure = true
		return w, true
	}
	e := Entry{Call: t.Call, Root: NoRank, Number: t.Collective}
	if t.Role == Root {
		e.Root = t.Peer
	}
	w.text += w.missing(g, p.Rank, t.Object, &e, 0)
	return w, true
}

// callText is "MPI_Allreduce on MPI_COMM_WORLD", with the number of the call if other threads are in another one of the same name there.
func (g *graph) callText(t *Thread) string {
	words := t.Call + onObject(t)
	if t.Collective > 0 && t.Object != nil && g.several[sameCall{t.Object.Identity, t.Call}] {
		words += fmt.Sprintf(" (call %d)", t.Collective)
	}
	return words
}

// sameCall is a function on an object.
type sameCall struct{ identity, call string }

// severalCalls are the functions in which threads are in different calls on the same object.
func severalCalls(job *Job) map[sameCall]bool {
	number, several := map[sameCall]uint64{}, map[sameCall]bool{}
	for _, p := range job.Processes {
		for _, t := range p.Threads {
			if !t.Inside || t.Collective == 0 || t.Object == nil || t.Object.Identity == "" {
				continue
			}
			at := sameCall{t.Object.Identity, t.Call}
			several[at] = several[at] || number[at] > 0 && number[at] != t.Collective
			number[at] = t.Collective
		}
	}
	return several
}

// failed reports whether collective calls on an object failed, so that the numbers of its processes may differ.
func (g *graph) failed(identity string) bool {
	return slices.ContainsFunc(g.job.Processes, func(p *Process) bool {
		return slices.ContainsFunc(p.Objects, func(o *Object) bool { return o.Identity == identity && o.Failed })
	})
}

// object is a rank's object of an identity; nil: it has none.
func (g *graph) object(rank int, identity string) *Object {
	p := g.ranks[rank]
	if p == nil {
		return nil
	}
	if i := slices.IndexFunc(p.Objects, func(o *Object) bool { return o.Identity == identity }); i >= 0 {
		return p.Objects[i]
	}
	return nil
}

// recent is a recent collective call of a rank by its number; nil: it is unknown.
func (g *graph) recent(rank int, identity string, number uint64) *Entry {
	o := g.object(rank, identity)
	if o == nil {
		return nil
	}
	if i := slices.IndexFunc(o.Recent, func(e Entry) bool { return e.Number == number }); i >= 0 {
		return &o.Recent[i]
	}
	return nil
}
