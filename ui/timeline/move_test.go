package timeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/trace"
)

// shownCall is the call that the screen shows.
func (u *user) shownCall() trace.CallID {
	if d := u.m.frame.Detail; d != nil && d.Call != nil {
		return d.Call.ID
	}
	return trace.CallID{}
}

// held is what holds on every screen: the cursor is in the window, and the call under it covers its column.
func held(t interface{ Errorf(string, ...any) }, m *Model) {
	f := m.frame
	if p := f.Place; p.Time < f.Window.From || p.Time >= f.Window.To {
		t.Errorf("the cursor at %v is not between %v and %v", p.Time, f.Window.From, f.Window.To)
	} else if d := f.Detail; d.Call != nil {
		c := f.Window.Column(p.Time)
		if d.Call.ID != p.Call || d.Call.Begin > f.Window.Edge(c+1) || d.Call.End < f.Window.Edge(c) {
			t.Errorf("the call from %v to %v is not at the cursor, %v", d.Call.Begin, d.Call.End, p.Time)
		}
		if d.Cell.Calls == 0 {
			t.Errorf("the cell of the call from %v to %v is empty", d.Call.Begin, d.Call.End)
		}
	} else if d.Cell.Calls > 0 {
		t.Errorf("%d calls at %v, and none is shown", d.Cell.Calls, p.Time)
	}
	if f.Window.From < f.From || f.Window.To > max(f.To, f.From+time.Duration(f.Window.Columns)) {
		t.Errorf("%v to %v is shown of %v to %v", f.Window.From, f.Window.To, f.From, f.To)
	}
}

// Zooming keeps the call under the cursor, wherever the cursor is.
func TestZoomKeepsTheCall(t *testing.T) {
	run := saved(t, func(dir string) error { return recordingtest.SaveTrace(dir, 200) })
	f := sit(t, run, Options{}, utf8, 80, 24).f
	rapid.Check(t, func(rt *rapid.T) {
		u := &user{t, New(f, utf8), f}
		u.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		moves := rapid.SliceOfN(rapid.SampledFrom([]string{"left", "right", "down", "up", "n", "N", "+", "-", "[", "]", "f", "0", "enter", "w", "c", "C", "backspace", "g", "G", ">", "I", "z", "v"}), 1, 30).Draw(rt, "moves")
		u.press(moves...)
		held(rt, u.m)
		call, track := u.shownCall(), u.m.frame.Place.Track
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"+", "+", "-"}), 1, 60).Draw(rt, "zoom") {
			if u.press(k); call.Track != nil && u.shownCall() != call || u.m.frame.Place.Track != track {
				rt.Fatalf("%v is lost after %s: %v", call, k, u.shownCall())
			}
			held(rt, u.m)
		}
	})
}

