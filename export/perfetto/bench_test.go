//go:build unix

package perfetto

import (
	"io"
	"runtime"
	"syscall"
	"testing"
	"time"

	"mpitx/recording/recordingtest"
)

// cpuTime is the processor time that this process has taken. Unlike the time that passes, it hardly depends on what else runs.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A trace is written at two million calls a second and core, in less than 100 MB. Reading the run twice, and matching messages, is
// included. Each call is two events of the file.
func BenchmarkWrite(b *testing.B) {
	const rounds = 200_000
	run := opened(b, rounds, recordingtest.SaveOrderedTrace)
	b.ResetTimer()
	var before, after runtime.MemStats
	peak := uint64(0)
	stop, stopped := make(chan bool), make(chan bool)
	runtime.GC()
	runtime.ReadMemStats(&before)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				runtime.ReadMemStats(&after)
				peak = max(peak, after.HeapInuse)
			}
		}
	}()
	start := cpuTime(b)
	for range b.N {
		if totals, err := Write(io.Discard, run, Options{}); err != nil || totals.Flows != rounds {
			b.Fatal(totals, err)
		}
	}
	took := cpuTime(b) - start
	close(stop)
	<-stopped
	calls := float64(rounds*3+14) * float64(b.N) // calls, of which each has a message or posts a receive
	b.ReportMetric(calls/took.Seconds()/1e6, "Mcalls/cpu-s")
	b.ReportMetric(2, "bound")
	b.ReportMetric(float64(peak)/1e6, "MB")
}
