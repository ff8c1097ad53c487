package perfetto

import (
	"runtime"
	"testing"

	"mpitx/recording/recordingtest"
)

// heapWatch is a writer that keeps the largest heap that was in use while something was written.
type heapWatch struct{ bytes, writes, most uint64 }

func (h *heapWatch) Write(b []byte) (int, error) {
	if h.writes++; h.writes%16 == 1 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.most = max(h.most, m.HeapInuse)
	}
	h.bytes += uint64(len(b))
	return len(b), nil
}

// Memory does not grow with the trace: 600,000 calls are written in less than 100 MB.
func TestMemory(t *testing.T) {
	const rounds = 200_000
	run := opened(t, rounds, recordingtest.SaveTrace)
	runtime.GC()
	w := &heapWatch{}
	totals, err := Write(w, run, Options{})
	if err != nil || totals.Calls < 3*rounds || totals.Flows != rounds {
		t.Fatal(totals, err)
	}
	if t.Logf("%d MB written, heap of %d MB", w.bytes>>20, w.most>>20); w.most >= 100e6 {
		t.Errorf("the heap had %d bytes", w.most)
	}
}
