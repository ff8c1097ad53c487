package samplerrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"mpitx/recording"
)

// eventful is MPICH with MPI_T events of events_library.c in front of it.
func eventful(t *testing.T) (*mpi, string) {
	m := mpis[1]
	m.needs(t)
	// The agent follows one library, so events_library.c names MPICH as its dependency.
	library := m.compile(t, "events_library.c", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpich")
	return m, m.compile(t, "events.c", library, "-lpthread")
}

// counts are the rows of the table of event types: received, recorded, refused, dropped, late, reason.
func (r *result) eventCounts(t *testing.T) (counts, sources map[string]string, safety map[string]uint64) {
	t.Helper()
	counts, sources, safety = map[string]string{}, map[string]string{}, map[string]uint64{}
	number := func(v recording.Value) uint64 {
		n, ok := v.Uint64()
		if !ok {
			t.Fatalf("%v is not a number", v)
		}
		return n
	}
	for row := range r.run.Rows(recording.Options{}) {
		switch v := row.Values(); row.Table.Name {
		case "mpi_t events":
			counts[v[0].String()] = strings.TrimSpace(fmt.Sprint(number(v[4]), number(v[5]), number(v[6]), number(v[7]), number(v[8]), " ", v[9]))
			safety[v[0].String()] = number(v[3])
		case "mpi_t sources":
			sources[v[1].String()] = fmt.Sprintf("order %d, %s ticks/s, backwards %d, dropped %d", number(v[2]), v[3], number(v[9]), number(v[10]))
		}
	}
	return counts, sources, safety
}

func TestEvents(t *testing.T) {
	t.Parallel()
	m, program := eventful(t)
	for _, end := range []string{"finalize", "kill"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			argument := map[string]string{"kill": "kill"}[end]
			r := m.run(t, job{n: 1, config: []string{"event=test_*", "event_count=mpich test_unreadable it crashes", "event_count=openmpi test_pair"}, program: strings.Fields(program + " " + argument)})
			if !strings.HasPrefix(r.stdout, "safety 1 -1\nforbidden 0\n") || (end == "finalize") != strings.HasSuffix(r.stdout, "ended\n") {
				t.Errorf("%s%s", r.stdout, r.stderr)
			}
			counts, sources, safety := r.eventCounts(t)
			// One event of the 3002 came in a signal handler, and one of a communicator after its registration was freed.
			if want := map[string]string{"test_pair": "3002 3001 1 7 0", "test_comm": "8 8 0 0 1", "test_win": "4 4 0 0 0", "test_unreadable": "2 0 0 0 0 it crashes",
				"test_wide": "1 0 0 0 0 1 of its 1 elements is outside of the event", "test_crashing": "0 0 0 0 0"}; !maps.Equal(counts, want) {
				t.Errorf("got %v, want %v", counts, want)
			}
			if want := map[string]string{"test ordered": "order 1, 1000000 ticks/s, backwards 1, dropped 7", "test unordered": "order 2, 1000000 ticks/s, backwards 0, dropped 0"}; !maps.Equal(sources, want) {
				t.Errorf("got %v, want %v", sources, want)
			}
			if safety["test_pair"] != 3 || safety["test_comm"] != 4 || safety["test_crashing"] != 0 {
				t.Error(safety)
			}
			r.checkEvents(t)
		})
	}
}

// checkEvents checks the data of each recorded event.
func (r *result) checkEvents(t *testing.T) {
	t.Helper()
	sum, halves, comms, wins, objects := int64(0), 0.0, "", "", map[string]int{}
	for e := range r.run.Events(recording.Options{}) {
		switch {
		case e.Type == nil:
			t.Errorf("%d events are lost", e.Lost)
		case e.Type.Name == "mpi_t test_pair" && e.Type.Fields[3].Name == "element 0":
			a, _ := e.Values[3].Int64()
			b := e.Values[4].Float64()
			sum, halves = sum+a, halves+b
		case e.Type.Name == "mpi_t test_comm":
			comms += " " + e.Values[3].String()
			objects[e.Values[2].String()]++
		case e.Type.Name == "mpi_t test_win":
			wins += " " + e.Values[3].String()
			objects[e.Values[2].String()]++
		default:
			t.Errorf("an event of type %q", e.Type.Name)
		}
	}
	// 0 to 999 and four times 0 to 499; half of the former and minus the latter; one is -1.
	if sum != 999*500+4*499*250-1 || halves != 999*250-4*499*250 {
		t.Errorf("sums %d, %v", sum, halves)
	}
	if comms != " 0 1 2 100 101 102 103 104" || wins != " 10 11 12 13" || len(objects) != 3 || objects["0"] > 0 {
		t.Errorf("%s and %s in objects %v", comms, wins, objects)
	}
}

// The agent registers at most 4096 callbacks at a time, and says how many are missing.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	m, program := eventful(t)
	const most, comms = 4096, 1500
	r := m.run(t, job{n: 1, config: []string{"event=test_comm", "event=more_*"}, program: []string{program, "many", fmt.Sprint(comms)}})
	missing := 3*(comms+2) - most // with MPI_COMM_WORLD and MPI_COMM_SELF
	if note := fmt.Sprintf("%d pairs of an event and an object are not recorded", missing); !strings.Contains(fmt.Sprint(r.run.Ranks[0].Notes), note) {
		t.Errorf("no note %q: %v", note, r.run.Ranks[0].Notes)
	}
	counts, _, _ := r.eventCounts(t)
	for name, n := range map[string]int{"test_comm": most/3 - 2 + most%3, "more_comm_1": most/3 - 2} {
		if want := fmt.Sprintf("%d %d 0 0 0", n, n); counts[name] != want {
			t.Errorf("%s: %s, want %s", name, counts[name], want)
		}
	}
}

// Of a name that does not exist, and on a library without events, the run has a note with the pattern, and the program runs.
func TestNoEvents(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 1, []string{"event=nosuch.*", "event=PERUSE_NOSUCH"}, "sampler_exec", "-")
		missing := notes(r.run.Ranks[0], recording.NoteUnmatchedEvent)
		if want := []string{"nosuch.*", "PERUSE_NOSUCH"}; r.code != 0 || !slices.Equal(missing, want) {
			t.Errorf("exit code %d, notes %q, want %q", r.code, missing, want)
		}
	})
}
