package samplerrun

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everything is the configuration of an agent that uses all its tools.
var everything = []string{"trace=record", "profile=record", "where=on", "null=record", "interval_ns=1000000", "pvar=*@all", "event=*"}

// ownCalls runs own_calls.c, linked to the job's program, and returns what each of its ranks writes.
func (m *mpi) ownCalls(t *testing.T, j job, arguments ...string) (r *result, output []string) {
	t.Helper()
	j.n = 3
	prefix := filepath.Join(t.TempDir(), "output")
	j.program = []string{m.compile(t, "own_calls.c", append(j.program, "-lpthread")...), prefix}
	j.program = append(j.program, arguments...)
	r = m.run(t, j)
	for rank := range j.n {
		text, err := os.ReadFile(fmt.Sprint(prefix, ".", rank))
		if err != nil {
			t.Errorf("%v\n%s%s", err, r.stdout, r.stderr)
		}
		output = append(output, string(text))
	}
	return r, output
}

// askedRoutines are the routines in the list of mpi/ask.h.
func askedRoutines(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../../mpi/ask.h")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "#define ASK_ROUTINES(X)")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, m := range regexp.MustCompile(`X\((\w+)\)`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}

// strictly runs own_calls.c with strict.c below the agent, which ends the program if the agent uses a handle that was freed, or is refused.
// It returns the calls and failures of each routine, of all ranks.
func (m *mpi) strictly(t *testing.T, fail int) (r *result, output []string, calls, failures map[string]int) {
	t.Helper()
	strict := m.compile(t, "strict.c", "-shared", "-fPIC", "-Wl,--no-as-needed", "-ldl")
	log := filepath.Join(t.TempDir(), "strict")
	var arguments []string
	if fail == 1 {
		arguments = []string{"without threads"} // the agent asks for the level
	}
	r, output = m.ownCalls(t, job{config: everything, preload: []string{"agent", strict},
		env: []string{"STRICT_LOG=" + log, fmt.Sprint("STRICT_FAIL=", fail)}}, arguments...)
	files, _ := filepath.Glob(log + ".*")
	calls, failures = map[string]int{}, map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var name string
			var n, failed int
			if _, err := fmt.Sscan(line, &name, &n, &failed); err != nil {
				t.Fatal(err)
			}
			calls[name] += n
			failures[name] += failed
		}
	}
	return r, output, calls, failures
}

// Calls that the agent makes itself have valid arguments, and their failure changes nothing for the program, which uses communicators that were
// freed, calls that the library refuses, and counts the calls of its error handlers.
func TestOwnCalls(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		plain, want := m.ownCalls(t, job{})
		check := func(r *result, got []string) {
			t.Helper()
			if r.code != 0 || plain.code != 0 || r.stdout+r.stderr != plain.stdout+plain.stderr {
				t.Errorf("exit code %d, without the agent %d\n%s%s", r.code, plain.code, r.stdout, r.stderr)
			}
			for rank := range want {
				if got[rank] != want[rank] {
					t.Errorf("rank %d: %s, want %s", rank, got[rank], want[rank])
				}
			}
		}
		r, output, calls, failures := m.strictly(t, 0)
		check(r, output)
		if got := r.traced(t).totals; got.Ambiguous+got.Unmatched != 0 || got.Flows != got.Sent || got.Received != got.Sent {
			t.Errorf("messages that arrive after their communicator was freed: %+v", got)
		}
		for nth := 1; nth <= 2; nth++ {
			r, output, _, failed := m.strictly(t, nth)
			check(r, output)
			for name, n := range failed {
				failures[name] += n
			}
		}
		for _, name := range askedRoutines(t) {
			switch {
			case slices.Contains([]string{"Get_elements_x", "Test_cancelled"}, name): // for the standard ABI only
			case name == "Type_size": // Type_size_x comes first
			case name == "Initialized": // with tools only
			case failures[name] == 0:
				t.Errorf("MPI_%s did not fail; %d calls", name, calls[name])
			}
		}
	})
}

// An intercommunicator has ranks of the remote group, which is smaller here than the local one.
func TestPERUSEOfIntercommunicators(t *testing.T) {
	t.Parallel()
	m := mpis[0]
	m.needs(t)
	library := m.compile(t, "peruse_library.c", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpi")
	plain, want := m.ownCalls(t, job{program: []string{library}})
	r, got := m.ownCalls(t, job{config: []string{"event=PERUSE_*"}, program: []string{library}})
	if plain.code != 0 || r.code != 0 || !slices.Equal(got, want) {
		t.Errorf("exit code %d, without the agent %d\n%s%s", r.code, plain.code, r.stdout, r.stderr)
	}
}

// MPICH's MPI_Info_get is fatal if the value is longer than the buffer. The agent does not ask.
func TestSpawnPath(t *testing.T) {
	t.Parallel()
	m := mpis[1]
	m.needs(t)
	m.compareWithAgent(t, job{n: 1, config: []string{"where=on"}, program: []string{m.compile(t, "spawn_path.c")}})
}
