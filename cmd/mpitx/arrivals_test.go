//go:build cgo && linux

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrivalsReport is what mpitx report RUN -o json prints of arrivals.
type arrivalsReport struct {
	Findings []struct{ Kind, Text string }
	Arrivals []arrivalsOf
}

type arrivalsOf struct {
	Function, Communicator, Site string
	Observed                     int
	Ranks                        []struct {
		Rank, Last int
		Second     struct {
			Median int64 `json:"median_ns"`
		} `json:"after_second"`
	}
}

// TestArrivals profiles and traces a program with a rank that comes late: both say which one. Of programs without such a rank, no finding says
// that there is one.
func TestArrivals(t *testing.T) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")
			program := filepath.Join(dir, "late")
			if text, err := exec.Command("mpicc."+family, "-g", "-O1", "-o", program, "testdata/arrivals/late.c").CombinedOutput(); err != nil {
				t.Fatalf("late.c: %v\n%s", err, text)
			}
			for _, late := range []string{"2", "random", "none"} {
				run := filepath.Join(dir, "run-"+late)
				p := newProcess(environ, dir, append(slices.Clone(launchers[family]), "mpitx", "run", "--profile", "--trace", "--dir", run, "--", program, late)...)
				if p.run(hung); p.code != 0 {
					t.Fatalf("exit code %d: %s", p.code, p.output())
				}
				p = newProcess(environ, dir, "mpitx", "report", run, "-o", "json")
				p.run(hung)
				var r arrivalsReport
				if err := json.Unmarshal(p.stdout.Bytes(), &r); err != nil || p.code != 0 {
					t.Fatalf("exit code %d, %v: %s", p.code, err, p.output())
				}
				for _, f := range r.Findings {
					if late != "2" && strings.Contains(f.Text, "comes last") {
						t.Errorf("%s: %s", late, f.Text)
					}
				}
				if late != "2" {
					continue
				}
				a := slices.IndexFunc(r.Arrivals, func(a arrivalsOf) bool { return a.Function == "MPI_Allreduce" })
				if a < 0 || len(r.Arrivals[a].Ranks) == 0 {
					t.Fatalf("no arrivals: %s", p.stdout.String())
				}
				got := r.Arrivals[a]
				if first := got.Ranks[0]; got.Site != "late.c:28" || got.Communicator != "MPI_COMM_WORLD" || got.Observed < 36 || first.Rank != 2 || first.Last < 32 || first.Second.Median < 8e6 {
					t.Errorf("profile: %+v", got)
				}
				for _, s := range waitsOf(t, environ, run).States { // each wait is for the same rank
					if s.Function == "MPI_Allreduce" && s.Waiting > 100e6 && s.For != 2 {
						t.Errorf("trace: %+v", s)
					}
				}
			}
		})
	}
}
