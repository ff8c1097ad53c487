package where

import (
	"encoding/binary"
	"slices"
	"testing"

	"mpitx/fixtures/mutate"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// stuck is a run in which each of two ranks is in a call with a request, and waits for the other.
func stuck(size int) (chunks []byte) {
	objects := []recordingtest.Field{}
	for _, name := range []string{"id", "kind", "size", "rank", "parent", "order", "freed", "group", "collectives", "handle", "side"} {
		objects = append(objects, recordingtest.Field{Name: name, Type: 4})
	}
	states := []recordingtest.Field{{Name: "function", Type: 3, Meaning: 1}, {Name: "pending_function", Type: 3, Meaning: 1, Count: 2}, {Name: "spare", Type: 3}}
	numbers := []string{"thread", "inside", "arguments", "calls", "progress", "seen", "since", "beat", "moved", "handle", "peer", "tag", "source", "source_tag", "bytes", "collective",
		"address", "site", "sited", "looked", "listed", "pending", "asleep", "working", "nested", "left"}
	for _, name := range numbers {
		states = append(states, recordingtest.Field{Name: name, Type: 4})
	}
	for _, name := range []string{"pending_handle", "pending_peer", "pending_tag"} {
		states = append(states, recordingtest.Field{Name: name, Type: 4, Count: 2})
	}
	le := binary.LittleEndian
	for rank := range 2 {
		s := recordingtest.NewStream(uint64(rank)+1, int32(rank))
		s.Header(recordingtest.Header{Rank: int32(rank), Size: int32(size), Clock: 2, NsPerTick: 0.5, Host: "n"})
		s.Clock(1000, 1e9, 1e18, 0)
		s.Table(0, "objects", 1, 8+8*len(objects), objects...)
		s.Table(1, "where", 1, 8+4*4+8*(len(numbers)+6), states...)
		s.Text(0, "MPI_Waitall")
		s.Text(1, "MPI_Irecv")
		row := func(values ...uint64) []byte {
			b := le.AppendUint32(le.AppendUint32(nil, 2), 4711)
			for _, v := range values {
				b = le.AppendUint64(b, v)
			}
			return b
		}
		s.Rows(0, 8+8*len(objects), row(1, 0, 2, uint64(rank), 0, 0, 0, 7, 3, 99, 0))
		state := map[string]uint64{"thread": 4711, "inside": 1, "arguments": argObject | argSource | argTag, "calls": 5, "progress": 4, "seen": 11, "since": 1e9, "beat": 2e9, "handle": 99,
			"peer": uint64(1 - rank), "tag": 7, "looked": 5, "listed": 2, "pending": 2}
		b := row(0, 1<<32|1) // the function, those of the requests
		for _, name := range numbers {
			b = le.AppendUint64(b, state[name])
		}
		for _, v := range []uint64{99, 99, uint64(1 - rank), uint64(1 - rank), 7, 8} {
			b = le.AppendUint64(b, v)
		}
		s.Rows(1, 8+4*4+8*(len(numbers)+6), b)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return chunks
}

// A damaged run may claim any number of ranks.
func TestDamagedSize(t *testing.T) {
	defer func(most int) { maxRanks = most }(maxRanks)
	maxRanks = 1 << 14 // for speed
	for size, want := range map[int]int{2: 2, 1000: 1000, 1 << 30: maxRanks} {
		dir := t.TempDir()
		if err := recordingtest.Save(dir, "n", stuck(size)); err != nil {
			t.Fatal(err)
		}
		run, err := recording.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		job := Read(run, nil)
		if Analyze(job); len(job.Processes) != want {
			t.Errorf("%d processes of %d", len(job.Processes), size)
		}
		run.Close()
	}
}

// An input is edits of this run, with valid checksums.
func FuzzRead(f *testing.F) {
	defer func(most int) { maxRanks = most }(maxRanks)
	maxRanks = 1 << 10 // for speed: most edits of the size make it large
	small := stuck(2)
	dir := mutate.Folder(f)
	open := func(t testing.TB, b []byte) *recording.Run {
		if err := recordingtest.Save(dir, "n", b); err != nil {
			t.Fatal(err)
		}
		run, err := recording.Open(dir)
		if err != nil {
			return nil
		}
		return run
	}
	run := open(f, small)
	if job := Read(run, nil); len(job.Processes) != 2 || !slices.ContainsFunc(job.Processes, func(p *Process) bool { return len(p.Threads) == 1 && len(p.Threads[0].Pending) == 2 }) {
		f.Fatalf("%+v %v", job, run.Damage())
	}
	run.Close()
	f.Add([]byte{})
	f.Add([]byte("\x02\x0c\x00\x02\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		b := mutate.Bytes(small, script)
		recordingtest.Fix(b)
		run := open(t, b)
		if run == nil {
			return
		}
		defer run.Close()
		job := Read(run, nil)
		if len(job.Processes) > maxRanks+len(run.Ranks) {
			t.Errorf("%d processes", len(job.Processes))
		}
		for _, p := range job.Processes {
			for _, thread := range p.Threads {
				if len(thread.Pending) > 2 {
					t.Errorf("%d requests", len(thread.Pending))
				}
			}
		}
		Analyze(job)
	})
}
