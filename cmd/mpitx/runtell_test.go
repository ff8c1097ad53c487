//go:build cgo && linux

package main

import (
	"path/filepath"
	"slices"
	"testing"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// What could not be written is said by the file system's own error; without one, no disk is blamed.
func TestMissing(t *testing.T) {
	for errno, want := range map[uint64]string{
		28:  "of 40 samples 30 are missing: 30 could not be written (no space left on device)",
		122: "of 40 samples 30 are missing: 30 could not be written (disk quota exceeded)",
		5:   "of 40 samples 30 are missing: 30 could not be written (input/output error)",
		0:   "of 40 samples 30 are missing: 30 found all buffers waiting to be written (sample less often, or fewer variables)",
	} {
		s := recordingtest.NewStream(1, 0)
		s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
		s.Clock(0, 0, 1e18, 0)
		s.Counters(10, 0, 0, 30, 0, 0, 0, 3, 2, 0, 1e9, errno)
		s.Seal()
		dir := filepath.Join(t.TempDir(), "run")
		if err := recordingtest.Save(dir, "n", s.Out); err != nil {
			t.Fatal(err)
		}
		run, err := recording.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := missing(&run.Ranks[0].Counters, unwritten(run)); got != want {
			t.Error(got)
		}
		run.Close()
	}
	c := recording.Counters{Samples: 3, Missed: 2, OverBudget: 1}
	if got, want := missing(&c, "?"), "of 6 samples 3 are missing: 2 not taken in time, 1 beyond --max-size"; got != want {
		t.Error(got)
	}
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
