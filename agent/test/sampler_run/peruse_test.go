package samplerrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"mpitx/recording"
)

// TestPERUSE: Open MPI with the events of peruse_library.c in front of it, two ranks.
func TestPERUSE(t *testing.T) {
	t.Parallel()
	m := mpis[0]
	m.needs(t)
	// The agent follows one library, so peruse_library.c names Open MPI as its dependency.
	program := m.compile(t, "peruse.c", m.compile(t, "peruse_library.c", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpi"))
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprint(own), func(t *testing.T) {
			t.Parallel()
			words, active, counts := []string{program}, "active 12, then 8, own 0\nat the end 0\n", "15 15 0"
			if own { // the program's own callback gets its events, and the agent all
				words, active = append(words, "own"), "active 12, then 8, own 10\nat the end 0\n"
			}
			r := m.run(t, job{n: 2, config: []string{"event=PERUSE_*", "event=TEST_OWN_EVENT", "event=TEST_OWN_EVNT"}, program: words})
			if lines := strings.SplitAfter(r.stdout, "\n"); len(lines) != 5 || strings.Count(r.stdout, strings.SplitAfter(active, "\n")[0]) != 2 {
				t.Errorf("got %s%s", r.stdout, r.stderr)
			}
			r.checkPERUSE(t, counts)
		})
	}
}

// A handle of the program that is propagated to duplicates reports to the agent for these, too: the program's callbacks get the same events
// as without the agent, and the agent gets all. In Open MPI nothing is propagated.
func TestPERUSEPropagated(t *testing.T) {
	t.Parallel()
	m := mpis[0]
	m.needs(t)
	for flag, want := range map[string]string{"-DPROPAGATE": "own 0 10 15 18 18 18 24 24 24 24 24 24 forbidden 0\n", "-DNO_PROPAGATE": "own 0 10 10 10 10 10 16 16 16 16 16 16 forbidden 0\n"} {
		t.Run(flag[2:], func(t *testing.T) {
			t.Parallel()
			program := m.compile(t, "peruse.c", m.compile(t, "peruse_library.c", flag, "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpi"))
			if r := m.run(t, job{n: 1, program: []string{program, "propagate"}}); r.stdout != want {
				t.Fatalf("alone: %s%s, want %s", r.stdout, r.stderr, want)
			}
			r := m.run(t, job{n: 1, config: []string{"event=PERUSE_*"}, program: []string{program, "propagate"}})
			if r.stdout != want {
				t.Errorf("traced: %s%s, want %s", r.stdout, r.stderr, want)
			}
			events := 0
			for e := range r.run.Events(recording.Options{}) {
				if e.Type != nil && e.Type.Name == "peruse" {
					events++
				}
			}
			if all := 10 + 5 + 3 + 2 + 4 + 6 + 1 + 4*7; events != all {
				t.Errorf("%d events, want %d", events, all)
			}
		})
	}
}

func (r *result) checkPERUSE(t *testing.T, unexpected string) {
	t.Helper()
	want := map[string]string{"PERUSE_COMM_MSG_INSERT_IN_UNEX_Q": unexpected, "PERUSE_COMM_REQ_ACTIVATE": "0 0 0", "PERUSE_COMM_REQ_COMPLETE": "1 1 0", "TEST_OWN_EVENT": "1 1 0"}
	if names := fmt.Sprint(notes(r.run.Ranks[0], recording.NoteSuggestions)); !strings.Contains(names, "TEST_OWN_EVENT") {
		t.Errorf("names like TEST_OWN_EVNT: %s", names)
	}
	for _, k := range r.run.Ranks {
		if missing := notes(k, recording.NoteUnmatchedEvent); !slices.Equal(missing, []string{"TEST_OWN_EVNT"}) {
			t.Errorf("rank %d: missing %q", k.Rank, missing)
		}
		got := map[string]string{}
		for row := range r.run.Rows(recording.Options{Rank: func(other *recording.Rank) bool { return other == k }}) {
			if v := row.Values(); row.Table.Name == "peruse events" {
				got[v[0].String()] = fmt.Sprint(v[1], v[2], v[3])
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("rank %d: got %v, want %v", k.Rank, got, want)
		}
	}
	for e := range r.run.Events(recording.Options{}) {
		if e.Type == nil || e.Type.Name != "peruse" {
			t.Fatalf("%+v", e)
		}
		v := map[string]string{}
		for i, f := range e.Type.Fields {
			v[f.Name] = e.Values[i].String()
		}
		got := fmt.Sprintf("%s peer %s (%s), tag %s, %s elements, request %s", v["event"], v["peer"], v["peer_in_comm"], v["tag"], v["count"], v["request"])
		switch tag, _ := e.Values[5].Int64(); {
		case tag >= 200: // rank 0 of the reversed communicator is rank 1
			if want := fmt.Sprintf("PERUSE_COMM_MSG_INSERT_IN_UNEX_Q peer 1 (0), tag %d, 1 elements, request 77", tag); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		case tag >= 100:
			if want := fmt.Sprintf("PERUSE_COMM_MSG_INSERT_IN_UNEX_Q peer 1 (1), tag %d, 4 elements, request 77", tag); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		case tag == 3:
			if want := fmt.Sprintf("PERUSE_COMM_REQ_COMPLETE peer %d (0), tag 3, 2 elements, request 77", e.Rank.Rank); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		default:
			if !strings.HasPrefix(got, "TEST_OWN_EVENT peer -1 (-1)") {
				t.Error(got)
			}
		}
	}
}
