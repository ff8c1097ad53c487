package samplerrun

import (
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
)

// The queue of unexpected messages has the program's messages. Variables that crash the library are noted. The application sees no SIGCHLD
// and the same thread level, exit code and output.
func TestLibraryVariables(t *testing.T) {
	m := mpis[0]
	m.needs(t)
	plain := m.start(t, 2, nil, "sampler_unexpected", "6", "10", "60")
	r := m.start(t, 2, []string{"interval_ns=10000000", "pvar=pml_ob1_*", "pvar=mtl_psm2_*", "pvar=no_such*"}, "sampler_unexpected", "6", "10", "60")
	if r.code != 3 || r.code != plain.code {
		t.Errorf("exit %d, without the agent %d\n%s", r.code, plain.code, r.stderr)
	}
	for _, line := range []string{"rank 0 level 0 children 0+0", "rank 1 level 0 children 0+0"} {
		if !strings.Contains(r.stdout, line) || !strings.Contains(plain.stdout, line) {
			t.Errorf("no line %q:\n%swithout the agent:\n%s", line, r.stdout, plain.stdout)
		}
	}
	v := r.values(1, "pml_ob1_unexpected_msgq_length", "MPI_COMM_WORLD", 0)
	if most(v) < 10 || most(v) > 12 || v[len(v)-1] != 0 {
		t.Errorf("rank 1 sees at most %v messages of rank 0 and ends with %v", most(v), v[len(v)-1])
	}
	for rank := range 2 {
		k := r.rank(t, rank)
		if k.End != recording.EndFinalize || k.Thread.String() != "single" {
			t.Errorf("rank %d ended by %v, thread level %v", rank, k.End, k.Thread)
		}
		if n := notes(k, recording.NoteUnmatched); len(n) != 1 || n[0] != "no_such*" {
			t.Errorf("unmatched: %q", n)
		}
		for _, c := range k.Columns {
			if c.Variable == "pml_ob1_unexpected_msgq_length" && (c.Count != 2 || c.Labels != recording.LabelPeer) {
				t.Errorf("%d elements, labels %v", c.Count, c.Labels)
			}
		}
	}
	// Debian's Open MPI crashes on these without the hardware; elsewhere they may be readable.
	if n := notes(r.rank(t, 0), recording.NoteFaulty); len(n) != 0 && (len(n) != 13 || !strings.HasPrefix(n[0], "mtl_psm2_")) {
		t.Errorf("faulty: %q", n)
	}
}

// Virtual variables count exactly on any MPI.
func TestVirtualVariables(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 3, []string{"interval_ns=10000000", "pvar=mpitx:*", "pvar=mpitx:messages_sent/MPI_Send:counter"}, "sampler_unexpected", "5", "20", "40")
		if want := map[string]int{"openmpi": 3, "mpich": 6}[m.family]; r.code != want && r.code != 3 && r.code != 6 && r.code != 7 {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
		for _, c := range []struct {
			rank int
			name string
			want float64
		}{
			{0, "mpitx:messages_sent", 100}, {0, "mpitx:bytes_sent", 800}, {0, "mpitx:messages_sent/MPI_Send", 100},
			{1, "mpitx:messages_received", 100}, {1, "mpitx:bytes_received", 800}, {2, "mpitx:collectives", 10},
			{2, "mpitx:messages_received", 0}, {1, "mpitx:requests_outstanding", 0},
		} {
			v := r.values(c.rank, c.name, "", 0)
			if len(v) == 0 || v[len(v)-1] != c.want {
				t.Errorf("rank %d: %s ends with %v of %d samples, not %v", c.rank, c.name, v[max(0, len(v)-1):], len(v), c.want)
			}
		}
	})
}

