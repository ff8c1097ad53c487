//go:build linux

package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/recording/recordingtest"
)

// newest returns the number of each set's newest sample.
func newest(t *testing.T, run *Run) (numbers [2]int) {
	t.Helper()
	noDamage(t, run)
	sampleNumbers(t, run)
	for in := range run.Instants(Options{As: Raw}) {
		numbers[in.Set.ID] = number(in)
	}
	return numbers
}

func wantLoss(t *testing.T, run *Run, reason string) {
	t.Helper()
	l, ok := run.Loss()
	if one, found := run.Ranks[0].Loss(); !ok || !found || one != l || l.Reason != reason || l.Time <= 0 || l.Time > time.Minute || l.Share < 0.5 || l.Share >= 1 {
		t.Errorf("%v %+v, not %s", ok, l, reason)
	}
}

// wantTail reads the run without the node's memory. The file of last values must have each set's two newest rows, the counters and the end.
func wantTail(t *testing.T, dir, live string, with *Rank, want [2]int) {
	t.Helper()
	if err := os.Rename(live, live+".away"); err != nil {
		t.Fatal(err)
	}
	defer os.Rename(live+".away", live)
	run := mustOpen(t, dir)
	if got := newest(t, run); got != want {
		t.Errorf("without memory: newest: %v, want %v", got, want)
	}
	if r := run.Ranks[0]; r.Counters.LostFull != with.Counters.LostFull || r.End != EndFinalize {
		t.Errorf("without memory: end %v, %+v", r.End, r.Counters)
	}
	tails, _ := filepath.Glob(filepath.Join(dir, "*.mpxt"))
	text, err := os.ReadFile(tails[0])
	if err != nil {
		t.Fatal(err)
	}
	if string(text[:8]) != recordingtest.Magic || text[12] != 3 {
		t.Fatalf("%q", text[:88])
	}
	rows := map[uint32]map[uint64]bool{}
	for b := text[88 : 88+le.Uint32(text[56:])]; len(b) > 0; b = b[le.Uint32(b):] {
		set := le.Uint32(b[16:])
		if rows[set] == nil {
			rows[set] = map[uint64]bool{}
		}
		rows[set][le.Uint64(b[8:])] = true
	}
	for set, times := range rows {
		if len(times) != 2 || times[0] {
			t.Errorf("set %d: rows at %v", set, times)
		}
	}
}

// TestLastValues fills the run directory. The newest values are read all the same, also after recovery.
func TestLastValues(t *testing.T) {
	for _, c := range []struct {
		name, mount, script, reason string
		more                        int // selects one of the two places of the newest values
	}{
		{"limit", "", "fsize=90000 chunk=8192", "file too large", 5000},
		{"limit, one more", "", "fsize=90000 chunk=8192", "file too large", 5001},
		{"limit, no thread", "", "fsize=90000 chunk=8192 inline=1", "file too large", 5000},
		{"full", "size=40k", "chunk=8192", "no space left on device", 5000},
		{"killed", "size=40k", "chunk=8192", "no space left on device", 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, live := folders(t)
			if c.mount != "" {
				mount(t, dir, c.mount)
			}
			end := "close"
			if c.name == "killed" {
				end = "kill"
			}
			out, err := write(t, fmt.Sprintf("dir=%s live=%s wait=60000 %s open columns samples=5000 failing samples=%d %s", dir, live, c.script, c.more, end))
			if c.name != "killed" && err != nil {
				t.Fatal(err, out)
			}
			run := mustOpen(t, dir)
			r := run.Ranks[0]
			last := int(r.Counters.Samples+r.Counters.LostFull)/2 - 1 // there are two sets
			want := [2]int{last, last}
			wantLoss(t, run, c.reason)
			if got := newest(t, run); got != want {
				t.Errorf("newest: %v", got)
			}
			for _, s := range run.Stats(Options{}) {
				if s.Variable == "bytes" && s.Total.String() != fmt.Sprint(want[0]*1000) {
					t.Errorf("total %v", s.Total)
				}
			}
			if c.name != "killed" {
				wantTail(t, dir, live, r, want)
			}
			if c.mount != "" && syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=4m") != nil {
				t.Fatal("no room")
			}
			if done, err := Recover(dir, false); err != nil || len(done) != 1 || done[0].Err != nil {
				t.Fatalf("%+v %v", done, err)
			}
			if fileIn(dir, ".mpxt") || fileIn(dir, ".mpxm") {
				t.Error("left behind")
			}
			again := mustOpen(t, dir)
			wantLoss(t, again, c.reason)
			if got := newest(t, again); got != want {
				t.Errorf("recovered: %v", got)
			}
		})
	}
}

