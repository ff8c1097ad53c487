package waits

import (
	"runtime"
	"testing"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// BenchmarkRead reads and analyses a trace of two ranks.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	const rounds = 400_000
	if err := recordingtest.SaveTrace(dir, rounds); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		run, err := recording.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		p := Read(run, func(*recording.Rank, uint64) string { return "" })
		if a := p.Analyse(); a.Run == 0 {
			b.Fatal("nothing")
		}
		run.Close()
	}
	b.ReportMetric(float64(b.N)*3*rounds/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkAnalyse analyses a program of 1000 ranks.
func BenchmarkAnalyse(b *testing.B) {
	m := random(1, 1000, 300)
	calls := 0
	for i := range m.tracks {
		calls += len(m.tracks[i].calls)
	}
	for b.Loop() {
		m.Analyse()
	}
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	b.ReportMetric(float64(b.N*calls)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(s.HeapAlloc)/float64(calls), "B/call")
}
