// Package samplerrun tests the agent's sampler in real MPI programs and reads the runs with package recording. It needs the MPIs'
// compilers and launchers, and skips those that are missing.
package samplerrun

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mpitx/agent/agenttest"
	"mpitx/fixtures/need"
	"mpitx/recording"
)

type mpi struct {
	family, mpicc, mpirun string
	once                  sync.Once
	agent                 string
	err                   error
	compiled              sync.Mutex // held while a program is compiled
	fronts                sync.Mutex // held while a library in front of the real one is built
}

var mpis = []*mpi{
	{family: "openmpi", mpicc: "mpicc.openmpi", mpirun: "mpirun.openmpi"},
	{family: "mpich", mpicc: "mpicc.mpich", mpirun: "mpirun.mpich"},
}

var work string // for programs

func TestMain(m *testing.M) {
	var err error
	if work, err = os.MkdirTemp("", "sampler"); err != nil {
		panic(err)
	}
	// Open MPI's launcher refuses root without both variables.
	os.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	os.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	os.Setenv("OMPI_MCA_odls_base_sigkill_timeout", "0") // by default it waits for seconds if a rank fails
	code := m.Run()
	os.RemoveAll(work)
	os.Exit(code)
}

func (m *mpi) needs(t testing.TB) {
	t.Helper()
	need.Commands(t, m.mpicc, m.mpirun)
	m.once.Do(func() {
		if m.agent = os.Getenv("MPITX_AGENT_" + strings.ToUpper(m.family)); m.agent == "" {
			m.agent, m.err = agenttest.Build(m.mpicc, "")
		}
	})
	if m.err != nil {
		t.Fatal(m.err)
	}
}

func each(t *testing.T, f func(t *testing.T, m *mpi)) {
	for _, m := range mpis {
		t.Run(m.family, func(t *testing.T) {
			t.Parallel()
			m.needs(t)
			f(t, m)
		})
	}
}

