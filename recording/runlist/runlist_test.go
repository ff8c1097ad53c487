//go:build linux

package runlist

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

const start = int64(1_700_000_000_000_000_000)

// runAt adds the file of a job that started some hours after the first.
func runAt(t *testing.T, dir string, hours int, command ...string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(job{ID: strings.Repeat("ab", 16), StartNs: start + int64(hours)*int64(time.Hour), Command: command})
	write(t, filepath.Join(dir, JobFile), string(text))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// manifest is the manifest of a process on a machine.
func manifest(pid int, started uint64, boot string) string {
	const host, path, head = "node1", "/dev/shm/mpitx-0000000000000001.live", 80 + 40
	le := binary.LittleEndian
	b := make([]byte, head, head+len(host)+len(path))
	copy(b, "\x01PXMANI1")
	le.PutUint16(b[8:], 1)
	le.PutUint16(b[10:], head)
	le.PutUint32(b[12:], uint32(cap(b)))
	le.PutUint64(b[32:], 1)
	le.PutUint32(b[44:], uint32(pid))
	le.PutUint64(b[48:], started)
	le.PutUint32(b[64:], uint32(len(host)))
	le.PutUint32(b[68:], uint32(len(path)))
	copy(b[80:], boot)
	b = append(append(b, host...), path...)
	le.PutUint32(b[72:], crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	return string(b)
}

// everyState makes a directory with a run in each state, and things that are no runs.
func everyState(t *testing.T) (base string, want map[string]State) {
	t.Helper()
	base = t.TempDir()
	in := func(name string) string { return filepath.Join(base, name) }
	solver := func(name string, hours int) string {
		if err := recordingtest.SaveSolver(in(name)); err != nil {
			t.Fatal(err)
		}
		return runAt(t, in(name), hours, "mpitx", "profile", "--", "./bin/solver", "in put")
	}
	solver("ended", 9)
	for name, status := range map[string]recording.ExitStatus{"failed": {Rank: 2, Code: 3}, "died": {Rank: 2, Signal: 11}} {
		if err := recording.WriteExits(solver(name, 8), "node1", []recording.ExitStatus{{Rank: 0, Signal: 15}, {Rank: 1, Signal: 9}, status, {Rank: 3, Signal: 15}}); err != nil {
			t.Fatal(err)
		}
	}
	self, _ := os.ReadFile("/proc/self/stat")
	ticks := strings.Fields(string(self[strings.LastIndexByte(string(self), ')')+1:]))[19]
	host, _ := os.Hostname()
	write(t, filepath.Join(solver("running", 7), "started-"+host), fmt.Sprintf("0 %d %s\n", os.Getpid(), ticks))
	write(t, filepath.Join(runAt(t, in("starting"), 6), "started-"+host), fmt.Sprintf("0 %d %s\n", os.Getpid(), ticks))
	write(t, filepath.Join(runAt(t, in("empty"), 5), "started-"+host), fmt.Sprintf("0 %d 12345\n", os.Getpid())) // another process had this number
	write(t, filepath.Join(runAt(t, in("away"), 4), "started-elsewhere"), "0 17 12345\n")
	write(t, filepath.Join(runAt(t, in("over"), 4), "started-elsewhere"), "0 17 12345\nover\n")
	write(t, filepath.Join(runAt(t, in("damaged"), 3), "node-x.mpxr"), strings.Repeat("garbage ", 100))
	if err := recordingtest.SaveTrace(in("nojob"), 10); err != nil { // of an older mpitx
		t.Fatal(err)
	}
	for _, dir := range []string{"none", "other"} {
		if err := os.Mkdir(in(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, in("other/"+JobFile), `{"run_id": 17, "start_ns": "never"}`)
	write(t, in("other/node-x.mpxr"), "of another program")
	write(t, in("file"), "")
	if err := os.Symlink("ended", in("link")); err != nil {
		t.Fatal(err)
	}
	return base, map[string]State{"ended": Ended, "failed": Failed, "died": Died, "running": Running, "starting": Starting, "empty": Empty, "away": Away, "over": Empty,
		"damaged": Damaged, "nojob": Ended}
}

func statesOf(t *testing.T, base string) (all []*Run, states map[string]State) {
	t.Helper()
	all, err := List(base)
	if err != nil {
		t.Fatal(err)
	}
	states = map[string]State{}
	for _, r := range all {
		states[filepath.Base(r.Dir)] = r.State
	}
	return all, states
}

func TestList(t *testing.T) {
	base, want := everyState(t)
	all, states := statesOf(t, base)
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSortedFunc(all, func(a, b *Run) int { return b.Start.Compare(a.Start) }) {
		t.Error("the newest is not first")
	}
	for _, r := range all {
		switch name := filepath.Base(r.Dir); {
		case name == "ended" && (r.Program != "./bin/solver in put" || r.Ranks != 4 || !slices.Equal(r.Tools, []string{"profile"}) || r.Start.UnixNano() != start+9*int64(time.Hour)):
			t.Errorf("%+v", r)
		case name == "nojob" && (!slices.Contains(r.Tools, "trace") || r.Start.Unix() != start/1e9):
			t.Errorf("%+v", r)
		case name == "failed" && r.Detail != "exit code 3", name == "died" && r.Detail != "SIGSEGV", name == "away" && r.Detail != "on elsewhere":
			t.Errorf("%s: %s", name, r.Detail)
		}
	}
	one, _ := statesOf(t, filepath.Join(base, "link")) // a link that is named is followed
	if len(one) != 1 || one[0].State != Ended {
		t.Errorf("%v", one)
	}
	if _, err := List(filepath.Join(base, "nowhere")); err == nil {
		t.Error("no error")
	}
	if dir, others, err := Newest(base, false); filepath.Base(dir) != "ended" || others != nil || err != nil {
		t.Error(dir, others, err)
	}
	if dir, _, err := Newest(filepath.Join(base, "none"), true); dir != "" || err != nil {
		t.Error(dir, err)
	}
}

// Only runs that have ended are removed, and whole.
func TestClean(t *testing.T) {
	base, states := everyState(t)
	write(t, filepath.Join(base, "failed", "notes.txt"), "mine")
	if err := os.Mkdir(filepath.Join(base, "died", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, _ := statesOf(t, base)
	now := time.Unix(0, start).Add(10 * time.Hour)
	chosen := func(rule Rule) (names []string) {
		rule.Dry = true
		for _, c := range Clean(all, rule, now) {
			if name := filepath.Base(c.Dir); c.Removed {
				names = append(names, name)
			} else if len(c.Foreign) == 0 || c.Failed {
				t.Errorf("%s: %s", name, c.Why)
			}
		}
		slices.Sort(names)
		return names
	}
	for _, c := range []struct {
		rule Rule
		want []string
	}{{Rule{}, []string{"empty", "ended", "nojob", "over"}}, {Rule{Keep: 1}, []string{"empty", "nojob", "over"}},
		{Rule{Older: 6 * time.Hour}, []string{"nojob", "over"}}, {Rule{Older: 6 * time.Hour, Keep: len(all)}, nil}} {
		if got := chosen(c.rule); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.rule, got, c.want)
		}
	}
	_, before := statesOf(t, base)
	if !maps.Equal(before, states) {
		t.Errorf("a dry run changed something: %v", before)
	}
	outside := t.TempDir()
	write(t, filepath.Join(outside, "kept"), "")
	if err := os.Symlink(outside, filepath.Join(base, "ended", "claims")); err != nil {
		t.Fatal(err)
	}
	Clean(all, Rule{}, now)
	_, left := statesOf(t, base)
	if diff := cmp.Diff(map[string]State{"failed": Failed, "died": Died, "running": Running, "starting": Starting, "away": Away, "damaged": Damaged}, left); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"failed/notes.txt", "other/node-x.mpxr", "none", "file"} {
		if _, err := os.Stat(filepath.Join(base, path)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "kept")); err != nil {
		t.Error(err)
	}
}

// A run that became something else since it was listed is kept.
func TestCleanLooksAgain(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"again", "replaced", "link"} {
		runAt(t, filepath.Join(base, name), 1)
	}
	all, _ := statesOf(t, base)
	host, _ := os.Hostname()
	write(t, filepath.Join(base, "again", "started-"+host), fmt.Sprintf("0 %d 0\n", os.Getpid()))
	write(t, filepath.Join(base, "replaced", JobFile), "{}")
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(filepath.Join(base, "link"), elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range Clean(all, Rule{}, time.Now()) {
		if c.Removed || c.Why == "" {
			t.Errorf("%s was removed", c.Dir)
		}
	}
	if _, err := os.Stat(filepath.Join(elsewhere, JobFile)); err != nil {
		t.Error(err)
	}
}

// Manifests say what is known of processes that have not ended.
func TestManifests(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       State
	}{{"this process", manifest(os.Getpid(), 0, boot()), Running}, {"a process that is gone", manifest(1<<22+1, 5, boot()), Died},
		{"another machine", manifest(os.Getpid(), 0, "00000000-0000-0000-0000-000000000000"), Away}} {
		base := t.TempDir()
		write(t, filepath.Join(runAt(t, filepath.Join(base, "run"), 1), "live-node1-0-00000001.mpxm"), c.text)
		all, _ := statesOf(t, base)
		if len(all) != 1 || all[0].State != c.want {
			t.Errorf("%s: %+v", c.name, all[0])
		}
		dir, _, err := Newest(base, true)
		if filepath.Base(dir) != "run" || err != nil {
			t.Errorf("%s: %s, %v", c.name, dir, err)
		}
	}
}

func boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// A running job comes before newer runs.
func TestNewestRunning(t *testing.T) {
	base := t.TempDir()
	for hours := range 5 {
		dir := runAt(t, filepath.Join(base, fmt.Sprint("run", hours)), hours)
		if hours == 1 || hours == 2 {
			write(t, filepath.Join(dir, "live-node1-0-00000001.mpxm"), manifest(os.Getpid(), 0, boot()))
		}
	}
	dir, others, err := Newest(base, true)
	if filepath.Base(dir) != "run2" || len(others) != 1 || filepath.Base(others[0]) != "run1" || err != nil {
		t.Error(dir, others, err)
	}
	if dir, _, _ = Newest(base, false); filepath.Base(dir) != "run4" {
		t.Error(dir)
	}
}

func BenchmarkList(b *testing.B) {
	base := b.TempDir()
	const runs = 5000
	for i := range runs {
		dir := filepath.Join(base, fmt.Sprint("run", i))
		if err := recordingtest.SaveSolver(dir); err != nil {
			b.Fatal(err)
		}
		text, _ := json.Marshal(job{ID: strings.Repeat("ab", 16), StartNs: start + int64(i), Command: []string{"mpitx", "profile", "--", "./app"}})
		if err := os.WriteFile(filepath.Join(dir, JobFile), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if all, err := List(base); err != nil || len(all) != runs {
			b.Fatal(len(all), err)
		}
	}
	b.ReportMetric(runs, "runs")
}

// A file with a name of mpitx's is the user's if mpitx does not write it in such a run, or if it begins otherwise. A run that a process
// holds goes on.
func TestOwns(t *testing.T) {
	base, _ := everyState(t)
	for name, content := range map[string]string{"report.txt": "lab notes", "trace.pftrace": "x", "sites.json": "{}", "started-notes": "call Bob", "node-mydata.mpxr": "MYDATA"} {
		path := filepath.Join(base, "ended", name)
		before, err := os.ReadFile(path)
		write(t, path, content)
		all, _ := statesOf(t, filepath.Join(base, "ended"))
		if foreign := all[0].Foreign; name == "report.txt" && len(foreign) > 0 || name != "report.txt" && !slices.Equal(foreign, []string{name}) {
			t.Errorf("%s: %v", name, foreign)
		}
		if err != nil {
			os.Remove(path)
		} else {
			write(t, path, string(before))
		}
	}
	recording.Hold(filepath.Join(base, "ended"), JobFile)
	if _, states := statesOf(t, base); states["ended"] != Running {
		t.Error(states["ended"])
	}
}
