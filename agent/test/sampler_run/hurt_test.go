package samplerrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/fixtures/need"
	"mpitx/recording"
)

// quick samples everything as often as possible.
var quick = []string{"interval_ns=20000", "pvar=*@all"}

// unordered makes output comparable: process IDs, ports and addresses differ, and so does the order of ranks.
func unordered(s string) string {
	b := slices.DeleteFunc([]byte(s), func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' })
	slices.Sort(b)
	return string(b)
}

// compareWithAgent runs a job without and with the agent and compares everything that the user sees.
func (m *mpi) compareWithAgent(t *testing.T, j job) *result {
	t.Helper()
	bare := j
	bare.config, bare.preload = nil, nil
	plain, r := m.run(t, bare), m.run(t, j)
	if r.code != plain.code || unordered(r.stdout) != unordered(plain.stdout) || unordered(r.stderr) != unordered(plain.stderr) {
		t.Errorf("%v: exit code %d, stdout %q, stderr %q; without the agent %d, %q, %q", j.program, r.code, r.stdout, r.stderr, plain.code, plain.stdout, plain.stderr)
	}
	return r
}

// Programs have the same exit code and output as without the agent, whatever they do with MPI, and the run is complete.
func TestUnchanged(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		loader := filepath.Join(work, m.family+"-loader")
		if out, err := exec.Command("cc", "-o", loader, "../../selftest/testdata/loader.c", "-ldl").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		self := m.compile(t, "sampler_exec.c")
		for _, c := range []struct {
			name    string
			n       int
			program []string
			end     recording.End
			state   recording.State
		}{
			{"callbacks and longjmp", 1, []string{m.compile(t, "callbacks.c")}, recording.EndFinalize, recording.StateEnded},
			{"exceptions", 1, []string{m.compile(t, "exception.cc")}, recording.EndFinalize, recording.StateEnded},
			{"threads", 1, []string{m.compile(t, "threads.c")}, recording.EndFinalize, recording.StateEnded},
			{"loaded later", 1, []string{loader, m.compile(t, "plain.c", "-shared", "-fPIC", "-DPLUGIN")}, recording.EndFinalize, recording.StateEnded},
			{"exit code", 2, []string{m.compile(t, "exits.c"), "three"}, recording.EndFinalize, recording.StateEnded},
			{"never finalized", 0, []string{m.compile(t, "exits.c"), "unfinished"}, recording.EndExit, recording.StateEnded},
			{"segmentation fault", 0, []string{m.compile(t, "exits.c"), "segv"}, 0, recording.StateDied},
			{"script", 2, []string{"sh", "-c", "true; " + self + " -"}, recording.EndFinalize, recording.StateEnded},
			{"executes MPI before MPI_Init", 2, []string{self, "before", self, "-"}, recording.EndFinalize, recording.StateEnded},
			{"executes MPI after MPI_Finalize", 0, []string{self, "after", "/bin/echo", "after"}, recording.EndFinalize, recording.StateEnded},
			{"executes instead of MPI_Finalize", 0, []string{self, "instead", "/bin/echo", "instead"}, 0, recording.StateDied},
			{"starts an MPI program", 0, []string{self, "child", self, "-"}, recording.EndFinalize, recording.StateEnded},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				r := m.compareWithAgent(t, job{n: c.n, config: quick, program: c.program})
				if r.run == nil || len(r.run.Ranks) != max(1, c.n) {
					t.Fatalf("ranks: %+v", r.run)
				}
				for _, k := range r.run.Ranks {
					if k.End != c.end || k.State != c.state {
						t.Errorf("rank %d: end %v, state %v; want %v, %v", k.Rank, k.End, k.State, c.end, c.state)
					}
				}
				r.whole(t, 1)
			})
		}
	})
}

// Signals reach the same threads as without the agent, which has two threads here, and no disposition changes.
func TestSignals(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		config := []string{"interval_ns=2000000", "pvar=mpitx:calls"}
		m.compareWithAgent(t, job{n: 2, config: config, program: []string{m.compile(t, "sampler_signals.c")}}).whole(t, 1)
	})
}

