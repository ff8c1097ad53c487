package trace

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// manyBlocks is a trace of several blocks for each rank.
func manyBlocks(t testing.TB) *recording.Run {
	return open(t, func(dir string) error { return recordingtest.SaveTrace(dir, 12_000) })
}

var far = time.Now().Add(24 * time.Hour)

// known is what Events says of the calls of a track.
type known struct {
	calls []Call
}

func knownCalls(run *recording.Run) map[int]*known {
	all := map[int]*known{}
	for e := range Read(run, Options{}).Events {
		k := all[e.Rank.Rank]
		if k == nil {
			k = &known{}
			all[e.Rank.Rank] = k
		}
		if e.Call != nil {
			c := *e.Call
			c.Messages = nil
			k.calls = append(k.calls, c)
		}
	}
	return all
}

// What cells hold is what is in the trace, whatever the window and whichever summaries there are.
func TestCells(t *testing.T) {
	run := manyBlocks(t)
	want := knownCalls(run)
	x := NewIndex(run, nil)
	if len(x.Tracks) != 2 || len(x.Tracks[1].blocks) < 4 {
		t.Fatalf("%d tracks", len(x.Tracks))
	}
	from, to := x.Span()
	if from != 0 || to != want[0].calls[len(want[0].calls)-1].End {
		t.Errorf("from %v to %v", from, to)
	}
	rapid.Check(t, func(t *rapid.T) {
		track := x.Tracks[rapid.IntRange(0, 1).Draw(t, "track")]
		size := time.Duration(1) << rapid.IntRange(3, 27).Draw(t, "size")
		w := Window{Columns: rapid.IntRange(1, 8).Draw(t, "columns")}
		w.From = time.Duration(rapid.Int64Range(-1000, int64(to)).Draw(t, "from"))
		w.To = w.From + max(size, time.Duration(w.Columns))
		cells, whole := x.Cells(track, w, far)
		if !whole {
			t.Fatal("not whole")
		}
		for k, c := range cells {
			begin, end := w.Edge(k), w.Edge(k+1)
			calls, busy, longest := uint64(0), time.Duration(0), time.Duration(-1)
			for _, call := range want[track.Rank.Rank].calls {
				took := min(call.End, end) - max(call.Begin, begin)
				within := call.Begin >= begin && call.Begin < end || k == 0 && call.End == begin // or ends where the window begins
				if took < 0 || took == 0 && !within {
					continue
				}
				calls++
				if call.Depth == 0 {
					busy, longest = busy+took, max(longest, took)
				}
			}
			if c.Calls != calls || c.Busy != busy {
				t.Fatalf("%v to %v: %d calls, %v, want %d, %v", begin, end, c.Calls, c.Busy, calls, busy)
			}
			if c.Longest.Track != nil && longest >= 0 && min(c.End, end)-max(c.Begin, begin) != longest {
				t.Fatalf("longest call %v to %v, want %v", c.Begin, c.End, longest)
			}
			shares := time.Duration(0)
			for _, s := range c.Shares {
				shares += s.Time
			}
			if shares != busy || !slices.IsSortedFunc(c.Shares, func(a, b Share) int { return cmp.Compare(b.Time, a.Time) }) {
				t.Fatalf("shares %v of %v", c.Shares, busy)
			}
		}
	})
}

// Without time to read, the cells are those of a sample, and more time completes them.
func TestSampledCells(t *testing.T) {
	x := NewIndex(manyBlocks(t), nil)
	from, to := x.Span()
	w := Window{from, to + 1, 1}
	cells, whole := x.Cells(x.Tracks[0], w, time.Time{})
	if whole || cells[0].Skipped == 0 || cells[0].Calls == 0 {
		t.Errorf("%v: %+v", whole, cells[0])
	}
	if part := x.Fill(time.Time{}); part >= 1 {
		t.Errorf("%v is filled", part)
	}
	for x.Fill(far) < 1 {
	}
	if cells, whole := x.Cells(x.Tracks[0], w, time.Time{}); !whole || cells[0].Skipped != 0 || cells[0].Calls != 12_004 {
		t.Errorf("%v: %+v", whole, cells[0])
	}
	if cells, _ := x.Cells(x.Tracks[1], w, far); cells[0].Lost != 3 {
		t.Errorf("%d lost", cells[0].Lost)
	}
	if names := x.PhasesAt(x.Tracks[1], to/2); len(names) != 1 || names[0] != "solve" || x.PhasesAt(x.Tracks[1], to) != nil {
		t.Error(names)
	}
	if names := x.Phases(x.Tracks[1], Window{0, 4400, 4}); !slices.Equal(names, []string{"", "solve", "solve", "solve"}) {
		t.Errorf("%q", names)
	}
}

