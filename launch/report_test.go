//go:build linux

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// A failed write is reported with the file system's error. Without such an error the disk is not named.
func TestMissing(t *testing.T) {
	for errno, want := range map[uint64]string{
		28:  "30 of 40 samples are missing: 30 could not be written (no space left on device)",
		122: "30 of 40 samples are missing: 30 could not be written (disk quota exceeded)",
		5:   "30 of 40 samples are missing: 30 could not be written (input/output error)",
		0:   "30 of 40 samples are missing: 30 lost because all buffers were full (sample less often, or fewer variables)",
	} {
		run := openRun(t, func(s *recordingtest.Stream) { s.Counters(10, 0, 0, 30, 0, 0, 0, 3, 2, 0, 1e9, errno) })
		if got := missing(&run.Ranks[0].Counters, unwritten(run)); got != want {
			t.Error(got)
		}
	}
	c := recording.Counters{Samples: 3, Missed: 2, OverBudget: 1}
	if got, want := missing(&c, "?"), "3 of 6 samples are missing: 2 not taken in time, 1 beyond --max-size"; got != want {
		t.Error(got)
	}
}

// openRun makes a run of one rank.
func openRun(t *testing.T, fill func(*recordingtest.Stream)) *recording.Run {
	t.Helper()
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Clock(0, 0, 1e18, 0)
	fill(s)
	s.Seal()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", s.Out); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return run
}

