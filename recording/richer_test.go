//go:build linux

package recording

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/fixtures/mutate"
)

// readEvents checks the events of testdata/events.c. It returns the number of messages of each thread and of all lost events.
func readEvents(t *testing.T, run *Run) (messages map[int]int, lost uint64) {
	t.Helper()
	messages = map[int]int{}
	marks, last, bad := map[int]int{}, map[int]int64{}, 0
	before := int64(-1 << 63)
	for e := range run.Events(Options{}) {
		if int64(e.Time) < before {
			t.Errorf("time goes back from %v to %v", before, e.Time)
		}
		before = int64(e.Time)
		if e.Type == nil {
			lost += e.Lost
			continue
		}
		n, count := uint64(0), marks
		if e.Type.Name == "message" {
			n, _ = e.Values[0].Uint64()
			n, count = n/3, messages
		} else {
			n, _ = e.Values[2].Uint64()
		}
		if count[e.Thread]++; bad < 5 && fmt.Sprint(e.Values) != expectedEvent(e.Type.Name, n) {
			bad++
			t.Errorf("thread %d: %s %v, not %s", e.Thread, e.Type.Name, e.Values, expectedEvent(e.Type.Name, n))
		}
		if before := last[e.Thread]; int64(n) < before || int64(n) > before+1 && lost == 0 {
			t.Errorf("thread %d: event %d after %d", e.Thread, n, before)
		}
		last[e.Thread] = int64(n)
	}
	for thread, n := range messages {
		if run.Ranks[0].Counters.LostEvents == 0 && marks[thread] != n {
			t.Errorf("thread %d has %d messages and %d marks", thread, n, marks[thread])
		}
	}
	return messages, lost
}

func expectedEvent(name string, n uint64) string {
	if name == "message" {
		return fmt.Sprintf("[%d %d %s %v %d]", n*3, -int32(n), []string{"MPI_Send", "MPI_Recv"}[n&1], float64(n)/4, 0x1000+n)
	}
	return fmt.Sprintf("[%d %d %d 7 4294967295]", uint8(n), int16(-n), n)
}

// readRows checks the rows that each of the threads of write_rows in testdata/events.c wrote. They may have lost some in all.
func readRows(t *testing.T, run *Run, written, threads, lost int) {
	t.Helper()
	next, found := uint64(0), 0
	for r := range run.Rows(Options{}) {
		if len(r.Values()) == 0 {
			t.Fatalf("a row has no values: %+v", r)
		}
		n, _ := r.Values()[0].Uint64()
		if n < next || n > next && lost == 0 {
			t.Errorf("the row of site %d follows that of site %d", n, int64(next)-1)
		}
		next = n + 1
		m := uint64(len(r.Threads))
		found += len(r.Threads)
		least, sizes := 1.0, [4]uint64{}
		for k := uint64(1); k <= n; k++ {
			sizes[k&3] += m
		}
		if n == 0 {
			least = 1e9
		}
		want := fmt.Sprintf("[%d %s %d %d %d %v %d %d %d %d]", n, []string{"MPI_Send", "MPI_Recv"}[n&1], n*m, n*(n+1)/2*m, n, FloatValue(least),
			sizes[0], sizes[1], sizes[2], sizes[3])
		if got := fmt.Sprint(r.Values()); got != want || len(r.Threads) > threads || r.Torn {
			t.Fatalf("row %d: %s, not %s; of threads %d, torn: %v", n, got, want, r.Threads, r.Torn)
		}
	}
	if found != written*threads-lost || next > uint64(written) {
		t.Errorf("%d rows of %d threads, the last of site %d; %d of %d are lost", found, threads, int64(next)-1, lost, written*threads)
	}
}

