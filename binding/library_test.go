package binding

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mpitx/catalog"
)

const internalError = Error(1000 + 16) // returned by the faults fail-*

func TestReferencesAreCounted(t *testing.T) {
	child{stage: loaded, faults: "fail-t-finalize"}.run(t, func(t *testing.T, m *mpi) {
		first, level, err := m.lib.InitThread(catalog.ThreadMultiple)
		if err != nil || level != catalog.ThreadMultiple {
			t.Fatal(level, err)
		}
		second := must2(m.lib.InitThread(catalog.ThreadSingle))(t)
		if first != second {
			t.Error("two interfaces of one library")
		}
		wantErr(t, "the first of two is issued", first.Finalize(), internalError)
		must(first.NumCvars())(t)
		wantErr(t, "the last is not issued", first.Finalize(), nil)
		_, err = first.NumCvars()
		wantErr(t, "use after the last", err, ErrNotInitialized)
		for range 3 {
			wantErr(t, "one too many", first.Finalize(), ErrNotInitialized)
		}
		again := must2(m.lib.InitThread(catalog.ThreadMultiple))(t)
		want(t, "variables after another init", must(again.NumCvars())(t), 70)
		wantErr(t, "the last again", again.Finalize(), nil)
	})
}

func must2[T, U any](v T, _ U, err error) func(*testing.T) T { return must(v, err) }

func TestLastFinalizeIsNeverIssued(t *testing.T) {
	child{stage: after, faults: "crash-t-finalize"}.run(t, func(t *testing.T, m *mpi) {
		wantErr(t, "Finalize", m.Finalize(), nil)
		wantErr(t, "MPI_Finalize", m.lib.Finalize(), nil)
	})
}

func TestNotInitialized(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		h := m.open("demo_lines")
		s := m.session()
		p := m.openPvar(s, "demo_cursor", catalog.ClassGeneric)
		enum := must(m.CvarInfo(m.cvar("demo_debug_level")))(t).Enum
		if err := m.Finalize(); err != nil {
			t.Fatal(err)
		}
		if h.value.p != nil || p.value.p != nil {
			t.Error("memory of handles is left after Finalize")
		}
		last := func(err error) error { return err }
		calls := map[string]func() error{
			"NumCvars":           func() error { _, err := m.NumCvars(); return err },
			"CvarInfo":           func() error { _, err := m.CvarInfo(0); return err },
			"CvarIndex":          func() error { _, err := m.CvarIndex("demo_lines"); return err },
			"AllocCvar":          func() error { _, err := m.AllocCvar(0, NoObject); return err },
			"CvarHandle.Read":    func() error { _, err := h.Read(); return err },
			"CvarHandle.Write":   func() error { return h.Write(value(t, catalog.TypeInt, 1, "1")) },
			"CvarHandle.Free":    func() error { return h.Free() },
			"NumPvars":           func() error { _, err := m.NumPvars(); return err },
			"PvarInfo":           func() error { _, err := m.PvarInfo(0); return err },
			"PvarIndex":          func() error { _, err := m.PvarIndex("demo_cursor", catalog.ClassGeneric); return err },
			"NewSession":         func() error { _, err := m.NewSession(); return err },
			"AllocPvar":          func() error { _, err := s.AllocPvar(0, NoObject); return err },
			"Start":              func() error { return s.Start(p) },
			"Stop":               func() error { return s.Stop(AllHandles) },
			"Session.Read":       func() error { _, err := s.Read(p); return err },
			"Session.Write":      func() error { return s.Write(p, Value{}) },
			"Reset":              func() error { return s.Reset(AllHandles) },
			"ReadReset":          func() error { _, err := s.ReadReset(p); return err },
			"FreeHandle":         func() error { return s.FreeHandle(p) },
			"Session.Free":       func() error { return s.Free() },
			"NumCategories":      func() error { _, err := m.NumCategories(); return err },
			"CategoryInfo":       func() error { _, err := m.CategoryInfo(0); return err },
			"CategoryIndex":      func() error { _, err := m.CategoryIndex("demo"); return err },
			"CategoryCvars":      func() error { _, err := m.CategoryCvars(0); return err },
			"CategoryPvars":      func() error { _, err := m.CategoryPvars(0); return err },
			"CategoryCategories": func() error { _, err := m.CategoryCategories(0); return err },
			"CategoryNumEvents":  func() error { _, err := m.CategoryNumEvents(0); return err },
			"CategoryEvents":     func() error { _, err := m.CategoryEvents(0); return err },
			"CategoryChanged":    func() error { _, err := m.CategoryChanged(); return err },
			"NumEvents":          func() error { _, err := m.NumEvents(); return err },
			"NumSources":         func() error { _, err := m.NumSources(); return err },
			"EnumInfo":           func() error { _, _, err := m.EnumInfo(enum); return err },
			"EnumItem":           func() error { _, err := m.EnumItem(enum, 0); return err },
			"Enum":               func() error { _, err := m.Enum(enum); return err },
			"Probe":              func() error { _, err := m.Probe(1, 1, ProbeOptions{}); return err },
			"ProbeWrite": func() error {
				_, err := m.ProbeWrite(0, 1, value(t, catalog.TypeInt, 1, "1"), ProbeOptions{})
				return err
			},
		}
		for name, call := range calls {
			wantErr(t, name, last(call()), ErrNotInitialized)
		}
		// Freed handles stay freed when the interface is initialized again.
		must2(m.lib.InitThread(catalog.ThreadSingle))(t)
		wantErr(t, "old handle", h.Free(), ErrInvalidHandle)
		wantErr(t, "old session", s.Free(), ErrInvalidSession)
	})
}

