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

// held is how many events a rank makes as fast as it can. It takes about a second at the rate that the agent must hold.
const held = 5_000_000

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

// heldCalls traces calls, and returns how many are in the run and how many are counted as lost. The rate is in calls a second.
func heldCalls(t testing.TB, config ...string) (recorded, lost uint64, rate float64) {
	m, program, env := nulled(t)
	r := m.run(t, job{config: append([]string{"trace=record"}, config...), program: []string{program, fmt.Sprint(held)}, env: env})
	calls := trace.Read(r.run, trace.Options{Flows: true}).Totals.Calls
	return calls, r.run.Ranks[0].Counters.LostEvents, r.rate(t)
}

// heldEvents does the same with events of MPI_T. It returns the counts of the agent's table and of the run.
func heldEvents(t testing.TB, config ...string) (received, recorded, refused, read, lost uint64, rate float64) {
	m := mpis[1]
	m.needs(t)
	library := m.compile(t, "events_library.c", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpich")
	r := m.run(t, job{config: append([]string{"event=test_pair"}, config...), program: []string{m.compile(t, "held.c", "-DRAISE", library), fmt.Sprint(held)}})
	for row := range r.run.Rows(recording.Options{}) {
		if row.Table.Name == "mpi_t events" {
			received, _ = row.Values[4].Uint64()
			recorded, _ = row.Values[5].Uint64()
			refused, _ = row.Values[6].Uint64()
		}
	}
	for e := range r.run.Events(recording.Options{Bodies: true}) {
		if e.Type != nil {
			read++
		}
	}
	return received, recorded, refused, read, r.run.Ranks[0].Counters.LostEvents, r.rate(t)
}

func (r *result) rate(t testing.TB) float64 {
	var ns float64
	if n, err := fmt.Sscan(r.stdout, &ns); n != 1 || ns <= 0 {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	return held / ns * 1e9
}

// Calls at any rate are recorded or counted as lost: while the disk keeps up, when it does not, and when the run may not grow any more.
func TestHeldCalls(t *testing.T) {
	for name, config := range map[string][]string{"all": nil, "limit": {"max_size=20000000"}, "last": {"max_size=20000000", "policy=last"}} {
		t.Run(name, func(t *testing.T) {
			recorded, lost, rate := heldCalls(t, config...)
			t.Logf("%d recorded, %d lost, %.1f million a second", recorded, lost, rate/1e6)
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
			received, recorded, refused, read, lost, rate := heldEvents(t, config...)
			t.Logf("%d recorded, %d lost, %.1f million a second", read, lost, rate/1e6)
			if received != held || recorded != read || refused != lost || read+lost != held || read == 0 || (name == "limit") != (lost > held/2) {
				t.Errorf("%d received, %d recorded, %d refused, %d read, %d lost", received, recorded, refused, read, lost)
			}
		})
	}
}

// BenchmarkHeld measures how many calls and events a second a rank makes while all are recorded or counted, and how many are lost.
func BenchmarkHeld(b *testing.B) {
	report := func(b *testing.B, rates, lost []float64) {
		slices.Sort(rates)
		slices.Sort(lost)
		b.ReportMetric(rates[len(rates)/2]/1e6, "Mevents/s")
		b.ReportMetric(100*lost[len(lost)/2]/held, "lost-%")
		b.ReportMetric(5, "bound")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("calls", func(b *testing.B) {
		var rates, losts []float64
		for b.Loop() {
			_, lost, rate := heldCalls(b)
			rates, losts = append(rates, rate), append(losts, float64(lost))
		}
		report(b, rates, losts)
	})
	b.Run("events", func(b *testing.B) {
		var rates, losts []float64
		for b.Loop() {
			_, _, _, _, lost, rate := heldEvents(b)
			rates, losts = append(rates, rate), append(losts, float64(lost))
		}
		report(b, rates, losts)
	})
}