// Communicators created and freed a thousand times a second with @all; a named one; an intercommunicator; windows.
func TestFollowsCommunicators(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 2, []string{"interval_ns=1000000", "pvar=*@all"}, "sampler_comms", "1", "1000")
		if r.code != 0 || strings.Count(r.stdout, "communicators") != 2 {
			t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		if m.family != "openmpi" {
			return
		}
		if v := r.values(0, "pml_ob1_unexpected_msgq_length", "even", 0); len(v) == 0 {
			t.Error("the communicator that the application named is not there")
		}
		k, gone := r.rank(t, 0), 0
		for _, c := range k.Columns {
			if c.Status == recording.Gone {
				gone++
			}
		}
		if gone == 0 {
			t.Error("no short-lived communicator was seen")
		}
		t.Logf("%d columns, %d gone, %+v", len(k.Columns), gone, k.Counters)
	})
}

// A communicator that a program requests more than once is sampled once, and not after it was freed.
func TestParent(t *testing.T) {
	m := mpis[0] // MPICH can spawn processes only on some networks
	m.needs(t)
	r := m.start(t, 1, []string{"interval_ns=1000000", "pvar=pml_ob1_*@all"}, "sampler_parent")
	if r.code != 0 || !strings.Contains(r.stdout, "the child ends") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	parents := 0
	for _, k := range r.run.Ranks {
		for _, c := range k.Columns {
			if c.Variable == "pml_ob1_unexpected_msgq_length" && c.ObjectName == "MPI_COMM_PARENT" {
				parents++
			}
		}
	}
	if parents > 1 {
		t.Errorf("%d columns for the one parent", parents)
	}
}

// The helper thread moves to the launcher's cores if these outnumber the processes. A program with another binding keeps its core, and so
// does one with as many processes as cores.
func TestHelperLeavesCore(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for ranks := range runtime.NumCPU() + 1 {
			line := []string{"taskset", "-c", firstCore(t), m.compile(t, "sampler_cores.c"), "2"}
			r := m.run(t, job{n: ranks, program: line, config: []string{"interval_ns=10000000", "pvar=mpitx:calls"}})
			moves := ranks > 0 && ranks < runtime.NumCPU()
			for out := range strings.Lines(r.stdout) {
				var own, most int
				fmt.Sscan(out, &own, &most)
				if r.code != 0 || own != 1 || (most > 1) != moves {
					t.Errorf("%d ranks: exit %d: on %d core, a thread on %d\n%s", ranks, r.code, own, most, r.stderr)
				}
			}
			if c := r.rank(t, 0).Counters; c.Instants < 3 && !moves {
				t.Errorf("%d ranks: the helper does not sample: %+v", ranks, c)
			}
			if ranks == 2 {
				break
			}
		}
	})
}

func firstCore(t *testing.T) string {
	out, err := exec.Command("sh", "-c", "taskset -cp $$").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(out), "list: ")
	return regexp.MustCompile(`^\d+`).FindString(list)
}

// With constant calls and without any, at 10 and 1 ms, every due sample is taken or counted as missed.
func TestEverySampleIsAccountedFor(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, interval := range []time.Duration{10 * time.Millisecond, time.Millisecond} {
			for _, program := range [][]string{{"sampler_pingpong", "0.5", "finalize"}, {"sampler_unexpected", "1", "1", "500"}} {
				r := m.start(t, 2, []string{fmt.Sprintf("interval_ns=%d", interval.Nanoseconds()), "pvar=pml*", "pvar=mpitx:calls"}, program...)
				for rank := range 2 {
					c := r.rank(t, rank).Counters
					due := c.Instants + c.Missed + c.LostBusy
					var times []time.Duration
					for in := range r.run.Instants(recording.Options{}) {
						if in.Rank.Rank == rank {
							times = append(times, in.Time)
						}
					}
					span := 450 * time.Millisecond // of rank 0, which decides the end; the other may be late
					if rank != 0 && len(times) > 0 {
						span = times[len(times)-1] - times[0]
					}
					if c.LostFull+c.OverBudget != 0 || due+1 < uint64(span/interval) {
						t.Errorf("%s, %v, rank %d: %v: %+v", program[0], interval, rank, span, c)
					}
					wait := r.starved(t, rank)
					t.Logf("%s, %v, rank %d: %d instants, %d missed, %v without a processor, %d ns each", program[0], interval, rank, c.Instants, c.Missed, wait, c.CostNs/max(1, c.Instants))
					if c.Instants == 0 { // the number taken in time depends on the machine, but all others are counted
						t.Errorf("%s, %v, rank %d: none of %d taken", program[0], interval, rank, due)
					}
				}
			}
		}
	})
}

