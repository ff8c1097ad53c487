package waits

import (
	"math"
	"slices"
	"time"

	"mpitx/recording"
	"mpitx/recording/processor"
)

// NoCores adds which ranks were ready to run but had no core, according to counts of the whole run, and to samples. That may have made their computation
// and calls longer.
func (a *Analysis) NoCores(run *recording.Run) {
	if p := processor.Read(run, nil); p != nil {
		a.Shortages, a.noCore = p.Shortages(), map[int]noCore{}
		for _, r := range p.Ranks {
			a.noCore[r.Number] = noCore{computing: r.Waited.Most, calling: r.Wait - r.Waited.Least}
		}
	}
	a.withoutCore(coreWaits(run))
}

// noCore is for how long, at most, a rank was ready to run outside of calls and in them.
type noCore struct{ computing, calling time.Duration }

// cpuWait is the variable with the time for which the threads of a process were ready to run and had no core.
const cpuWait = "mpitx:cpu_wait"

// coreWait is for how long a process waited for a core since it was last asked. Samples may repeat an earlier answer (docs/sampling.md), so that this
// was at the first sample with the value before.
type coreWait struct{ from, to, waited int64 }

// coreWaits are the times in which processes waited for a core, by rank, of ranks with samples. Before the first sample and after the last one, it may be
// any time.
func coreWaits(run *recording.Run) map[int][]coreWait {
	sampled := func(c *recording.Column) bool { return c.Variable == cpuWait }
	if !slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool {
		return slices.ContainsFunc(r.Columns, func(c *recording.Column) bool { return c != nil && sampled(c) })
	}) {
		return nil
	}
	type sample struct {
		at    int64
		value uint64
	}
	all, last := map[int][]coreWait{}, map[int]sample{}
	for in := range run.Instants(recording.Options{As: recording.Raw, Column: sampled}) {
		for _, cell := range in.Cells {
			value, ok := cell.Value.Uint64()
			if !ok || !cell.Status.HasValue() {
				continue
			}
			rank := in.Rank.Rank
			now := sample{int64(in.Time), value}
			before, known := last[rank]
			switch {
			case !known || value < before.value:
				from := int64(math.MinInt64)
				if known {
					from = before.at
				}
				all[rank] = append(all[rank], coreWait{from, now.at, math.MaxInt64})
			case value > before.value:
				all[rank] = append(all[rank], coreWait{before.at, now.at, int64(min(value-before.value, math.MaxInt64))})
			default:
				continue
			}
			last[rank] = now
		}
	}
	for rank, x := range last {
		all[rank] = widened(append(all[rank], coreWait{x.at, math.MaxInt64, math.MaxInt64}))
	}
	return all
}

// widened are waits from one answer earlier to one later: the thread that asks may itself wait for a core between an answer and its time.
func widened(all []coreWait) []coreWait {
	wide := slices.Clone(all)
	for k := range wide {
		wide[k].from, wide[k].to = all[max(k-1, 0)].from, all[min(k+1, len(all)-1)].to
	}
	return wide
}

// stretch is a time of a track in one region.
type stretch struct {
	from, to int64
	region   int32 // as in profiles
}

// withoutCore adds for how long each region may have waited for a core, at most: of each wait between two answers, as long as the region has lasted then.
// A thread without a core does not go on, so a wait that began before the first of the two belongs to the stretch that it is in.
func (a *Analysis) withoutCore(all map[int][]coreWait) {
	p, most := a.program, map[int]map[int32]int64{} // by rank and region
	for i := range p.tracks {
		waits := all[p.tracks[i].rank]
		if len(waits) == 0 {
			continue
		}
		if most[p.tracks[i].rank] == nil {
			most[p.tracks[i].rank] = map[int32]int64{}
		}
		p.boundCores(int32(i), waits, most[p.tracks[i].rank])
	}
	type place struct {
		rank int
		what string
		At
	}
	bounds := map[place]int64{}
	for rank, regions := range most {
		for region, d := range regions {
			r := Region{Code: uint32(region / 2), Compute: region%2 == 1}
			bounds[place{rank, what(r), p.place(r.Code)}] = d
		}
	}
	bound := func(rank int, what string, at At) *time.Duration {
		if len(all[rank]) == 0 || what == Unexplained {
			return nil
		}
		d := time.Duration(bounds[place{rank, what, at}])
		return &d
	}
	for i := range a.Causes {
		c := &a.Causes[i]
		c.NoCore = bound(c.Rank, c.What, c.At)
	}
	for i := range a.Rest {
		s := &a.Rest[i]
		if s.NoCore = bound(s.Rank, InCall, s.At); s.NoCore != nil {
			*s.NoCore = min(*s.NoCore, s.Waiting) // sites of one place with several communicators
		}
	}
}

// boundCores adds to the regions of a track.
func (p *Program) boundCores(track int32, waits []coreWait, most map[int32]int64) {
	t := &p.tracks[track]
	var open []stretch // that may be in the next time between samples, too
	k, sums := int32(0), map[int32]int64{}
	for _, w := range waits {
		open = slices.DeleteFunc(open, func(s stretch) bool { return s.to <= w.from })
		for ; k < t.calls.len() && t.before(k) < w.to; k++ {
			c := t.calls.at(k)
			code := int32(p.codeOf[c.site])
			if before := t.before(k); before < c.begin && c.begin > w.from {
				open = append(open, stretch{before, c.begin, 2*code + 1})
			}
			waiting := p.wait(Ref{track, k})
			if began := c.begin + waiting.length(c); began < c.end && c.end > w.from {
				open = append(open, stretch{began, c.end, 2 * code})
			}
		}
		clear(sums)
		for _, s := range open {
			if s.from < w.to {
				sums[s.region] += min(s.to, w.to) - s.from
			}
		}
		for region, d := range sums {
			most[region] += min(d, w.waited)
		}
	}
}
