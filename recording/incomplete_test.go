package recording

import (
	"slices"
	"strings"
	"testing"
)

// lacking is a process whose counters end in these: how often the agent was refused something, errno, and what.
func lacking(id uint64, rank int32, samples int, lostRows uint64, lacks ...uint64) []byte {
	s := counting(id, rank, samples, samples)
	s.Counters(append([]uint64{uint64(samples), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, lostRows, 0, 0}, lacks...)...)
	s.End(1)
	s.Seal()
	return s.Out
}

// A process for which the agent got no memory is incomplete: all readers see it, and no mean counts it. Older runs, without the counters,
// are complete.
func TestIncomplete(t *testing.T) {
	run := save(t, slices.Concat(lacking(1, 0, 11, 0), lacking(2, 1, 3, 0, 2, 12, 1)))
	noDamage(t, run)
	if r := run.Ranks[0]; r.Incomplete() != "" || run.Excludes(r) {
		t.Errorf("rank 0: %q", r.Incomplete())
	}
	r := run.Ranks[1]
	if got := r.Incomplete(); got != "the agent got no memory (cannot allocate memory)" || !run.Excludes(r) || r.NeedsRoom() || !slices.Equal(run.IncompleteRanks(), []int{1}) {
		t.Errorf("rank 1: %q, %+v", got, r.Counters)
	}
	stats := run.Stats(Options{})
	if s := stats[0]; s.Count != 1 || s.Total.String() != "10" || s.Mean != 10 || !slices.Equal(s.Excluded, []int{1}) {
		t.Errorf("%+v", s)
	}
	for in := range run.Instants(Options{}) {
		if c := in.Cells[0]; (c.Status == Incomplete) != (in.Rank == r) || !c.Status.HasValue() {
			t.Error(in.Rank.Rank, c.Status)
		}
	}
}

// If all are incomplete, means are of all.
func TestAllIncomplete(t *testing.T) {
	run := save(t, slices.Concat(lacking(1, 0, 11, 3), lacking(2, 1, 3, 0, 1, 28, 2)))
	for i, want := range []string{"no room for all of its tables", "could not make a file in memory (no space left on device)"} {
		if r := run.Ranks[i]; !strings.HasSuffix(r.Incomplete(), want) || run.Excludes(r) || !r.NeedsRoom() {
			t.Errorf("rank %d: %q", i, r.Incomplete())
		}
	}
	both := save(t, lacking(3, 0, 3, 0, 2, 24, 3)).Ranks[0].Incomplete()
	if both != "the agent got neither memory nor files (too many open files)" {
		t.Errorf("both: %q", both)
	}
	if s := run.Stats(Options{})[0]; s.Count != 2 || s.Total.String() != "12" || s.Excluded != nil {
		t.Errorf("%+v", s)
	}
}