// A variable that fails for one communicator may be fine for others.
func TestTroubles(t *testing.T) {
	column := func(object string, status recording.Status, reason string) *recording.Column {
		return &recording.Column{Variable: "v", ObjectName: object, Status: status, Reason: reason}
	}
	got := troubles([]*recording.Column{nil, column("MPI_COMM_WORLD", recording.OK, ""), column("MPI_COMM_SELF", recording.Error, "E"),
		column("rows", recording.Error, "F"), column("MPI_COMM_SELF", recording.Error, "E"), column("", recording.AtMost, "G"),
		column("columns", recording.Error, "E"), column("late", recording.Pending, "P"), column("old", recording.Gone, "freed")})
	if want := []string{"v of MPI_COMM_SELF, columns: error: E", "v of rows: error: F", "v: at_most: G"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Each problem is reported once, with its ranks unless it concerns all.
func TestReport(t *testing.T) {
	type note = recording.Note
	rank := func(n int, state recording.State, notes ...note) *recording.Rank {
		return &recording.Rank{Rank: n, Size: 4, State: state, Notes: notes, Interval: time.Second, Counters: recording.Counters{Samples: 10}}
	}
	typo := note{Code: recording.NoteUnmatched, Text: "ab*@all"}
	event := note{Severity: recording.Warning, Code: recording.NoteUnmatchedEvent, Text: "x.*"}
	bad := note{Severity: recording.Warning, Text: "bad"}
	run := openRun(t, func(*recordingtest.Stream) {})
	run.Ranks = []*recording.Rank{
		rank(0, recording.StateEnded, typo, bad, note{Code: recording.NoteSuggestions, Text: "b\na\na"}), rank(1, recording.StateEnded, typo, event, note{Code: recording.NoteSpawned, Text: "2"}),
		rank(3, recording.StateDied, typo, event, bad, note{Severity: recording.Info, Text: "not for users"}),
	}
	known := Known{
		Names:        []string{"b", "a", "a"},
		ExplainPvar:  func(pattern string, names []string) string { return fmt.Sprint("no variable ", pattern, " of ", names) },
		ExplainEvent: func(pattern string, names []string) string { return fmt.Sprint("no event ", pattern, " in ", names) },
	}
	r := &Job{app: &application{}, Config: &Config{}, Run: run, size: 4}
	want := []string{"ranks 0-1,3: no variable ab*@all of [a b]", "ranks 0,3: bad", "ranks 1,3: no event x.* in [a b]",
		"rank 3: the process died before it could finish recording; the data up to then are in the run",
		"rank 2: nothing was recorded: no program with the agent called MPI_Init, it died while the agent started, or it could not write to the run directory", otherPreload,
		"2 processes were started by MPI_Comm_spawn and are not recorded: " + unspawned}
	if got := r.Messages(known); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	r.unstarted = []int{2}
	want[4] = "rank 2: nothing was recorded: the process died while the agent started"
	want = slices.Delete(want, 5, 6) // no advice on how to load the agent
	if got := r.Messages(known); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	r.seen.ranks = map[int]string{0: "app: other", 2: "app: /full/run: No space left on device"}
	want[4] = "rank 2: nothing was recorded: app: /full/run: No space left on device"
	if got := r.Messages(known); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// The agents' reasons are read with their ranks, and those that the ranks' messages do not have are said on their own.
func TestSeen(t *testing.T) {
	dir := t.TempDir()
	const text = "loaded\tapp\t-1\t\nentered\tapp\t-1\t\nunrecorded\tapp\t1\tno run: /full: No space left on device\nunrecorded\ttool\t-1\tother\nunrecorded\tapp\t0\tin part\nbroken\n"
	if err := os.WriteFile(seenPath(dir), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := readSeen(dir)
	if full := "app: /full: No space left on device"; s.ranks[1] != full || !slices.Contains(s.why, full) || !slices.Equal(s.loaded, []string{"app"}) {
		t.Errorf("%+v", s)
	}
	if got := s.explained(func(rank int) bool { return rank == 1 }); !slices.Equal(got, []string{"tool: other", "app: in part"}) {
		t.Errorf("%q", got)
	}
}

// Dead processes are reported with their ranks, also if all have died.
func TestReportDied(t *testing.T) {
	run := openRun(t, func(*recordingtest.Stream) {})
	r := &Job{app: &application{}, Config: &Config{}, Run: run}
	for size, want := range map[int]string{1: "the process died before it could finish recording; it had taken no samples",
		2: "all ranks: the process died before it could finish recording; it had taken no samples"} {
		run.Ranks = nil
		for n := range size {
			run.Ranks = append(run.Ranks, &recording.Rank{Rank: n, Size: size, State: recording.StateDied, Interval: time.Second})
		}
		r.size = size
		if got := r.Messages(Known{}); !slices.Equal(got, []string{want}) {
			t.Errorf("%q", got)
		}
	}
}

// A profile that lacks something says why, once for all ranks. Samples that were reduced are no matter of the profile.
func TestReduced(t *testing.T) {
	full := recording.Note{Severity: recording.Warning, Code: recording.NoteReduced, Text: "full"}
	slow := recording.Note{Severity: recording.Info, Code: recording.NoteReduced, Text: "slow"}
	run := &recording.Run{Ranks: []*recording.Rank{{Rank: 0, Notes: []recording.Note{full, slow}}, {Rank: 1, Notes: []recording.Note{full}, Counters: recording.Counters{LostRows: 2}}}}
	if got := Reduced(run); !slices.Equal(got, []string{"full"}) {
		t.Errorf("%q", got)
	}
}

// A run of a few intervals says in one line what is missing; one that lasted says why, too. Variables that are left out share a line.
func TestBriefRun(t *testing.T) {
	why := recording.Note{Severity: recording.Info, Code: recording.NoteReduced, Text: "sampled only in calls"}
	notes := []recording.Note{why}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		notes = append(notes, recording.Note{Severity: recording.Warning, Code: recording.NoteFaulty, Text: name})
	}
	faulty := "7 variables are not sampled: reading them crashes or hangs the library: a, b, c, d, e and 2 more"
	for _, c := range []struct {
		missed uint64
		notes  []recording.Note
		want   []string
	}{
		{16, notes, []string{faulty, "16 of 20 samples are missing: 16 not taken in time"}},
		{16, notes[:2], []string{"a is not sampled: reading it crashes or hangs the library", "16 of 20 samples are missing: 16 not taken in time"}},
		{160, notes[:1], []string{why.Text, "160 of 164 samples are missing: 160 not taken in time"}},
	} {
		run := openRun(t, func(*recordingtest.Stream) {})
		run.Ranks = []*recording.Rank{{Size: 1, State: recording.StateEnded, Notes: c.notes, Columns: []*recording.Column{{Variable: "x"}}, Sets: []*recording.Set{{}},
			Counters: recording.Counters{Samples: 4, Missed: c.missed, Instants: 4}}}
		r := &Job{app: &application{}, Config: &Config{}, Run: run}
		r.size = 1
		if got := r.Messages(Known{}); !slices.Equal(got, c.want) {
			t.Errorf("%q", got)
		}
	}
}

// Incomplete ranks are named with the reason. A pattern that matched nothing in one of them is none: there was no memory to match it.
func TestIncomplete(t *testing.T) {
	unmatched := recording.Note{Severity: recording.Warning, Code: recording.NoteUnmatched, Text: "mpitx:*"}
	run := openRun(t, func(*recordingtest.Stream) {})
	many := recording.Note{Severity: recording.Warning, Text: "mpitx:calls: not sampled: too many variables of mpitx"}
	full := recording.Note{Severity: recording.Warning, Code: recording.NoteBudget}
	run.Ranks = []*recording.Rank{{Rank: 0, Size: 4}, {Rank: 1, Counters: recording.Counters{LostRows: 2}}, {Rank: 2, Notes: []recording.Note{unmatched, many}, Counters: recording.Counters{Lacks: 1}},
		{Rank: 3, Notes: []recording.Note{full}, Counters: recording.Counters{LostRows: 2}}}
	const small = "; its numbers may be too small, and count in no mean"
	want := []string{"rank 1: the recording is incomplete: the agent had no room for all of its tables" + small + "; free space in /dev/shm, or if it is small, make room in $TMPDIR",
		"rank 2: the recording is incomplete: the agent was refused something" + small,
		"rank 3: the recording is incomplete: --max-size was too small for all of the agent's tables" + small + "; give a greater --max-size"}
	if got := Incomplete(run); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	r := &Job{app: &application{}, Config: &Config{}, Run: run}
	r.size = 3
	if got := r.Messages(Known{}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A run directory that is full or gone is the reason if nothing was recorded.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	if why := unwritable(dir); why != "" {
		t.Errorf("%q", why)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left in the directory: %v", left)
	}
	if why := unwritable(filepath.Join(dir, "none")); why != "" {
		t.Errorf("%q", why)
	}
	var limit, small unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	small = unix.Rlimit{Cur: 1000, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	why := unwritable(dir)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if why != "file too large" {
		t.Errorf("a file of 64 KiB beyond RLIMIT_FSIZE: %q", why)
	}
}
