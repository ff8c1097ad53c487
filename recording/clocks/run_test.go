package clocks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/trace"
)

const wall = 1_700_000_000_000_000_000

// saved writes a run of two nodes. Rank 0 sends rank 1 a message each millisecond; answers says whether one comes back. The clock of node2 is
// 5 ms behind.
func saved(t *testing.T, answers bool) (dir string) {
	dir = filepath.Join(t.TempDir(), "run")
	const behind = 5_000_000
	for rank := range int32(2) {
		host := []string{"node1", "node2"}[rank]
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: host})
		s.Clock(10_000_000, 10_000_000, wall, 0)
		x := recordingtest.NewTrace(s)
		x.Objects(recordingtest.Object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 1})
		for i := range uint32(100) {
			e := recordingtest.TraceEvent{Function: "MPI_Send", Begin: 20_000_000 + uint64(i)*1_000_000, Bytes: 8, Object: 1, Peer: 1 - rank, Tag: 1, Sequence: i + 1, Flags: recordingtest.TraceSent}
			e.End = e.Begin + 500
			back := e
			back.Begin, back.End = e.Begin+100_000, e.Begin+100_500
			add := []*recordingtest.TraceEvent{&e, &back}
			if rank == 0 {
				back.Function, back.Flags, back.End = "MPI_Recv", recordingtest.TraceReceived, back.Begin+2000
			} else {
				e.Function, e.Flags, e.End = "MPI_Recv", recordingtest.TraceReceived, e.Begin+2000
				e.Begin, e.End, back.Begin, back.End = e.Begin-behind, e.End-behind, back.Begin-behind, back.End-behind
			}
			if !answers {
				add = add[:1]
			}
			for _, e := range add {
				x.Add(*e)
			}
		}
		x.Write(1, 100)
		s.End(1)
		s.Seal()
		if err := recordingtest.Save(dir, host, s.Out); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string) *recording.Run {
	t.Helper()
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

// ends are when the calls of rank 1 ended.
func ends(run *recording.Run) (all []time.Duration) {
	for e := range trace.Read(run, trace.Options{}).Events {
		if e.Call != nil && e.Rank.Rank == 1 {
			all = append(all, e.Call.End)
		}
	}
	return all
}

// The times of a node are corrected, now and when the run is opened again.
func TestRun(t *testing.T) {
	dir := saved(t, true)
	run := open(t, dir)
	before := ends(run)
	Keep(run)
	if p := run.Clocks.Pairs; len(p) != 1 || p[0].Messages != 200 || !p[0].Known || p[0].Before != 100 || p[0].After != 0 || p[0].Apart.Round(time.Microsecond) != -5*time.Millisecond || p[0].Error > 3*time.Microsecond || p[0].Hosts != [2]string{"node1", "node2"} {
		t.Errorf("%+v", p)
	}
	after := ends(run)
	for i := range before {
		if d := after[i] - before[i]; d < 4_999_000 || d > 5_001_000 {
			t.Fatalf("call %d is corrected by %v", i, d)
		}
	}
	again := open(t, dir)
	if diff := cmp.Diff(run.Clocks, again.Clocks); diff != "" || len(again.Damage()) > 0 {
		t.Error(diff, again.Damage())
	}
	if diff := cmp.Diff(after, ends(again)); diff != "" {
		t.Error(diff)
	}
}

// A run that was corrected for other times, or whose file is damaged, has the clocks of its nodes.
func TestOtherFile(t *testing.T) {
	dir := saved(t, true)
	run := open(t, dir)
	before := ends(run)
	Keep(run)
	file := filepath.Join(dir, "clocks.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	run.Clocks.Base = "other"
	if err := run.KeepClocks(); err != nil {
		t.Fatal(err)
	}
	if again := open(t, dir); again.Clocks != nil || !cmp.Equal(ends(again), before) || len(again.Damage()) > 0 {
		t.Errorf("%v, damage %v", again.Clocks, again.Damage())
	}
	os.WriteFile(file, []byte(strings.Replace(string(text), `"known":true`, `"known":false`, 1)), 0o600)
	again := open(t, dir)
	if again.Clocks != nil || len(again.Damage()) != 1 || !strings.Contains(again.Damage()[0].Error(), "checksum") {
		t.Errorf("%v, damage %v", again.Clocks, again.Damage())
	}
	if Correct(again); !cmp.Equal(ends(again), ends(run)) {
		t.Error("it is not corrected again")
	}
}

// With messages one way only, times stay as they are.
func TestRunOneWay(t *testing.T) {
	run := open(t, saved(t, false))
	before := ends(run)
	Keep(run)
	if p := run.Clocks.Pairs; len(p) != 1 || p[0].Known || !p[0].OneWay || p[0].Before != 100 || p[0].After != 100 {
		t.Errorf("%+v", p)
	}
	if !cmp.Equal(ends(run), before) {
		t.Error("times are corrected")
	}
}
