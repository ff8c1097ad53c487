package profile

import (
	"cmp"
	"slices"
	"time"
)

// Wait is the time that a rank waited for another one in calls that took long (2 µs or more).
type Wait struct {
	Rank *Rank `json:"rank"`
	For  int   `json:"for"` // the number of the other rank

	Calls uint64        `json:"calls"` // that waited for no other rank
	Time  time.Duration `json:"time_ns"`

	SharedCalls uint64        `json:"shared_calls"` // that waited for several ranks; each has the whole time
	SharedTime  time.Duration `json:"shared_time_ns"`
}

// wait adds a row of waits. Their objects are not known.
func (b *builder) wait(r *Rank, row *row, addresses map[uint64]Address) {
	other, known := b.jobs.find(b.p.Run, r.Process, row.number("job"), row.number("rank"))
	if !known || !b.p.Cut.phase(row.text("phase")) || b.p.Cut.someCalls() {
		return
	}
	w := Wait{r, other, row.count("calls"), row.duration("ticks"), row.count("shared_calls"), row.duration("shared_ticks")}
	key := cmp.Or(row.text("function"), "unknown") + "\x00"
	_, stack := b.stack(r, row, addresses)
	for _, f := range []*Function{b.functions[key], b.sites[key+stack]} {
		if f != nil {
			f.addWait(&w)
		}
	}
}

// addWait keeps the list in the order of ranks.
func (f *Function) addWait(w *Wait) {
	at, found := slices.BinarySearchFunc(f.Waits, w, func(x Wait, y *Wait) int {
		return cmp.Or(cmp.Compare(x.Rank.Number, y.Rank.Number), cmp.Compare(x.For, y.For))
	})
	if !found {
		f.Waits = slices.Insert(f.Waits, at, Wait{Rank: w.Rank, For: w.For})
	}
	sum := &f.Waits[at]
	sum.Calls += w.Calls
	sum.Time += w.Time
	sum.SharedCalls += w.SharedCalls
	sum.SharedTime += w.SharedTime
}

// awaited returns the ranks that a rank waited for in a function, if they are few and account for most of the time; else none.
func (f *Function) awaited(r *Rank) (ranks []int) {
	const most = 3
	all, known := f.timeOn(r), time.Duration(0)
	for i := range f.Waits {
		if w := &f.Waits[i]; w.Rank == r && w.For != r.Number && 5*(w.Time+w.SharedTime) >= all {
			ranks = append(ranks, w.For)
			known += w.Time + w.SharedTime
		}
	}
	if len(ranks) > most || 4*known < 3*all {
		return nil
	}
	return ranks
}
