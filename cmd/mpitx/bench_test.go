package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mpitx/check"
	kept "mpitx/fixtures/check"
)

// The benchmarks run whole commands, ours and the other side in turn, and report the medians and the median of the
// pairs' ratios. They need what `make build` leaves in bin/.

const pairs = 15

func benchBinary(b *testing.B) string {
	b.Helper()
	bin, err := filepath.Abs("../../bin/mpitx")
	if err == nil {
		_, err = os.Stat(bin)
	}
	if err != nil {
		b.Fatalf("build first (make bench does): %v", err)
	}
	return bin
}

// reference compiles the C program of the other side.
func reference(b *testing.B, mpicc string) string {
	b.Helper()
	if _, err := exec.LookPath(mpicc); err != nil {
		b.Skipf("%s is not installed", mpicc)
	}
	exe := filepath.Join(b.TempDir(), "enumerate")
	if out, err := exec.Command(mpicc, "-O2", "-o", exe, "testdata/bench/enumerate.c").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// together runs commands at the same time and returns the wall time until the last has ended.
func together(b *testing.B, commands ...[]string) time.Duration {
	b.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	for _, c := range commands {
		wg.Go(func() {
			if err := exec.Command("timeout", append([]string{"60"}, c...)...).Run(); err != nil {
				b.Errorf("%s: %v", strings.Join(c, " "), err)
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

func inTurn(b *testing.B, ours, theirs func() time.Duration) {
	b.Helper()
	// Work that mpitx leaves to other processes must not disturb the other measurement.
	alone := func(run func() time.Duration) time.Duration {
		time.Sleep(100 * time.Millisecond)
		return run()
	}
	ours()
	theirs()
	var a, o, ratios []float64
	for range pairs {
		x, y := alone(ours), alone(theirs)
		a, o = append(a, x.Seconds()*1e3), append(o, y.Seconds()*1e3)
		ratios = append(ratios, x.Seconds()/y.Seconds())
	}
	median := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
	b.ReportMetric(median(a), "ours-ms")
	b.ReportMetric(median(o), "theirs-ms")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(a)/(1.15*median(o)+15), "of-allowed") // 1.15 times the other side and 15 ms
	b.ReportMetric(0, "ns/op")
}

// BenchmarkList compares `mpitx list -o json` with two C programs that enumerate and read the same variables, one for
// each stage, started together.
func BenchmarkList(b *testing.B) {
	bin := benchBinary(b)
	for _, mpi := range []string{"openmpi", "mpich"} {
		b.Run(mpi, func(b *testing.B) {
			exe := reference(b, "mpicc."+mpi)
			inTurn(b,
				func() time.Duration { return together(b, []string{bin, "list", "--mpi", mpi, "-o", "json"}) },
				func() time.Duration { return together(b, []string{exe, "before"}, []string{exe, "after"}) })
		})
	}
}

// BenchmarkEssential compares `mpitx list --essential` with `mpitx list`.
func BenchmarkEssential(b *testing.B) {
	bin := benchBinary(b)
	for _, mpi := range []string{"openmpi", "mpich"} {
		b.Run(mpi, func(b *testing.B) {
			inTurn(b,
				func() time.Duration { return together(b, []string{bin, "list", "--mpi", mpi, "--essential"}) },
				func() time.Duration { return together(b, []string{bin, "list", "--mpi", mpi}) })
		})
	}
}

// BenchmarkOmpiInfo compares `mpitx list` with `ompi_info --all` followed by an MPI_Init, which is how to learn as much
// without mpitx.
func BenchmarkOmpiInfo(b *testing.B) {
	bin := benchBinary(b)
	if _, err := exec.LookPath("ompi_info"); err != nil {
		b.Skip("ompi_info is not installed")
	}
	exe := reference(b, "mpicc.openmpi")
	inTurn(b,
		func() time.Duration { return together(b, []string{bin, "list", "--mpi", "openmpi"}) },
		func() time.Duration {
			return together(b, []string{"ompi_info", "--all"}) + together(b, []string{exe, "init"})
		})
}

// BenchmarkComplete completes a variable's name, as the shell asks for it; the other side is a program that does nothing.
func BenchmarkComplete(b *testing.B) {
	bin := benchBinary(b)
	b.Setenv("XDG_CACHE_HOME", b.TempDir())
	together(b, []string{bin, "list", "-o", "names"})
	inTurn(b,
		func() time.Duration { return together(b, []string{bin, "__complete", "show", "mpi_"}) },
		func() time.Duration { return together(b, []string{"true"}) })
}

// BenchmarkCheck tests all rules of `mpitx check`, compares the time with the bound on two cores, and the results with the kept reports.
func BenchmarkCheck(b *testing.B) {
	bin := benchBinary(b)
	for _, mpi := range []struct {
		name, report string
		bound        float64 // seconds
	}{{"openmpi", "openmpi-4.1.4", 120}, {"mpich", "mpich-4.0.2", 40}} {
		b.Run(mpi.name, func(b *testing.B) {
			if _, err := exec.LookPath("mpicc." + mpi.name); err != nil {
				b.Skipf("%s is not installed", mpi.name)
			}
			old, err := kept.Read(mpi.report)
			if err != nil {
				b.Fatal(err)
			}
			seconds := 0.0
			for range b.N {
				out, _ := exec.Command("timeout", "600", bin, "check", "--mpi", mpi.name, "-o", "json").Output()
				now, err := check.ReadBaseline(out)
				if err != nil {
					b.Fatalf("%v: %.500s", err, out)
				}
				seconds += now.Seconds
				b.Logf("%s: %d rules in %.1f s", now.Library, len(now.Results), now.Seconds)
				lines, same := kept.Compare(old, now)
				for _, line := range lines {
					if same {
						b.Error(line)
					} else {
						b.Logf("WARNING: %s: %s", now.Library, line)
					}
				}
			}
			b.ReportMetric(seconds/float64(b.N), "s")
			b.ReportMetric(mpi.bound, "bound-s")
			b.ReportMetric(seconds/float64(b.N)/mpi.bound, "of-allowed")
			b.ReportMetric(0, "ns/op")
		})
	}
}
