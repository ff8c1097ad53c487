//go:build cgo && linux

package main

import (
	"slices"
	"strings"
	"testing"
)

// TestEnds compares the exit codes of jobs that end without MPI_Finalize, and of others, with those without mpitx. What a
// launcher makes of the ranks that it kills depends on the time, also without mpitx.
func TestEnds(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		program := f.build("mpicc", "testdata/ends.c")
		launcher := slices.Clone(launchers[f.family])
		launcher[slices.Index(launcher, "4")] = "2"
		code := func(argv ...string) (int, *process) {
			p := f.run(argv...)
			if p.failure != "" {
				f.Errorf("%q: %s", argv, p.output())
			}
			return p.code, p
		}
		for _, how := range []string{"exit -1", "exit 0", "exit 1", "abort 0", "MPI_Abort 0", "finalize -1"} {
			app := append([]string{program}, strings.Fields(how)...)
			var plain []int
			for range 3 {
				c, _ := code(append(slices.Clone(launcher), app...)...)
				plain = append(plain, c)
			}
			commands := []string{"run"}
			if how == "exit 0" {
				commands = append(commands, "record --pvar mpitx:calls", "profile", "sample --pvar mpitx:calls")
			}
			for _, command := range commands {
				mpitx := append(append([]string{"mpitx"}, strings.Fields(command)...), "--")
				var codes []int
				for len(codes) < 10 && (len(codes) == 0 || !slices.Contains(plain, codes[len(codes)-1])) {
					c, _ := code(slices.Concat(launcher, mpitx, app)...)
					codes = append(codes, c)
				}
				if !slices.Contains(plain, codes[len(codes)-1]) {
					f.Errorf("%s: exit codes %d with mpitx %s, %d without", how, codes, command, plain)
				}
			}
			if c, p := code(append([]string{"mpitx", "run", "-n", "2", "--"}, app...)...); strings.HasPrefix(how, "finalize") && c != 4 {
				f.Errorf("%s: exit code %d with -n: %s", how, c, p.output())
			}
		}
	})
}
