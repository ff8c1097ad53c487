package samplerrun

import (
	"fmt"
	"math"
	"testing"

	"mpitx/recording"
)

// A call in progress counts, even within another call's callback: times never grow faster than real time. The time in MPI_Init is a separate
// variable and final before the first sample.
func TestRates(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		const rounds, ms = 20, 15
		times := []string{"mpitx:time_in_mpi", "mpitx:time/MPI_Comm_dup", "mpitx:time/MPI_Reduce_local"}
		inits := []string{"mpitx:time_in_init", "mpitx:time/MPI_Init"}
		config := []string{"interval_ns=1000000"}
		for _, name := range append(times, inits...) {
			config = append(config, "pvar="+name)
		}
		r := m.run(t, job{n: 1, config: config, program: []string{m.compile(t, "sampler_rates.c"), fmt.Sprint(rounds), fmt.Sprint(ms)}})
		var init, took float64
		if _, err := fmt.Sscan(r.stdout, &init, &took); err != nil {
			t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
		}
		moved := 0
		for in := range r.run.Instants(recording.Options{As: recording.Rate}) {
			for _, c := range in.Cells {
				v := c.Value.Float64()
				if v > 1.001e9 || v < 0 {
					t.Errorf("%v: %s grows by %v ns/s", in.Time, c.Column.Variable, v)
				}
				if c.Column.Variable == times[2] && v > 0.5e9 {
					moved++
				}
			}
		}
		if moved < rounds {
			t.Errorf("%s moves at %d instants", times[2], moved)
		}
		last := map[string]float64{}
		for in := range r.run.Instants(recording.Options{}) {
			for _, c := range in.Cells {
				last[c.Column.Variable] = c.Value.Float64()
				if c.Column.Unit() != "ns" {
					t.Errorf("%s: unit %q", c.Column.Variable, c.Column.Unit())
				}
			}
		}
		for _, name := range inits {
			if v := last[name]; v <= 0 || v > init {
				t.Errorf("%s is %v of %v", name, v, init)
			}
		}
		for _, name := range times[1:] {
			if v := last[name]; v < rounds*ms*1e6 || v > took*1.001 {
				t.Errorf("%s is %v of %v", name, v, took)
			}
		}
	})
}

// At the end the run has the totals of each function if all calls are counted and timed. They agree with the sampled variables. With only
// one of the two variables there are none.
func TestFunctionTotals(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		program := []string{m.compile(t, "sampler_rates.c"), "5", "2"}
		plain := []string{"interval_ns=1000000", "pvar=mpitx:calls", "pvar=mpitx:time_in_mpi"}
		own := append(plain, "pvar=mpitx:calls/MPI_Comm_dup", "pvar=mpitx:time/MPI_Comm_dup")
		for _, config := range [][]string{plain, own} {
			r := m.run(t, job{n: 2, config: config, program: program})
			for rank := range 2 {
				var calls uint64
				of := map[string]recording.FunctionTotal{}
				for _, f := range r.rank(t, rank).Functions {
					of[f.Name] = f
					calls += f.Calls
				}
				last := func(name string) float64 {
					v := r.values(rank, name, "", 0)
					if len(v) == 0 {
						t.Fatalf("%s was not sampled", name)
					}
					return v[len(v)-1]
				}
				dup := of["MPI_Comm_dup"]
				if all := last("mpitx:calls"); float64(calls) != all || dup.Calls != 5 || dup.Time < 5*2e6 || float64(dup.Time) > last("mpitx:time_in_mpi")*1.001 {
					t.Errorf("rank %d: %d calls in functions, %v in all: %+v", rank, calls, all, of)
				}
				if len(config) == len(own) && (last("mpitx:calls/MPI_Comm_dup") != 5 || math.Abs(last("mpitx:time/MPI_Comm_dup")/float64(dup.Time)-1) > 1e-3) {
					t.Errorf("rank %d: %v ns sampled: %+v", rank, last("mpitx:time/MPI_Comm_dup"), dup)
				}
			}
		}
		r := m.run(t, job{n: 2, config: plain[:2], program: program})
		if f := r.rank(t, 0).Functions; len(f) > 0 {
			t.Errorf("calls alone: %+v", f)
		}
	})
}