// A library that changes clocks and signal masks, as libfaketime does, neither ends the program nor changes the agent's times, and the thread
// samples in time.
func TestFakedClocks(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.run(t, job{n: 1, config: []string{"interval_ns=20000000", "pvar=mpitx:calls"}, program: []string{m.compile(t, "sampler_faked.c", "-rdynamic")}})
		real, err := strconv.Atoi(strings.TrimSpace(r.stdout))
		if r.code != 0 || err != nil {
			t.Fatalf("exit code %d: %q %q", r.code, r.stdout, r.stderr)
		}
		r.whole(t, 3)
		var inside int
		var first, last time.Duration
		r.instantsOf(r.rank(t, 0), func(at time.Duration) {
			if inside++; inside == 1 {
				first = at
			}
			last = at
		})
		if took := last - first; inside < 3 || took > time.Minute {
			t.Errorf("%d samples in %v; the program took %d ms", inside, took, real)
		}
	})
}

// Another PMPI tool, before or after the agent, sees and prints the same as without the agent.
func TestSecondTool(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		tool, program := m.compile(t, "pmpi_tool.c", "-shared", "-fPIC"), m.compile(t, "plain.c")
		for _, preload := range [][]string{{"agent", tool}, {tool, "agent"}} {
			r := m.run(t, job{n: 1, config: quick, program: []string{program}, preload: preload})
			if r.code != 0 || r.stdout != "done\ntool: 3 sends 10 ranks\n" || r.stderr != "" {
				t.Errorf("%v: exit %d: %q %q", preload, r.code, r.stdout, r.stderr)
			}
			v := r.values(0, "mpitx:messages_sent", "", 0)
			if len(v) == 0 || v[len(v)-1] != 3 {
				t.Errorf("%v: messages sent: %v", preload, v)
			}
			r.whole(t, 1)
		}
	})
}

// The agent does nothing in a program without MPI and leaves no run.
func TestNoMPI(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, line := range [][]string{{"/bin/echo", "hello"}, {"/bin/sh", "-c", "echo hello >&2; exit 3"}} {
			if r := m.compareWithAgent(t, job{config: quick, program: line, no: true}); r.run != nil && len(r.run.Ranks) > 0 {
				t.Errorf("%v left %+v", line, r.run.Ranks[0])
			}
		}
	})
}

