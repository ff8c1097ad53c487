//go:build linux

package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mpitx/fixtures/need"
)

var buildWriter = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mpitx-writer-")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "writer")
	return out, compileWriter(out)
})

func compileWriter(out string, flags ...string) error {
	cmd := exec.Command("cc", "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-o", out,
		"-I", "../agent", "-I", "..", "testdata/writer.c", "testdata/events.c")
	sources, _ := filepath.Glob("../agent/run/*.c")
	sources = append(sources, "../agent/base/note.c", "../agent/base/lack.c", "../agent/base/memory.c", "../binding/procstat.c")
	cmd.Args = append(append(append(cmd.Args, flags...), sources...), "-lpthread", "-ldl")
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, b)
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if w, err := buildWriter(); err == nil {
		os.RemoveAll(filepath.Dir(w))
	}
	os.Exit(code)
}

func writer(t testing.TB) string {
	t.Helper()
	need.Commands(t, "cc")
	w, err := buildWriter()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// write runs the writer with a script. Its live files are in a folder of the test.
func write(t testing.TB, script string) (string, error) {
	t.Helper()
	cmd := exec.Command(writer(t), strings.Fields(script)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func mustWrite(t testing.TB, script string) string {
	t.Helper()
	out, err := write(t, script)
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

// folders returns a run directory that does not exist yet and a folder for live files.
func folders(t testing.TB) (run, live string) {
	d := t.TempDir()
	live = filepath.Join(d, "live")
	if err := os.Mkdir(live, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(d, "run"), live
}

func mustOpen(t testing.TB, dir string) *Run {
	t.Helper()
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

func noDamage(t testing.TB, run *Run) {
	t.Helper()
	for _, err := range run.Damage() {
		t.Error(err)
	}
}

// sampleNumbers reads a run of the writer's columns and checks every value, including last values. It returns the number of samples
// of each rank in the two sets, without last values, and the first sample's number.
func sampleNumbers(t testing.TB, run *Run) (counts map[int][2]int, first int) {
	t.Helper()
	counts, first = map[int][2]int{}, -1
	next := map[[2]int]int{}
	last := time.Duration(math.MinInt64)
	bad := 0
	for in := range run.Instants(Options{As: Raw}) {
		if in.Time < last {
			t.Errorf("time goes back from %v to %v", last, in.Time)
		}
		last = in.Time
		key := [2]int{in.Rank.Rank, in.Set.ID}
		c := counts[in.Rank.Rank]
		if !in.Last {
			c[in.Set.ID]++
		}
		counts[in.Rank.Rank] = c
		n := number(in) // a slow disk may lose samples in between; each test counts them
		if n < next[key] {
			t.Errorf("rank %d: sample %d after %d", in.Rank.Rank, n, next[key]-1)
		}
		if first < 0 {
			first = n
		}
		next[key] = n + 1
		if got, want := renderCells(in), expectedCells(in.Set.ID, n); got != want {
			if bad++; bad < 5 {
				t.Errorf("rank %d sample %d: %s, not %s", in.Rank.Rank, n, got, want)
			}
		}
	}
	return counts, first
}

func number(in *Instant) int {
	v, _ := in.Cells[0].Value.Uint64()
	if in.Set.ID == 0 {
		return int(v-9007199254740993) / 1000
	}
	return int(v)
}

func TestWriteAndRead(t *testing.T) {
	for _, how := range []string{"inline=0", "inline=1", "chunk=8192 inline=1"} {
		t.Run(how, func(t *testing.T) {
			dir, live := folders(t)
			out := mustWrite(t, fmt.Sprintf("dir=%s live=%s %s rank=3 size=4 open columns samples=500 note=hello outcome miss=3 cost=7 "+
				"name=mine clock status fork closeall chdirtmp slow=20 samples=480 close", dir, live, how))
			if !strings.Contains(out, "errno 77") || !strings.Contains(out, "child 0") || !strings.Contains(out, "closed 1") {
				t.Error(out)
			}
			run := mustOpen(t, dir)
			noDamage(t, run)
			counts, first := sampleNumbers(t, run)
			if counts[3] != [2]int{1000, 1000} || first != 0 {
				t.Error(counts, first)
			}
			checkMetadata(t, run)
			for _, d := range []string{live, dir} {
				entries, _ := os.ReadDir(d)
				for _, e := range entries {
					if info, _ := e.Info(); info.Mode().Perm() != 0o600 || !strings.HasPrefix(e.Name(), "node-") {
						t.Error("left behind:", e.Name(), info.Mode())
					}
				}
			}
			if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
				t.Error(info.Mode())
			}
		})
	}
}

func checkMetadata(t *testing.T, run *Run) {
	t.Helper()
	r := run.Ranks[0]
	if r.Rank != 3 || r.Size != 4 || r.Host != "node1" || r.Library != "Test MPI 1.0" || r.MPIVersion != "4.0" ||
		r.State != StateEnded || r.End != EndFinalize || r.Interval != time.Millisecond || len(r.Columns) != 7 {
		t.Errorf("%+v", r)
	}
	if c := r.Columns[6]; c.ObjectName != "mine" || c.Count != 4 || c.Labels != LabelPeer || c.Type.String() != "unsigned-long" {
		t.Errorf("%+v", c)
	}
	if u := []string{r.Columns[0].Unit(), r.Columns[3].Unit(), r.Columns[6].Unit()}; u[0] != "" || u[1] != "s" || u[2] != "B" {
		t.Errorf("units %q", u)
	}
	if c := r.Columns[1]; c.Status != Gone || c.Reason != "the object was freed" {
		t.Errorf("%+v", c)
	}
	if len(r.Notes) != 1 || r.Notes[0].Text != "hello" || r.Notes[0].Severity != Warning {
		t.Errorf("%+v", r.Notes)
	}
	if want := (Assignment{true, "cvar_x", "3", "1", "3", "ok"}); len(r.Assignments) != 1 || r.Assignments[0] != want {
		t.Errorf("%+v", r.Assignments)
	}
	if c := r.Counters; c.Samples != 2000 || c.Missed != 3 || c.Instants != 7 || c.CostNs != 700 || c.Lost() != 3 {
		t.Errorf("%+v", c)
	}
	if age := time.Since(run.Start); age < 0 || age > time.Minute {
		t.Error(run.Start)
	}
}

func TestKilled(t *testing.T) {
	for _, n := range []int{0, 1, 700, 20000} {
		dir, live := folders(t)
		out, err := write(t, fmt.Sprintf("dir=%s live=%s open columns slow=1 sleep=20 samples=%d note=last kill", dir, live, max(n-1, 0)))
		if err == nil {
			t.Fatal("it was not killed: " + out)
		}
		n = max(n, 1)
		run := mustOpen(t, dir)
		noDamage(t, run)
		r := run.Ranks[0]
		counts, _ := sampleNumbers(t, run)
		lost := int(r.Counters.LostFull)
		if got := counts[0]; got[0]+got[1]+lost != 2*n || r.State != StateDied || len(r.Notes) != 1 {
			t.Errorf("%d: %v, %d lost, %v, %d notes", n, got, lost, r.State, len(r.Notes))
		}
		for range 2 {
			done, err := Recover(dir, false)
			if err != nil || len(done) > 1 || len(done) == 1 && (done[0].Err != nil || done[0].State != StateDied) {
				t.Fatalf("%+v %v", done, err)
			}
		}
		if left, _ := os.ReadDir(live); len(left) > 0 {
			t.Error("left behind:", left)
		}
		again := mustOpen(t, dir)
		noDamage(t, again)
		if c, _ := sampleNumbers(t, again); c[0] != counts[0] || again.Ranks[0].State != StateDied || again.Ranks[0].Counters != r.Counters {
			t.Errorf("recovered: %v, not %v; %+v", c, counts, again.Ranks[0].Counters)
		}
	}
}

// The counters of a process that died are its last ones, also if newer declarations than its open samples are in the node's file.
func TestKilledAfterDeclarations(t *testing.T) {
	dir, live := folders(t)
	script := "dir=%s live=%s inline=1 open columns samples=1 note=a flush note=b flush note=c flush samples=40 kill"
	if out, err := write(t, fmt.Sprintf(script, dir, live)); err == nil {
		t.Fatal("it was not killed: " + out)
	}
	for _, when := range []string{"killed", "recovered"} {
		run := mustOpen(t, dir)
		noDamage(t, run)
		if r := run.Ranks[0]; r.Counters.Samples != 82 || r.State != StateDied {
			t.Errorf("%s: %d samples, %v; want 82 and died", when, r.Counters.Samples, r.State)
		}
		if _, err := Recover(dir, false); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDiscard(t *testing.T) {
	dir, live := folders(t)
	if out, err := write(t, fmt.Sprintf("dir=%s live=%s open columns samples=100 kill", dir, live)); err == nil {
		t.Fatal("it was not killed: " + out)
	}
	if !fileIn(live, ".live") {
		t.Fatal("no memory file")
	}
	if err := Discard(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil || fileIn(live, ".live") {
		t.Error("the directory or the memory file is still there:", err)
	}
}

// Recover leaves a running process alone. With force it recovers it, and chunks that are then stored twice are read once.
func TestRecoverWhileItRuns(t *testing.T) {
	for _, force := range []bool{false, true} {
		dir, live := folders(t)
		cmd := exec.Command(writer(t), strings.Fields(fmt.Sprintf("dir=%s live=%s open columns samples=10 note=ready wait close", dir, live))...)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for ready := false; !ready; time.Sleep(time.Millisecond) {
			if run, err := Open(dir); err == nil {
				ready = len(run.Ranks) == 1 && len(run.Ranks[0].Notes) == 1
				run.Close()
			}
		}
		if err := Discard(dir); err == nil || !fileIn(live, ".live") {
			t.Error("what runs was discarded")
		}
		done, err := Recover(dir, force)
		if err != nil || len(done) != 1 || done[0].Err != nil || (done[0].State == StateRunning) == force || (done[0].Chunks > 0) != force {
			t.Errorf("force %v: %+v %v", force, done, err)
		}
		if fileIn(live, ".live") == force {
			t.Errorf("force %v: is the memory file there? %v", force, !force)
		}
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		run := mustOpen(t, dir)
		noDamage(t, run)
		if c, _ := sampleNumbers(t, run); c[0] != [2]int{10, 10} || (run.Ranks[0].State != StateEnded) != force || len(run.Ranks[0].Notes) != 1 {
			t.Errorf("force %v: %v %v %d notes", force, c, run.Ranks[0].State, len(run.Ranks[0].Notes))
		}
	}
}

func TestExecEndsWithout(t *testing.T) {
	dir, live := folders(t)
	if out := mustWrite(t, fmt.Sprintf("dir=%s live=%s open columns samples=10 exec", dir, live)); !strings.Contains(out, "execed") {
		t.Error(out)
	}
	run := mustOpen(t, dir)
	noDamage(t, run)
	if c, _ := sampleNumbers(t, run); c[0] != [2]int{10, 10} || run.Ranks[0].State != StateDied {
		t.Error(c, run.Ranks[0].State)
	}
}

// A process that has changed its root continues to write to its run directory, and leaves nothing in memory.
func TestChroot(t *testing.T) {
	dir, live := folders(t)
	cmd := exec.Command(writer(t), "dir="+dir, "live="+live, "open", "columns", "samples=1000", "appended", "chroottmp", "slow=1500", "close")
	if os.Geteuid() != 0 {
		cmd.Args = append([]string{"unshare", "--user", "--map-root-user"}, cmd.Args...)
		cmd.Path, _ = exec.LookPath("unshare")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := mustOpen(t, dir)
	noDamage(t, run)
	if r := run.Ranks[0]; r.State != StateEnded || r.Recoverable() || r.Counters.LostFull > 0 {
		t.Errorf("%v, recoverable: %v, %+v", r.State, r.Recoverable(), r.Counters)
	}
	if c, _ := sampleNumbers(t, run); c[0] != [2]int{2500, 2500} {
		t.Error(c)
	}
	for _, folder := range []string{dir, live} {
		if files, _ := filepath.Glob(filepath.Join(folder, "*live*")); len(files) > 0 {
			t.Errorf("left: %q", files)
		}
	}
}

// sizeOf is the size of all files of a run.
func sizeOf(dir string) (size int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
	}
	return size
}

func TestBudget(t *testing.T) {
	const budget = 200_000
	for _, policy := range []string{"stop", "keep"} {
		dir, live := folders(t)
		mustWrite(t, fmt.Sprintf("dir=%s live=%s max=%d policy=%s inline=1 open columns samples=20000 close", dir, live, budget, policy))
		size := sizeOf(dir)
		run := mustOpen(t, dir)
		noDamage(t, run)
		counts, first := sampleNumbers(t, run)
		r := run.Ranks[0]
		if size > budget || size < budget*3/4 {
			t.Errorf("%s: %d bytes of %d", policy, size, budget)
		}
		switch got := counts[0]; policy {
		case "stop":
			if first != 0 || got[0]+got[1]+int(r.Counters.OverBudget) != 40000 || len(r.Notes) != 1 || r.Notes[0].Code != NoteBudget {
				t.Errorf("first %d, %v, %+v, %v", first, got, r.Counters, r.Notes)
			}
		case "keep":
			if first+max(got[0], got[1]) != 20000 || r.Counters.Samples != 40000 || !r.KeepLast || r.Counters.Lost() != 0 {
				t.Errorf("first %d, %v, %+v", first, got, r.Counters)
			}
			for in := range run.Instants(Options{}) { // differences start at the very first sample
				if v, _ := in.Cells[0].Value.Uint64(); in.Set.ID == 0 && v/1000-uint64(first) > 1 {
					t.Errorf("%d", v)
				}
				if in.Set.ID == 0 {
					break
				}
			}
		}
	}
}

// Endless declarations, as of communicators that are created and freed, stay within the budget and are counted.
func TestBudgetOfDeclarations(t *testing.T) {
	const budget, chunk, names = 200_000, 16_384, 20_000
	for _, policy := range []string{"stop", "keep"} {
		dir, live := folders(t)
		mustWrite(t, fmt.Sprintf("dir=%s live=%s max=%d policy=%s chunk=%d inline=1 open columns names=%d samples=10 close", dir, live, budget, policy, chunk, names))
		size := sizeOf(dir)
		run := mustOpen(t, dir)
		noDamage(t, run)
		r := run.Ranks[0]
		if size > budget+3*chunk || r.Counters.Refused == 0 || r.Counters.Refused >= names || r.State != StateEnded {
			t.Errorf("%s: %d bytes of %d, %v, %+v", policy, size, budget, r.State, r.Counters)
		}
	}
}

func TestManyRanks(t *testing.T) {
	dir, live := folders(t)
	var all sync.WaitGroup
	for rank := range 8 {
		all.Go(func() {
			mustWrite(t, fmt.Sprintf("dir=%s live=%s rank=%d size=8 host=node%d open columns samples=2000 slow=20 close", dir, live, rank, rank/4))
		})
	}
	all.Wait()
	run := mustOpen(t, dir)
	noDamage(t, run)
	counts, _ := sampleNumbers(t, run)
	for rank, r := range run.Ranks {
		if c := counts[rank]; r.Rank != rank || c[0]+c[1]+int(r.Counters.LostFull) != 4040 {
			t.Errorf("%d: %v %+v", rank, counts[rank], r.Counters)
		}
	}
	if len(run.Nodes) != 2 || len(run.Nodes[0].Ranks) != 4 {
		t.Error(len(run.Nodes))
	}
}

// TestChecksumTable runs the writer without the processor's checksum instruction.
func TestChecksumTable(t *testing.T) {
	writer(t)
	w := filepath.Join(t.TempDir(), "writer")
	if err := compileWriter(w, "-DRUN_CRC_TABLE"); err != nil {
		t.Fatal(err)
	}
	dir, live := folders(t)
	if out, err := exec.Command(w, "dir="+dir, "live="+live, "open", "columns", "samples=2000", "slow=20", "close").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	run := mustOpen(t, dir)
	noDamage(t, run)
	if counts, _ := sampleNumbers(t, run); counts[0][0] < 1000 {
		t.Error(counts)
	}
}

func TestThreads(t *testing.T) {
	dir, live := folders(t)
	mustWrite(t, fmt.Sprintf("dir=%s live=%s chunks=64 open columns threads=20000 close", dir, live))
	run := mustOpen(t, dir)
	noDamage(t, run)
	n := 0
	for in := range run.Instants(Options{As: Raw}) {
		n++
		for _, c := range in.Cells {
			if c.Value.Compare(in.Cells[0].Value) != 0 {
				t.Fatal("a torn sample:", renderCells(in))
			}
		}
	}
	if c := run.Ranks[0].Counters; n != int(c.Samples) || n+int(c.Lost()) != 40000 {
		t.Errorf("%d %+v", n, c)
	}
}

// TestFollow reads a run while it is written.
func TestFollow(t *testing.T) {
	dir, live := folders(t)
	cmd := exec.Command(writer(t), strings.Fields(fmt.Sprintf("dir=%s live=%s chunk=8192 open columns slow=600 samples=50 close", dir, live))...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	var run *Run
	for run == nil {
		var err error
		if run, err = Open(dir); err != nil {
			time.Sleep(time.Millisecond)
		}
	}
	defer run.Close()
	f := run.Follow(Options{As: Raw})
	next, polls := [2]int{}, 0
	for last := false; ; polls++ {
		err := f.Poll(func(in *Instant) bool {
			n := next[in.Set.ID]
			next[in.Set.ID]++
			if got, want := renderCells(in), expectedCells(in.Set.ID, n); got != want {
				t.Errorf("poll %d, sample %d: %s, not %s; %v %+v %v", polls, n, got, want, in.Time, in.Rank.Counters, in.Rank.process)
			}
			return !t.Failed()
		})
		if err != nil || t.Failed() {
			t.Fatal(err)
		}
		if last {
			break
		}
		select {
		case <-ended:
			last = true
		case <-time.After(5 * time.Millisecond):
			if polls > 2 && polls < 20 && run.Ranks[0].State != StateRunning {
				t.Error(run.Ranks[0].State)
			}
		}
	}
	noDamage(t, run)
	if next != [2]int{650, 650} || polls < 10 || run.Ranks[0].State != StateEnded {
		t.Error(next, polls, run.Ranks[0].State)
	}
}

func TestRefusals(t *testing.T) {
	dir, live := folders(t)
	refused := func(what, script string) {
		t.Helper()
		out, err := write(t, script+" open columns samples=1 close")
		if err == nil || !strings.Contains(out, "errno 77") || err.Error() != "exit status 9" {
			t.Errorf("%s: %v %s", what, err, out)
		}
		if left, _ := os.ReadDir(live); len(left) > 0 {
			t.Errorf("%s: left behind %v", what, left)
		}
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, dir); err != nil {
		t.Fatal(err)
	}
	refused("a link as the directory", "live="+live+" dir="+dir)
	os.Remove(dir)
	refused("no parent", "live="+live+" dir="+filepath.Join(dir, "x"))
	refused("no live folder", "dir="+filepath.Join(elsewhere, "run")+" live=/nowhere")
	refused("a limit on files", "fsize=4096 live="+live+" dir="+filepath.Join(elsewhere, "run2"))
	open := t.TempDir()
	os.Chmod(open, 0o777)
	refused("others may write", "live="+live+" dir="+open)
	if os.Geteuid() != 0 {
		os.Mkdir(dir, 0o500)
		refused("a read-only directory", "live="+live+" dir="+dir)
		return
	}
	mount(t, dir, "size=64k,ro")
	refused("a read-only directory", "live="+live+" dir="+dir)
}

// TestLinks checks that the writer does not write through links in the directory.
func TestLinks(t *testing.T) {
	t.Run("symbolic", func(t *testing.T) { linked(t, os.Symlink) })
	t.Run("hard", func(t *testing.T) { linked(t, os.Link) })
}

func linked(t *testing.T, link func(from, to string) error) {
	dir, live := folders(t)
	os.Mkdir(dir, 0o700)
	victim := filepath.Join(t.TempDir(), "victim")
	os.WriteFile(victim, []byte("mine"), 0o600)
	if err := link(victim, filepath.Join(dir, "node-node1.mpxr")); err != nil {
		t.Fatal(err)
	}
	out := mustWrite(t, fmt.Sprintf("dir=%s live=%s open columns samples=100 close", dir, live))
	if b, _ := os.ReadFile(victim); string(b) != "mine" {
		t.Error("written through a link", out)
	}
	os.Remove(filepath.Join(dir, "node-node1.mpxr"))
	run := mustOpen(t, dir) // chunks that cannot be appended stay in memory
	noDamage(t, run)
	if c, _ := sampleNumbers(t, run); c[0] != [2]int{100, 100} || run.Ranks[0].State != StateEnded || run.Ranks[0].Counters.AppendErrors == 0 {
		t.Errorf("%v %+v", c, run.Ranks[0].Counters)
	}
}

// mount puts a tmpfs on a folder.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var flags uintptr
	if rest, ok := strings.CutSuffix(options, ",ro"); ok {
		options, flags = rest, syscall.MS_RDONLY
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options+",mode=700"); err != nil {
		need.Missing(t, "mounts are not allowed: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// remount changes the size of a tmpfs.
func remount(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk fills the file system of the run, and the one in place of /dev/shm. The only effect is a count of lost samples.
func TestFullDisk(t *testing.T) {
	dir, live := folders(t)
	mount(t, live, "size=300k")
	if out, err := write(t, fmt.Sprintf("dir=%s live=%s open samples=1 close", dir, live)); err == nil || !strings.Contains(out, "No space left") {
		t.Errorf("%v %s", err, out)
	}
	if left, _ := os.ReadDir(live); len(left) > 0 {
		t.Error(left)
	}
	for _, how := range []string{"inline=1", "inline=0 wait=3000"} {
		full, live := folders(t)
		mount(t, full, "size=100k")
		mustWrite(t, fmt.Sprintf("dir=%s live=%s %s open columns samples=20000 note=end close", full, live, how))
		run := mustOpen(t, full)
		noDamage(t, run)
		r := run.Ranks[0]
		counts, first := sampleNumbers(t, run)
		if got := counts[0][0] + counts[0][1]; first != 0 || got+int(r.Counters.LostFull) != 40000 || got < 4000 || r.State != StateEnded || len(r.Notes) != 1 {
			t.Errorf("%s: %v %+v %v %v", how, counts, r.Counters, r.State, r.Notes)
		}
		if done, err := Recover(full, false); err != nil || len(done) != 1 || done[0].Err == nil {
			t.Errorf("there is still no room: %+v %v", done, err)
		}
		remount := func(size string) {
			if err := syscall.Mount("tmpfs", full, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
				t.Fatal(err)
			}
		}
		node := filepath.Join(full, "node-node1.mpxr")
		before, _ := os.Stat(node)
		remount("140k") // for a part of it, which is truncated again
		if done, err := Recover(full, false); err != nil || len(done) != 1 || done[0].Err == nil {
			t.Errorf("there is room for a part only: %+v %v", done, err)
		}
		if after, _ := os.Stat(node); after.Size() != before.Size() {
			t.Errorf("%d bytes, and after what failed %d", before.Size(), after.Size())
		}
		remount("4m")
		if done, err := Recover(full, false); err != nil || len(done) != 1 || done[0].Err != nil {
			t.Errorf("%+v %v", done, err)
		}
		again := mustOpen(t, full)
		noDamage(t, again)
		if c, _ := sampleNumbers(t, again); c[0] != counts[0] {
			t.Error(c, counts)
		}
	}
}

// TestNoRoomForMany has ranks append to one file until the file system is full. Only whole chunks stay in it, of all ranks.
func TestNoRoomForMany(t *testing.T) {
	dir, live := folders(t)
	var ranks [4]*exec.Cmd
	begin, wait, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for rank := range ranks {
		ranks[rank] = exec.Command(writer(t), strings.Fields(fmt.Sprintf("dir=%s live=%s wait=3000 fsize=600000 rank=%d size=4 host=node open columns wait samples=4000 slow=20 close", dir, live, rank))...)
		ranks[rank].Stdin = begin
		if err := ranks[rank].Start(); err != nil {
			t.Fatal(err)
		}
	}
	begin.Close()
	for open := 0; open < len(ranks); time.Sleep(time.Millisecond) {
		if run, err := Open(dir); err == nil {
			open = len(run.Ranks)
			run.Close()
		}
	}
	wait.Close()
	for _, rank := range ranks {
		if err := rank.Wait(); err != nil {
			t.Error(err)
		}
	}
	run := mustOpen(t, dir)
	noDamage(t, run)
	counts, _ := sampleNumbers(t, run)
	failed := 0
	for rank, r := range run.Ranks {
		if c := counts[rank]; r.Rank != rank || c[0]+c[1]+int(r.Counters.LostFull) != 8040 {
			t.Errorf("%d: %v %+v", rank, counts[rank], r.Counters)
		}
		failed += int(r.Counters.AppendErrors)
	}
	if failed == 0 {
		t.Error("there was room for all")
	}
	b, err := os.ReadFile(filepath.Join(dir, "node-node.mpxr"))
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 { // docs/run-format.md: header_bytes at 10, used at 56
		n := 0
		if len(b) >= 60 && string(b[:8]) == "\x01PXCHNK1" {
			n = int(binary.LittleEndian.Uint16(b[10:])) + int(binary.LittleEndian.Uint32(b[56:]))
		}
		if n == 0 || n > len(b) {
			t.Fatalf("what was left of a chunk, %d bytes, was not taken back", len(b))
		}
		b = b[n:]
	}
}

// TestNoShm runs without /dev/shm, and with a full one. The temporary directory is used.
func TestNoShm(t *testing.T) {
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		need.Missing(t, "mounts are not allowed: unshare: %v", err)
	}
	for _, options := range []string{"ro,size=4k", "size=64k"} {
		dir, temp := folders(t)
		cmd := exec.Command("unshare", "-m", "sh", "-c",
			fmt.Sprintf("mount -t tmpfs -o %s none /dev/shm && exec %s dir=%s open columns samples=10 close", options, writer(t), dir))
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "live "+temp) {
			t.Errorf("%s: %v %s", options, err, out)
			continue
		}
		run := mustOpen(t, dir)
		noDamage(t, run)
		if c, _ := sampleNumbers(t, run); c[0] != [2]int{10, 10} {
			t.Error(options, c)
		}
	}
}

// TestBytesPerValue checks that sixteen scalar variables take at most twelve bytes a value.
func TestBytesPerValue(t *testing.T) {
	dir, live := folders(t)
	t.Log(mustWrite(t, fmt.Sprintf("dir=%s live=%s inline=1 open bench=20000 close", dir, live)))
	info, err := os.Stat(filepath.Join(dir, "node-node1.mpxr"))
	if err != nil {
		t.Fatal(err)
	}
	run := mustOpen(t, dir)
	noDamage(t, run)
	per := float64(info.Size()) / float64(run.Ranks[0].Counters.Samples*16)
	if t.Logf("%.2f bytes per value", per); per > 12 || run.Ranks[0].Counters.Samples != 20000 {
		t.Errorf("%.2f bytes per value, %+v", per, run.Ranks[0].Counters)
	}
}

func BenchmarkWriter(b *testing.B) {
	for _, c := range []struct{ name, script, unit string }{
		{"bench", "bench=200000", "ns/sample"},
		{"benchevents", "kinds benchevents=1000000", "ns/event"},
		{"benchrows", "kinds benchrows=10000000", "ns/update"},
	} {
		b.Run(c.name, func(b *testing.B) {
			least := math.Inf(1)
			for b.Loop() {
				dir, live := folders(b)
				out := mustWrite(b, fmt.Sprintf("dir=%s live=%s open %s close", dir, live, c.script))
				var ns float64
				if _, err := fmt.Sscanf(out[strings.Index(out, c.name+" "):], c.name+" %f", &ns); err != nil {
					b.Fatal(err)
				}
				least = min(least, ns)
			}
			b.ReportMetric(least, c.unit)
		})
	}
}

func BenchmarkEvents(b *testing.B) {
	dir, live := folders(b)
	mustWrite(b, fmt.Sprintf("dir=%s live=%s pool=200000000 open kinds together=200000 close", dir, live))
	run := mustOpen(b, dir)
	n := 0
	for b.Loop() {
		for range run.Events(Options{}) {
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}

// TestLeftovers kills a process. Its file belongs to the run while that exists, and can be removed only afterwards.
func TestLeftovers(t *testing.T) {
	dir, live := folders(t)
	if out, err := write(t, fmt.Sprintf("dir=%s live=%s open columns samples=10 kill", dir, live)); err == nil {
		t.Fatal(out)
	}
	mustWrite(t, fmt.Sprintf("dir=%s live=%s open columns samples=10 close", dir, live))
	os.WriteFile(filepath.Join(live, "mpitx-0000000000000001.live"), []byte("something else"), 0o600)
	left := Leftovers(live, live, "")
	if len(left) != 1 || !left[0].Known || left[0].Dir != dir || left[0].Size < 4096 || left[0].PID == 0 {
		t.Fatalf("%+v", left)
	}
	if err := left[0].Remove(); err == nil {
		t.Error("a run's file was removed")
	}
	os.RemoveAll(dir)
	if left = Leftovers(live); len(left) != 1 || left[0].Known {
		t.Fatalf("%+v", left)
	}
	if err := left[0].Remove(); err != nil {
		t.Error(err)
	}
	if left = Leftovers(live); len(left) != 0 {
		t.Errorf("%+v", left)
	}

	running := exec.Command(writer(t), strings.Fields(fmt.Sprintf("dir=%s live=%s open columns sleep=60000", dir, live))...)
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	defer running.Process.Kill()
	for !fileIn(dir, ".mpxm") {
		time.Sleep(time.Millisecond)
	}
	os.RemoveAll(dir)
	if left = Leftovers(live); len(left) != 0 {
		t.Errorf("of a process that runs: %+v", left)
	}
}

func fileIn(dir, suffix string) bool {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			return true
		}
	}
	return false
}
