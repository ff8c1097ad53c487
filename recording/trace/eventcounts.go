package trace

import (
	"cmp"
	"slices"

	"mpitx/recording"
)

// The tables of event types (docs/run-format.md).
const (
	tableEvents = "mpi_t events"
	tablePeruse = "peruse events"
)

// Gap is a kind of finding about the events of MPI_T and PERUSE that were asked for.
type Gap int

// The findings, in the order in which they are reported.
const (
	OnlyCounted Gap = iota // their data were not read
	Refused                // they came when they could not be recorded, as in signal handlers
	Late                   // the library called back after the registration was freed
	Dropped                // the library did not deliver them
	Backwards              // the clock of an ordered source went back
	Silent                 // none was raised, although there was a callback
)

// EventGap is a finding about an event type, or for Backwards about a source.
type EventGap struct {
	Gap    Gap
	Name   string
	Reason string // of OnlyCounted
	Count  uint64 // events of these ranks; 0: Silent
	Ranks  []int  // ascending
}

// EventGaps are the findings about the events that a run asked for, each once over all ranks: by kind, name and reason. The trace has
// the other events, but for Totals.LostEvents and OldEvents.
func EventGaps(run *recording.Run, rank func(*recording.Rank) bool) []EventGap {
	g := gaps{}
	for _, table := range []string{tableEvents, tablePeruse} {
		for r := range rows(run, table, rank) {
			g.row(r)
		}
	}
	for r := range rows(run, tableSources, rank) {
		g.add(Backwards, r, "", r.number("backwards"))
	}
	var all []EventGap
	for _, gap := range g {
		if gap.Gap != Silent || gap.Count == 0 {
			all = append(all, *gap)
		}
	}
	slices.SortFunc(all, func(a, b EventGap) int {
		return cmp.Or(cmp.Compare(a.Gap, b.Gap), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

type gapKey struct {
	gap          Gap
	name, reason string
}

type gaps map[gapKey]*EventGap

func (g gaps) at(gap Gap, r rowOf, reason string) *EventGap {
	key := gapKey{gap, r.text("name"), reason}
	if g[key] == nil {
		g[key] = &EventGap{Gap: gap, Name: key.name, Reason: reason}
	}
	one, rank := g[key], r.Table.Rank.Rank
	if n := len(one.Ranks); n == 0 || one.Ranks[n-1] != rank {
		one.Ranks = append(one.Ranks, rank)
	}
	return one
}

func (g gaps) add(gap Gap, r rowOf, reason string, n uint64) {
	if n > 0 {
		g.at(gap, r, reason).Count += n
	}
}

// row adds the findings about an event type.
func (g gaps) row(r rowOf) {
	received, reason := r.number("received"), r.text("reason")
	if reason != "" {
		g.add(OnlyCounted, r, reason, received)
	}
	if r.Table.Rank.Counters.LostEvents == 0 { // else they were refused because the buffers were full
		g.add(Refused, r, "", r.number("refused"))
	}
	g.add(Late, r, "", r.number("late"))
	g.add(Dropped, r, "", r.number("dropped"))
	if r.Table.Name == tablePeruse || r.number("safety") > 0 {
		g.at(Silent, r, "").Count += received
	}
}
