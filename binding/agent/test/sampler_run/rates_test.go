package samplerrun

import (
	"fmt"
	"testing"

	"mpitx/recording"
)

// A call counts while it goes on, also one in another's callback: times never grow by more than there was time. What MPI_Init took is
// a variable of its own, and is over when the samples begin.
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