// From the first call of a thread, n goes to each of its calls, and N back.
func TestStepThroughAllCalls(t *testing.T) {
	u := sit(t, story(t), Options{}, utf8, 80, 24)
	want := map[string]int{}
	run, err := recording.Open(u.m.feed.run.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for e := range trace.Read(run, trace.Options{}).Events {
		if e.Call != nil && e.Thread == 102 {
			want[e.Call.Function]++
		}
	}
	u.press("g", "down", "down")
	u.types(":at 1ms")
	got := map[string]int{}
	for range 100 {
		got[u.m.frame.Detail.Call.Function]++
		if u.press("n"); strings.Contains(u.m.Note, "no call after") {
			break
		}
		held(t, u.m)
	}
	for function, n := range want {
		if got[function] != n {
			t.Errorf("%s: found %d times of %d", function, got[function], n)
		}
	}
	for range 100 {
		if u.press("N"); strings.Contains(u.m.Note, "no call before") {
			break
		}
	}
	u.sees("MPI_Init  took 19.00 ms")
	u.types("/finalize")
	u.sees("at main (compile with -g to see the line)")
}

// Enter goes from a send to its receive, and back; the list names both sides.
func TestJump(t *testing.T) {
	u := sit(t, story(t), Options{}, utf8, 120, 40)
	u.types(":at 80ms")
	u.types("/send")
	u.sees("search: send", "MPI_Send  took", "send → MPI_Wait", "rank 0 on node1")
	before := u.shownCall()
	u.press("enter")
	u.sees("rank 1 on node1", "MPI_Wait  took 4.000 ms", "receive → MPI_Send", "9.000 ms", "0.080000000 s")
	u.press("enter")
	if u.shownCall() != before {
		t.Error("the way back leads elsewhere")
	}
	u.press("tab", "esc", "n")
	if u.shownCall() == before {
		t.Error("n stays")
	}
	u.sees("MPI_Send  took")
	u.press("F", "n")
	u.sees("MPI_Wait  took")
	// The receive of rank 3 was lost with step 6, and so is the arrow.
	u.press("g", "down", "down")
	u.types(":at 181.5ms")
	u.sees("MPI_Send", "not in the trace")
	u.press("enter")
	u.sees("the other side of this message is not in the trace")
}

// What is on the screen is exported: its time and its ranks.
func TestExport(t *testing.T) {
	u := sit(t, story(t), Options{From: 50 * time.Millisecond, To: 80 * time.Millisecond, Rank: func(r *recording.Rank) bool { return r.Rank < 2 }}, utf8, 100, 30)
	dir := t.TempDir()
	run := u.m.feed.run.Dir
	for _, name := range []string{"a.csv", "a.ndjson", "a.pftrace"} {
		u.m.frame.Dir = run
		path := filepath.Join(dir, name)
		u.types(":export " + path)
		u.sees("exported ", " calls and ")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name == "a.csv" {
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			for _, l := range lines[1:] {
				if f := strings.Split(l, ","); f[2] != "0" && f[2] != "1" {
					t.Errorf("a rank that is not shown: %s", l)
				}
			}
			if len(lines) != 1+14 { // of each rank two of MPI_Allreduce, one of MPI_Irecv, and MPI_Send and MPI_Wait with a message each
				t.Errorf("%d lines:\n%s", len(lines), text)
			}
		}
	}
	u.m.frame.Dir = run
	u.types(":export " + filepath.Join(dir, "a.csv"))
	u.sees("the file exists; :export!")
	u.types(":export! " + filepath.Join(dir, "a.csv"))
	u.sees("exported ")
	u.types(":export x.doc")
	u.sees("must end in .csv, .ndjson or .pftrace")
}

// Rows are sorted by what their threads do in the window.
func TestSort(t *testing.T) {
	u := sit(t, story(t), Options{}, utf8, 100, 30)
	order := func() (names []string) {
		for _, r := range u.m.frame.Rows {
			names = append(names, u.m.name(r.Track))
		}
		return names
	}
	u.press(">")
	u.sees("rows sorted by time in MPI calls")
	if got := strings.Join(order(), " "); got != "2 1 3 0 2.1" {
		t.Errorf("by time: %s", got)
	}
	u.press(">", "I")
	if got := strings.Join(order(), " "); got != "2.1 3 2 1 0" {
		t.Errorf("by calls, reversed: %s", got)
	}
	u.press(">")
	if got := strings.Join(order(), " "); got != "0 1 2 2.1 3" {
		t.Errorf("by rank: %s", got)
	}
}

// Functions belong to the kind that their names say.
func TestKinds(t *testing.T) {
	for function, want := range map[string]string{"MPI_Send": "send", "MPI_Isendrecv_replace": "send", "MPI_Irecv": "receive", "MPI_Waitall": "wait, test", "MPI_Testsome": "wait, test",
		"MPI_Iallreduce": "collective", "MPI_Ibarrier": "collective", "MPI_Neighbor_alltoall": "collective", "MPI_Ineighbor_alltoall": "collective", "MPI_Comm_dup": "collective", "MPI_Get": "one-sided",
		"MPI_Get_count": "other", "MPI_Win_fence": "one-sided", "MPI_Get_accumulate": "one-sided", "MPI_File_write_at": "file", "MPI_Init_thread": "init, finalize", "MPI_Initialized": "other",
		"MPI_Improbe": "probe", "MPI_Comm_rank": "other", "MPI_Startall": "send", "MPI_Put": "one-sided", "MPI_Allreduce_init": "collective", "MPI_Recv_init": "receive", "MPI_Igather": "collective"} {
		if got := kindInfo[kindOf(function)].name; got != want {
			t.Errorf("%s: %s, not %s", function, got, want)
		}
	}
}

// Searches, steps and jumps that are typed while the screen reads lead where they lead one by one.
func TestTypedAhead(t *testing.T) {
	run := story(t)
	slow, fast := sit(t, run, Options{}, utf8, 100, 30), sit(t, run, Options{}, utf8, 100, 30)
	var waiting []tea.Cmd
	for _, k := range []string{"j", "N", ":", "a", "t", " ", "6", "2", "m", "s", "enter", "+", "/", "s", "e", "n", "d", "enter", "enter", "n", "n", "+", "+", "N", "enter"} {
		slow.press(k)
		msg := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		if code, ok := named[k]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		_, cmd := fast.m.Update(msg)
		waiting = append(waiting, cmd)
	}
	for _, cmd := range waiting {
		fast.do(cmd)
	}
	if a, b := slow.m.place, fast.m.place; a.Track.Rank.Rank != b.Track.Rank.Rank || a.Time != b.Time || a.Call.Block != b.Call.Block || a.Call.Ordinal != b.Call.Ordinal {
		t.Errorf("%v %v %v, typed ahead %v %v %v", a.Track.Rank.Rank, a.Time, a.From, b.Track.Rank.Rank, b.Time, b.From)
	}
	fast.sees("search: send", "_Send")
}
