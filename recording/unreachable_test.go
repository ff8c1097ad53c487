//go:build linux

package recording

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/recording/recordingtest"
)

// lose removes the memory files of processes, as if their node had died.
func lose(t *testing.T, live string) {
	t.Helper()
	if err := os.RemoveAll(live); err != nil {
		t.Fatal(err)
	}
}

// readsByItself reads a node's file as a program written from docs/run-format.md would: it requires the declaration of a set before its
// samples. It returns the numbers of samples and of sets.
func readsByItself(t *testing.T, path string) (samples, sets int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[uint32]bool{}
	for at := 0; at+88 <= len(b); {
		if !bytes.HasPrefix(b[at:], []byte(recordingtest.Magic)[:min(8, len(b)-at)]) {
			t.Fatalf("no chunk at byte %d", at)
		}
		if len(b)-at < 88 || len(b)-at-88 < int(le.Uint32(b[at+56:])) {
			break // its process was killed while it wrote
		}
		kind, used := b[at+12], int(le.Uint32(b[at+56:]))
		if at+88+used > len(b) {
			break // its process was killed while it wrote
		}
		records := b[at+88 : at+88+used]
		for at += 88 + used; len(records) > 0; {
			n := int(le.Uint16(records)) * 8
			switch tag := uint32(le.Uint16(records[2:]) &^ 0x8000); {
			case kind == 1:
				if n = int(le.Uint32(records)); le.Uint16(records[4:]) == 4 {
					declared[le.Uint32(records[16:])] = true
				}
			case tag >= 16:
				if samples++; !declared[tag-16] {
					t.Fatalf("a sample of set %d before its declaration", tag-16)
				}
			}
			records = records[n:]
		}
	}
	return samples, len(declared)
}

// A node's file can be read alone at any time, as declarations come before their samples. A lost node loses only the chunks that were
// being filled.
func TestNodeLost(t *testing.T) {
	for _, how := range []string{"inline=1", "inline=1 chunk=8192 chunks=4", "inline=0 chunk=8192 chunks=4", "inline=0", "policy=keep max=400000 inline=1"} {
		dir, live := folders(t)
		out, err := write(t, fmt.Sprintf("dir=%s live=%s %s open growing=60 appended kill", dir, live, how))
		if err == nil {
			t.Fatal("it was not killed: " + out)
		}
		whole := mustOpen(t, dir)
		noDamage(t, whole)
		had := counted(whole)
		lost := whole.Ranks[0].Counters.Lost()
		lose(t, live)
		samples, sets := readsByItself(t, filepath.Join(dir, "node-node1.mpxr"))
		run := mustOpen(t, dir)
		got := counted(run)
		noDamage(t, run)
		r := run.Ranks[0]
		thread := strings.Contains(how, "inline=0") // which may have written nothing
		if r.State != StateUnreachable || r.Undeclared() || sets == 0 && !thread || !r.KeepLast && got < samples {
			t.Errorf("%s: %v, %d samples of %d, %d sets", how, r.State, got, samples, sets)
		}
		const most = (65536 - 88) / 16 // samples of a chunk
		if r.Counters.Samples == 0 && !thread || how == "inline=1" && (lost > 0 || got < had-most || got < 60000) {
			t.Errorf("%s: %d samples of %d are left, %+v", how, got, had, r.Counters)
		}
	}
}

func counted(run *Run) (n int) {
	for range run.Instants(Options{As: Raw}) {
		n++
	}
	return n
}

// Declarations can be flushed to the directory before samples fill a chunk.
func TestFlush(t *testing.T) {
	dir, live := folders(t)
	if out, err := write(t, fmt.Sprintf("dir=%s live=%s inline=1 open columns samples=3 flush flush samples=5 note=later kill", dir, live)); err == nil {
		t.Fatal(out)
	}
	whole := mustOpen(t, dir)
	noDamage(t, whole)
	if c, _ := sampleNumbers(t, whole); c[0] != [2]int{8, 8} || len(whole.Ranks[0].Notes) != 1 {
		t.Error(c, whole.Ranks[0].Notes)
	}
	lose(t, live)
	run := mustOpen(t, dir)
	noDamage(t, run)
	r := run.Ranks[0]
	if r.State != StateUnreachable || len(r.Columns) != 7 || len(r.Sets) != 2 || r.Sets[1].baseline == nil || len(r.pairs) != 1 || r.Counters.Samples != 6 {
		t.Errorf("%+v", r)
	}
}