// starved is how long a rank was runnable without a processor.
func (r *result) starved(t testing.TB, rank int) time.Duration {
	t.Helper()
	for line := range strings.Lines(r.stdout) {
		var n int
		var ms float64
		if k, _ := fmt.Sscanf(line, "rank %d starved %f", &n, &ms); k == 2 && n == rank {
			return time.Duration(ms * float64(time.Millisecond))
		}
	}
	t.Fatalf("rank %d does not say how long it was starved:\n%s%s", rank, r.stdout, r.stderr)
	return 0
}

// However a program ends, it keeps its exit code, and its samples are recorded.
func TestEnds(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, end := range []string{"exit", "abort", "kill", "fork", "finalize"} {
			var plain, r *result
			for try, same := 0, false; !same; try++ { // launchers sometimes report an end differently
				plain = m.start(t, 2, nil, "sampler_pingpong", "0.1", end)
				r = m.start(t, 2, []string{"interval_ns=1000000", "pvar=*"}, "sampler_pingpong", "0.3", end)
				if same = r.code == plain.code; !same && try == 4 {
					t.Fatalf("%s: exit %d, without the agent %d\n%s", end, r.code, plain.code, r.stderr)
				}
			}
			if strings.Contains(r.stdout, "status") {
				t.Errorf("%s: %s", end, r.stdout)
			}
			k := r.rank(t, 1)
			t.Logf("%s: %s", end, r.stdout)
			r.whole(t, 2)
			want := map[string]recording.End{"exit": recording.EndExit, "abort": recording.EndAbort, "kill": 0, "fork": recording.EndFinalize, "finalize": recording.EndFinalize}[end]
			if k.End != want {
				t.Errorf("%s: the run says %v", end, k.End)
			}
		}
	})
}

// Limits, and control variables.
func TestLimitsAndSettings(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 2, []string{"interval_ns=1000000", "count=5", "pvar=mpitx:calls"}, "sampler_pingpong", "0.5", "finalize")
		if n := len(r.values(0, "mpitx:calls", "", 0)); n != 5 {
			t.Errorf("count=5 gave %d samples", n)
		}
		r = m.start(t, 2, []string{"interval_ns=1000000", "duration_ns=100000000", "pvar=mpitx:calls"}, "sampler_pingpong", "0.3", "finalize")
		if c := r.rank(t, 0).Counters; c.Instants+c.Missed < 95 || c.Instants+c.Missed > 101 {
			t.Errorf("duration_ns=100 ms gave %+v", c)
		}
		names := map[string][]string{
			"openmpi": {"coll_tuned_bcast_algorithm_segmentsize", "mpi_show_handle_leaks", "coll_sync_barrier_before"},
			"mpich":   {"MPIR_CVAR_BCAST_SHORT_MSG_SIZE", "MPIR_CVAR_COLL_ALIAS_CHECK", "MPIR_CVAR_BCAST_MIN_PROCS"},
		}[m.family]
		r = m.start(t, 2, []string{"pvar=mpitx:calls", "set_after=" + names[0] + "=1234", "set_after=no_such=1", "set_after=" + names[2] + "=x", "set=" + names[1] + "=1"}, "sampler_pingpong", "0.1", "finalize")
		o := r.rank(t, 0).Assignments
		if len(o) != 4 {
			t.Fatalf("outcomes: %+v", o)
		}
		for _, one := range o {
			t.Logf("%+v", one)
			switch {
			case one.Cvar == "no_such" && one.Result != "no such variable",
				one.Asked == "x" && !strings.HasPrefix(one.Result, "invalid value"),
				one.Asked == "1234" && one.Result == "ok" && one.Read != "1234",
				one.Result == "":
				t.Errorf("%+v", one)
			}
		}
	})
}
