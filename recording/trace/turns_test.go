package trace

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// TestTurns checks that the order of what goroutines write depends on the times only, and that they end if no more is wanted.
func TestTurns(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var ranks []func(*writer[string])
	for rank := range 40 {
		ranks = append(ranks, func(w *writer[string]) {
			for i := range 5000 * (rank % 3) {
				if !w.event(time.Duration(i * (rank + 1))) {
					return
				}
				for range rank % 2 { // some events write nothing
					*w.add() = fmt.Sprint(rank, " ", i)
				}
				if i%7 == rank%7 {
					runtime.Gosched()
				}
			}
		})
	}
	var want []string
	for _, processors := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(processors)
		var got []string
		if !inTurns(ranks, func(batch []string, _ time.Duration) bool {
			got = append(got, batch...)
			return true
		}) {
			t.Error("it stopped")
		}
		if want == nil {
			want = got
		}
		if len(got) != 95000 || !slices.Equal(got, want) {
			t.Errorf("on %d processors, %d items in another order", processors, len(got))
		}
	}
	n := 0
	if inTurns(ranks, func([]string, time.Duration) bool { n++; return n < 5 }) || n != 5 {
		t.Errorf("it did not stop, after %d batches", n)
	}
}

// TestLoose checks that a trace that is read by ranks in turns has the same events and totals as in the order of time.
func TestLoose(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveTrace(dir, 3000); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var all [2][][]string
	var totals [2]Totals
	for i, loose := range []bool{false, true} {
		trace := Read(run, Options{Flows: true, Parts: true, Loose: loose})
		for e := range trace.Events {
			for len(all[i]) <= e.Track {
				all[i] = append(all[i], nil)
			}
			if e.External == nil {
				text := fmt.Sprintf("%d %d %d %v %v %v", e.Rank.Rank, e.Thread, e.Lost, e.From, e.To, e.Phase)
				if e.Call != nil {
					text += fmt.Sprintf(" %+v", *e.Call)
				}
				all[i][e.Track] = append(all[i][e.Track], text)
			}
		}
		totals[i] = trace.Totals
	}
	if totals[0] != totals[1] || totals[0].Flows == 0 || totals[0].LostEvents == 0 {
		t.Errorf("totals %+v, want %+v", totals[1], totals[0])
	}
	if !slices.EqualFunc(all[0], all[1], slices.Equal[[]string]) {
		t.Error("other events")
	}
	for range Read(run, Options{Loose: true}).Events {
		break
	}
}