// The demo library has 8192 handles and sessions together.
func TestFinalizeFreesEverything(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		index := m.cvar("demo_lines")
		for round := range 3 {
			s := m.session()
			for range 10 {
				m.openPvar(s, "demo_cursor", catalog.ClassGeneric)
				m.session()
			}
			var err error
			handles := 0
			for err == nil && handles < 20000 {
				_, err = m.AllocCvar(index, NoObject)
				handles++
			}
			wantErr(t, "too many handles", err, ErrOutOfHandles)
			want(t, "handles", handles, 8192-21+1)
			_, err = m.NewSession()
			wantErr(t, "too many sessions", err, ErrOutOfSessions)
			if err := m.Finalize(); err != nil {
				t.Fatal(round, err)
			}
			must2(m.lib.InitThread(catalog.ThreadSingle))(t)
		}
	})
}

func TestThreadLevels(t *testing.T) {
	child{stage: loaded}.run(t, func(t *testing.T, m *mpi) {
		for _, level := range []ThreadLevel{catalog.ThreadMultiple, catalog.ThreadSerialized, catalog.ThreadFunneled, catalog.ThreadSingle} {
			_, got, err := m.lib.InitThread(level)
			if err != nil || got != level {
				t.Error(level, got, err)
			}
		}
		for _, level := range []ThreadLevel{-1, 0, 5, 1 << 30} {
			_, _, err := m.lib.InitThread(level)
			wantErr(t, "InitThread of no level", err, ErrInvalid)
			_, err = m.lib.Init(level)
			wantErr(t, "Init of no level", err, ErrInvalid)
		}
		got, err := m.lib.Init(catalog.ThreadSerialized)
		if err != nil || got != catalog.ThreadSerialized {
			t.Error(got, err)
		}
	})
}

func TestThreadLevelGranted(t *testing.T) {
	child{stage: loaded, faults: "thread-single"}.run(t, func(t *testing.T, m *mpi) {
		_, got, err := m.lib.InitThread(catalog.ThreadMultiple)
		if err != nil || got != catalog.ThreadSingle {
			t.Error(got, err)
		}
		if got, err = m.lib.Init(catalog.ThreadMultiple); err != nil || got != catalog.ThreadSingle {
			t.Error(got, err)
		}
	})
}

func TestInitOnce(t *testing.T) {
	child{stage: loaded}.run(t, func(t *testing.T, m *mpi) {
		if err := m.lib.Finalize(); err == nil {
			t.Error("MPI_Finalize before MPI_Init succeeds")
		}
		m.initMPI()
		other := must(Demo())(t)
		_, err := other.Init(catalog.ThreadSingle)
		wantErr(t, "MPI_Init by another Library", err, ErrCannotInit)
		if _, err := m.lib.Init(catalog.ThreadSingle); err == nil {
			t.Error("a second MPI_Init succeeds")
		}
		wantErr(t, "MPI_Finalize", m.lib.Finalize(), nil)
		if err := m.lib.Finalize(); err == nil {
			t.Error("a second MPI_Finalize succeeds")
		}
		if _, err := m.lib.Init(catalog.ThreadSingle); err == nil {
			t.Error("MPI_Init after MPI_Finalize succeeds")
		}
	})
}

func TestInitFails(t *testing.T) {
	child{stage: loaded, faults: "fail-init;invalid-t-init"}.run(t, func(t *testing.T, m *mpi) {
		_, err := m.lib.Init(catalog.ThreadSingle)
		wantErr(t, "Init", err, internalError)
		if err == nil || !strings.Contains(err.Error(), "MPI_Init_thread: MPI error class 16") {
			t.Error(err)
		}
		if _, _, err := m.lib.World(); err == nil {
			t.Error("World works without MPI_Init")
		}
		tool, _, err := m.lib.InitThread(catalog.ThreadSingle)
		wantErr(t, "InitThread", err, ErrInvalid)
		if tool != nil {
			t.Error("an interface that failed")
		}
	})
}

