package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"mpitx/recording/recordingtest"
)

// BenchmarkReport prints a report of a profile with 100,000 rows: 64 ranks with some 1,600 call sites each.
func BenchmarkReport(b *testing.B) {
	const seconds, megabytes = 1, 200
	bin, dir := benchBinary(b), largeProfile(b, 64, 1563)
	for _, options := range [][]string{nil, {"-o", "json"}, {"sites", "-o", "csv"}} {
		b.Run(fmt.Sprint(options), func(b *testing.B) {
			var wall, processor, memory []float64
			for b.Loop() {
				command := exec.Command(bin, append([]string{"report", dir}, options...)...)
				start := time.Now()
				if out, err := command.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				wall = append(wall, time.Since(start).Seconds())
				processor = append(processor, (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds())
				memory = append(memory, float64(command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024) // kB
			}
			b.ReportMetric(slices.Min(wall), "s")
			b.ReportMetric(slices.Min(processor), "s-processor")
			b.ReportMetric(slices.Max(memory), "MB")
			b.ReportMetric(seconds, "s-bound")
			b.ReportMetric(megabytes, "MB-bound")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// largeProfile writes a run, a quarter of whose calls are short local ones. Each rank has a node of its own, which keeps this process small: a
// command's greatest memory is at least that of the process that starts it.
func largeProfile(tb testing.TB, ranks, sites int) string {
	tb.Helper()
	functions := []string{"MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Comm_rank"}
	dir := filepath.Join(tb.TempDir(), "run")
	for rank := range ranks {
		host := fmt.Sprint("n", rank)
		s := recordingtest.NewStream(uint64(rank)+1, int32(rank))
		s.Header(recordingtest.Header{Rank: int32(rank), Size: int32(ranks), Clock: 2, NsPerTick: 0.5, Host: host, Program: "app"})
		s.Clock(1000, 1e9, 1e18, 0)
		base := 0x1000000 * uint64(rank+1) // each rank has the program elsewhere
		s.Module(base, base+0x1000000, base, "/nowhere/app", "6964")
		s.Clock(1000+20e9, 11e9, 1e18+10e9, 0)
		p := recordingtest.NewProfile(s, 1)
		p.Objects(recordingtest.Object{ID: 1, Size: int32(ranks), Name: "MPI_COMM_WORLD", Group: 7})
		var calls []recordingtest.Call
		for site := range sites {
			c := recordingtest.Call{Function: functions[site%len(functions)], Object: 1, Stack: []uint64{base + 0x1000 + 16*uint64(site)}, Calls: 100, Ticks: 100 * uint64(1000+site)}
			if c.Function == "MPI_Comm_rank" {
				c.Calls, c.Untimed, c.Picked = 800, 700, 100
			}
			calls = append(calls, c)
		}
		for some := range slices.Chunk(calls, 256) { // a chunk of a run is not larger
			p.Calls(some...)
		}
		s.End(1)
		s.Seal()
		if err := recordingtest.Save(dir, host, s.Out); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}
