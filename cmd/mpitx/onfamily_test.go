//go:build cgo && linux

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// onFamily is a test on one family of MPI, in a directory of its own.
type onFamily struct {
	*testing.T
	family, dir string
	environ     []string
}

// eachFamily runs a test on each family for which everything is available.
func eachFamily(t *testing.T, test func(f *onFamily)) {
	t.Helper()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			test(&onFamily{t, family, t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")})
		})
	}
}

// build compiles a program into the directory with the wrapper of its language: mpicc, mpif90.
func (f *onFamily) build(compiler, source string, words ...string) (program string) {
	f.Helper()
	compiler += "." + f.family
	need.Commands(f.T, compiler)
	program = filepath.Join(f.dir, strings.ReplaceAll(filepath.Base(source), ".", "_"))
	if out, err := exec.Command(compiler, slices.Concat(words, []string{"-o", program, source})...).CombinedOutput(); err != nil {
		f.Fatalf("%v\n%s", err, out)
	}
	return program
}

// run runs a command in the directory until its end.
func (f *onFamily) run(args ...string) *process {
	p := newProcess(f.environ, f.dir, args...)
	p.run(hung)
	return p
}

// launch runs mpitx on four ranks, each with these arguments, and fails if it does.
func (f *onFamily) launch(args ...string) *process {
	f.Helper()
	p := f.run(slices.Concat(launchers[f.family], []string{"mpitx"}, args)...)
	if p.failure != "" || p.code != 0 {
		f.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
	}
	return p
}
