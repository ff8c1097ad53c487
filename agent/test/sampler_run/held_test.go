package samplerrun

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// held is how many events a rank makes. At the rate that the agent must hold, they take more than a second.
const (
	held     = 6_000_000
	heldRate = 5_000_000
)

// nulled is Open MPI with the tests' null MPI in place of the library.
func nulled(t testing.TB) (m *mpi, program string, env []string) {
	m = mpis[0]
	m.needs(t)
	dir := t.TempDir()
	line := []string{"-shared", "-fPIC", "-O2", "-w", "-Wl,-soname,libmpi.so.40", "-o", filepath.Join(dir, "libmpi.so.40")}
	for _, name := range []string{"nullmpi.c", "nullmpi_sampled.c"} {
		line = append(line, filepath.Join("../../selftest/testdata", name))
	}
	show, err := exec.Command(m.mpicc, "-show").Output()
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(show)) {
		if strings.HasPrefix(word, "-I") {
			line = append(line, word)
		}
	}
	if out, err := exec.Command("cc", line...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return m, m.compile(t, "held.c"), []string{"LD_LIBRARY_PATH=" + dir}
}

// heldCalls traces calls, made as fast as possible or with a rate. It returns how many are in the run, how many are counted as lost, and the
// seconds that they took.
func heldCalls(t testing.TB, rate []string, config ...string) (recorded, lost uint64, took float64) {
	m, program, env := nulled(t)
	r := m.run(t, job{config: append([]string{"trace=record"}, config...), program: append([]string{program, fmt.Sprint(held)}, rate...), env: env})
	calls := trace.Read(r.run, trace.Options{Flows: true}).Totals.Calls
	return calls, r.run.Ranks[0].Counters.LostEvents, r.took(t)
}