// away writes a run whose processes are on another node. This machine sees only the directory.
func away(t *testing.T, s *recordingtest.Stream, chunks []byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", chunks); err != nil {
		t.Fatal(err)
	}
	putManifest(t, dir, s.Manifest("n", "another machine", "/dev/shm/mpitx-not-here.live"))
	return dir
}

func putManifest(t *testing.T, dir string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "live-n-0-1.mpxm"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Recovered ranks are sorted by rank, not by file name.
func TestRecoverOrder(t *testing.T) {
	dir := t.TempDir()
	for _, rank := range []int32{10, 2, 100, 1} {
		b := recordingtest.NewStream(uint64(rank), rank).Manifest("n", "another machine", "/dev/shm/mpitx-not-here.live")
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("live-n-%d-1.mpxm", rank)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Recover(dir, false)
	var ranks []int
	for _, r := range all {
		ranks = append(ranks, r.Rank)
	}
	if err != nil || !slices.Equal(ranks, []int{1, 2, 10, 100}) {
		t.Error(ranks, err)
	}
}

// A growing file is never reported as damaged, wherever it ends so far, and followers get all of it once. A torn chunk is damage after
// its process has ended.
func TestGrowing(t *testing.T) {
	s := counting(1, 0, 20, 5)
	for cut := 1; cut < len(s.Out); cut += 3 {
		dir := away(t, s, s.Out[:cut])
		node := filepath.Join(dir, "node-n.mpxr")
		run := mustOpen(t, dir)
		var got []uint64
		f := run.Follow(Options{As: Raw})
		poll := func() {
			t.Helper()
			if err := f.Poll(func(in *Instant) bool {
				v, _ := in.Cells[0].Value.Uint64()
				got = append(got, v)
				return true
			}); err != nil {
				t.Fatal(err)
			}
		}
		poll()
		if len(run.Damage()) > 0 || run.Ranks[0].State != StateUnreachable || len(got)%5 != 0 {
			t.Fatalf("cut at %d: %v %v %v", cut, run.Damage(), run.Ranks[0].State, got)
		}
		for _, more := range []int{50, 100} {
			if err := os.WriteFile(node, s.Out[:min(cut+more, len(s.Out))], 0o600); err != nil {
				t.Fatal(err)
			}
			poll()
			noDamage(t, run)
		}
		os.WriteFile(node, s.Out, 0o600)
		poll()
		if noDamage(t, run); !slices.Equal(got, upTo(20)) {
			t.Fatalf("cut at %d: %v", cut, got)
		}
		os.WriteFile(node, s.Out[:len(s.Out)-1], 0o600)
		os.Remove(filepath.Join(dir, "live-n-0-1.mpxm"))
		if run := mustOpen(t, dir); len(run.Damage()) != 1 {
			t.Fatalf("its process has ended: %v", run.Damage())
		}
	}
}

// On network file systems, later bytes may be visible before earlier ones. That is not damage, and the missing bytes are read once visible.
func TestHoles(t *testing.T) {
	s := counting(1, 0, 20, 5)
	for at := 1; at < len(s.Out)-88; at += 40 {
		holed := slices.Clone(s.Out)
		clear(holed[at:min(at+40, len(holed))])
		dir := away(t, s, holed)
		run := mustOpen(t, dir)
		raws(run)
		noDamage(t, run)
		if err := os.WriteFile(filepath.Join(dir, "node-n.mpxr"), s.Out, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run.store.Refresh(); err != nil {
			t.Fatal(err)
		}
		run.arrange()
		if got := raws(run); !slices.Equal(got, upTo(20)) || len(run.Damage()) > 0 {
			t.Fatalf("a hole at %d: %v %v", at, got, run.Damage())
		}
	}
}

// Samples whose declarations are in another node's memory (an agent that writes declarations last) are reported once, not per sample. They
// are damage if the declarations can no longer come.
func TestUndeclared(t *testing.T) {
	s := counting(1, 0, 200, 5)
	second := slices.Index(s.Out[1:], 1) + 1
	for string(s.Out[second:second+8]) != recordingtest.Magic {
		second += slices.Index(s.Out[second+1:], 1) + 1
	}
	dir := away(t, s, s.Out[second:])
	run := mustOpen(t, dir)
	if n := counted(run); n != 0 || len(run.Damage()) > 0 || !run.Ranks[0].Undeclared() {
		t.Error(n, run.Damage(), run.Ranks[0].Undeclared())
	}
	os.Remove(filepath.Join(dir, "live-n-0-1.mpxm"))
	run = mustOpen(t, dir)
	if n := counted(run); n != 0 || len(run.Damage()) != 1 {
		t.Error(n, run.Damage())
	}
}

// A memory file of another machine, on a shared file system, does not count as one of a process that died here.
func TestElsewhere(t *testing.T) {
	dir, live := folders(t)
	if out, err := write(t, fmt.Sprintf("dir=%s live=%s open columns samples=10 kill", dir, live)); err == nil {
		t.Fatal(out)
	}
	path, _ := filepath.Glob(filepath.Join(dir, "*.mpxm"))
	b, err := os.ReadFile(path[0])
	if err != nil {
		t.Fatal(err)
	}
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err != nil || string(b[80:116]) != string(id[:36]) {
		t.Fatalf("%q, not %q: %v", b[80:116], id, err)
	}
	copy(b[80:], "12345678-")
	le.PutUint32(b[72:], 0)
	le.PutUint32(b[72:], crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	if err := os.WriteFile(path[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	run := mustOpen(t, dir)
	if noDamage(t, run); run.Ranks[0].State != StateUnreachable {
		t.Error(run.Ranks[0].State)
	}
	if done, err := Recover(dir, false); err != nil || len(done) != 1 || done[0].State != StateUnreachable || done[0].Chunks > 0 {
		t.Errorf("%+v %v", done, err)
	}
	if left := Leftovers(live); len(left) > 0 {
		t.Errorf("%+v", left)
	}
	if err := Discard(dir); err == nil || !fileIn(live, ".live") {
		t.Error("discarded")
	}
	if done, err := Recover(dir, true); err != nil || len(done) != 1 || done[0].State != StateDied || done[0].Err != nil {
		t.Errorf("%+v %v", done, err)
	}
	run = mustOpen(t, dir)
	if c, _ := sampleNumbers(t, run); c[0] != [2]int{10, 10} || run.Ranks[0].State != StateDied {
		t.Error(c, run.Ranks[0].State)
	}
}

// A reader also sees sets that are declared between two polls.
func TestFollowGrowing(t *testing.T) {
	dir, live := folders(t)
	ended := make(chan string)
	writer(t) // skips the test if it cannot be built
	go func() {
		out, _ := write(t, fmt.Sprintf("dir=%s live=%s chunk=8192 chunks=64 open growing=200 close", dir, live))
		ended <- out
	}()
	var run *Run
	for run == nil {
		var err error
		if run, err = Open(dir); err != nil {
			time.Sleep(time.Millisecond)
		}
	}
	defer run.Close()
	f, n := run.Follow(Options{As: Raw}), 0
	for last := false; ; {
		if err := f.Poll(func(*Instant) bool { n++; return true }); err != nil {
			t.Fatal(err)
		}
		if last {
			break
		}
		select {
		case <-ended:
			last = true
		default:
		}
	}
	noDamage(t, run)
	r := run.Ranks[0]
	if c := r.Counters; r.State != StateEnded || n < int(c.Samples) || r.Undeclared() { // the last ones of the dropped samples are yielded too
		t.Errorf("%v %d %+v", r.State, n, c)
	}
}
