package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/finding"
)

// Unfreed is the objects that one line made and that were not freed.
type Unfreed struct {
	Kind        ObjectKind
	Function    string  // that made them
	Site        Address // of the call
	Alive, Made int     // on the rank with the most
	Ranks       int     // that have some
	Span        float64 // the part of the run time from the first to the last making
	AtLeast     bool    // there may be more: the table was full

	frames []Frame // see [Profile.Resolve]
	on     map[*Rank]*making
}

// making is what one rank made.
type making struct {
	alive, made int
	first, last time.Duration
}

// madeAt is the line that makes objects.
type madeAt struct {
	kind     uint64
	function string
	site     Address
}

func (pr *process) madeAt(row *row) madeAt {
	at := madeAt{row.count("kind"), row.text("made_by"), Address{}}
	if address := row.count("site"); address != 0 {
		at.site = Address{Offset: address}
		if m := pr.rank.Module(address); m != nil {
			at.site = Address{m.Path, m.BuildID, address - m.Bias}
		}
	}
	return at
}

const tableFull = 4095 // objects that a process tells apart

// addUnfreed counts the objects of a process by where they were made. Those of an older mpitx have no place.
func (b *builder) addUnfreed(r *Rank, pr *process) {
	for _, row := range pr.declared {
		at := pr.madeAt(row)
		if at.site == (Address{}) {
			continue
		}
		if b.made[at] == nil {
			b.made[at] = &Unfreed{Kind: min(ObjectKind(at.kind), Unknown), Function: at.function, Site: at.site, on: map[*Rank]*making{}}
		}
		u, when := b.made[at], row.time("made_at")
		u.AtLeast = u.AtLeast || len(pr.declared) >= tableFull
		if u.on[r] == nil {
			u.on[r] = &making{first: when}
		}
		on := u.on[r]
		on.made += int(max(row.count("made"), 1))
		if row.count("freed") == 0 {
			on.alive++
		}
		on.first, on.last = min(on.first, when), max(on.last, when)
	}
}

// finishUnfreed lists the lines; those of the same place are one.
func (b *builder) finishUnfreed() {
	for _, u := range b.made {
		b.p.Unfreed = append(b.p.Unfreed, u)
	}
	b.p.sumUnfreed()
}

func (p *Profile) sumUnfreed() {
	for _, u := range p.Unfreed {
		u.Alive, u.Ranks = 0, 0
		for r, on := range u.on {
			if on.alive > 0 {
				u.Ranks++
			}
			if on.alive > u.Alive {
				u.Alive, u.Made, u.Span = on.alive, on.made, part(float64(on.last-on.first), r.Elapsed)
			}
		}
	}
	p.Unfreed = slices.DeleteFunc(p.Unfreed, func(u *Unfreed) bool { return u.Alive == 0 })
	slices.SortFunc(p.Unfreed, func(x, y *Unfreed) int {
		return cmp.Or(cmp.Compare(y.Alive, x.Alive), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Site.Path, y.Site.Path), cmp.Compare(x.Site.Offset, y.Site.Offset))
	})
}

// resolveUnfreed finds the places, and merges calls of one line.
func (p *Profile) resolveUnfreed(frames func(Address) []Frame) {
	same := map[string]*Unfreed{}
	for _, u := range p.Unfreed {
		u.frames = frames(u.Site)
		key := fmt.Sprint(u.Kind, u.where())
		if same[key] == nil {
			same[key] = u
			continue
		}
		for r, on := range u.on {
			if all := same[key].on[r]; all == nil {
				same[key].on[r] = on
			} else {
				*all = making{all.alive + on.alive, all.made + on.made, min(all.first, on.first), max(all.last, on.last)}
			}
		}
		u.on = nil
	}
	p.sumUnfreed()
}

// where is the function with its place in the program. MPI_Comm_idup makes objects in the call that completes it.
func (u *Unfreed) where() string {
	if len(u.frames) == 0 || strings.HasPrefix(u.Function, "MPI_Comm_idup") {
		return u.Function
	}
	return u.Function + ": " + u.frames[0].Place()
}

// Programs use some objects until their end. What counts is that a line makes more and more of them, or very many.
const (
	manyUnfreed     = 100
	veryManyUnfreed = 1000
	growingSpan     = 0.25
)

// contextIDs is how many communicators MPICH has room for.
const contextIDs = 2048

// unfreed finds lines that make objects again and again and do not free them.
func unfreed(p *Profile) (list []found) {
	if len(p.Cut.Phases) > 0 || p.Cut.someCalls() {
		return nil // they are counted for the whole run
	}
	for _, u := range p.Unfreed {
		if u.Alive < manyUnfreed || u.Span < growingSpan && u.Alive < veryManyUnfreed {
			continue
		}
		f := found{Finding: finding.Finding{Kind: "objects not freed", Subject: u.where(), Share: significant,
			Figures: finding.Figures{"alive": float64(u.Alive), "made": float64(u.Made), "ranks": float64(u.Ranks)},
			Next:    "whether each can be freed when it is no longer needed"}}
		count, when := fmt.Sprint(u.Alive), "were never freed"
		if u.AtLeast {
			count = "at least " + count
		}
		if slices.ContainsFunc(p.Ranks, func(r *Rank) bool {
			return u.on[r] != nil && r.Process != nil && r.Process.State == recording.StateRunning
		}) {
			when = "have not been freed so far"
		}
		f.Text = fmt.Sprintf("%s of %d %ss %s", count, u.Made, u.Kind, when)
		if u.Ranks > 1 {
			f.Text += fmt.Sprintf(" on each of %d ranks", u.Ranks)
		}
		f.Text += ", made by " + u.where()
		if u.Kind == Communicator && slices.ContainsFunc(p.Ranks, func(r *Rank) bool { return r.Process != nil && strings.HasPrefix(r.Process.Library, "MPICH") }) {
			f.Text += fmt.Sprintf("; MPICH has %d context ids and ends the job when none is left", contextIDs)
			f.Share = max(f.Share, min(float64(u.Alive)/contextIDs, 1))
		}
		list = append(list, f)
	}
	return list
}