// heldEvents does the same with events of MPI_T. It returns the counts of the agent's table and of the run.
func heldEvents(t testing.TB, rate []string, config ...string) (received, recorded, refused, read, lost uint64, took float64) {
	m := mpis[1]
	m.needs(t)
	library := m.compile(t, "events_library.c", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpich")
	r := m.run(t, job{config: append([]string{"event=test_pair"}, config...), program: append([]string{m.compile(t, "held.c", "-DRAISE", library), fmt.Sprint(held)}, rate...)})
	if !strings.HasSuffix(r.stdout, "forbidden 0\n") { // allocations, locks and calls of MPI in callbacks
		t.Error(r.stdout)
	}
	for row := range r.run.Rows(recording.Options{}) {
		if row.Table.Name == "mpi_t events" {
			received, _ = row.Values()[4].Uint64()
			recorded, _ = row.Values()[5].Uint64()
			refused, _ = row.Values()[6].Uint64()
		}
	}
	for e := range r.run.Events(recording.Options{Bodies: true}) {
		if e.Type != nil {
			read++
		}
	}
	return received, recorded, refused, read, r.run.Ranks[0].Counters.LostEvents, r.took(t)
}

func (r *result) took(t testing.TB) float64 {
	var ns float64
	if n, err := fmt.Sscan(r.stdout, &ns); n != 1 || ns <= 0 {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	return ns / 1e9
}

// Calls at any rate are recorded or counted as lost: while the disk keeps up, when it does not, and when the run may not grow any more.
func TestHeldCalls(t *testing.T) {
	for name, config := range map[string][]string{"all": nil, "limit": {"max_size=20000000"}, "last": {"max_size=20000000", "policy=last"}} {
		t.Run(name, func(t *testing.T) {
			recorded, lost, took := heldCalls(t, nil, config...)
			t.Logf("%d recorded, %d lost, %.1f million a second", recorded, lost, held/took/1e6)
			const all = held + 2 // with MPI_Init and MPI_Finalize
			if name == "last" {  // the oldest events are overwritten
				if recorded == 0 || recorded+lost > all {
					t.Errorf("%d recorded, %d lost, of %d", recorded, lost, all)
				}
				return
			}
			if recorded == 0 || recorded+lost != all || (name == "limit") != (lost > held/2) {
				t.Errorf("%d recorded, %d lost, of %d", recorded, lost, all)
			}
		})
	}
}

// The same holds for events of MPI_T.
func TestHeldEvents(t *testing.T) {
	for name, config := range map[string][]string{"all": nil, "limit": {"max_size=20000000"}} {
		t.Run(name, func(t *testing.T) {
			received, recorded, refused, read, lost, took := heldEvents(t, nil, config...)
			t.Logf("%d recorded, %d lost, %.1f million a second", read, lost, held/took/1e6)
			if received != held || recorded != read || refused != lost || read+lost != held || read == 0 || (name == "limit") != (lost > held/2) {
				t.Errorf("%d received, %d recorded, %d refused, %d read, %d lost", received, recorded, refused, read, lost)
			}
		})
	}
}

// BenchmarkHeld measures how many calls and events a second a rank makes while all are recorded or counted, how long, and how many are lost:
// at the rate that the agent must hold for a second, and as fast as possible.
func BenchmarkHeld(b *testing.B) {
	measure := func(b *testing.B, once func() (lost uint64, took float64)) {
		var times, losts []float64
		for b.Loop() {
			lost, took := once()
			times, losts = append(times, took), append(losts, float64(lost))
		}
		slices.Sort(times)
		slices.Sort(losts)
		took := times[len(times)/2]
		b.ReportMetric(took, "s-held")
		b.ReportMetric(held/took/1e6, "Mevents/s")
		b.ReportMetric(100*losts[len(losts)/2]/held, "lost-%")
		b.ReportMetric(heldRate/1e6, "bound")
		b.ReportMetric(0, "ns/op")
	}
	for name, rate := range map[string][]string{"held": {fmt.Sprint(heldRate)}, "fastest": nil} {
		b.Run("calls/"+name, func(b *testing.B) {
			measure(b, func() (uint64, float64) {
				_, lost, took := heldCalls(b, rate)
				return lost, took
			})
		})
		b.Run("events/"+name, func(b *testing.B) {
			measure(b, func() (uint64, float64) {
				_, _, _, _, lost, took := heldEvents(b, rate)
				return lost, took
			})
		})
	}
}

// BenchmarkEvents measures what a recorded event costs: the callback of the agent, with what MPI_T gives it to read the event. Blocks with
// and without callbacks alternate in one job.
func BenchmarkEvents(b *testing.B) {
	measure := func(b *testing.B, m *mpi, program, events string, perMessage int) {
		for b.Loop() {
			r := m.run(b, job{n: 1, config: []string{"event=" + events}, program: []string{program, "51", fmt.Sprint(24000 / perMessage)}})
			without, with, _ := r.pairs(b)
			half := len(with) / 2
			b.ReportMetric(float64(perMessage), "events/message")
			b.ReportMetric(without[half], "ns-message-without")
			b.ReportMetric(with[half], "ns-message-with")
			b.ReportMetric((with[half]-without[half])/float64(perMessage), "ns/event")
			b.ReportMetric(100, "bound")
			b.ReportMetric(float64(r.run.Ranks[0].Counters.LostEvents), "lost")
			b.ReportMetric(0, "ns/op")
		}
	}
	b.Run("PERUSE", func(b *testing.B) {
		m := mpis[0]
		m.needs(b)
		library := m.compile(b, "peruse_library.c", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpi")
		measure(b, m, m.compile(b, "event_cost.c", "-DPERUSE", library), "PERUSE_*", 12)
	})
	b.Run("MPI_T", func(b *testing.B) {
		m := mpis[1]
		m.needs(b)
		library := m.compile(b, "events_library.c", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpich")
		measure(b, m, m.compile(b, "event_cost.c", library), "test_pair", 1)
	})
}
