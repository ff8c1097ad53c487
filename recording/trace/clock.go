package trace

import (
	"math"
	"time"

	"mpitx/recording"
)

// tableSources is the table of event sources of MPI_T (docs/run-format.md).
const tableSources = "mpi_t sources"

// sourceClock puts timestamps of an event source on the run's clock: by the line through the source's times at the start and at the end
// of the run. If only one of them is known, as in a run that was killed, the source's own rate counts.
type sourceClock struct {
	ticks  int64         // the source's time
	at     time.Duration // at this time of the run
	rate   float64       // nanoseconds of a tick
	period float64       // ticks after which the clock starts again from 0; 0: it does not
}

// instant is a time of a source and of the run.
type instant struct {
	ticks int64 // negative: unknown
	at    time.Duration
}

// mostTicks is where a clock is taken as one that never starts again: 64 bits last for centuries.
const mostTicks = 1 << 62

// newSourceClock returns the clock of a source that says it has so many ticks a second (0: unknown), the last one of them most.
func newSourceClock(first, last instant, perSecond, most int64) (c sourceClock, ok bool) {
	if first.ticks < 0 {
		first = last
	}
	c = sourceClock{ticks: first.ticks, at: first.at}
	if most > 0 && most < mostTicks {
		c.period = float64(most) + 1
	}
	if perSecond > 0 {
		c.rate = 1e9 / float64(perSecond)
	}
	if took := float64(last.at - first.at); last.ticks >= 0 && took > 0 {
		moved := float64(last.ticks - first.ticks)
		if c.period > 0 && c.rate > 0 {
			moved += math.Round((took/c.rate-moved)/c.period) * c.period
		}
		if moved > 0 {
			c.rate = took / moved
		}
	}
	return c, c.ticks >= 0 && c.rate > 0
}

// early is the part of a period by which a timestamp may be later than its callback, because the clocks are not exact.
const early = 1.0 / 8

// time converts a timestamp. The library called back at some time after the event, so of the times that a clock with a period can mean,
// the last one before counts. It returns 0 for what is not a time.
func (c *sourceClock) time(timestamp int64, called time.Duration) time.Duration {
	if timestamp < 0 || c.rate == 0 {
		return 0
	}
	moved := float64(timestamp - c.ticks)
	if c.period > 0 {
		moved += math.Floor((float64(called-c.at)/c.rate-moved)/c.period+early) * c.period
	}
	if ns := moved * c.rate; math.Abs(ns) < math.MaxInt64/4 {
		return c.at + time.Duration(ns)
	}
	return 0
}

// clocksOf reads the clocks of a rank's sources, by index.
func (t *Trace) clocksOf(rank *recording.Rank) map[int64]sourceClock {
	if clocks, ok := t.clocks[rank]; ok {
		return clocks
	}
	clocks := map[int64]sourceClock{}
	for r := range rows(t.run, tableSources, func(r *recording.Rank) bool { return r == rank }) {
		at := func(name string) instant { return instant{r.signed(name), time.Duration(r.signed(name + "_time"))} }
		if c, ok := newSourceClock(at("first"), at("last"), r.signed("ticks_per_second"), r.signed("max_ticks")); ok {
			clocks[r.signed("source")] = c
		}
	}
	if t.clocks == nil {
		t.clocks = map[*recording.Rank]map[int64]sourceClock{}
	}
	t.clocks[rank] = clocks
	return clocks
}
