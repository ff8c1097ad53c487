package trace

import (
	"cmp"
	"slices"
	"time"

	"mpitx/recording"
)

// DerivedEvent is the kind of events that are derived from calls.
const DerivedEvent = "derived"

// EventTotal is how often events of one name were raised in a part of a run, and recorded.
type EventTotal struct {
	Name string
	Kind string // "MPI_T", "PERUSE" or DerivedEvent
	From Bound  // of derived ones

	Raised      uint64 // callbacks of the whole run, in which not all were recorded; 0: not known, or derived
	Recorded    uint64 // of this part
	First, Last time.Duration
	Ranks       []int // those that raised it, ascending
}

// EventTotals counts the events of MPI_T and PERUSE in a run's trace, and those that were only counted, by name.
func EventTotals(run *recording.Run, o Options) []EventTotal {
	all := map[[2]string]*EventTotal{}
	at := func(kind, name string, rank int) *EventTotal {
		key := [2]string{kind, name}
		if all[key] == nil {
			all[key] = &EventTotal{Name: name, Kind: kind}
		}
		one := all[key]
		if n, found := slices.BinarySearch(one.Ranks, rank); !found {
			one.Ranks = slices.Insert(one.Ranks, n, rank)
		}
		return one
	}
	kinds := map[string]string{} // of each name
	for table, kind := range map[string]string{tableEvents: "MPI_T", tablePeruse: "PERUSE"} {
		for r := range rows(run, table, o.Rank) {
			kinds[r.text("name")] = kind
			if n := r.number("received"); n > 0 {
				at(kind, r.text("name"), r.Table.Rank.Rank).Raised += n
			}
		}
	}
	add := func(one *EventTotal, when time.Duration) {
		if one.Recorded == 0 {
			one.First = when
		}
		one.First, one.Last = min(one.First, when), max(one.Last, when)
		one.Recorded++
	}
	o.Derive = Derivable(run)
	o.Flows = len(o.Derive) > 0 && !o.isPart() // those of a part are derived from the whole
	Read(run, o).Events(func(e *Event) bool {
		switch {
		case e.External != nil:
			add(at(cmp.Or(kinds[e.External.Name], "MPI_T"), e.External.Name, e.Rank.Rank), e.External.Time)
		case e.Derived != nil:
			one := at(DerivedEvent, e.Derived.Name, e.Rank.Rank)
			one.From = e.Derived.Bound
			add(one, e.Derived.Time)
		}
		return true
	})
	var list []EventTotal
	for _, one := range all {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b EventTotal) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
	return list
}
