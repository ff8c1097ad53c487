package timeline

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// saveLarge writes a trace of four ranks, which send to the next rank, receive, and reduce.
func saveLarge(b *testing.B, dir string, calls int) {
	b.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, "node-node1.mpxr"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	const ranks = 4
	for rank := range int32(ranks) {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: ranks, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
		s.Clock(0, 0, 1_700_000_000_000_000_000, 0)
		x := recordingtest.NewTrace(s)
		x.Objects(recordingtest.Object{ID: 1, Size: ranks, Name: "MPI_COMM_WORLD", Group: 1})
		next, before, at := (rank+1)%ranks, (rank+ranks-1)%ranks, uint64(1000)
		for n := range uint32(calls / ranks / 3) {
			x.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: at, End: at + 400, Site: 0x400120, Bytes: 8, Object: 1, Peer: next, Tag: 5, Sequence: n + 1, Flags: sent})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Recv", Begin: at + 500, End: at + 1500, Site: 0x400140, Bytes: 8, Object: 1, Peer: before, Tag: 5, Sequence: n + 1, Flags: received})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Allreduce", Begin: at + 2000, End: at + 2800, Site: 0x400160, Object: 1, Peer: none, Tag: none, Bytes: 8})
			if at += 3000; n%300 == 299 {
				x.Write(1, 100)
				if _, err := file.Write(s.Out); err != nil {
					b.Fatal(err)
				}
				s.Out = nil
			}
		}
		x.Add(recordingtest.TraceEvent{Function: "MPI_Finalize", Begin: at, End: at + 100, Peer: none, Tag: none})
		x.Write(1, 100)
		s.End(1)
		s.Seal()
		if _, err := file.Write(s.Out); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLarge measures a trace of 10 million calls: until the first frame, until all of it was read, the slowest key while it is read and
// after, until messages are matched, and the memory. $TIMELINE_CALLS is another number of calls.
func BenchmarkLarge(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run1")
	calls, err := strconv.Atoi(cmp.Or(os.Getenv("TIMELINE_CALLS"), "10000000"))
	if err != nil {
		b.Fatal(err)
	}
	saveLarge(b, dir, calls)
	b.ResetTimer()
	for b.Loop() {
		begin := time.Now()
		run, err := recording.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		f := Open(run, Options{At: -1})
		m := New(f, utf8)
		m.Width, m.Height = 160, 48
		m.show(m.read(true)().(frameMsg).frame)
		m.Render()
		m.busy = false // of what it would read next
		b.ReportMetric(float64(time.Since(begin).Milliseconds()), "first-ms")
		slowest := func(keys ...string) (worst time.Duration) {
			for _, k := range keys {
				t := time.Now()
				if cmd := m.key(tea.KeyPressMsg{Code: []rune(k)[0], Text: k}); cmd != nil {
					m.show(cmd().(frameMsg).frame)
				}
				m.Render()
				worst = max(worst, time.Since(t))
			}
			return worst
		}
		b.ReportMetric(float64(slowest("+", "+", "l", "-", "]", "j").Milliseconds()), "key-reading-ms")
		m.whole = true
		for m.show(f.Frame(m.ask())); m.frame.Behind; {
			m.show(f.Frame(m.ask()))
		}
		b.ReportMetric(float64(time.Since(begin).Milliseconds()), "all-ms")
		b.ReportMetric(float64(slowest("+", "+", "+", "l", "n", "-", "-", "]", "j", "0", "h").Milliseconds()), "key-ms")
		matching := time.Now()
		f.matcher.wait(f)
		b.ReportMetric(float64(time.Since(matching).Milliseconds()), "match-ms")
		m.act(Action{Step: 1, Words: "send"})
		m.show(f.Frame(m.ask()))
		b.ReportMetric(float64(slowest("\r").Milliseconds()), "jump-ms")
		if len(m.frame.Detail.Messages) != 1 || m.frame.Detail.Messages[0].Other == nil {
			b.Error("the other side is not found")
		}
		var heap runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&heap)
		b.ReportMetric(float64(heap.HeapInuse)/1e6, "heap-MB")
		f.Close()
	}
	b.ReportMetric(0, "ns/op")
}
