package trace

import (
	"math"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// raised are the times by the source of the events that the trace has, and the times of the callbacks.
func raised(run *recording.Run) (source, callback []time.Duration) {
	for e := range Read(run, Options{}).Events {
		if e.External != nil {
			source, callback = append(source, e.External.Raised), append(callback, e.External.Time)
		}
	}
	return source, callback
}

// Timestamps of a source are put on the run's clock, which begins at 1000 ticks of a nanosecond.
func TestSourceClock(t *testing.T) {
	const us, ms = 1000, 1_000_000
	event := func(callback uint64, stamp int64) func(*recordingtest.Trace) {
		return func(x *recordingtest.Trace) { x.Queued(callback, uint64(stamp), 1, 0, 7) }
	}
	for name, c := range map[string]struct {
		source recordingtest.Source
		events []func(*recordingtest.Trace)
		want   []time.Duration
	}{
		// The source says 1000000 ticks a second, and has 1001000: 100 ns are 0.1001 ticks.
		"line": {recordingtest.Source{PerSecond: 1000000, MostTicks: math.MaxInt64, First: 5000, Last: 5000 + 1001000, FirstTime: 2000, LastTime: 2000 + 1000*ms},
			[]func(*recordingtest.Trace){event(600*ms, 5000+500500), event(601*ms, 5000)}, []time.Duration{500*ms + us, us}},
		// A run that was killed has no last pair.
		"killed": {recordingtest.Source{PerSecond: 1000000, MostTicks: math.MaxInt64, First: 5000, Last: -1, FirstTime: 2000},
			[]func(*recordingtest.Trace){event(600*ms, 5000+500000), event(601*ms, 4998)}, []time.Duration{500*ms + us, -us}},
		"only the last": {recordingtest.Source{PerSecond: 1000000, First: -1, Last: 9000, LastTime: 900 * ms},
			[]func(*recordingtest.Trace){event(600*ms, 8000)}, []time.Duration{899*ms - us}},
		// A clock of 1 ms that starts again after a second, four times between the pairs. The last event comes 300 ms late.
		"wrap": {recordingtest.Source{PerSecond: 1000, MostTicks: 999, First: 900, Last: 200, FirstTime: 2000, LastTime: 2000 + 3300*ms},
			[]func(*recordingtest.Trace){event(2000+50*ms, 950), event(2000+150*ms, 0), event(2000+3200*ms, 800)}, []time.Duration{50*ms + us, 100*ms + us, 2900*ms + us}},
		"wrap, killed": {recordingtest.Source{PerSecond: 1000, MostTicks: 999, First: 900, Last: -1, FirstTime: 2000},
			[]func(*recordingtest.Trace){event(2000+150*ms, 0), event(2000+3200*ms, 800)}, []time.Duration{100*ms + us, 2900*ms + us}},
		"no clock":           {recordingtest.Source{PerSecond: 1000000, First: -1, Last: -1}, []func(*recordingtest.Trace){event(5000, 77)}, []time.Duration{0}},
		"no rate":            {recordingtest.Source{First: 5, Last: -1, FirstTime: 2000}, []func(*recordingtest.Trace){event(5000, 77)}, []time.Duration{0}},
		"no time":            {recordingtest.Source{PerSecond: 1000000, First: 5, Last: -1, FirstTime: 2000}, []func(*recordingtest.Trace){event(5000, -1)}, []time.Duration{0}},
		"stands still":       {recordingtest.Source{PerSecond: 1000000, First: 5, Last: 5, FirstTime: 2000, LastTime: 9000}, []func(*recordingtest.Trace){event(5000, 6)}, []time.Duration{2000}},
		"another source":     {recordingtest.Source{Index: 1, PerSecond: 1000000, First: 5, Last: -1, FirstTime: 2000}, []func(*recordingtest.Trace){event(5000, 6)}, []time.Duration{0}},
		"beyond any time":    {recordingtest.Source{PerSecond: 1, MostTicks: math.MaxInt64, First: 5, Last: -1, FirstTime: 2000}, []func(*recordingtest.Trace){event(5000, math.MaxInt64)}, []time.Duration{0}},
		"most is the lowest": {recordingtest.Source{PerSecond: 1000000, MostTicks: math.MinInt64, First: 5, Last: -1, FirstTime: 2000}, []func(*recordingtest.Trace){event(5000, 6)}, []time.Duration{2000}},
	} {
		t.Run(name, func(t *testing.T) {
			run := save(t, func(x *recordingtest.Trace) {
				if c.source.Name = "clock"; name != "another source" {
					c.source.Index = 7
				}
				x.Sources(c.source)
				for _, add := range c.events {
					add(x)
				}
			})
			for _, d := range run.Damage() {
				t.Error(d)
			}
			got, callbacks := raised(run)
			if len(got) != len(c.want) {
				t.Fatalf("%d events", len(got))
			}
			for i, want := range c.want {
				if d := got[i] - want; d < -2 || d > 2 {
					t.Errorf("event %d of the callback at %v: %v, want %v", i, callbacks[i], got[i], want)
				}
			}
		})
	}
}

// Without the table, as in runs of older versions, no time is known.
func TestNoSourceClock(t *testing.T) {
	run := save(t, func(x *recordingtest.Trace) { x.Queued(5000, 7, 1, 0, 7) })
	if got, _ := raised(run); len(got) != 1 || got[0] != 0 {
		t.Error(got)
	}
}
