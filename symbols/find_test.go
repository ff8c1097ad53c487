package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/fixtures/need"
)

func command(t testing.TB, name string, args ...string) {
	t.Helper()
	need.Commands(t, name)
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// address returns an address in a function of a program: where its code is for the line of the source that has the text.
func address(t testing.TB, path, source, function, text string) uint64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(b), text)
	if !found {
		t.Fatalf("%s has no %s", source, text)
	}
	line := 1 + strings.Count(before, "\n")
	s := New(Options{})
	defer s.Close()
	m := module(t, path, 0)
	for _, a := range code(t, path) {
		if f := s.Resolve(m, a+1); f[0].Function == function && f[0].Line == line {
			return a + 1
		}
	}
	t.Fatalf("%s: no code for line %d in %s", path, line, function)
	return 0
}

// chain is what Resolve says, in short: "relax:11 < sweep:20 < solve:42".
func chain(frames []Frame) string {
	var all []string
	for _, f := range frames {
		text := f.String()
		if f.Line > 0 {
			text += ":" + filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
		all = append(all, text)
	}
	return strings.Join(all, " < ")
}

func only(t *testing.T, s *Symbols, reason string) {
	t.Helper()
	if p := s.Problems(); len(p) != 1 || p[0].Reason != reason {
		t.Errorf("problems %v, not %q", p, reason)
	}
}

const inlined = "relax:calls.c:10 < sweep:calls.c:18 < solve:calls.c:39"

func TestFrames(t *testing.T) {
	path := build(t, "calls.c", "gcc -g -O2")
	s := New(Options{})
	defer s.Close()
	at := address(t, path, "calls.c", "relax", `puts("relax")`)
	const bias = 0x555555554000
	frames := s.Resolve(module(t, path, bias), at+bias)
	if got := chain(frames); got != inlined {
		t.Error(got)
	}
	if !frames[0].Inlined || !frames[1].Inlined || frames[2].Inlined || frames[2].Symbol != "solve" || frames[2].Module != path || frames[2].Offset == 0 {
		t.Errorf("%+v", frames)
	}
	if got := chain(s.Resolve(nil, 0x1234)); got != "0x1234" {
		t.Error(got)
	}
	if p := s.Problems(); len(p) != 0 {
		t.Error(p)
	}
}

func TestFortran(t *testing.T) {
	path := build(t, "calls.f90", "gfortran -g -O0")
	s := New(Options{})
	defer s.Close()
	for function, text := range map[string]string{"solver::step": "print *, 'step'", "outer": "print *, 'outer'", "calls": "call outer", "inner": "print *, 'inner'"} {
		if got := s.Resolve(module(t, path, 0), address(t, path, "calls.f90", function, text)); len(got) != 1 {
			t.Errorf("%+v", got)
		}
	}
}

// Debug information in a file of its own is found by build ID, also if the program is gone, and by name and checksum.
func TestSeparateDebugFile(t *testing.T) {
	for _, id := range []string{"sha1", "none"} {
		path := build(t, "calls.c", "gcc -g -O2 -Wl,--build-id="+id)
		at, m := address(t, path, "calls.c", "relax", `puts("relax")`), module(t, path, 0)
		dir := t.TempDir()
		debug := filepath.Join(filepath.Dir(path), ".debug", "calls.debug")
		options := Options{Directories: []string{dir}}
		if id != "none" {
			debug = filepath.Join(dir, ".build-id", m.BuildID[:2], m.BuildID[2:]+".debug")
		}
		os.MkdirAll(filepath.Dir(debug), 0o755)
		command(t, "objcopy", "--only-keep-debug", path, debug)
		command(t, "strip", path)
		if id == "none" {
			command(t, "objcopy", "--add-gnu-debuglink="+debug, path)
		}
		resolve := func(want string) *Symbols {
			t.Helper()
			s := New(options)
			t.Cleanup(s.Close)
			if got := chain(s.Resolve(m, at)); !strings.HasPrefix(got, want) {
				t.Errorf("build ID %s: %s, not %s", id, got, want)
			}
			return s
		}
		resolve(inlined)
		if id != "none" {
			os.Remove(path)
			if p := resolve(inlined).Problems(); len(p) > 0 {
				t.Error(p)
			}
			continue
		}
		f, err := os.OpenFile(debug, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("x")
		f.Close()
		resolve("calls+0x") // the checksum is wrong
	}
}

// dwz moves what several files share into one more.
func TestSharedDebugInformation(t *testing.T) {
	path, second := build(t, "calls.cc", "g++ -g -O2"), build(t, "calls.cc", "g++ -g -O1")
	at := address(t, path, "calls.cc", "lattice::Field::operator+=", "cells.at(i) +=")
	m, shared := module(t, path, 0), filepath.Join(t.TempDir(), "shared.debug")
	s := New(Options{})
	defer s.Close()
	want := chain(s.Resolve(m, at))
	command(t, "dwz", "-m", shared, path, second)
	if _, err := os.Stat(shared); err != nil {
		t.Fatal(err)
	}
	s2 := New(Options{})
	defer s2.Close()
	if got := chain(s2.Resolve(m, at)); got != want || !strings.Contains(got, "operator+=") {
		t.Errorf("%s, not %s", got, want)
	}
}

// Without debug information functions have names and offsets; without symbols only those that a library exports.
func TestSymbolsOnly(t *testing.T) {
	path := build(t, "calls.c", "gcc -g -O1 -shared -fPIC -DNO_MAIN")
	m, solve, helper := module(t, path, 0), address(t, path, "calls.c", "solve", "return sum + helper_"), address(t, path, "calls.c", "helper_", "if (n < 0)")
	for _, step := range []struct {
		options []string
		want    [2]string
	}{
		{[]string{"-g"}, [2]string{"solve+0x", "helper+0x"}}, // its symbol has Fortran's underscore
		{[]string{"-s"}, [2]string{"solve+0x", "calls+0x"}},
	} {
		command(t, "strip", append(step.options, path)...)
		s := New(Options{})
		for i, at := range []uint64{solve, helper} {
			if got := chain(s.Resolve(m, at)); !strings.HasPrefix(got, step.want[i]) {
				t.Errorf("strip %v: %s, not %s", step.options, got, step.want[i])
			}
		}
		s.Close()
	}
}

// A file that changed after the run is not used.
func TestChangedFile(t *testing.T) {
	path := build(t, "calls.c", "gcc -g -O2")
	m, at := module(t, path, 0), address(t, path, "calls.c", "relax", `puts("relax")`)
	refuse := func(m *Module, o Options, reason string) {
		t.Helper()
		s := New(o)
		defer s.Close()
		if got := chain(s.Resolve(m, at)); !strings.Contains(got, "+0x") || strings.Contains(got, "relax") {
			t.Error(got)
		}
		only(t, s, reason)
	}
	for _, other := range []string{"", "00112233"} {
		changed := *m
		changed.BuildID = other
		refuse(&changed, Options{}, "changed since the run")
	}
	command(t, "objcopy", "--remove-section=.note.gnu.build-id", path)
	refuse(m, Options{}, "changed since the run")
	without := *m
	without.BuildID = ""
	refuse(&without, Options{Recorded: time.Now().Add(-time.Hour)}, "changed since the run")
	deleted := without
	deleted.Path += " (deleted)"
	refuse(&deleted, Options{}, "changed since the run")
	s := New(Options{Recorded: time.Now().Add(time.Hour)})
	defer s.Close()
	if got := chain(s.Resolve(&without, at)); got != inlined {
		t.Error(got)
	}
	os.Remove(path)
	refuse(m, Options{}, "not found")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	refuse(m, Options{}, "not a regular file")
}
