package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The example tools can be copied and built with their Makefile, run together with a profile, and count and log every message. A tool
// that is named twice has two instances.
func TestExampleTools(t *testing.T) {
	t.Parallel()
	const rounds = 3
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("../../agent/example")); err != nil {
				t.Fatal(err)
			}
			environ := testEnvironment(t)
			if text, err := exec.Command("mpicc."+family, "-rdynamic", "-o", filepath.Join(dir, "ring"), "testdata/ring.c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			build := newProcess(environ, dir, "make", "MPICC=mpicc."+family, "CFLAGS=-Werror")
			if build.run(hung); build.code != 0 {
				t.Fatal(build.output())
			}
			argv := slices.Concat(launchers[family], strings.Fields("mpitx profile --dir run --tool ./counter.so --tool ./logger.so --tool ./counter.so -- ./ring"), []string{fmt.Sprint(rounds)})
			p := newProcess(append(environ, "MPITX_MPI="), dir, argv...)
			if p.run(hung); p.code != 0 {
				t.Fatalf("exit code %d: %s", p.code, p.output())
			}
			for rank := range 4 {
				if line := fmt.Sprintf("counter: rank %d sent %d messages, %d bytes\n", rank, rounds, 16*rounds); strings.Count(p.output(), line) != 2 {
					t.Errorf("not twice %q:\n%s", line, p.output())
				}
				text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("logger.%d.2", rank)))
				if err != nil {
					t.Fatal(err)
				}
				for function, peer := range map[string]int{"MPI_Send": (rank + 1) % 4, "MPI_Recv": (rank + 3) % 4} {
					for tag := range rounds {
						line := fmt.Sprintf(`(?m)^[0-9.]+ [0-9.]+ %s peer %d tag %d bytes 16 from main$`, function, peer, tag)
						if n := len(regexp.MustCompile(line).FindAll(text, -1)); n != 1 {
							t.Errorf("rank %d: %d times %s:\n%s", rank, n, line, text)
						}
					}
				}
			}
			report := newProcess(environ, dir, "mpitx", "report", "run", "functions", "-o", "csv")
			report.run(hung)
			if want := fmt.Sprintf("MPI_Send,,,%d,", 4*rounds); !strings.Contains(report.output(), want) {
				t.Errorf("no %q in\n%s", want, report.output())
			}
			if family == "openmpi" {
				native := newProcess(environ, dir, "make", "-B", "MPICC=mpicc.openmpi", "CFLAGS=-DQMPI_NATIVE")
				if native.run(hung); native.code == 0 || !strings.Contains(native.output(), "-DQMPI_NATIVE is for an MPICH that has QMPI") {
					t.Errorf("exit code %d: %s", native.code, native.output())
				}
			}
		})
	}
}
