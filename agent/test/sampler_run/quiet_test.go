package samplerrun

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
)

// A process that computes on its only core is interrupted at one instant in four while values are constant. All instants have samples with the
// values of their time, including the one right before the call that changes a value.
func TestQuiet(t *testing.T) {
	const phases, phase, interval = 5, 100 * time.Millisecond, time.Millisecond
	const error = 50 * time.Microsecond // difference of two clocks
	for _, m := range mpis {            // one at a time, on one core
		m.needs(t)
		start := func(pvar string) *result {
			r := m.run(t, job{config: []string{fmt.Sprintf("interval_ns=%d", interval.Nanoseconds()), "pvar=" + pvar},
				program: []string{"taskset", "-c", firstCore(t), m.compile(t, "sampler_quiet.c"), fmt.Sprint(phases), fmt.Sprint(phase.Milliseconds())}})
			if r.code != 0 {
				t.Fatalf("exit %d\n%s", r.code, r.stderr)
			}
			return r
		}

		// Phases in which the thread had the core often enough to detect constant values. There are some unless the core is busy.
		quiet := 0
		for try := 0; quiet == 0 && try < 10; try++ {
			r := start("mpitx:calls/MPI_Comm_rank")
			var enter, leave []time.Duration
			var woken []int
			for line := range strings.Lines(r.stdout) {
				var from, to int64
				var n int
				fmt.Sscanf(line, "call %d %d %d", &from, &to, &n)
				enter, leave = append(enter, time.Unix(0, from).Sub(r.run.Start)), append(leave, time.Unix(0, to).Sub(r.run.Start))
				woken = append(woken, n)
			}
			times := make([][]time.Duration, phases+1) // times of samples, by their count of calls
			r.instants("mpitx:calls/MPI_Comm_rank", func(at time.Duration, value uint64) { times[value] = append(times[value], at) })
			for n := range phases {
				if behind := times[n+1]; len(behind) > 0 && behind[0] < enter[n]-error {
					t.Errorf("%s: call %d was made at %v; a sample of %v has it", m.family, n, enter[n], behind[0])
				}
				if n == 0 || woken[n] < 20 {
					continue
				}
				quiet++
				before := times[n]
				if least := int(phase/interval) / 2; len(before) < least {
					t.Fatalf("%s: %d samples between calls %d and %d, at least %d are expected", m.family, len(before), n-1, n, least)
				}
				if last := before[len(before)-1]; last < enter[n]-interval-error || last > leave[n]+error {
					t.Errorf("%s: call %d was made at %v; the last sample before it is of %v", m.family, n, enter[n], last)
				}
				if most := int(phase/interval) * 2 / 3; woken[n] > most {
					t.Errorf("%s: threads woke %d times while nothing moved, at most %d are expected", m.family, woken[n], most)
				}
			}
			t.Logf("%s: wakes %v, %+v", m.family, woken, r.rank(t, 0).Counters)
		}
		if quiet == 0 {
			t.Errorf("%s: the thread has hardly been awake", m.family)
		}

		// A value that changes without a call is correct at each instant.
		r := start("mpitx:time_in_mpi")
		var moved, early int
		var last, when time.Duration
		r.instants("mpitx:time_in_mpi", func(at time.Duration, value uint64) {
			v := time.Duration(value)
			if when > 0 && v-last > (at-when)*9/10 {
				moved++
			}
			if when > 0 && v-last > at-when+2*error {
				early++
			}
			last, when = v, at
		})
		if moved < 10 || last < phase*9/10 || early > 2 { // a sample may have been interrupted
			t.Errorf("%s: %d samples of %v in MPI, %d have values of a later time", m.family, moved, last, early)
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
