package samplerrun

import (
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
)

func said(k *recording.Rank, code recording.NoteCode, text string) bool {
	return slices.ContainsFunc(notes(k, code), func(s string) bool { return strings.Contains(s, text) })
}

// If one sample takes 3 ms, the next one is taken 12 ms later at the earliest. The instants in between are counted, and a note says why.
func TestLongSamples(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.run(t, job{n: 2, config: []string{"interval_ns=1000000", "pvar=slow_counts"},
			program: []string{m.compile(t, "sampler_pingpong.c"), "0.5", "finalize"}, env: []string{"LD_LIBRARY_PATH=" + m.richer(t)}})
		for rank := range 2 {
			k := r.rank(t, rank)
			var times []time.Duration
			r.instantsOf(k, func(at time.Duration) { times = append(times, at) })
			if len(times) < 4 {
				t.Fatalf("rank %d: samples at %v; %+v", rank, times, k.Counters)
			}
			for i := 2; i < len(times)-1; i++ { // the last sample is the one of MPI_Finalize
				if rest := times[i] - times[i-1]; i > 2 && rest < 12*time.Millisecond-200*time.Microsecond {
					t.Errorf("rank %d: sample %d comes %v after the one before", rank, i, rest)
				}
			}
			span := uint64((times[len(times)-1] - times[0]) / time.Millisecond)
			if due := k.Counters.Instants + k.Counters.Missed; due+20 < span || due > span+20 {
				t.Errorf("rank %d: %d instants in %d ms: %+v", rank, due, span, k.Counters)
			}
			if !said(k, recording.NoteReduced, "one sample takes up to ") {
				t.Errorf("rank %d: notes %+v", rank, k.Notes)
			}
		}
	})
}

func (r *result) instantsOf(k *recording.Rank, f func(time.Duration)) {
	for in := range r.run.Instants(recording.Options{}) {
		if in.Rank == k {
			f(in.Time)
		}
	}
}

// Calls that are nested too deep are not counted, and the run says so, also if the process ends by _exit.
func TestNestedTooDeep(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, c := range []struct{ levels, end, want string }{
			{"20", "finalize", "MPI calls are not counted: they were nested more than 8 deep"},
			{"20", "exit", "some MPI calls are not counted: they were nested more than 8 deep"},
			{"5", "finalize", ""},
		} {
			r := m.run(t, job{config: []string{"interval_ns=10000000", "pvar=mpitx:calls"}, program: []string{m.compile(t, "sampler_nested.c"), c.levels, c.end}})
			k := r.rank(t, 0)
			if got := said(k, recording.NoteText, "nested more than"); got != (c.want != "") || (c.want != "" && !said(k, recording.NoteText, c.want)) {
				t.Errorf("%s levels, %s: notes %+v", c.levels, c.end, k.Notes)
			}
		}
	})
}

// MPI_Exscan gives rank 0 nothing.
func TestExscan(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 2, []string{"interval_ns=10000000", "pvar=mpitx:collective_bytes_received"}, "sampler_exscan")
		for rank, want := range []float64{12, 36} {
			if v := r.values(rank, "mpitx:collective_bytes_received", "", 0); len(v) == 0 || v[len(v)-1] != want {
				t.Errorf("rank %d: received %v, want %v", rank, v, want)
			}
		}
	})
}
