package binding

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"mpitx/catalog"
)

// dispositions returns the kernel's struct sigaction of signals 1 to 31.
func dispositions(t *testing.T) (all [32][4]uint64) {
	t.Helper()
	for s := 1; s < 32; s++ {
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&all[s])), 8, 0, 0); errno != 0 {
			t.Fatal(errno)
		}
	}
	return all
}

func sameDispositions(t *testing.T, when string, old [32][4]uint64) {
	t.Helper()
	for s, now := range dispositions(t) {
		// The third word is the return address of handlers, which libc sets.
		if now[0] != old[s][0] || now[1]|saRestorer != old[s][1]|saRestorer || now[3] != old[s][3] {
			t.Errorf("%s: the handling of %v is %x, was %x", when, syscall.Signal(s), now, old[s])
		}
	}
}

const saRestorer = 0x04000000

func nilDereference() (err error) {
	defer func() {
		if r, ok := recover().(runtime.Error); ok {
			err = r
		}
	}()
	var p *int
	*p++
	return nil
}

// checkSignals loads and initializes a library and checks that Go's signal handlers are unchanged.
func checkSignals(t *testing.T, load func() (*Library, error)) {
	old := dispositions(t)
	lib, err := load()
	if err != nil {
		t.Fatal(err)
	}
	m := &mpi{lib: lib, t: t}
	sameDispositions(t, "after Load", old)
	m.initMPI()
	sameDispositions(t, "after Init", old)
	if m.Interface, _, err = lib.InitThread(catalog.ThreadMultiple); err != nil {
		t.Fatal(err)
	}
	sameDispositions(t, "after InitThread", old)
	for range 2 {
		if err := nilDereference(); err == nil || !strings.Contains(err.Error(), "nil pointer") {
			t.Errorf("a nil dereference gives %v", err)
		}
		m.probe(ProbeOptions{})
	}
	sameDispositions(t, "after Probe", old)
	done := make(chan error)
	go func() { done <- nilDereference() }()
	if err := <-done; err == nil {
		t.Error("a nil dereference in another goroutine goes on")
	}
}

func TestSignals(t *testing.T) {
	child{stage: bare, faults: "signal-handler"}.run(t, func(t *testing.T, m *mpi) { checkSignals(t, Demo) })
	t.Run("InitThread first", func(t *testing.T) {
		child{stage: across, faults: "signal-handler"}.run(t, func(t *testing.T, m *mpi) {
			if err := nilDereference(); err == nil {
				t.Error("a nil dereference goes on")
			}
		})
	})
}

// After SilenceCrashes a crash of the library kills the process by its signal, without output.
func TestSilenceCrashes(t *testing.T) {
	for _, action := range []string{"crash", "abort"} {
		t.Run(action, func(t *testing.T) {
			if os.Getenv(childVariable) != "" {
				m := child{stage: before}.enter(t)
				SilenceCrashes()
				m.initMPI() // must not change that
				m.read("demo_lines")
				return
			}
			t.Parallel()
			out, err := child{faults: action + "-read=demo_lines"}.command(t, nil)
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("%v\n%s", err, out)
			}
			status := exit.Sys().(syscall.WaitStatus)
			want(t, "signal", status.Signal(), map[string]syscall.Signal{"crash": syscall.SIGSEGV, "abort": syscall.SIGABRT}[action])
			want(t, "core dumped", status.CoreDump(), false)
			want(t, "output", string(out), "")
		})
	}
}

func TestExit(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		child{stage: after}.enter(t)
		Exit(37)
	}
	t.Parallel()
	out, err := child{}.command(t, nil)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 37 || len(out) != 0 {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestSignalsReal(t *testing.T) {
	onReal(t, func(f family, c child) child { c.stage = bare; return c }, func(t *testing.T, f family, m *mpi) {
		checkSignals(t, f.load)
	})
}
