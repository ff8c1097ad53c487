package trace

import (
	"iter"
	"math"
	"time"

	"mpitx/recording"
)

// isPart reports whether the options choose less than the whole trace.
func (o *Options) isPart() bool { return o.Rank != nil || o.To > o.From }

// derivedInPart yields the derived events of the chosen part, with the end of the call that each follows. They are derived from the whole
// trace, because the message of an event may have its other side elsewhere.
func (t *Trace) derivedInPart() iter.Seq2[time.Duration, *Event] {
	tracks, n := []int{}, 0 // by those of the whole trace
	for _, c := range t.run.EventChains() {
		tracks = append(tracks, n)
		if t.options.Rank == nil || t.options.Rank(c.Rank) {
			n++
		}
	}
	return func(yield func(time.Duration, *Event) bool) {
		ended := time.Duration(math.MinInt64)
		for e := range Read(t.run, Options{Flows: true, Derive: t.options.Derive}).Events {
			switch {
			case e.Call != nil && !e.Call.Lost:
				ended = e.Call.End
			case e.Derived != nil && t.has(e.Rank, e.Derived.Time):
				if e.Track = tracks[e.Track]; !yield(ended, e) {
					return
				}
			}
		}
	}
}

// has reports whether a moment of a rank is in the chosen part.
func (t *Trace) has(r *recording.Rank, at time.Duration) bool {
	return (t.options.Rank == nil || t.options.Rank(r)) && t.inside(at, at)
}

// withDerived yields the events of the chosen part, and those that are derived, after the calls that they follow.
func (t *Trace) withDerived(yield func(*Event) bool) {
	next, stop := iter.Pull2(t.derivedInPart())
	defer stop()
	ended, derived, more := next()
	until := func(at time.Duration) bool {
		for more && ended < at {
			if !yield(derived) {
				return false
			}
			ended, derived, more = next()
		}
		return true
	}
	whole := t.decode(func(e *Event) bool {
		at := time.Duration(math.MinInt64)
		switch {
		case e.Call != nil && !e.Call.Lost:
			at = e.Call.End
		case e.External != nil:
			at = e.External.Time
		}
		return until(at) && yield(e)
	})
	if whole {
		until(math.MaxInt64)
	}
}