// TestLastOfBudget uses up the size budget. The run ends with the newest values and leaves no other file.
func TestLastOfBudget(t *testing.T) {
	dir, live := folders(t)
	mustWrite(t, fmt.Sprintf("dir=%s live=%s inline=1 max=200000 open columns samples=20000 close", dir, live))
	run := mustOpen(t, dir)
	if got := newest(t, run); got != [2]int{19999, 19999} {
		t.Error(got)
	}
	if l, ok := run.Loss(); ok {
		t.Error("there was room:", l)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 || !strings.HasPrefix(entries[0].Name(), "node-") {
		t.Error(entries)
	}
}

// A process whose writer thread holds the lock waits for it at the end. On a busy machine that thread may have no core while it copies
// the last values of thousands of variables.
func TestCloseWaits(t *testing.T) {
	dir, live := folders(t)
	mustWrite(t, fmt.Sprintf("dir=%s live=%s open columns samples=5 hold=300 close", dir, live))
	run := mustOpen(t, dir)
	if r := run.Ranks[0]; r.State != StateEnded || r.End != EndFinalize {
		t.Error(r.State, r.End)
	}
}

// The totals of functions come from their last record, also after recovery. A later version may have more figures.
func TestFunctions(t *testing.T) {
	want := []FunctionTotal{{"MPI_Send", 3, 4500}, {"MPI_Wait", 1, 7}}
	for _, end := range []string{"close", "kill"} {
		dir, live := folders(t)
		write(t, fmt.Sprintf("dir=%s live=%s open columns samples=3 functions functions %s", dir, live, end))
		if r := mustOpen(t, dir).Ranks[0]; !slices.Equal(r.Functions, want) {
			t.Errorf("%s: %+v", end, r.Functions)
		}
		if _, err := Recover(dir, false); err != nil {
			t.Fatal(err)
		}
		if r := mustOpen(t, dir).Ranks[0]; !slices.Equal(r.Functions, want) {
			t.Errorf("%s, recovered: %+v", end, r.Functions)
		}
	}
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	b := le.AppendUint32(le.AppendUint32(nil, 1), 3)
	for _, v := range []uint64{5, 6, 7} {
		b = le.AppendUint64(b, v)
	}
	s.Meta(14, 0, append(le.AppendUint32(b, 8), "MPI_Test"...))
	s.Meta(14, 0, le.AppendUint32(le.AppendUint32(nil, 1), 1)) // too few
	s.Seal()
	run := save(t, s.Out)
	noDamage(t, run)
	if got := run.Ranks[0].Functions; !slices.Equal(got, []FunctionTotal{{"MPI_Test", 5, 6}}) {
		t.Error(got)
	}
}

// A failure that cost no sample is not the reason of a later loss.
func TestFailureForgotten(t *testing.T) {
	for script, forgotten := range map[string]bool{"chunks=64 open columns fsize=30000 failing": true, "open columns fsize=30000 failing samples=5000": false} {
		dir, live := folders(t)
		mustWrite(t, fmt.Sprintf("dir=%s live=%s chunk=8192 %s fsize=9000000 working close", dir, live, script))
		c := mustOpen(t, dir).Ranks[0].Counters
		if (c.LostFull == 0) != forgotten || (c.failedErrno == 0) != forgotten || (c.failedTicks == 0) != forgotten || c.AppendErrors == 0 {
			t.Errorf("%s: %+v", script, c)
		}
	}
}

// The reason of a run's loss is a rank's error, if there is one, not another rank's slow writer.
func TestLossOfRanks(t *testing.T) {
	lossy := func(id uint64, rank int32, ticks, errno uint64) []byte {
		s := recordingtest.NewStream(id, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: 3, Clock: 1, NsPerTick: 1, Host: "n"})
		s.Clock(0, 0, 1e18, 0)
		s.Counters(10, 0, 0, 30, 0, 0, 0, 3, 2, 0, ticks, errno)
		s.Seal()
		return s.Out
	}
	slow := lossy(1, 0, 0, 0)
	for _, k := range []struct {
		chunks []byte
		want   string
		failed bool
	}{
		{slow, "the disk was too slow; 75 % of samples missing", false},
		{append(slices.Clone(slow), lossy(2, 1, 2e9, 28)...), "no space left on device 2.0 s after the start; 75 % of samples missing", true},
		{append(append(slices.Clone(slow), lossy(2, 1, 2e9, 28)...), lossy(3, 2, 1e9, 5)...), "input/output error 1.0 s after the start; 75 % of samples missing", true},
	} {
		l, ok := save(t, k.chunks).Loss()
		if !ok || l.String() != k.want || l.Failed != k.failed {
			t.Errorf("%v %+v, not %s", l, l, k.want)
		}
	}
}