// compile compiles a source in .. or in the selftest's testdata, once, and returns the program's path.
func (m *mpi) compile(t testing.TB, source string, options ...string) string {
	t.Helper()
	m.compiled.Lock()
	defer m.compiled.Unlock()
	path := filepath.Join(work, strings.NewReplacer("/", "_", " ", "_", "=", "_").Replace(m.mpicc+"-"+source+strings.Join(options, "")))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	compiler, sources := m.mpicc, []string(nil)
	switch {
	case strings.HasSuffix(source, ".cc"):
		compiler = "mpicxx." + m.family
	case strings.HasSuffix(source, ".F90"):
		compiler = "mpif90." + m.family
		need.Commands(t, compiler)
		sources = []string{"-J" + t.TempDir(), "../../include/mpitx.f90"}
	}
	from := filepath.Join("..", source)
	if _, err := os.Stat(from); err != nil {
		from = filepath.Join("../../selftest/testdata", source)
	}
	if out, err := exec.Command(compiler, slices.Concat([]string{"-O1", "-w", "-I../..", "-o", path}, sources, []string{from}, options)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return path
}

// job is a program to run.
type job struct {
	n       int      // ranks; 0: without a launcher
	config  []string // of the agent; nil: without the agent
	program []string
	preload []string // "agent" is the agent; empty: only the agent
	before  string   // shell commands before the launcher, in a separate mount namespace
	env     []string
	dir     string // the run directory; "": a new one
	live    string // where live files go; "": a new folder; "default": where they go by default
	no      bool   // there may be no run
}

// result is what a job printed and left.
type result struct {
	stdout, stderr string
	code           int
	run            *recording.Run // nil: none
	dir            string
}

// start runs a program of .. with the agent, or without it if there is no configuration.
func (m *mpi) start(t *testing.T, n int, config []string, program ...string) *result {
	t.Helper()
	program = slices.Clone(program)
	program[0] = m.compile(t, program[0]+".c")
	return m.run(t, job{n: n, config: config, program: program})
}

func (m *mpi) environment(t testing.TB, j *job) []string {
	if j.dir == "" {
		j.dir = filepath.Join(t.TempDir(), "run")
	}
	lines := []string{"dir=" + j.dir, "run_id=000102030405060708090a0b0c0d0e0f"}
	switch j.live {
	case "":
		lines = append(lines, "live_dir="+t.TempDir())
	case "default":
	default:
		lines = append(lines, "live_dir="+j.live)
	}
	preload := []string{m.agent}
	if j.preload != nil {
		preload = slices.Clone(j.preload)
		preload[slices.Index(preload, "agent")] = m.agent
	}
	return []string{"env", "MPITX_AGENT=" + strings.Join(append(lines, j.config...), "\n") + "\n", "LD_PRELOAD=" + strings.Join(preload, ":")}
}

func (m *mpi) run(t testing.TB, j job) *result {
	t.Helper()
	var line []string
	if j.before != "" {
		line = []string{"unshare", "-m", "sh", "-c", j.before + ` && exec "$@"`, "sh"}
	}
	if j.n > 0 {
		line = append(line, m.mpirun, "-n", fmt.Sprint(j.n))
		if m.family == "openmpi" {
			line = append(line, "--oversubscribe")
		}
	}
	if j.config != nil {
		line = append(line, m.environment(t, &j)...)
	}
	line = append(line, j.program...)
	if len(j.env) > 0 {
		line = append(append([]string{"env"}, j.env...), line...)
	}
	var stdout, stderr strings.Builder
	cmd := exec.Command("timeout", append([]string{"-k", "5", "90"}, line...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	_ = cmd.Run()
	r := &result{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode(), dir: j.dir}
	if j.config != nil {
		r.open(t, j.no)
	}
	return r
}

// open reads the run after all processes have ended; launchers end before the processes that they kill.
func (r *result) open(t testing.TB, no bool) {
	t.Helper()
	run, err := recording.Open(r.dir)
	running := func(k *recording.Rank) bool { return k.State == recording.StateRunning }
	for end := time.Now().Add(40 * time.Second); err == nil && slices.ContainsFunc(run.Ranks, running); run, err = recording.Open(r.dir) {
		run.Close()
		if time.Now().After(end) {
			t.Fatalf("exit %d, and ranks go on", r.code)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		if !no {
			t.Fatalf("%v; exit %d\n%s%s", err, r.code, r.stdout, r.stderr)
		}
		return
	}
	t.Cleanup(run.Close)
	for _, d := range run.Damage() {
		t.Error(d)
	}
	r.run = run
}

func (r *result) rank(t testing.TB, n int) *recording.Rank {
	t.Helper()
	for _, k := range r.run.Ranks {
		if k.Rank == n {
			return k
		}
	}
	t.Fatalf("no rank %d in the run; exit %d\n%s%s", n, r.code, r.stdout, r.stderr)
	return nil
}

// values returns a variable's samples of one element, by rank.
func (r *result) values(rank int, name, object string, element int) []float64 {
	var v []float64
	for in := range r.run.Instants(recording.Options{As: recording.Raw}) {
		for _, c := range in.Cells {
			if in.Rank.Rank == rank && c.Column.Variable == name && c.Column.ObjectName == object && c.Column.First+c.Element == element && c.Status.HasValue() {
				v = append(v, c.Value.Float64())
			}
		}
	}
	return v
}

// whole checks that every sample that a rank took is in the run, however its process ended, and that the agent's counters never fall, before
// and after recovery. Each rank must have at least so many samples.
func (r *result) whole(t *testing.T, least uint64) {
	t.Helper()
	for _, when := range []string{"as it was left", "recovered"} {
		if when == "recovered" {
			if _, err := recording.Recover(r.dir, false); err != nil {
				t.Error(err)
			}
			r.open(t, false)
		}
		read, last := map[int]uint64{}, map[*recording.Column]float64{}
		for in := range r.run.Instants(recording.Options{As: recording.Raw}) {
			if !in.Last {
				read[in.Rank.Rank]++
			}
			for _, c := range in.Cells {
				if !strings.HasPrefix(c.Column.Variable, "mpitx:calls") {
					continue
				}
				if v := c.Value.Float64(); v < last[c.Column] {
					t.Errorf("%s: rank %d: %s falls from %v to %v", when, in.Rank.Rank, c.Column.Variable, last[c.Column], v)
				} else {
					last[c.Column] = v
				}
			}
		}
		for _, k := range r.run.Ranks {
			if c := k.Counters; c.Samples != read[k.Rank] || c.Samples < least {
				t.Errorf("%s: rank %d: %d samples are in the run, at least %d wanted; %+v", when, k.Rank, read[k.Rank], least, c)
			}
		}
	}
}

// total checks a variable's last value on each rank.
func (r *result) total(t *testing.T, name string, want float64) {
	t.Helper()
	for _, k := range r.run.Ranks {
		if v := r.values(k.Rank, name, "", 0); len(v) == 0 || v[len(v)-1] != want {
			t.Errorf("rank %d: %s: %d samples, the last %v; want %v", k.Rank, name, len(v), most(v), want)
		}
	}
}

func notes(r *recording.Rank, code recording.NoteCode) []string {
	var s []string
	for _, n := range r.Notes {
		if n.Code == code {
			s = append(s, n.Text)
		}
	}
	return s
}

func most(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, x)
	}
	return m
}