// Every call is found by going from one to the next, and back.
func TestNextFindsEveryCall(t *testing.T) {
	run := manyBlocks(t)
	want := knownCalls(run)
	x := NewIndex(run, nil)
	for _, track := range x.Tracks {
		all := want[track.Rank.Rank].calls
		id, n := CallID{Track: track}, 0
		for {
			next, begin, end, ok := x.Next(id, -1, 1, nil)
			if !ok {
				break
			}
			if n >= len(all) || begin != all[n].Begin || end != all[n].End {
				t.Fatalf("call %d from %v to %v, want %+v", n, begin, end, all[n])
			}
			id = next
			n++
			if n == 3000 { // the rest is found from the end
				break
			}
		}
		id = CallID{Track: track}
		for n := range 3000 {
			before, begin, end, ok := x.Next(id, 1<<60, -1, nil)
			c := all[len(all)-1-n]
			if !ok || begin != c.Begin || end != c.End {
				t.Fatalf("call %d before the end: %v to %v, %v, want %+v", n, begin, end, ok, c)
			}
			id = before
			if n%100 == 0 {
				if f, ok := x.Call(id); !ok || f.Function != c.Function || f.Begin != c.Begin || f.Site != c.Site {
					t.Fatalf("%+v, want %+v", f, c)
				}
			}
		}
	}
	send := func(function string, _ *Object) bool { return function == "MPI_Comm_rank" }
	if _, begin, _, ok := x.Next(CallID{Track: x.Tracks[1]}, 0, 1, send); !ok || begin == 0 {
		t.Error("the nested call is not found")
	}
	if _, _, _, ok := x.Next(CallID{Track: x.Tracks[0]}, 0, 1, send); ok {
		t.Error("a call is found that is not there")
	}
}

// From each message, the other side is found, and from there the message again.
func TestOther(t *testing.T) {
	run := manyBlocks(t)
	x := NewIndex(run, nil)
	again, err := recording.Open(run.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	calls := 0
	if Match(again, func(time.Duration) bool { calls++; return false }) != nil || calls != 1 {
		t.Error("matching does not stop")
	}
	flows := Match(again, func(time.Duration) bool { return true })
	x.SetFlows(flows)
	if flows.Totals.Flows != 12_000 {
		t.Errorf("%+v", flows.Totals)
	}
	for _, track := range x.Tracks {
		n := 0
		for at := time.Duration(0); ; at += 500 * time.Microsecond {
			id, _, _, ok := x.Next(CallID{Track: track}, at, 1, func(f string, _ *Object) bool { return f == "MPI_Send" || f == "MPI_Wait" })
			if !ok {
				break
			}
			f, _ := x.Call(id)
			if len(f.Messages) != 1 || f.Messages[0].Flow == 0 {
				t.Fatalf("%+v", f)
			}
			m := &f.Messages[0]
			other, message, ok := x.Other(&f, m)
			if !ok || other.ID.Track == track || message.Bytes != m.Bytes || message.Received == m.Received || message.Flow != m.Flow {
				t.Fatalf("%+v: other side %+v of %+v", m, message, other)
			}
			if m.Received && m.Posted == 0 || message.Received && message.Posted == 0 {
				t.Errorf("not known when it was posted: %+v", m)
			}
			back, message, ok := x.Other(&other, &message)
			if !ok || back.ID != id || message != *m {
				t.Fatalf("%+v: back at %+v", id, back)
			}
			n++
		}
		if n < 20 {
			t.Errorf("%d messages", n)
		}
	}
}

// The events of MPI_T and PERUSE are those of the thread and the time.
func TestExternals(t *testing.T) {
	x := NewIndex(manyBlocks(t), nil)
	_, to := x.Span()
	all, whole := x.Externals(x.Tracks[1], 101, 0, to)
	if want := []ExternalCount{{"mpi_t", "queued", 1}}; !whole || !slices.Equal(all, want) {
		t.Errorf("%v", all)
	}
	for _, c := range []struct {
		track, thread int
		to            time.Duration
	}{{1, 102, to}, {1, 101, to / 2}, {0, 100, to}} {
		if all, _ := x.Externals(x.Tracks[c.track], c.thread, 0, c.to); len(all) != 0 {
			t.Errorf("%+v: %v", c, all)
		}
	}
}