// TestLastGivesWay checks that last values are not yielded among newer samples.
func TestLastGivesWay(t *testing.T) {
	dir, live := folders(t)
	mustWrite(t, fmt.Sprintf("dir=%s live=%s chunk=8192 fsize=90000 open columns samples=5000 failing samples=5000 fsize=9000000 room samples=1 close", dir, live))
	run := mustOpen(t, dir)
	noDamage(t, run)
	counts, _ := sampleNumbers(t, run)
	r := run.Ranks[0]
	if c := counts[0]; uint64(c[0]+c[1]) != r.Counters.Samples || r.Counters.LostFull == 0 || r.State != StateEnded {
		t.Errorf("%v %+v %v", counts, r.Counters, r.State)
	}
	for in := range run.Instants(Options{}) {
		if in.Last {
			t.Errorf("%v: set %d, number %d", in.Time, in.Set.ID, number(in))
		}
	}
}

// TestLastOfAnotherWriter reads last values written as docs/run-format.md describes them, and the sums that include them.
func TestLastOfAnotherWriter(t *testing.T) {
	s := recordingtest.NewStream(7, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n", Boot: "b"})
	s.Clock(0, 0, 1e18, 0)
	for id, name := range []string{"a", "b"} {
		s.Column(uint32(id), recordingtest.Column{Variable: name, Class: int32(catalog.ClassCounter), Type: int32(catalog.TypeUnsignedLong), Count: 1, Size: 8})
	}
	s.Set(0, 16, 0, 1)
	row := func(a, b uint64) []byte { return le.AppendUint64(le.AppendUint64(nil, a), b) }
	s.Sample(0, 1e9, row(1, 1), nil)
	s.Sample(0, 2e9, row(5, 5), nil)
	s.Counters(2, 0, 0, 98, 0, 0, 0, 3, 2, 0, 3e8, 28)
	s.Seal()
	s.Last(0, 9e9, row(101, 77), []byte{0, byte(Error)}, 2)
	s.Last(0, 8e9, row(100, 9), nil, 2)
	s.Last(0, 0, row(1000, 1000), nil, 2)
	dir := t.TempDir()
	if err := recordingtest.Save(dir, "n", s.Out); err != nil {
		t.Fatal(err)
	}
	run := mustOpen(t, dir)
	noDamage(t, run)
	if l, ok := run.Loss(); !ok || l.String() != "no space left on device 0.3 s after the start; 98 % of samples missing" {
		t.Error(l, ok)
	}
	stats := run.Stats(Options{})
	if len(stats) != 2 || stats[0].Total.String() != "100" || stats[1].Total.String() != "4" || stats[1].Without != 1 {
		t.Errorf("%+v", stats)
	}
}

// TestSpanOfLostBeginning loses the first samples. Differences and their time span still start at the same time.
func TestSpanOfLostBeginning(t *testing.T) {
	s := recordingtest.NewStream(7, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Clock(0, 0, 1e18, 0)
	s.Column(0, recordingtest.Column{Variable: "busy", Class: int32(catalog.ClassTimer), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
	s.Set(0, 8, 0)
	s.Meta(10, 1e9, le.AppendUint64(make([]byte, 8), 1e8)) // the baseline: its sample and those after it are lost
	s.Sample(0, 7e9, le.AppendUint64(nil, 5e9), nil)
	s.Sample(0, 9e9, le.AppendUint64(nil, 6e9), nil)
	s.Seal()
	run := save(t, s.Out)
	noDamage(t, run)
	stats, spans := run.Sums(Options{})
	if len(stats) != 1 || stats[0].Total.String() != "5900000000" {
		t.Errorf("%+v", stats)
	}
	if span := spans[run.Ranks[0]]; span != 8*time.Second {
		t.Error("differences cover", span)
	}
}

// TestClaimsOfAnotherKind reads a claims file that is a pipe. It is damaged, and not read: a reader would wait forever.
func TestClaimsOfAnotherKind(t *testing.T) {
	s := counting(1, 0, 6, 3)
	run := save(t, s.Out)
	if err := syscall.Mkfifo(filepath.Join(run.Dir, "claims"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := run.LeftOut(); all != nil || len(run.Damage()) != 1 {
		t.Error(all, run.Damage())
	}
}
