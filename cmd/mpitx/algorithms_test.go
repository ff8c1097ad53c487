//go:build cgo && linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/fixtures/algorithms"
)

// Each algorithm that Open MPI's component tuned can be forced to use is reported, with the right number of calls; MPICH hides them.
func TestAlgorithms(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", filepath.Join("..", "..", "fixtures", "algorithms", "forced", "forced.c"), "-std=gnu11", "-O1", "-g")
		f.environ = append(f.environ, "OMPI_MCA_coll_tuned_use_dynamic_rules=1")
		for _, ranks := range []int{2, 4, 5} {
			name := fmt.Sprint("run", ranks)
			p := f.run("mpitx", "profile", "-n", fmt.Sprint(ranks), "--no-summary", "--dir", name, "--", program)
			if p.failure != "" || p.code != 0 {
				f.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
			}
			printed := p.stdout.String()
			p = f.run("mpitx", "report", name, "algorithms", "-o", "json")
			if f.family == "mpich" {
				if p.code != 1 || !strings.Contains(p.stderr.String(), "MPICH hides the functions that serve collective calls") {
					f.Errorf("exit code %d: %s", p.code, p.output())
				}
				return
			}
			if err := algorithms.Check(p.stdout.Bytes(), printed, ranks); err != nil {
				f.Error(err)
			}
		}
	})
}
