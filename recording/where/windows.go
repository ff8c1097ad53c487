package where

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/text"
)

// What is known of windows is which epochs each process has begun. Some libraries return from MPI_Win_lock before the process holds the lock, and
// some need the target in MPI before they grant it. So a process holds a lock for certain only if an operation of its epoch is complete.

// covers reports whether an epoch locks a target of a window.
func (e *Epoch) covers(window *Object, target int) bool {
	return (e.Kind == Exclusive || e.Kind == Shared) && sameObject(e.Window, window) && (e.Target == target || e.Target == allTargets)
}

// lockOf is the lock of a target that a process has or waits for; nil: none, or unknown.
func (p *Process) lockOf(window *Object, target int) *Epoch {
	for _, e := range p.Epochs {
		if e.covers(window, target) {
			return e
		}
	}
	return nil
}

// lost reports whether some epochs of a process are unknown.
func (p *Process) lost() bool {
	return slices.ContainsFunc(p.Epochs, func(e *Epoch) bool { return e.Kind == Lost })
}

// outside reports whether no thread of a rank has called MPI for some time.
func (g *graph) outside(rank int) bool {
	p := g.ranks[rank]
	return p != nil && p.Condition == Running && len(p.Threads) > 0 &&
		!slices.ContainsFunc(p.Threads, func(t *Thread) bool { return t.Inside || t.Polls() || t.Since < pollIdle })
}

// inWindow reports whether a thread of a process is in a one-sided call on a window, to a target or to several.
func (p *Process) inWindow(window *Object, target int) bool {
	return slices.ContainsFunc(p.Threads, func(t *Thread) bool {
		return t.Inside && t.Class != Collective && sameObject(t.Object, window) && (t.Role != Target || t.Peer == target)
	})
}

// oneSided is the wait of a call on a window that is not collective.
func (g *graph) oneSided(p *Process, t *Thread) (w wait) {
	w.thread = t
	w.text = "is in " + t.Call + onObject(t)
	switch {
	case t.Call == "MPI_Win_start" || t.Call == "MPI_Win_complete":
		g.access(&w, p, t)
	case t.Call == "MPI_Win_wait":
		g.exposure(&w, p, t)
	default:
		g.locks(&w, p, t)
	}
	w.on, w.maybe = compact(w.on), compact(w.maybe)
	w.named = w.all()
	if len(w.named) == 0 {
		w.unsure, w.loose = true, true
	}
	return w
}

// targets are the ranks in the window with which a call deals.
func (g *graph) targets(p *Process, t *Thread) (targets []int) {
	if t.Role == Target {
		return slices.DeleteFunc([]int{t.Peer}, func(target int) bool { return target < 0 })
	}
	for _, e := range p.Epochs {
		switch {
		case e.Kind != Exclusive && e.Kind != Shared || !sameObject(e.Window, t.Object):
		case e.Target != allTargets:
			targets = append(targets, e.Target)
		default:
			for m := range g.members {
				if m.identity == t.Object.Identity {
					targets = append(targets, m.rank)
				}
			}
		}
	}
	return compact(targets)
}

// rivals are the ranks that keep a process from the lock of a target, by what is known of them.
type rivals struct {
	holders []int // for certain
	lockers []int // they have locked and not unlocked; it is not known whether they hold the lock
	waiting []int // they wait for the lock as well
	shares  bool  // others hold it, or wait for it, that would share it
	site    string
}

func (g *graph) rivals(p *Process, own *Epoch, window *Object, target int) (r rivals) {
	for _, q := range g.job.Processes {
		if q == p {
			continue
		}
		for _, e := range q.Epochs {
			switch {
			case !e.covers(window, target):
			case own.Kind == Shared && e.Kind == Shared:
				r.shares = true
			case e.Proved == target:
				if r.holders = append(r.holders, q.Rank); len(r.holders) == 1 {
					r.site = e.Site
				}
			case e.Held && !q.inWindow(window, target):
				if r.lockers = append(r.lockers, q.Rank); len(r.lockers)+len(r.holders) == 1 {
					r.site = e.Site
				}
			default:
				r.waiting = append(r.waiting, q.Rank)
			}
		}
	}
	return r
}

// How the wait for a lock is explained, the best explanation first.
const (
	byHolder = iota
	byLocker
	byWaiter
	byTarget
	unexplained
)

