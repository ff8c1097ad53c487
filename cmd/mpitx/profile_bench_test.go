package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkProfile measures what a profile costs, beside eztrace where it is installed. LAMMPS runs in pairs of jobs, with and without, as a user sees
// it. The loops of requests, of short local calls, and of an 8-byte ping-pong call the library alternately through the wrappers and
// directly, in one job: jobs differ by more than a profile costs. Bounds are for one call, beyond two readings of the time stamp counter, which
// are measured in the same job; short local calls have no readings of their own.
func BenchmarkProfile(b *testing.B) {
	bin := benchBinary(b)
	wrappers := []struct {
		name    string
		bound   map[string]float64
		command []string
	}{
		{"profile", map[string]float64{"lammps": 1.5, "requests": 25, "local": 20}, []string{bin, "profile", "--"}},
		{"profile and samples", map[string]float64{"lammps": 1.5}, []string{bin, "profile", "--pvar", "mpitx:*", "--interval", "1ms", "--"}},
		{"eztrace", nil, []string{"eztrace", "-t"}},
	}
	for _, family := range []string{"openmpi", "mpich"} {
		mpicc, mpirun := "mpicc."+family, "mpirun."+family
		if _, err := exec.LookPath(mpicc); err != nil {
			continue
		}
		library := "libmpi.so.40"
		if family == "mpich" {
			library = "libmpich.so.12"
		}
		work := map[string][]string{
			"pingpong": {"2", compiled(b, mpicc, "testdata/bench/pingpong.c"), library},
			"requests": {"1", compiled(b, mpicc, "../../agent/selftest/testdata/bench_requests.c"), library},
		}
		work["local"] = append(slices.Clone(work["requests"]), "local")
		if lammps, err := exec.LookPath("lmp"); err == nil && family == "openmpi" {
			input, err := filepath.Abs("testdata/bench/in.melt")
			if err != nil {
				b.Fatal(err)
			}
			work["lammps"] = []string{"2", lammps, "-log", "none", "-in", input}
		}
		for _, name := range []string{"requests", "local", "pingpong", "lammps"} {
			for _, w := range wrappers {
				line, ok := work[name]
				if _, err := exec.LookPath(w.command[0]); !ok || err != nil {
					continue
				}
				through := w.command
				if w.name == "eztrace" {
					through = append(through, family)
				}
				b.Run(fmt.Sprintf("%s/%s/%s", family, name, w.name), func(b *testing.B) {
					for b.Loop() {
						switch name {
						case "requests":
							beyondReadings(b, job(b, mpirun, line, through), 2, w.bound[name])
						case "local":
							beyondReadings(b, job(b, mpirun, line, through), 0, w.bound[name])
						case "pingpong":
							pairsOf(b, numbers(job(b, mpirun, line, through)), "")
						case "lammps":
							var loop, wall [][2]float64
							for range 21 {
								l0, w0 := timed(b, mpirun, line, nil)
								l1, w1 := timed(b, mpirun, line, through)
								loop, wall = append(loop, [2]float64{l0, l1}), append(wall, [2]float64{w0, w1})
							}
							pairsOf(b, loop, "")
							pairsOf(b, wall, "-job")
						}
					}
					if bound := w.bound[name]; bound > 0 && name == "lammps" {
						b.ReportMetric(bound, "bound")
					}
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// beyondReadings reports what bench_requests.c printed, and what a call took beyond this number of readings of the time stamp counter.
func beyondReadings(b *testing.B, text string, n int, bound float64) {
	b.Helper()
	var direct, added, best, reading float64
	if _, err := fmt.Sscan(text, &direct, &added, &best, &reading); err != nil {
		b.Fatalf("%v: %q", err, text)
	}
	b.ReportMetric(direct, "library-ns")
	b.ReportMetric(added, "added-ns")
	b.ReportMetric(best, "best-ns")
	b.ReportMetric(reading, "reading-ns")
	b.ReportMetric(added/reading, "added-readings")
	b.ReportMetric(best-float64(n)*reading, "beyond-ns")
	if bound > 0 {
		b.ReportMetric(bound, "beyond-bound-ns")
	}
}

func compiled(b *testing.B, mpicc, source string) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "program")
	if out, err := exec.Command(mpicc, "-O2", "-w", "-o", program, source, "-ldl").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}

// job runs ranks of a program in an empty folder, through a wrapping command or without one, and returns what it prints.
func job(b *testing.B, mpirun string, line, through []string) string {
	b.Helper()
	arguments := []string{"300", mpirun, "-n", line[0]}
	if mpirun == "mpirun.openmpi" {
		arguments = append(arguments, "--oversubscribe", "--bind-to", "core")
	}
	command := exec.Command("timeout", slices.Concat(arguments, through, line[1:])...)
	command.Dir = b.TempDir()
	command.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMP_NUM_THREADS=1")
	out, err := command.Output()
	if err != nil {
		b.Fatalf("%v: %v\n%s", command, err, out)
	}
	return string(out)
}

var loopTime = regexp.MustCompile(`Loop time of ([0-9.]+)`)

// timed runs LAMMPS and returns the seconds of its loop, by its own clock, and those of the whole job.
func timed(b *testing.B, mpirun string, line, through []string) (loop, wall float64) {
	b.Helper()
	start := time.Now()
	out := job(b, mpirun, line, through)
	wall = time.Since(start).Seconds()
	if m := loopTime.FindStringSubmatch(out); m != nil {
		loop, _ = strconv.ParseFloat(m[1], 64)
	}
	if loop == 0 {
		b.Fatalf("no loop time:\n%s", out)
	}
	return loop, wall
}

// numbers returns the pairs of numbers that a program printed.
func numbers(text string) (pairs [][2]float64) {
	for line := range strings.Lines(text) {
		var direct, through float64
		if n, _ := fmt.Sscan(line, &direct, &through); n == 2 {
			pairs = append(pairs, [2]float64{direct, through})
		}
	}
	return pairs
}

// pairsOf reports the median of the first numbers, and how much larger the second are: median, quartiles, and on a machine that nothing else disturbs.
func pairsOf(b *testing.B, pairs [][2]float64, what string) {
	b.Helper()
	if len(pairs) < 20 {
		b.Fatalf("%d pairs", len(pairs))
	}
	var direct, through, slower []float64
	for _, p := range pairs {
		direct, through, slower = append(direct, p[0]), append(through, p[1]), append(slower, 100*(p[1]/p[0]-1))
	}
	for _, v := range [][]float64{direct, through, slower} {
		slices.Sort(v)
	}
	n := len(pairs)
	b.ReportMetric(direct[n/2], "direct"+what)
	b.ReportMetric(100*(through[n/4]/direct[n/4]-1), "%slower-undisturbed"+what) // by the lower quartiles of both
	b.ReportMetric(slower[n/4], "%quarter"+what)
	b.ReportMetric(slower[n/2], "%slower"+what)
	b.ReportMetric(slower[3*n/4], "%3-quarters"+what)
}