func TestLibraryFacts(t *testing.T) {
	for faults, standard := range map[string][2]int{"": {4, 0}, "mpi31": {3, 1}} {
		t.Run(faults, func(t *testing.T) {
			child{stage: loaded, faults: faults}.run(t, func(t *testing.T, m *mpi) {
				v, s, err := m.lib.Version()
				if err != nil || [2]int{v, s} != standard {
					t.Error(v, s, err)
				}
				want(t, "family", m.lib.Family(), "demo")
				want(t, "path", m.lib.Path, "")
				want(t, "QMPI", m.lib.HasQMPI(), true)
				text := must(m.lib.VersionText())(t)
				if !strings.HasPrefix(text, "mpitx demo library") {
					t.Error(text)
				}
				for routine, has := range map[string]bool{"MPI_T_cvar_read": true, "MPI_T_event_get_num": standard[0] == 4,
					"PERUSE_Init": true, "PERUSE_Exit": false, "": false} {
					want(t, "Has "+routine, m.lib.Has(routine), has)
				}
			})
		})
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ name, shim, lib, want string }{
		{"no library", "libm.so.6", "/nonexistent/libmpi.so", "load MPI library: "},
		{"no shim", "/nonexistent/shim.so", "libm.so.6", "load shim: "},
		{"not a shim", "libm.so.6", "libm.so.6", "libm.so.6 is not a shim of mpitx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			child{stage: bare}.run(t, func(t *testing.T, m *mpi) {
				_, err := Load(c.shim, c.lib)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got error %v, want %q", err, c.want)
				}
			})
		})
	}
}

// Load restores signal handlers that a library changes, and tells UCX not to install any.
func TestLoadGuardsSignals(t *testing.T) {
	for _, c := range []struct{ set, want string }{{"", ""}, {"UCX_ERROR_SIGNALS=ILL", "ILL"}} {
		t.Run(c.set, func(t *testing.T) {
			env := []string{c.set}
			if os.Getenv(childVariable) == "" {
				env = append(env, "MPITX_TEST_LIBRARY="+library(t, `#include <signal.h>
					static void caught(int s) { (void)s; }
					__attribute__((constructor)) static void begin(void) { for (int s = 1; s < 32; s++) signal(s, caught); }`))
			}
			child{stage: bare, env: env}.run(t, func(t *testing.T, m *mpi) {
				old := dispositions(t)
				path := os.Getenv("MPITX_TEST_LIBRARY")
				if _, err := Load(path, path); err == nil || !strings.Contains(err.Error(), "is not a shim") {
					t.Fatal(err)
				}
				sameDispositions(t, "after Load", old)
				if err := nilDereference(); err == nil {
					t.Error("a nil dereference goes on")
				}
				got, set := os.LookupEnv("UCX_ERROR_SIGNALS")
				if !set || got != c.want {
					t.Errorf("UCX_ERROR_SIGNALS is %q", got)
				}
				want(t, "UCX_WARN_UNUSED_ENV_VARS", os.Getenv("UCX_WARN_UNUSED_ENV_VARS"), "n")
			})
		})
	}
}

// library compiles a shared library.
func library(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "library.so")
	if err := os.WriteFile(filepath.Join(dir, "library.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, filepath.Join(dir, "library.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// With the fault one-thread, MPI_T aborts if called from another thread than the first.
func TestOneThread(t *testing.T) {
	child{stage: before, faults: "one-thread"}.run(t, func(t *testing.T, m *mpi) {
		stop := make(chan struct{})
		for range 4 {
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
						runtime.Gosched()
					}
				}
			}()
		}
		defer close(stop)
		for range 200 {
			must(m.CvarInfo(3))(t)
			runtime.Gosched()
		}
		runtime.GC()
		must(m.NumPvars())(t)
	})
}

func TestErrNotProvidedBeforeMPI4(t *testing.T) {
	child{stage: before, faults: "mpi31"}.run(t, func(t *testing.T, m *mpi) {
		_, err := m.NumEvents()
		wantErr(t, "NumEvents", err, ErrNotProvided)
		_, err = m.NumSources()
		wantErr(t, "NumSources", err, ErrNotProvided)
		_, err = m.CategoryNumEvents(0)
		wantErr(t, "CategoryNumEvents", err, ErrNotProvided)
		events, err := m.CategoryEvents(0)
		wantErr(t, "CategoryEvents", err, ErrNotProvided)
		if events != nil || errors.Is(err, ErrInvalid) {
			t.Error(events, err)
		}
	})
}

func TestMPI4Additions(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		want(t, "events", must(m.NumEvents())(t), 8)
		want(t, "sources", must(m.NumSources())(t), 2)
		for name, events := range map[string][]int{"demo": {5}, "demo_transport": {4, 6}, "demo_empty": {}} {
			index := m.category(name)
			want(t, name, must(m.CategoryNumEvents(index))(t), len(events))
			got := must(m.CategoryEvents(index))(t)
			if !equal(got, events) {
				t.Errorf("%s: events %v, want %v", name, got, events)
			}
		}
		for _, index := range []int{-1, 1 << 40} {
			_, err := m.CategoryNumEvents(index)
			wantErr(t, "CategoryNumEvents", err, ErrInvalidIndex)
			_, err = m.CategoryEvents(index)
			wantErr(t, "CategoryEvents", err, ErrInvalidIndex)
		}
	})
}
