//go:build cgo && linux

package main

import (
	"strings"
	"testing"
)

// TestJumps leaves MPI calls by siglongjmp out of a signal handler, at any instruction of the agent: no lock of the agent stays held.
func TestJumps(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		program := f.build("mpicc", "testdata/jumps.c", "-O1")
		for _, command := range [][]string{{"run", "--when", `comm == "na"`, "--then", "backtrace"}, {"profile", "--no-summary"}, {"record", "--pvar", "mpitx:*", "--interval", "1ms"}} {
			p := f.run(append(append([]string{"mpitx"}, command...), "--", program, "500")...)
			if p.failure != "" || p.code != 0 || !strings.Contains(p.stdout.String(), "left 500 calls") {
				f.Errorf("%q: %s exit code %d: %s", command, p.failure, p.code, p.output())
			}
		}
	})
}
