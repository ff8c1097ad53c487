package timeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/ui/screen"
)

// The cursor follows a run that is being written, until it is moved.
func TestFollow(t *testing.T) {
	s := recordingtest.NewStream(1, 0)
	var x *recordingtest.Trace
	var dir string
	add := func(function string, begin, end uint64) {
		x.Add(recordingtest.TraceEvent{Function: function, Begin: begin * ms, End: end * ms, Peer: none, Tag: none})
		x.Write(1, 100)
		s.Clock(end*ms, int64(end*ms), 1_700_000_000_000_000_000+int64(end*ms), 0)
		s.Seal()
		file, err := os.OpenFile(filepath.Join(dir, "node-node1.mpxr"), os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Write(s.Out); err != nil {
			t.Fatal(err)
		}
		s.Out = nil
	}
	run := saved(t, func(to string) error {
		dir = to
		s.Header(recordingtest.Header{Rank: 0, Size: 1, Clock: 1, NsPerTick: 1, Host: "node1"})
		s.Clock(0, 0, 1_700_000_000_000_000_000, 0)
		x = recordingtest.NewTrace(s)
		if err := recordingtest.Save(dir, "node1", nil); err != nil {
			return err
		}
		add("MPI_Init", 1, 20)
		return s.SaveLive(dir, "node1", os.Getpid(), 0)
	})
	u := sit(t, run, Options{}, utf8, 100, 30)
	u.sees("1 rank, 19ms, live", "MPI_Init  took")
	add("MPI_Barrier", 30, 40)
	u.send(screen.TickMsg(u.m.Tick))
	u.sees("MPI_Barrier  took")
	add("MPI_Bcast", 50, 60)
	u.send(screen.TickMsg(u.m.Tick))
	u.sees("MPI_Bcast  took")
	u.press("N")
	u.sees("MPI_Barrier  took")
	add("MPI_Reduce", 70, 80)
	u.send(screen.TickMsg(u.m.Tick))
	u.sees("MPI_Barrier  took", "· not in MPI")
}

// What --rank, --from, --to and --at choose is said.
func TestChosenPart(t *testing.T) {
	part := Options{From: 50 * time.Millisecond, To: 100 * time.Millisecond, At: 99 * time.Second, Rank: func(r *recording.Rank) bool { return r.Rank >= 2 }}
	u := sit(t, story(t), part, utf8, 120, 24)
	u.sees("2 of 4 ranks, 50", "from 0.0500 s to 0.1000 s")
	f := Open(story(t), part)
	defer f.Close()
	if text := Print(f, utf8, 100); !strings.Contains(text, "--at 1m39s is outside of the time that is shown, from 0.050000000 s to 0.100000000 s") {
		t.Errorf("the cursor is moved silently:\n%s", text)
	}
}

// Steps go from call to call, but not to those that only name a phase.
func TestStepOverPhases(t *testing.T) {
	calls := func(x *recordingtest.Trace) {
		for i, name := range []string{"MPI_Init", "MPI_Pcontrol", "MPI_Barrier", "MPI_Pcontrol"} {
			x.Add(recordingtest.TraceEvent{Function: name, Begin: uint64(100*i) * ms, End: uint64(100*i+50) * ms, Peer: none, Tag: none})
		}
	}
	u := sit(t, twoRanks(t, [2]func(*recordingtest.Trace){calls, calls}), Options{At: ms}, utf8, 100, 30)
	u.press("n")
	u.sees("MPI_Barrier  took")
	u.press("n")
	u.sees("no call after this place on this thread")
	u.press("/", "p", "c", "o", "n", "enter")
	u.sees("MPI_Pcontrol  took")
}

// What has changed the view is on the screen, and how to change it back.
func TestSortedAndZoomed(t *testing.T) {
	u := sit(t, story(t), Options{}, utf8, 120, 30)
	u.press(">")
	u.sees("a column, by time in MPI\n")
	u.press("I")
	u.sees("a column, by time in MPI, least first\n")
	u.press("z")
	u.sees("z show the call")
}
