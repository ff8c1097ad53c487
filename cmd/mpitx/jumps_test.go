//go:build cgo && linux

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mpitx/fixtures/need"
)

// TestJumps leaves MPI calls by siglongjmp out of a signal handler, at any instruction of the agent: no lock of the agent stays held.
func TestJumps(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")
			need.Commands(t, "mpicc."+family)
			if out, err := exec.Command("mpicc."+family, "-O1", "-o", filepath.Join(dir, "jumps"), "testdata/jumps.c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, command := range [][]string{{"run", "--when", `comm == "na"`, "--then", "backtrace"}, {"profile", "--no-summary"}, {"record", "--pvar", "mpitx:*", "--interval", "1ms"}} {
				p := newProcess(environ, dir, append(append([]string{"mpitx"}, command...), "--", "./jumps", "500")...)
				p.run(2 * time.Minute)
				if p.failure != "" || p.code != 0 || !strings.Contains(p.stdout.String(), "left 500 calls") {
					t.Errorf("%q: %s exit code %d: %s", command, p.failure, p.code, p.output())
				}
			}
		})
	}
}