// mount puts a tmpfs on a folder.
func mount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options+",mode=700"); err != nil {
		need.Missing(t, "mounts are not allowed: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// needMounts skips a test that an ordinary user cannot run.
func needMounts(t *testing.T) {
	t.Helper()
	if exec.Command("unshare", "-m", "true").Run() != nil {
		need.Missing(t, "mounts are not allowed")
	}
}

// floods is the number of calls of "sampler_exec flood".
const floods = 25200

// A full disk, full memory, a read-only directory, no /dev/shm: the application runs as without the agent. All that is recorded is intact,
// and the rest is counted.
func TestNoRoom(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		program := []string{m.compile(t, "sampler_exec.c"), "-"}
		much := []string{"interval_ns=1000", "pvar=mpitx:*", "pvar=mpitx:*/MPI_Sendrecv", "close_wait_ms=200"}
		flood := []string{program[0], "flood"}
		t.Run("full disk", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			mount(t, dir, 0, "size=64k")
			r := m.compareWithAgent(t, job{n: 2, config: much, program: flood, dir: dir})
			for _, k := range r.run.Ranks {
				if k.Counters.LostFull == 0 || k.Counters.AppendErrors == 0 || k.Counters.Samples == 0 {
					t.Errorf("rank %d: %+v", k.Rank, k.Counters)
				}
			}
			read := map[int]uint64{}
			for in := range r.run.Instants(recording.Options{}) {
				if !in.Last {
					read[in.Rank.Rank]++
				}
			}
			for _, k := range r.run.Ranks {
				if read[k.Rank] != k.Counters.Samples {
					t.Errorf("rank %d: %d samples of %d are there", k.Rank, read[k.Rank], k.Counters.Samples)
				}
			}
		})
		t.Run("totals of a full disk", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			mount(t, dir, 0, "size=64k")
			r := m.run(t, job{n: 2, config: much, program: flood, dir: dir})
			r.total(t, "mpitx:calls/MPI_Sendrecv", floods)
			if l, ok := r.run.Loss(); !ok || l.Reason != "no space left on device" || l.Time <= 0 || l.Share <= 0 {
				t.Errorf("%v %+v", ok, l)
			}
		})
		t.Run("full memory", func(t *testing.T) {
			live := t.TempDir()
			mount(t, live, 0, "size=64k")
			if r := m.compareWithAgent(t, job{n: 2, config: quick, program: program, live: live, no: true}); r.run != nil {
				t.Errorf("a run of %d ranks", len(r.run.Ranks))
			}
		})
		t.Run("read-only directory", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			mount(t, dir, syscall.MS_RDONLY, "size=64k")
			if r := m.compareWithAgent(t, job{n: 2, config: quick, program: program, dir: dir, no: true}); r.run != nil {
				t.Errorf("a run of %d ranks", len(r.run.Ranks))
			}
		})
		t.Run("no shm", func(t *testing.T) {
			needMounts(t)
			// Open MPI's shared memory has a race if its files are in a folder.
			m.compareWithAgent(t, job{n: 2, config: quick, program: program, live: "default", before: "export UCX_POSIX_DIR=/tmp OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo; mount -t tmpfs -o ro,size=4k none /dev/shm"}).whole(t, 10)
		})
		t.Run("small shm", func(t *testing.T) {
			needMounts(t)
			small := job{n: 2, config: []string{"profile=record"}, program: []string{m.compile(t, "small_shm.c"), "3700"}, live: "default",
				before: "export UCX_POSIX_DIR=/tmp OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo; mount -t tmpfs -o size=8m none /dev/shm"}
			// The program needs nearly all of it, and the agent leaves it alone.
			rows := m.compareWithAgent(t, small).table(t, 0, "profile calls")
			if got := sums(rows, "function", "calls")["MPI_Barrier"]; got != "11" {
				t.Errorf("%s barriers", got)
			}
			// Tables without memory are counted.
			live := t.TempDir()
			mount(t, live, 0, "size=500k")
			r := m.compareWithAgent(t, job{n: 1, config: small.config, program: []string{small.program[0], "0"}, live: live})
			for _, k := range r.run.Ranks {
				if k.Counters.LostRows == 0 {
					t.Errorf("rank %d: %+v", k.Rank, k.Counters)
				}
			}
		})
		t.Run("budget", func(t *testing.T) {
			r := m.compareWithAgent(t, job{n: 2, config: append(much, "max_size=200000"), program: flood})
			for _, k := range r.run.Ranks {
				if k.Counters.OverBudget == 0 || len(notes(k, recording.NoteBudget)) != 1 {
					t.Errorf("rank %d: %+v %v", k.Rank, k.Counters, k.Notes)
				}
			}
			r.whole(t, 10)
			r.total(t, "mpitx:calls/MPI_Sendrecv", floods)
			var size int64
			entries, _ := os.ReadDir(r.dir)
			for _, e := range entries {
				if info, err := e.Info(); err == nil {
					size += info.Size()
				}
			}
			if size > 200000 {
				t.Errorf("%d bytes", size)
			}
		})
	})
}

// A run directory that is a symbolic link is not written to. Files are accessible to their owner only, whatever the umask.
func TestPrivate(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		program := []string{m.compile(t, "sampler_exec.c"), "-"}
		elsewhere, link := t.TempDir(), filepath.Join(t.TempDir(), "run")
		if err := os.Symlink(elsewhere, link); err != nil {
			t.Fatal(err)
		}
		m.compareWithAgent(t, job{n: 1, config: quick, program: program, dir: link, no: true})
		if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
			t.Errorf("written through a link: %v", left)
		}
		r := m.run(t, job{n: 1, config: quick, program: append([]string{"sh", "-c", `umask 0; exec "$@"`, "sh"}, program...)})
		st, err := os.Stat(r.dir)
		if err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", st.Mode(), err)
		}
		entries, _ := os.ReadDir(r.dir)
		for _, e := range entries {
			if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", e.Name(), info.Mode(), err)
			}
		}
		if len(entries) == 0 {
			t.Error("nothing was written")
		}
	})
}

// Threads that are cancelled at any time, mostly during samples, never keep a lock of the agent: everything is recorded, and the end does
// not wait.
func TestCancelledThreads(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 2, []string{"interval_ns=1000", "pvar=mpitx:messages_sent"}, "sampler_cancel", "400")
		if r.code != 0 || r.stdout != "400\n400\n" {
			t.Fatalf("exit code %d: %q %q", r.code, r.stdout, r.stderr)
		}
		for _, k := range r.run.Ranks {
			if off := notes(k, recording.NoteSwitchedOff); k.End != recording.EndFinalize || len(off) > 0 {
				t.Errorf("rank %d: end %v, %q", k.Rank, k.End, off)
			}
		}
		r.total(t, "mpitx:messages_sent", 400)
		r.whole(t, 100)
	})
}
