package selftest

import (
	"context"
	"errors"
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
)

// family is an installed MPI with an agent built for it.
type family struct {
	name      string // "openmpi"
	agent     string // the shared library
	library   string // SONAME
	oversub   []string
	buildOnce sync.Once
	buildErr  error
}

var families = []*family{
	{name: "openmpi", library: "libmpi.so.40", oversub: []string{"--oversubscribe"}},
	{name: "mpich", library: "libmpich.so.12"},
}

const limit = 60 * time.Second

var work string // for compiled programs

func TestMain(m *testing.M) {
	var err error
	if work, err = os.MkdirTemp("", "mpitx-agent-test"); err != nil {
		panic(err)
	}
	// Open MPI's launcher refuses root without both variables.
	os.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	os.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	os.Unsetenv("MPITX_AGENT")
	code := m.Run()
	os.RemoveAll(work)
	os.Exit(code)
}

// onEach runs a test for every installed MPI.
func onEach(t *testing.T, body func(t *testing.T, f *family)) {
	t.Helper()
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			f.build(t)
			body(t, f)
		})
	}
}

// build builds the agent with the tool of log.c.
func (f *family) build(t testing.TB) {
	t.Helper()
	mpicc, err := exec.LookPath("mpicc." + f.name)
	if err != nil {
		need.Missing(t, "mpicc.%s is not installed", f.name)
	}
	f.buildOnce.Do(func() { f.buildErr = f.buildAgent(mpicc) })
	if f.buildErr != nil {
		t.Fatal(f.buildErr)
	}
}

// agentSources are linked into the agent for tests.
var agentSources = []string{"testdata/log.c", "testdata/many_observers.c"}

func (f *family) buildAgent(mpicc string) (err error) {
	f.agent, err = agenttest.Build(filepath.Base(mpicc), "log_tool", agentSources...)
	return err
}

// compile compiles a program (or, with -shared, a library) of testdata and returns its path. The compiler has no family suffix: mpicc,
// mpicxx, mpif90.
func (f *family) compile(t *testing.T, compiler, source string, options ...string) string {
	t.Helper()
	name := f.name + "-" + filepath.Base(source) + strings.Join(options, "")
	output := filepath.Join(work, strings.NewReplacer(" ", "_", "=", "_", "/", "_").Replace(name))
	if _, err := os.Stat(output); err == nil {
		return output
	}
	path, err := exec.LookPath(compiler + "." + f.name)
	if err != nil {
		need.Missing(t, "%s.%s is not installed", compiler, f.name)
	}
	arguments := append([]string{"-w", "-O1", "-I..", "-I../include", "-o", output, filepath.Join("testdata", source)}, options...)
	command := exec.Command(path, arguments...)
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, text)
	}
	return output
}

// qmpi is the library with the draft's symbols.
func qmpi(t testing.TB) string {
	t.Helper()
	library, err := agenttest.BuildQMPI()
	if err != nil {
		t.Fatal(err)
	}
	return library
}

// job is one run of a program.
type job struct {
	ranks   int // 0: a singleton, without a launcher
	config  []string
	preload []string // "agent" is the agent; empty: only the agent
	bare    bool     // without the agent
	wrapper []string // between the launcher and the program
	env     []string
}

type result struct {
	code           int
	stdout, stderr string
	counts         map[string]string // of rank 0: lines of the counts file, by their first word
	files          []string          // all counts files
	notes          string            // of rank 0
}

// run runs a program with the agent and the debug tool.
func (f *family) run(t *testing.T, j job, program string, arguments ...string) result {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var line []string
	if j.ranks > 0 {
		line = append(line, "mpirun."+f.name)
		line = append(line, f.oversub...)
		line = append(line, "-n", fmt.Sprint(j.ranks))
	}
	if !j.bare {
		preload := j.preload
		if len(preload) == 0 {
			preload = []string{"agent"}
		}
		preload = append([]string{}, preload...)
		for i := range preload {
			if preload[i] == "agent" {
				preload[i] = f.agent
			}
		}
		config := append([]string{"counts=" + filepath.Join(dir, "counts.%r.%p")}, j.config...)
		if slices.ContainsFunc(config, func(line string) bool { return strings.HasPrefix(line, "tool=") }) {
			config = append(config, "qmpi="+qmpi(t))
		}
		line = append(line, "env", "LD_PRELOAD="+strings.Join(preload, ":"), "MPITX_AGENT="+strings.Join(config, "\n"))
	}
	line = append(append(append(line, j.wrapper...), program), arguments...)
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	command.Env = append(os.Environ(), j.env...)
	command.WaitDelay = 5 * time.Second
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v: no end within %v\n%s%s", line, limit, stdout.String(), stderr.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", line, err)
	}
	r := result{code: command.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), counts: map[string]string{}}
	r.files, _ = filepath.Glob(filepath.Join(dir, "counts.*"))
	for _, name := range r.files {
		if rank := strings.Split(filepath.Base(name), ".")[1]; rank == "1" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			key, value, _ := strings.Cut(line, " ")
			r.counts[key] = value
			if key == "note" {
				r.notes += value + "\n"
			}
		}
	}
	return r
}

// want compares calls: "MPI_Send": "3" means 3 calls, none nested or abandoned; "3 nested 1" and so on are more specific.
func (r result) want(t *testing.T, counts map[string]string) {
	t.Helper()
	if len(r.counts) == 0 {
		t.Fatalf("no counts; exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for name, want := range counts {
		got := strings.TrimSuffix(strings.TrimSuffix(r.counts[name], " abandoned 0"), " nested 0")
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if lost := r.counts["lost"]; lost != "0 0 0" {
		t.Errorf("lost: %s", lost)
	}
}

// only checks that no other function was counted.
func (r result) only(t *testing.T, counts map[string]string) {
	t.Helper()
	r.want(t, counts)
	for name := range r.counts {
		if _, ok := counts[name]; !ok && strings.HasPrefix(name, "MPI") {
			t.Errorf("also counted: %s %s", name, r.counts[name])
		}
	}
}

func compilerCommand(output string, arguments ...string) *exec.Cmd {
	return exec.Command("cc", append([]string{"-O2", "-w", "-o", output}, arguments...)...)
}
