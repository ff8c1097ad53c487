package samplerrun

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
)

const clockError = 50 * time.Microsecond // difference of two clocks

// computing is a phase of sampler_quiet: it computes, then makes MPI calls. woken counts the wake-ups of other threads so far.
type computing struct {
	enter, leave time.Duration // of its calls
	woken        int
}

// quiet runs sampler_quiet on one core.
func (m *mpi) quiet(t *testing.T, interval time.Duration, pvar string, phases int, phase time.Duration, calls int) (*result, []computing) {
	r := m.run(t, job{config: []string{fmt.Sprintf("interval_ns=%d", interval.Nanoseconds()), "pvar=" + pvar},
		program: []string{"taskset", "-c", firstCore(t), m.compile(t, "sampler_quiet.c"), fmt.Sprint(phases), fmt.Sprint(phase.Microseconds()), fmt.Sprint(calls)}})
	if r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	var of []computing
	for line := range strings.Lines(r.stdout) {
		var from, to int64
		var c computing
		fmt.Sscanf(line, "phase %d %d %d", &from, &to, &c.woken)
		c.enter, c.leave = time.Unix(0, from).Sub(r.run.Start), time.Unix(0, to).Sub(r.run.Start)
		of = append(of, c)
	}
	return r, of
}

// A process that computes on its only core is hardly interrupted. All instants have samples with the values of their time, including the one
// right before the call that changes a value.
func TestQuiet(t *testing.T) {
	const phases, phase, interval = 5, 100 * time.Millisecond, time.Millisecond
	for _, m := range mpis { // one at a time, on one core
		m.needs(t)
		r, of := m.quiet(t, interval, "mpitx:calls/MPI_Comm_rank", phases, phase, 1)
		times := make([][]time.Duration, phases+1) // times of samples, by their count of calls
		r.instants("mpitx:calls/MPI_Comm_rank", func(at time.Duration, value uint64) { times[value] = append(times[value], at) })
		for n, c := range of {
			if after := times[n+1]; len(after) > 0 && after[0] < c.enter-clockError {
				t.Errorf("%s: call %d was made at %v; a sample of %v has it", m.family, n, c.enter, after[0])
			}
			before := times[n]
			if least := int(phase/interval)*3/4 - int(r.rank(t, 0).Counters.Missed); len(before) < least { // a busy machine
				t.Fatalf("%s: %d samples before call %d, at least %d are expected: %+v", m.family, len(before), n, least, r.rank(t, 0).Counters)
			}
			if last := before[len(before)-1]; last < c.enter-interval-clockError || last > c.leave+clockError {
				t.Errorf("%s: call %d was made at %v; the last sample before it is of %v", m.family, n, c.enter, last)
			}
			if n == 0 {
				continue
			}
			// The thread would wake at each interval if it did not back off.
			if woken, most := c.woken-of[n-1].woken, int((c.enter-of[n-1].leave)/interval)/2; woken > most {
				t.Errorf("%s: threads woke %d times while nothing moved, at most %d are expected", m.family, woken, most)
			}
		}
		t.Logf("%s: %v %+v", m.family, of, r.rank(t, 0).Counters)

		// A value that changes without a call is correct at each instant.
		r, _ = m.quiet(t, interval, "mpitx:time_in_mpi", phases, phase, 1)
		var grew, moved, early int
		var last, when time.Duration
		r.instants("mpitx:time_in_mpi", func(at time.Duration, value uint64) {
			v := time.Duration(value)
			if when > 0 && v > last {
				grew++
			}
			if when > 0 && v-last > (at-when)*9/10 {
				moved++
			}
			if when > 0 && v-last > at-when+2*clockError {
				early++
			}
			last, when = v, at
		})
		if grew < 3 || moved < min(10, grew-2) || last < phase*9/10 || early > 2 { // a sample may have been interrupted
			t.Errorf("%s: %d of %d samples of %v in MPI have the time since the last one, %d have values of a later time", m.family, moved, grew, last, early)
		}
	}
}

// Calls that come in bursts, about as often as samples, take nearly all samples in the thread's place. Each sample has the count of its time.
func TestBursts(t *testing.T) {
	const phases, phase, calls, interval = 400, 900 * time.Microsecond, 12, time.Millisecond
	for _, m := range mpis {
		m.needs(t)
		calm := false
		for try := 0; !calm && try < 10; try++ {
			r, of := m.quiet(t, interval, "mpitx:calls/MPI_Comm_rank", phases, phase, calls)
			samples, wrong := 0, ""
			interrupted := 0 // between its time and its value
			r.instants("mpitx:calls/MPI_Comm_rank", func(at time.Duration, value uint64) {
				samples++
				n := int(value) / calls
				from, to := time.Duration(0), time.Hour
				if n < phases { // the process may lose its core between the clock and the first call
					to = of[n].leave
				}
				switch {
				case value%calls != 0:
					from = of[n].enter
				case n > 0:
					from = of[n-1].enter
				}
				if at < from-clockError || at > to+clockError {
					interrupted++
					wrong = fmt.Sprintf("a sample of %v counts %d calls, which is true from %v to %v", at, value, from, to)
				}
			})
			if interrupted > max(samples/100, 2) {
				t.Errorf("%s: %d of %d samples are wrong: %s", m.family, interrupted, samples, wrong)
			}
			whole := int((of[phases-1].leave - of[0].enter) / interval)
			woken := of[phases-1].woken
			calm = woken < whole/4 && samples > whole*9/10 // a busy machine stops calls, and then the thread samples
			t.Logf("%s: %d of %d instants have samples; threads woke %d times", m.family, samples, whole, woken)
		}
		if !calm {
			t.Errorf("%s: the thread samples in place of calls", m.family)
		}
	}
}

// instants passes the values of a variable of a single rank to each, in order, and returns their number.
func (r *result) instants(variable string, each func(at time.Duration, value uint64)) (n int) {
	for in := range r.run.Instants(recording.Options{As: recording.Raw}) {
		for _, c := range in.Cells {
			if c.Column.Variable == variable {
				each(in.Time, uint64(c.Value.Float64()))
				n++
			}
		}
	}
	return n
}
