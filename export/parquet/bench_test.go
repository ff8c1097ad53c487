//go:build unix

package parquet

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// cpuTime is the processor time that this process has taken.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A data set is written at least half as fast as the trace in one file and the samples in another, although it has the waits, too.
func BenchmarkDataset(b *testing.B) {
	const ranks, rounds = 8, 20_000
	run := saved(b, recordingtest.Ring{Ranks: ranks, Rounds: rounds}.Save)
	single := func() error {
		dir := b.TempDir()
		one, err := os.Create(filepath.Join(dir, "trace"))
		if err != nil {
			return err
		}
		two, err := os.Create(filepath.Join(dir, "samples"))
		if err != nil {
			return err
		}
		_, err = Trace(one, run, runs.TraceOptions{})
		return errors.Join(err, Samples(two, run, recording.Options{}), one.Close(), two.Close())
	}
	var times [2]time.Duration
	for b.Loop() {
		for i, write := range []func() error{single, func() error { _, err := Dataset(b.TempDir(), run, DatasetOptions{}); return err }} {
			start := cpuTime(b)
			if err := write(); err != nil {
				b.Fatal(err)
			}
			times[i] += cpuTime(b) - start
		}
	}
	b.ReportMetric(times[0].Seconds()/times[1].Seconds(), "speed/single")
	b.ReportMetric(0.5, "bound")
	b.ReportMetric(float64(b.N)*ranks*rounds*3/times[1].Seconds()/1e6, "Mcalls/cpu-s")
}
