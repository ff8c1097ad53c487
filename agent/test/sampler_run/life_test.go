package samplerrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
)

// A process that crashes in MPI_T holds the library's lock when it aborts or exits. It ends as without the agent, and the last sample has
// the values that need no library. On one core and below 1 ms, no thread of the agent is in the library by then.
func TestDying(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		richer := []string{"LD_LIBRARY_PATH=" + m.richer(t)}
		for _, c := range []struct {
			name, pvar string
			env        []string
			arguments  []string
			end        recording.End
		}{
			{"abort", "plain_*", richer, []string{"abort"}, recording.EndAbort},
			{"abort on another stack", "plain_*", richer, []string{"abort", "alternate"}, recording.EndAbort},
			{"exit", "plain_*", richer, []string{"exit"}, recording.EndExit},
			{"the library's own", "pml_ob1_*", nil, []string{"abort"}, recording.EndAbort},
		} {
			t.Run(c.name, func(t *testing.T) {
				program := append([]string{"taskset", "-c", firstCore(t), m.compile(t, "sampler_dying.c")}, c.arguments...)
				plain := m.run(t, job{env: c.env, program: program})
				if !strings.Contains(plain.stdout, "crashed") && c.env == nil {
					t.Skipf("this library has no variable that crashes: exit %d", plain.code)
				}
				r := m.run(t, job{env: c.env, program: program, config: []string{"interval_ns=100000", "pvar=mpitx:calls", "pvar=" + c.pvar}})
				if r.code != plain.code || r.stdout != plain.stdout {
					t.Errorf("exit %d: %s%s; without the agent %d: %s", r.code, r.stdout, r.stderr, plain.code, plain.stdout)
				}
				k := r.rank(t, 0)
				if k.End != c.end || k.State != recording.StateEnded {
					t.Errorf("the run says %v, %v", k.End, k.State)
				}
				last := map[string]recording.Status{}
				for in := range r.run.Instants(recording.Options{}) {
					for _, cell := range in.Cells {
						last[cell.Column.Variable] = cell.Status
					}
				}
				for name, status := range last {
					if want := map[bool]recording.Status{true: recording.OK, false: recording.Error}[name == "mpitx:calls"]; status != want {
						t.Errorf("%s: the last sample is %v", name, status)
					}
				}
				if !slices.ContainsFunc(notes(k, recording.NoteText), func(s string) bool { return strings.Contains(s, "the last sample has no values") }) || len(last) < 2 {
					t.Errorf("%d variables; notes %+v", len(last), k.Notes)
				}
			})
		}
	})
}

// Variables are tried in copies of the process without side effects on it, even while other threads hold the allocator's lock: in MPI_Init,
// later if requested, or never.
func TestProbe(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, c := range []struct {
			config       []string
			late, copied bool
		}{
			{nil, false, true},
			{[]string{"probe=late"}, true, true},
			{[]string{"probe=none"}, true, false},
		} {
			r := m.run(t, job{n: 2, config: append([]string{"interval_ns=1000000", "pvar=plain_0", "pvar=late_*"}, c.config...),
				program: []string{m.compile(t, "sampler_late.c", "-pthread")}, env: []string{"LD_LIBRARY_PATH=" + m.richer(t)}})
			for rank := range 2 {
				want := fmt.Sprintf("rank %d: 0 handlers, 0 signals, 0 found, %s\n", rank, map[bool]string{true: "copied", false: "not copied"}[c.copied])
				if r.code != 0 || !strings.Contains(r.stdout, want) {
					t.Errorf("%v: exit %d: %s%s; want %s", c.config, r.code, r.stdout, r.stderr, want)
				}
				if n := len(r.values(rank, "plain_0", "", 0)); n < 2 {
					t.Errorf("%v: %d samples of plain_0", c.config, n)
				}
				k := r.rank(t, rank)
				told := slices.ContainsFunc(notes(k, recording.NoteText), func(s string) bool { return strings.Contains(s, "late_counts") && strings.Contains(s, "--probe late") })
				if n := len(r.values(rank, "late_counts", "", 0)); (n > 0) != c.late || told == c.late {
					t.Errorf("%v: %d samples of late_counts; notes %+v", c.config, n, k.Notes)
				}
			}
		}
	})
}

