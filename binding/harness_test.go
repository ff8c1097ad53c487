package binding

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"mpitx/catalog"
)

// A process loads one MPI library and initializes it once. A test with a library therefore runs its body in separate processes:
// child.run starts this test binary again for the calling test, and calls the body there.

// stage is the state of the library when the body begins.
type stage int

const (
	bare   stage = iota // nothing loaded
	loaded              // library loaded, nothing initialized
	before              // MPI_T, before MPI_Init
	after               // MPI_Init, then MPI_T
	across              // MPI_T, then MPI_Init
)

// child is a process (or a job of several) with an MPI library in it.
type child struct {
	stage  stage
	faults string // FAKEMPI_FAULTS
	env    []string
	ranks  int                      // processes of a job of the demo library; 0: a singleton
	load   func() (*Library, error) // nil: Demo
}

// mpi is the argument of a body.
type mpi struct {
	*Interface // nil in the stages bare and loaded
	lib        *Library
	t          *testing.T
	differ     int // values that a probe's child read differently
}

const (
	childVariable = "MPITX_TEST_CHILD"
	coverVariable = "MPITX_TEST_COVER" // a directory for the coverage data of the children
	childLimit    = 60 * time.Second
)

func TestMain(m *testing.M) {
	code := m.Run()
	if shimDir != "" {
		os.RemoveAll(shimDir)
	}
	os.Exit(code)
}

// run runs the body in separate processes, in parallel with other tests. It must be the last call of a test.
func (c child) run(t *testing.T, body func(t *testing.T, m *mpi)) {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		body(t, c.enter(t))
		fmt.Println(ranMark(t))
		return
	}
	if os.Getenv(childVariable) != "" {
		return // another test's process
	}
	t.Parallel()
	var env []string
	if c.ranks > 0 {
		env = append(env, fmt.Sprintf("FAKEMPI_SIZE=%d", c.ranks), "FAKEMPI_DIR="+t.TempDir())
	}
	var wait sync.WaitGroup
	for rank := range max(1, c.ranks) {
		wait.Go(func() {
			out, err := c.command(t, append(env, fmt.Sprintf("FAKEMPI_RANK=%d", rank)))
			switch {
			case err != nil:
				t.Errorf("process %d: %v\n%s", rank, err, out)
			case !strings.Contains(string(out), ranMark(t)):
				t.Errorf("process %d did not run the test\n%s", rank, out)
			}
		})
	}
	wait.Wait()
}

func ranMark(t *testing.T) string { return "ran " + t.Name() + " to its end" }

func (c child) command(t *testing.T, env []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.Context(), childLimit)
	defer cancel()
	// Open MPI's processes fail if two create the session directory at once. It contains sockets, so its path must be short.
	tmp, err := os.MkdirTemp("/tmp", "mx")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	parts := strings.Split(t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	args := []string{"-test.run=" + strings.Join(parts, "/"), "-test.timeout=" + childLimit.String()}
	if dir := os.Getenv(coverVariable); dir != "" {
		args = append(args, "-test.gocoverdir="+dir)
	}
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "FAKEMPI_") && !strings.HasPrefix(name, "DEMO_CVAR_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp, childVariable+"="+t.Name(), "FAKEMPI_FAULTS="+c.faults,
		"GORACE=atexit_sleep_ms=0") // with -race each process would otherwise wait for a second
	cmd.Env = append(append(cmd.Env, env...), c.env...)
	cmd.WaitDelay = time.Second // a library's own daemons may hold the pipe
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("did not end within %v: %w", childLimit, err)
	}
	return out, err
}

// enter brings the library to the stage.
func (c child) enter(t *testing.T) *mpi {
	t.Helper()
	m := &mpi{t: t}
	if c.stage == bare {
		return m
	}
	load := c.load
	if load == nil {
		load = Demo
	}
	var err error
	if m.lib, err = load(); err != nil {
		t.Fatal(err)
	}
	if c.stage == after {
		m.initMPI()
	}
	if c.stage >= before {
		if m.Interface, _, err = m.lib.InitThread(catalog.ThreadMultiple); err != nil {
			t.Fatal(err)
		}
	}
	if c.stage == across {
		m.initMPI()
	}
	return m
}

func (m *mpi) initMPI() {
	m.t.Helper()
	if _, err := m.lib.Init(catalog.ThreadSingle); err != nil {
		m.t.Fatal(err)
	}
}

// must ends the test if a call failed: must(m.NumCvars())(t).
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (m *mpi) cvar(name string) int {
	m.t.Helper()
	index, err := m.CvarIndex(name)
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	return index
}

func (m *mpi) pvar(name string, class Class) int {
	m.t.Helper()
	index, err := m.PvarIndex(name, class)
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	return index
}

func (m *mpi) category(name string) int {
	m.t.Helper()
	index, err := m.CategoryIndex(name)
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	return index
}

func (m *mpi) open(name string) *CvarHandle {
	m.t.Helper()
	h, err := m.AllocCvar(m.cvar(name), NoObject)
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	return h
}

// read opens, reads and frees a control variable.
func (m *mpi) read(name string) Value {
	m.t.Helper()
	h := m.open(name)
	defer h.Free()
	v, err := h.Read()
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	return v
}

func (m *mpi) session() *Session {
	m.t.Helper()
	return must(m.NewSession())(m.t)
}

func (m *mpi) openPvar(s *Session, name string, class Class) *PvarHandle {
	m.t.Helper()
	h, err := s.AllocPvar(m.pvar(name, class), CommWorld)
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	return h
}

// value makes a value of a type from its text.
func value(t *testing.T, typ Datatype, count int, text string) Value {
	t.Helper()
	v, err := catalog.ParseValue(&catalog.Variable{Type: typ}, nil, count, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