// locks is the wait of a call for the locks of its targets. If the process holds a lock already, it only waits for the target.
func (g *graph) locks(w *wait, p *Process, t *Thread) {
	best := unexplained
	explain := func(by int, words string) {
		if by < best {
			best, w.text = by, words
		}
	}
	var targets []int
	for _, target := range g.targets(p, t) {
		at := g.worldRank(t.Object, target)
		if at == NoRank {
			continue
		}
		var r rivals
		if own := p.lockOf(t.Object, target); own != nil && own.Proved != target {
			r = g.rivals(p, own, t.Object, target)
		}
		what := fmt.Sprintf("waits for the lock of %s at %d", objectText(t.Object), at)
		outside := g.outside(at) && at != p.Rank
		switch {
		case len(r.holders) > 0:
			w.on = append(w.on, r.holders...)
			explain(byHolder, what+", which "+text.RankList(compact(r.holders))+" "+text.Verb(len(r.holders), "holds", "hold")+atSite(r.site))
		case len(r.lockers) > 0:
			w.maybe = append(w.maybe, r.lockers...)
			words := what + ", which " + text.RankList(compact(r.lockers)) + " " + text.Verb(len(r.lockers), "has", "have") + " locked" + atSite(r.site) + " and not unlocked"
			if outside && !slices.Contains(r.lockers, at) {
				w.maybe = append(w.maybe, at)
				words += fmt.Sprintf(", or for %d to call MPI", at)
			}
			explain(byLocker, words)
		case r.shares && len(r.waiting) > 0: // the library may let an exclusive lock go first
			w.maybe = append(w.maybe, r.waiting...)
			explain(byWaiter, what+", for which "+text.RankList(compact(r.waiting))+" "+text.Verb(len(r.waiting), "waits", "wait")+" as well")
		case outside:
			targets = append(targets, at)
			explain(byTarget, "waits for "+text.RankList(compact(targets))+" to call MPI, in "+t.Call+onObject(t))
		}
	}
	if best == byTarget {
		w.maybe, w.loose = targets, true
	}
}

func atSite(site string) string {
	if site == "" {
		return ""
	}
	return " (" + site + ")"
}

// epochs sums up the epochs of a kind that a process has begun and ended on a window with one of its ranks. known is false if the group of one is not.
func (p *Process) epochs(kind EpochKind, window *Object, member int) (begun, ended uint64, known bool) {
	known = !p.lost()
	for _, e := range p.Epochs {
		if e.Kind != kind || !sameObject(e.Window, window) {
			continue
		}
		if known = known && !e.Unknown; slices.Contains(e.Members, member) {
			begun, ended = begun+e.Begun, ended+e.Ended
		}
	}
	return begun, ended, known
}

// partners are the members of the epochs of a kind that a process has begun on a window and not ended.
func (p *Process) partners(kind EpochKind, window *Object) (members []int) {
	for _, e := range p.Epochs {
		if e.Kind == kind && sameObject(e.Window, window) && e.Begun > e.Ended {
			members = append(members, e.Members...)
		}
	}
	return compact(members)
}

// access is the wait of MPI_Win_start or MPI_Win_complete: for those that have not posted.
func (g *graph) access(w *wait, p *Process, t *Thread) {
	members := p.partners(Access, t.Object)
	var out, outside []int
	for _, m := range members {
		q := g.ranks[g.worldRank(t.Object, m)]
		if q == nil || q == p {
			continue
		}
		mine, _, known := p.epochs(Access, t.Object, m)
		theirs, _, also := q.epochs(Exposure, t.Object, t.Object.Rank)
		switch {
		case !known || !also:
			w.loose = true
		case theirs >= mine:
			if g.outside(q.Rank) {
				outside = append(outside, q.Rank)
			}
		case t.Call == "MPI_Win_start" || len(members) == 1:
			w.on, out = append(w.on, q.Rank), append(out, q.Rank)
		default: // it may have no operations to complete there
			w.maybe, out = append(w.maybe, q.Rank), append(out, q.Rank)
		}
	}
	switch {
	case len(out) > 0:
		w.text += ", for which " + text.RankList(compact(out)) + " " + text.Verb(len(out), "has", "have") + " not called MPI_Win_post"
	case len(outside) > 0:
		w.maybe, w.loose = outside, true
		w.text = "waits for " + text.RankList(compact(outside)) + " to call MPI, in " + t.Call + onObject(t)
	}
}

// exposure is the wait of MPI_Win_wait: for those that have not completed their accesses.
func (g *graph) exposure(w *wait, p *Process, t *Thread) {
	var out []int
	for _, m := range p.partners(Exposure, t.Object) {
		q := g.ranks[g.worldRank(t.Object, m)]
		if q == nil || q == p {
			continue
		}
		mine, _, known := p.epochs(Exposure, t.Object, m)
		_, theirs, also := q.epochs(Access, t.Object, t.Object.Rank)
		switch {
		case !known || !also:
			w.loose = true
		case theirs >= mine:
		case slices.ContainsFunc(q.Threads, func(other *Thread) bool { return other.Inside && other.Call == "MPI_Win_complete" }): // it may have done its part
			w.maybe, out = append(w.maybe, q.Rank), append(out, q.Rank)
		default:
			w.on, out = append(w.on, q.Rank), append(out, q.Rank)
		}
	}
	if len(out) > 0 {
		w.text += ", for which " + text.RankList(compact(out)) + " " + text.Verb(len(out), "has", "have") + " not left MPI_Win_complete"
	}
}

// readsText is "polls window flag on 1".
func (g *graph) readsText(t *Thread) string {
	words := "polls window " + objectText(t.Reads.Window) + " on rank " + g.peerText(t.Reads.Window, t.Reads.Target)
	if d := text.RoughDuration(t.Idle); d != "" {
		words += " for " + d
	}
	return words + ", with " + strings.TrimSuffix(t.Reads.Call, "_c") + atSite(t.Reads.Site)
}
