package recording

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"
)

// clockPair is one instant in ticks of the run's clock, CLOCK_MONOTONIC and CLOCK_REALTIME.
type clockPair struct {
	ticks      uint64
	mono, real int64
	err        float64
}

func (r *Rank) addPair(p clockPair, short bool) {
	if short || p.mono < 0 || p.real < 0 || p.mono > math.MaxInt64/4 || p.real > math.MaxInt64/4 || math.IsNaN(p.err) {
		return
	}
	if len(r.pairs) >= maxPairs { // keep every second one
		kept := r.pairs[:0]
		for i := 0; i < len(r.pairs); i += 2 {
			kept = append(kept, r.pairs[i])
		}
		r.pairs = kept
	}
	r.pairs = append(r.pairs, p)
}

// mono converts a time of the run's clock to CLOCK_MONOTONIC. If they are different clocks, it interpolates between the
// calibration pairs around the time.
func (r *Rank) mono(ticks uint64) int64 {
	if !r.TSC {
		return int64(ticks & math.MaxInt64)
	}
	if len(r.pairs) == 0 {
		return int64(float64(ticks&math.MaxInt64) * r.NsPerTick)
	}
	if len(r.pairs) == 1 {
		return r.pairs[0].after(ticks, r.NsPerTick)
	}
	i := max(r.segment, 0)
	for i > 0 && ticks < r.pairs[i].ticks {
		i--
	}
	for i+2 < len(r.pairs) && ticks >= r.pairs[i+1].ticks {
		i++
	}
	r.segment = i
	a, b := &r.pairs[i], &r.pairs[i+1]
	rate := float64(b.mono-a.mono) / max(float64(b.ticks-a.ticks), 1)
	if b.mono-a.mono < int64(time.Second) || math.Abs(rate/r.NsPerTick-1) > 1e-3 { // too short to measure a rate, or an implausible one
		rate = r.NsPerTick
	}
	return a.after(ticks, rate)
}

func (p *clockPair) after(ticks uint64, rate float64) int64 {
	d := int64(ticks - p.ticks)
	return p.mono + int64(min(max(float64(d)*rate, -math.MaxInt64/4), math.MaxInt64/4))
}

// wallClock converts a node's CLOCK_MONOTONIC to the time of day by the line through the first and the last pair.
type wallClock struct {
	mono, offset int64
	slope        float64
}

func (w *wallClock) real(mono int64) int64 {
	return mono + w.offset + int64(float64(mono-w.mono)*w.slope)
}

// maxDrift is the fastest rate at which adjtime slews a clock (500 ppm), plus a margin. A greater difference means that the clock was set.
const maxDrift = 600e-6

// align sets up a node's clock and returns the bound of its error.
func (n *Node) align() time.Duration {
	var pairs []clockPair
	var worst time.Duration
	for _, r := range n.Ranks {
		slices.SortStableFunc(r.pairs, func(a, b clockPair) int { return cmp.Compare(a.ticks, b.ticks) })
		if len(r.pairs) > 0 {
			pairs = append(pairs, r.pairs[0], r.pairs[len(r.pairs)-1])
		}
		worst = max(worst, r.ClockError)
	}
	if len(pairs) == 0 {
		return worst
	}
	first, last := pairs[0], pairs[0]
	for _, p := range pairs {
		if p.mono < first.mono {
			first = p
		}
		if p.mono > last.mono {
			last = p
		}
	}
	n.wall = wallClock{mono: first.mono, offset: first.real - first.mono}
	moved, took := last.real-last.mono-n.wall.offset, last.mono-first.mono
	if math.Abs(float64(moved)) > float64(took)*maxDrift+1e6 {
		n.Step = time.Duration(moved)
	} else if took > int64(time.Second) && math.Abs(float64(moved)) > first.err+last.err {
		n.wall.slope = float64(moved) / float64(took)
	}
	return worst + duration(math.Max(first.err, last.err))
}

// time converts a time of the run's clock to the time since the job's start.
func (x *index) time(r *Rank, ticks uint64) time.Duration {
	return r.Node.curve.at(time.Duration(r.Node.wall.real(r.mono(ticks))-x.start), &r.line)
}

// SetClocks corrects all times of the run that are read from now on; nil: nothing does. Curves that are damaged, and those of nodes that are
// missing, are left out.
func (run *Run) SetClocks(c *Clocks) {
	run.Clocks, run.curves = c, map[nodeID]Curve{}
	if c != nil {
		for _, x := range c.Curves {
			if x.Node >= 0 && x.Node < len(run.Nodes) && x.Curve.valid() {
				run.curves[run.Nodes[x.Node].id()] = x.Curve
			}
		}
	}
	for _, n := range run.Nodes {
		n.curve = run.curves[n.id()]
	}
	run.setStart(run.index.start)
}

// ClockBase identifies what times are made of, apart from Clocks.
func (run *Run) ClockBase() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%x %d", run.ID, run.index.start)
	for _, n := range run.Nodes {
		fmt.Fprintf(sum, " %q %q %v", n.Host, n.bootID, n.wall)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// TimeAt converts a time of a process's clock, such as a field of an event's body that means a time, to the time since the job's start.
func (run *Run) TimeAt(r *Rank, ticks uint64) time.Duration { return run.time(r, ticks) }

// alignAll puts all ranks on one clock.
func (x *index) alignAll(run *Run) {
	var early, given int64 = math.MaxInt64, math.MaxInt64
	run.ClockError = 0
	for _, n := range run.Nodes {
		run.ClockError = max(run.ClockError, n.align())
		for _, r := range n.Ranks {
			if len(r.pairs) > 0 {
				early = min(early, n.wall.real(r.pairs[0].mono))
			}
			if r.jobStart > 0 {
				given = min(given, r.jobStart)
			}
		}
	}
	if early == math.MaxInt64 {
		early = 0
	}
	if given <= early && early-given < int64(24*time.Hour) {
		early = given
	}
	run.setStart(early)
}

// setStart sets time 0.
func (run *Run) setStart(ns int64) {
	run.index.start = ns
	run.Start = time.Unix(0, ns)
	for _, r := range run.Ranks {
		if ticks := r.Counters.failedTicks; ticks != 0 {
			r.failed = max(run.time(r, ticks), 1)
		}
		for i := range r.Notes {
			r.Notes[i].Time = run.time(r, r.Notes[i].ticks)
		}
	}
}

// Span returns when the recording of a process began and ended, since the job's start: if the process has not ended in order, the
// last time that it wrote of its clock; if it is running, now.
func (run *Run) Span(r *Rank) (from, to time.Duration) {
	if len(r.pairs) == 0 {
		return 0, 0
	}
	from, to = run.time(r, r.pairs[0].ticks), run.time(r, r.pairs[len(r.pairs)-1].ticks)
	if r.State == StateRunning {
		to = max(to, time.Since(run.Start))
	}
	return from, to
}
