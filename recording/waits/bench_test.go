//go:build unix

package waits

import (
	"flag"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mpitx/recording"
)

// BenchmarkWaits is BenchmarkRead with the analysis.
func BenchmarkWaits(b *testing.B) { readAnd(b, (*Program).Analyse) }

// BenchmarkRead reads the trace of halo, and so twice, and matches its messages. -args -ranks 1000 -calls 100000 -dir DIR writes it to a directory, or
// reads it if it is there, so that the memory is that of reading alone.
func BenchmarkRead(b *testing.B) { readAnd(b, nil) }

func readAnd(b *testing.B, analyse func(*Program) *Analysis) {
	dir := *benchDir
	if dir == "" {
		dir = b.TempDir()
	}
	if nodes, _ := filepath.Glob(filepath.Join(dir, "*")); len(nodes) == 0 {
		if err := halo(*benchRanks, *benchCalls).save(dir); err != nil {
			b.Fatal(err)
		}
	}
	calls := 0
	before := used(b)
	for b.Loop() {
		run, err := recording.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		p := Read(run, func(*recording.Rank, uint64) string { return "" })
		calls = 0
		for i := range p.tracks {
			calls += int(p.tracks[i].calls.len())
		}
		if p.Missing != (Missing{}) {
			b.Fatalf("%+v", p.Missing)
		}
		if analyse != nil {
			analyse(p)
		}
		run.Close()
	}
	report(b, calls, before)
}

var (
	benchRanks = flag.Int("ranks", 64, "ranks of benchmarks")
	benchCalls = flag.Int("calls", 100_000, "calls of each of them")
	benchDir   = flag.String("dir", "", "where BenchmarkRead has its trace; default: a temporary directory")
)

// BenchmarkAnalyse analyses a program of 64 ranks with 100,000 calls each, or of another size: -args -ranks 1000 -calls 100000. See report.
func BenchmarkAnalyse(b *testing.B) {
	m := halo(*benchRanks, *benchCalls)
	calls := 0
	for i := range m.tracks {
		calls += int(m.tracks[i].calls.len())
	}
	before := used(b)
	for b.Loop() {
		m.Analyse()
	}
	report(b, calls, before)
}

// report reports how many calls were done in a second and in a second of one processor, and the most memory of the process in MB.
func report(b *testing.B, calls int, before syscall.Rusage) {
	now := used(b)
	cpu := time.Duration(now.Utime.Nano() + now.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	b.ReportMetric(float64(b.N*calls)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(b.N*calls)/cpu.Seconds(), "calls/cpu-s")
	b.ReportMetric(float64(now.Maxrss)*1024/1e6, "RSS-MB") // on Linux
}

func used(b *testing.B) (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}
