package trace

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// The derived events of a part are those of the whole trace that are in it, on the tracks of their threads, after the calls that they
// follow. The other events are as without them.
func TestDeriveInPart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveTrace(dir, 40); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	wanted := Derivable(run, "PERUSE_COMM_REQ_*")
	type line struct {
		derived bool
		text    string
		at      time.Duration
	}
	lines := func(o Options) (all []line, totals Totals) {
		o.Flows = true
		x := Read(run, o)
		tracks := map[*recording.Rank]int{}
		var ended time.Duration
		for e := range x.Events {
			switch {
			case e.Derived != nil:
				if track, known := tracks[e.Rank]; known && track != e.Track {
					t.Errorf("%s of rank %d is on track %d, its calls on %d", e.Derived.Name, e.Rank.Rank, e.Track, track)
				}
				if o.isPart() && e.Derived.Bound == NotAfter && e.Derived.Time > ended {
					t.Errorf("%s at %s comes before its call, after one that ended at %s", e.Derived.Name, e.Derived.Time, ended)
				}
				all = append(all, line{true, fmt.Sprint(e.Rank.Rank, e.Derived.Name, e.Derived.Time, e.Derived.Request, e.Derived.Bytes), e.Derived.Time})
			case e.Call != nil:
				tracks[e.Rank], ended = e.Track, e.Call.End
				all = append(all, line{false, fmt.Sprint(e.Rank.Rank, e.Track, *e.Call), e.Call.End})
			default:
				all = append(all, line{false, fmt.Sprint(e.Rank.Rank, e.Track, e.Phase != nil, e.External != nil, e.Lost), 0})
			}
		}
		return all, x.Totals
	}
	of := func(all []line, derived bool) (texts []string) {
		for _, l := range all {
			if l.derived == derived {
				texts = append(texts, l.text)
			}
		}
		return texts
	}
	whole, _ := lines(Options{Derive: wanted})
	if n := len(of(whole, true)); n < 200 {
		t.Fatal(n, "events are derived")
	}
	rank := func(n int) func(*recording.Rank) bool { return func(r *recording.Rank) bool { return r.Rank == n } }
	const from, to = 20250 * time.Nanosecond, 40300 * time.Nanosecond // between a send and its receive
	for name, o := range map[string]Options{"rank 0": {Rank: rank(0)}, "rank 1": {Rank: rank(1)}, "a time": {From: from, To: to}, "both": {Rank: rank(1), From: from, To: to}} {
		without, plain := lines(o)
		o.Derive = wanted
		with, totals := lines(o)
		if got := of(with, false); !slices.Equal(got, of(without, false)) || totals != plain {
			t.Errorf("%s: the other events changed: %d, %d without; totals %+v, %+v", name, len(got), len(without), totals, plain)
		}
		var want []string
		x := Trace{options: o}
		for e := range Read(run, Options{Flows: true, Derive: wanted}).Events {
			if d := e.Derived; d != nil && x.has(e.Rank, d.Time) {
				want = append(want, fmt.Sprint(e.Rank.Rank, d.Name, d.Time, d.Request, d.Bytes))
			}
		}
		got := of(with, true)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: derived %d events, want %d", name, len(got), len(want))
		}
		n := 0
		Read(run, o).Events(func(*Event) bool { n++; return n < 5 })
		if n != 5 {
			t.Errorf("%s: %d events came after the end", name, n-5)
		}
	}
}