// Open MPI takes over the thread level requested for MPI_T, so the agent requests the application's. Without MPI_THREAD_MULTIPLE the
// library's variables are sampled only in calls, and the run says so. Virtual variables are sampled all the time.
func TestThreadLevel(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for level, name := range []string{"single", "funneled", "serialized", "multiple"} {
			program := []string{m.compile(t, "sampler_level.c"), fmt.Sprint(level)}
			env := []string{"LD_LIBRARY_PATH=" + m.richer(t)}
			plain := m.run(t, job{program: program, env: env})
			r := m.run(t, job{program: program, env: env, config: []string{"interval_ns=10000000", "pvar=plain_0", "pvar=mpitx:calls"}})
			if first, _, _ := strings.Cut(r.stdout, "\n"); r.code != 0 || !strings.HasPrefix(plain.stdout, first+"\n") {
				t.Fatalf("%s: exit %d: %s%s; without the agent %s", name, r.code, r.stdout, r.stderr, plain.stdout)
			}
			var provided int
			var from, to int64
			fmt.Sscanf(r.stdout, "level %d\ncomputes %d %d", &provided, &from, &to)
			k := r.rank(t, 0)
			between := func(variable string) (n int) {
				r.instants(variable, func(at time.Duration, _ uint64) {
					if time.Unix(0, from).Sub(r.run.Start) < at && at < time.Unix(0, to).Sub(r.run.Start) {
						n++
					}
				})
				return n
			}
			library, own := between("plain_0"), between("mpitx:calls")
			told := slices.ContainsFunc(notes(k, recording.NoteText), func(s string) bool { return strings.Contains(s, "only if the application requests it") })
			t.Logf("%s: provided %d, MPI_T %v, %d samples of the library's, %d of the agent's own", name, provided, k.ToolThread, library, own)
			limited := m.family == "openmpi" && provided < 3
			if limited && int(k.ToolThread) > provided+1 || (library == 0) != limited || own == 0 || told != limited {
				t.Errorf("%s: provided %d, MPI_T %v; while nothing was called %d samples of the library's variable and %d of the agent's; notes %+v", name, provided, k.ToolThread, library, own, k.Notes)
			}
			r = m.run(t, job{program: program, env: env, config: []string{"interval_ns=10000000", "pvar=plain_0"}})
			fmt.Sscanf(r.stdout, "level %d\ncomputes %d %d", &provided, &from, &to)
			k = r.rank(t, 0)
			told = slices.ContainsFunc(notes(k, recording.NoteReduced), func(s string) bool { return strings.HasSuffix(s, "not in a long call or between calls") })
			if n := between("plain_0"); (n == 0) != limited || told != limited {
				t.Errorf("%s: %d samples of the library's variable alone; notes %+v", name, n, k.Notes)
			}
		}
	})
}

// A child with the environment from before MPI_Init, and the second program of a script, have the same rank. Only the first process is
// recorded, and the run names the other.
func TestOneProcessOfRank(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		self := m.compile(t, "sampler_exec.c")
		for _, program := range [][]string{{self, "copy", self, "-"}, {"sh", "-c", self + " -; " + self + " -"}} {
			r := m.compareWithAgent(t, job{config: quick, program: program})
			if len(r.run.Ranks) != 1 {
				t.Errorf("%v: %d processes are recorded", program, len(r.run.Ranks))
			}
			if l := r.run.LeftOut(); len(l) != 1 || l[0].Rank != 0 || l[0].Count != 1 || l[0].Program == "" || !strings.Contains(self, l[0].Program) {
				t.Errorf("%v: left out: %+v", program, l)
			}
		}
	})
}
