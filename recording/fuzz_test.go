package recording

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mpitx/fixtures/mutate"
	"mpitx/recording/recordingtest"
)

// An input is edits of a file of last values, with valid checksums. Samples must stay as they are. Each set may yield at most
// one row from the file, not older than its samples.
func FuzzLasts(f *testing.F) {
	s := counting(1, 0, 6, 3)
	dir := mutate.Folder(f)
	if err := recordingtest.Save(dir, "n", s.Out); err != nil {
		f.Fatal(err)
	}
	s.Out = s.Out[:0]
	s.Last(0, 9000, le.AppendUint64(nil, 9), []byte{0}, 1)
	s.Last(0, 7000, le.AppendUint64(nil, 7), nil, 1)
	s.Note(5, 1, 2, "a note")
	s.Counters(6, 0, 3)
	s.Seal()
	small, tail := s.Out, filepath.Join(dir, "tail-1.mpxt")
	f.Add([]byte{})
	f.Add([]byte("\x02\x58\x00\x02\x00"))
	f.Add([]byte("\x03\x68\x00\x0b\x00"))
	f.Add([]byte("\x06\x58\x00\x57\x00"))
	f.Add([]byte("\x07\x90\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		b := mutate.Bytes(small, script)
		recordingtest.Fix(b)
		if err := os.WriteFile(tail, b, 0o600); err != nil {
			t.Fatal(err)
		}
		run, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		var samples []uint64
		given, newest := map[int]bool{}, time.Duration(-1<<63)
		for in := range run.Instants(Options{As: Raw}) {
			if in.Rank.process.Stream != 1 {
				continue
			}
			switch {
			case in.Time < newest:
				t.Errorf("%v after %v", in.Time, newest)
			case !in.Last:
				v, _ := in.Cells[0].Value.Uint64()
				samples = append(samples, v)
			case given[in.Set.ID]:
				t.Errorf("two last rows of set %d", in.Set.ID)
			default:
				given[in.Set.ID] = true
			}
			newest = max(newest, in.Time)
		}
		if !slices.Equal(samples, []uint64{0, 1, 2, 3, 4, 5}) {
			t.Errorf("%v: %v", samples, run.Damage())
		}
		if len(script) == 0 && !given[0] {
			t.Error("the last row was not read")
		}
		run.Stats(Options{As: Rate})
	})
}