func total(counts map[int]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// Events and rows of one thread and of several are read back from a process that ended, one that was killed, and one that was recovered.
func TestEventsAndTables(t *testing.T) {
	for _, script := range []string{"inline=0", "inline=1 chunk=8192", "inline=0 chunk=8192", "policy=keep max=4000000000 inline=1"} {
		for _, end := range []string{"close", "kill"} {
			dir, live := folders(t)
			out, err := write(t, fmt.Sprintf("dir=%s live=%s %s open columns kinds events=3000 samples=20 together=2000 library note=x %s", dir, live, script, end))
			if (err == nil) != (end == "close") || !strings.Contains(out, " fit") {
				t.Fatal(err, out)
			}
			check := func(state State) {
				t.Helper()
				run := mustOpen(t, dir)
				noDamage(t, run)
				messages, lost := readEvents(t, run)
				r := run.Ranks[0]
				missing := int(r.Counters.LostEvents) // a busy machine may lose some
				if n := total(messages); r.State != state || n > 11000 || n+missing < 11000 || len(messages) != 5 && missing == 0 || int(lost) > missing {
					t.Errorf("%s %s: %v, messages %v, lost %d, %+v", script, end, r.State, messages, lost, r.Counters)
				}
				readRows(t, run, 40, 4, int(r.Counters.LostRows)) // a thread that waits for room too long loses rows too
				checkModules(t, run.Ranks[0], end == "close")
				if counts, _ := sampleNumbers(t, run); counts[0] != [2]int{20, 20} {
					t.Errorf("samples: %v", counts)
				}
				noDamage(t, run)
			}
			if end == "close" {
				check(StateEnded)
			} else {
				check(StateDied)
				if done, err := Recover(dir, false); err != nil || len(done) != 1 || done[0].Err != nil || done[0].Chunks < 3 {
					t.Fatalf("%+v %v", done, err)
				}
				check(StateDied)
			}
			if left, _ := os.ReadDir(live); len(left) > 0 {
				t.Errorf("%s %s: left behind: %v", script, end, left)
			}
		}
	}
}

func checkModules(t *testing.T, r *Rank, ended bool) {
	t.Helper()
	program, err := filepath.EvalSymlinks(writer(t))
	if err != nil {
		t.Fatal(err)
	}
	seen, loaded := map[string]int{}, false
	for _, m := range r.Modules {
		if seen[m.Path]++; m.Start >= m.End || r.Module(m.Start) == nil || r.Module(m.End-1).Path != m.Path || m.Path == "" {
			t.Errorf("%+v", m)
		}
		loaded = loaded || strings.HasPrefix(filepath.Base(m.Path), "libm.so")
		if m.Path == program {
			if want := buildID(t, program); m.BuildID != want {
				t.Errorf("build id %s, not %s", m.BuildID, want)
			}
		}
	}
	if seen[program] != 1 || len(seen) < 3 || loaded != ended {
		t.Errorf("modules %v, ended: %v", seen, ended)
	}
	if m := r.Module(1); m != nil {
		t.Errorf("%+v", m)
	}
}

// buildID is a program's build ID from the linker; "" if it has none.
func buildID(t *testing.T, path string) string {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	b, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", b[16:])
}

// duringWrite reads a run repeatedly until the writer has finished its script.
func duringWrite(t *testing.T, dir, script string, look func(*Run)) {
	t.Helper()
	cmd := exec.Command(writer(t), strings.Fields(script+" note=done wait close")...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for done := false; !done && !t.Failed(); {
		run, err := Open(dir)
		if err != nil {
			continue
		}
		if r := run.Ranks[0]; len(r.Tables) > 0 {
			done = len(r.Notes) > 0
			look(run)
		}
		noDamage(t, run)
		run.Close()
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// The events of a running process are read without a gap.
func TestEventsOfARunningProcess(t *testing.T) {
	dir, live := folders(t)
	duringWrite(t, dir, fmt.Sprintf("dir=%s live=%s chunk=8192 pool=100000000 open kinds events=10000 together=5000", dir, live), func(run *Run) {
		readEvents(t, run)
	})
	run := mustOpen(t, dir)
	noDamage(t, run)
	messages, lost := readEvents(t, run)
	if r := run.Ranks[0]; r.State != StateEnded || r.Counters.LostEvents == 0 && total(messages) != 30000 {
		t.Errorf("%v, %v, lost %d", r.State, messages, lost)
	}
}

// A row that changes all the time is read consistently, or reported as torn.
func TestRowOfARunningProcess(t *testing.T) {
	dir, live := folders(t)
	duringWrite(t, dir, fmt.Sprintf("dir=%s live=%s open kinds hot=100000000", dir, live), func(run *Run) {
		for range 200 {
			for row := range run.Rows(Options{}) {
				calls, _ := row.Values()[2].Uint64()
				sum := Value{}
				for _, v := range row.FieldValues(&run.Ranks[0].Tables[0].Fields[6]) { // the row spans two cache lines
					sum = sum.plus(v)
				}
				if bytes, _ := row.Values()[3].Uint64(); !row.Torn && (bytes != calls*(calls+1)/2 || sum.String() != fmt.Sprint(calls)) {
					t.Fatalf("%d calls, %d bytes, %v", calls, bytes, row.Values())
				}
			}
		}
	})
}

// A row whose change did not complete is read with its values from before or after.
func TestTornRow(t *testing.T) {
	dir, live := folders(t)
	write(t, fmt.Sprintf("dir=%s live=%s open kinds rows=3 torn kill", dir, live))
	for range 2 {
		run := mustOpen(t, dir)
		noDamage(t, run)
		rows := slices.Collect(run.Rows(Options{}))
		if len(rows) != 4 || rows[2].Torn || !rows[3].Torn || fmt.Sprint(rows[3].Values()[:4]) != "[1000 MPI_Send 2 5]" {
			t.Errorf("%d rows, the last one %+v", len(rows), rows[len(rows)-1])
		}
		if _, err := Recover(dir, false); err != nil {
			t.Fatal(err)
		}
	}
}

// An event of a stream that never waits is lost and counted if its chunk is full while another thread holds the run's lock. Later events are
// recorded again.
func TestEventsThatNeverWait(t *testing.T) {
	for _, how := range []string{"inline=0", "inline=1"} {
		dir, live := folders(t)
		out := mustWrite(t, fmt.Sprintf("dir=%s live=%s %s chunk=8192 open kinds busy=1000 close", dir, live, how))
		run := mustOpen(t, dir)
		noDamage(t, run)
		n, lost := uint64(0), uint64(0)
		for e := range run.Events(Options{}) {
			if e.Type == nil {
				lost += e.Lost
			} else {
				n++
			}
		}
		if c := run.Ranks[0].Counters.LostEvents; n+lost != 2002 || lost == 0 || c != lost || strings.Count(out, "busy did not wait lost ") != 1 || strings.Count(out, "busy waited lost ") != 1 {
			t.Errorf("%s: %d events, %d lost, %d counted\n%s", how, n, lost, c, out)
		}
	}
}

// A forked child has its parent's rows mapped, and must not change them.
func TestForkedEvents(t *testing.T) {
	dir, live := folders(t)
	out := mustWrite(t, fmt.Sprintf("dir=%s live=%s open kinds child close", dir, live))
	run := mustOpen(t, dir)
	noDamage(t, run)
	n := 0
	for range run.Events(Options{}) {
		n++
	}
	if rows := slices.Collect(run.Rows(Options{})); n != 1 || len(rows) != 1 || rows[0].Torn || !strings.Contains(out, "forked 0 errno 77") {
		t.Errorf("%d events, %+v, %s", n, rows, out)
	}
}

// Threads that continue to write while the process aborts do no harm.
func TestDyingWithThreads(t *testing.T) {
	for _, how := range []string{"inline=0", "inline=1"} {
		dir, live := folders(t)
		mustWrite(t, fmt.Sprintf("dir=%s live=%s %s chunk=8192 open kinds dying", dir, live, how))
		run := mustOpen(t, dir)
		hasty := run.Ranks[0].State == StateDied // a thread held the lock and had no core: a dying process does not wait for it
		if hasty {
			if _, err := Recover(dir, false); err != nil {
				t.Fatal(err)
			}
			run = mustOpen(t, dir)
		}
		n := 0
		for e := range run.Events(Options{}) {
			if e.Type != nil && e.Type.Name == "message" {
				if v, _ := e.Values[0].Uint64(); fmt.Sprint(e.Values) != expectedEvent("message", v/3) {
					t.Fatalf("%v", e.Values)
				}
				n++
			}
		}
		for row := range run.Rows(Options{}) {
			if undeclared := len(row.Values()) < 8; undeclared && !hasty || !undeclared && !row.Torn && row.Values()[7].Kind == None {
				t.Errorf("%+v", row)
			}
		}
		if noDamage(t, run); !hasty && (run.Ranks[0].End != EndAbort || run.Ranks[0].State != StateEnded) {
			t.Errorf("%v %v, %d messages", run.Ranks[0].End, run.Ranks[0].State, n)
		}
		if left, _ := os.ReadDir(live); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// Random memory files of a dead process yield an error or fewer records, nothing else.
func TestDamagedMemory(t *testing.T) {
	folder := mutate.Folder(t)
	dir, live := filepath.Join(folder, "run"), folder
	write(t, fmt.Sprintf("dir=%s live=%s chunk=8192 inline=1 open kinds events=200 rows=5 torn kill", dir, live))
	files, _ := filepath.Glob(filepath.Join(live, "*.live"))
	if len(files) < 2 {
		t.Fatal(files)
	}
	undamaged, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	saved := map[string][]byte{}
	for _, e := range undamaged {
		saved[filepath.Join(dir, e.Name())], _ = os.ReadFile(filepath.Join(dir, e.Name()))
	}
	for _, f := range files {
		saved[f], _ = os.ReadFile(f)
	}
	for _, f := range files {
		for at := 0; at < len(saved[f]); at += 13 + at/2048*61 {
			for path, b := range saved {
				if path == f {
					b = bytes.Clone(b)
					b[at] ^= 0x41
				}
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				run, err := Open(dir)
				if err != nil {
					t.Fatal(err)
				}
				formatAll(run)
				run.Close()
				if _, err := Recover(dir, false); err != nil {
					t.Fatal(err)
				}
			}
			os.Remove(filepath.Join(dir, "node-node1.mpxr"))
		}
	}
}

// A run with events and tables, written when they were new.
func TestOldEvents(t *testing.T) {
	run := mustOpen(t, filepath.Join("testdata", "v1-richer"))
	if messages, lost := readEvents(t, run); total(messages) != 20 || lost != 0 || run.Ranks[0].Module(0) != nil || len(run.Ranks[0].Modules) == 0 {
		t.Error(messages, lost, run.Ranks[0].Modules)
	}
	readRows(t, run, 5, 1, 0)
	noDamage(t, run)
}

// Beyond the budget, the newest events are kept if the newest samples are.
func TestLastEvents(t *testing.T) {
	dir, live := folders(t)
	mustWrite(t, fmt.Sprintf("dir=%s live=%s policy=keep max=300000 inline=1 open kinds rows=5 events=60000 close", dir, live))
	run := mustOpen(t, dir)
	noDamage(t, run)
	var first, last, n uint64
	for e := range run.Events(Options{}) {
		if e.Type != nil && e.Type.Name == "message" {
			if last, _ = e.Values[0].Uint64(); n == 0 {
				first = last
			}
			n++
		}
	}
	if size := sizeOf(dir); first == 0 || last != 3*59999 || n != (last-first)/3+1 || n < 2000 || size > 300000+3*65536 {
		t.Errorf("%d events from %d to %d in %d bytes", n, first/3, last/3, size)
	}
	readRows(t, run, 5, 1, 0)
}

// Threads that start and exit one after another reuse the same memory.
func TestShortThreads(t *testing.T) {
	dir, live := folders(t)
	mustWrite(t, fmt.Sprintf("dir=%s live=%s chunk=8192 pool=100000 mostthreads=2 open kinds tasks=300 close", dir, live))
	run := mustOpen(t, dir)
	noDamage(t, run)
	if messages, lost := readEvents(t, run); total(messages) != 300 || len(messages) < 2 || lost != 0 {
		t.Errorf("%v, lost %d", messages, lost)
	}
	dir, live = folders(t)
	mustWrite(t, fmt.Sprintf("dir=%s live=%s mostthreads=1 open kinds together=10000 close", dir, live))
	run = mustOpen(t, dir)
	n := 0
	for range run.Events(Options{}) {
		n++
	}
	if r := run.Ranks[0]; r.State != StateEnded || n+int(r.Counters.LostEvents) != 80000 || n == 0 {
		t.Errorf("%v, %d events, %+v", r.State, n, r.Counters)
	}
}

// No thread loses events while others that begin at the same time make room for themselves.
func TestThreadsThatBeginTogether(t *testing.T) {
	const all, tries = 64 * 200, 20
	for try := 1; ; try++ {
		dir, live := folders(t)
		mustWrite(t, fmt.Sprintf("dir=%s live=%s chunk=262144 pool=67108864 open kinds begin=64 close", dir, live))
		run := mustOpen(t, dir)
		noDamage(t, run)
		n := 0
		for range run.Events(Options{}) {
			n++
		}
		lost := int(run.Ranks[0].Counters.LostEvents)
		if n == all && lost == 0 {
			return
		}
		if n+lost != all || try == tries { // a thread that gets no core while it creates a file is not waited for long
			t.Fatalf("try %d: %d events, %d lost", try, n, lost)
		}
	}
}

// Dropped events are counted, and the reader yields where they are missing: out of memory, disk full, beyond the budget.
func TestNoRoomForEvents(t *testing.T) {
	for _, c := range []struct{ name, script, live, dir string }{
		{"pool", "pool=200000 fsize=60000 chunk=8192 open kinds events=30000 rows=10 kill", "", ""},
		{"live", "chunk=8192 fsize=300000 open kinds events=60000 rows=10 kill", "size=300k", ""},
		{"disk", "chunk=8192 pool=400000 open kinds events=60000 rows=10 close", "", "size=100k"},
		{"killed", "chunk=8192 pool=400000 open kinds events=60000 rows=10 kill", "", "size=100k"},
		{"budget", "max=300000 inline=1 open kinds rows=10 events=60000 close", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, live := folders(t)
			if c.live != "" {
				mount(t, live, c.live)
			}
			if c.dir != "" {
				mount(t, dir, c.dir)
			}
			events := 30000
			if strings.Contains(c.script, "events=60000") {
				events = 60000
			}
			out, _ := write(t, fmt.Sprintf("dir=%s live=%s wait=3000 %s", dir, live, c.script))
			check := func() {
				t.Helper()
				run := mustOpen(t, dir)
				noDamage(t, run)
				n, seen := 0, uint64(0)
				for e := range run.Events(Options{}) {
					if e.Type == nil {
						seen += e.Lost
					} else {
						n++
					}
				}
				r := run.Ranks[0]
				if r.Counters.LostEvents == 0 || uint64(n)+r.Counters.LostEvents != uint64(2*events) || seen > r.Counters.LostEvents || n == 0 {
					t.Errorf("%d events of %d, %d seen to be lost, %+v\n%s", n, 2*events, seen, r.Counters, out)
				}
				lost := int(r.Counters.LostRows) // out of memory, rows may be lost too: it depends on who comes first
				if lost > 0 && c.name != "pool" && c.name != "live" {
					t.Errorf("%d rows are lost", lost)
				}
				readRows(t, run, 10, 1, lost)
			}
			check()
			if c.dir != "" {
				remount(t, dir)
			}
			for range 2 {
				if done, err := Recover(dir, false); err != nil || len(done) > 1 || len(done) == 1 && done[0].Err != nil {
					t.Errorf("%+v %v", done, err)
				}
			}
			check()
			if left, _ := os.ReadDir(live); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if info, err := os.Stat(filepath.Join(dir, "node-node1.mpxr")); c.name == "budget" && (err != nil || info.Size() > 300000) {
				t.Errorf("%d bytes of 300000", info.Size())
			}
		})
	}
}

// All memory files of a process belong to one leftover and are removed together.
func TestLeftoverFiles(t *testing.T) {
	script := func(dir, live string) string {
		return fmt.Sprintf("dir=%s live=%s chunk=8192 fsize=140000 open kinds events=5000 rows=100 kill", dir, live)
	}
	dir, live := folders(t)
	write(t, script(dir, live))
	files, _ := filepath.Glob(filepath.Join(live, "*.live"))
	size := sizeOf(live)
	left := Leftovers(live)
	if len(files) < 3 || len(left) != 1 || !left[0].Known || left[0].Size != size {
		t.Fatalf("%q: %+v", files, left)
	}
	os.RemoveAll(dir)
	if left = Leftovers(live); len(left) != 1 || left[0].Known || left[0].Remove() != nil {
		t.Errorf("%+v", left)
	}
	if files, _ := os.ReadDir(live); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
	write(t, script(dir, live))
	if err := Discard(dir); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(live); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

// A process that died before the run referred to its memory file leaves nothing, whether its manifest was written or not.
func TestRecoverUnstarted(t *testing.T) {
	for _, part := range []string{"a whole manifest", "a part of it", "no manifest"} {
		dir, _ := folders(t)
		if out, err := write(t, fmt.Sprintf("dir=%s live=/dev/shm rank=1 open columns samples=10 kill", dir)); err == nil {
			t.Fatal(out)
		}
		manifests, _ := filepath.Glob(filepath.Join(dir, "*.mpxm"))
		if len(manifests) != 1 {
			t.Fatal(manifests)
		}
		emptySlots(t, dir)
		temporary := manifests[0] + ".tmp"
		if err := os.Rename(manifests[0], temporary); err != nil {
			t.Fatal(err)
		}
		switch part {
		case "a part of it":
			os.Truncate(temporary, 40)
		case "no manifest":
			os.Remove(temporary)
		}
		all, err := Recover(dir, false)
		if err != nil || len(all) != 1 || !all[0].Unstarted || all[0].Err != nil || all[0].Rank != 1 || all[0].PID == 0 {
			t.Errorf("%s: %+v, %v", part, all, err)
		}
		if fileIn(dir, ".tmp") {
			t.Errorf("%s: its temporary manifest is left", part)
		}
		for _, l := range Leftovers("/dev/shm") {
			if l.Dir == dir {
				t.Errorf("%s: its memory file is left", part)
				l.Remove()
			}
		}
	}
}

// emptySlots removes everything recorded from a run's memory file in /dev/shm.
func emptySlots(t *testing.T, dir string) {
	t.Helper()
	for _, l := range Leftovers("/dev/shm") {
		if l.Dir != dir {
			continue
		}
		if err := errors.Join(os.Truncate(l.Path, 4096), os.Truncate(l.Path, l.Size)); err != nil {
			t.Fatal(err)
		}
	}
}

// The memory of a run that was moved stays where it is when another run in its place is recovered.
func TestRecoverInPlaceOfAnother(t *testing.T) {
	dir, _ := folders(t)
	moved := dir + ".moved"
	script := fmt.Sprintf("dir=%s live=/dev/shm open columns samples=10 kill", dir)
	write(t, script)
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	write(t, script)
	if all, err := Recover(dir, false); err != nil || len(all) != 2 || (all[0].Err == nil) == (all[1].Err == nil) {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := Recover(moved, false); err != nil || len(all) != 1 || all[0].Err != nil || all[0].Chunks == 0 {
		t.Errorf("%+v, %v", all, err)
	}
	for _, d := range []string{dir, moved} {
		if counts, _ := sampleNumbers(t, mustOpen(t, d)); counts[0] != [2]int{10, 10} {
			t.Errorf("%s: %v", d, counts)
		}
	}
}

// A further live file that cannot be opened is an error, and nothing is removed.
func TestRecoverUnopened(t *testing.T) {
	dir, live := folders(t)
	write(t, fmt.Sprintf("dir=%s live=%s chunk=8192 open kinds events=1000 rows=10 kill", dir, live))
	further, _ := filepath.Glob(filepath.Join(live, "*-1.live"))
	if len(further) != 1 {
		t.Fatalf("%q", further)
	}
	aside := further[0] + ".aside"
	if err := errors.Join(os.Rename(further[0], aside), os.Mkdir(further[0], 0o700)); err != nil {
		t.Fatal(err)
	}
	if done, err := Recover(dir, false); err != nil || len(done) != 1 || done[0].Err == nil {
		t.Errorf("%+v %v", done, err)
	}
	if err := errors.Join(os.Remove(further[0]), os.Rename(aside, further[0])); err != nil {
		t.Fatal(err)
	}
	if done, err := Recover(dir, false); err != nil || len(done) != 1 || done[0].Err != nil {
		t.Errorf("%+v %v", done, err)
	}
	readRows(t, mustOpen(t, dir), 10, 1, 0)
}
