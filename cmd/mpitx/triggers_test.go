//go:build cgo && linux

package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"mpitx/fixtures/need"
)

// triggered are the totals of a run's only condition, and the source files of its first event's stack.
type triggered struct {
	Checked, Held, Fired, Missed uint64
	Events                       []struct {
		Function string
		Stack    []struct{ File string }
	}
}

func (x *triggered) files() (files []string) {
	for _, e := range x.Events[:min(len(x.Events), 1)] {
		for _, f := range e.Stack {
			files = append(files, filepath.Base(f.File))
		}
	}
	return files
}

// Conditions count the same in threads, sessions, Fortran and Python.
func TestTriggers(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		build := func(source, compiler string) string { return f.build(compiler, source, "-g", "-pthread") }
		run := 0
		check := func(when, on, then string, program ...string) (one triggered) {
			f.Helper()
			run++
			name := filepath.Join(f.dir, "run"+string(rune('a'+run)))
			argv := []string{"mpitx", "run", "-n", "4", "--dir", name, "--when", when, "--on", on, "--then", then, "--"}
			if p := f.run(append(argv, program...)...); p.failure != "" || p.code != 0 {
				f.Fatalf("%s\n%s", p.failure, p.output())
			}
			p := f.run("mpitx", "report", name, "-o", "json")
			var answer struct{ Triggers []triggered }
			if err := json.Unmarshal(p.stdout.Bytes(), &answer); err != nil || len(answer.Triggers) != 1 {
				f.Fatalf("%v\n%s", err, p.output())
			}
			return answer.Triggers[0]
		}
		want := func(what string, one triggered, checked, held, fired uint64) {
			f.Helper()
			if one.Checked+one.Missed != checked || one.Missed == 0 && (one.Held != held || one.Fired != fired) {
				f.Errorf("%s: %+v, want %d checked, %d held, %d fired", what, one, checked, held, fired)
			}
		}
		c := build("testdata/triggered.c", "mpicc")
		want("threads", check("tag == 3", "MPI_Send", "count", c), 4*4*50, 4*50, 4*50)
		// How often it holds, and becomes true, depends on the order of the threads.
		if one := check("mpitx:messages_sent >= 1", "MPI_Irecv", "count", c); one.Checked+one.Missed != 4*4*50 || one.Held == 0 || one.Fired < 4 {
			f.Errorf("a variable and threads: %+v", one)
		}
		if f.family == "mpich" { // Debian's Open MPI has no sessions
			want("session", check("tag == 1", "MPI_Send", "count", c, "session"), 4*50, 4*50, 4*50)
		}
		for _, l := range languages(f.family) {
			argv := l.argv
			switch {
			case l.name == "NetPIPE":
				continue
			case l.missing != "":
				need.Missing(f.T, "the package %s is missing", l.missing)
			case l.name == "mpi4py":
				script, err := filepath.Abs(argv[1])
				if err != nil {
					f.Fatal(err)
				}
				argv = []string{argv[0], script}
			default:
				argv = []string{build("testdata/languages/"+argv[0], "mpif90")}
			}
			one := check("bytes > 8", "MPI_Send", "backtrace", argv...)
			want(l.name, one, 4*7, 4*7, 4*7)
			// The frames of Python are the interpreter's.
			if files := one.files(); l.name != "mpi4py" && (len(files) == 0 || files[0] != l.name) || len(one.Events) == 0 {
				f.Errorf("%s: the call site is in %q", l.name, files)
			}
		}
	})
}
