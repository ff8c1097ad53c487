//go:build cgo && linux

package runs

import (
	"slices"
	"testing"

	"mpitx/recording"
	"mpitx/recording/trace"
)

func TestGapLines(t *testing.T) {
	run := &recording.Run{Ranks: []*recording.Rank{{}, {Rank: 1}}}
	gaps := []trace.EventGap{{Gap: trace.OnlyCounted, Name: "a", Reason: "it crashes", Count: 2, Ranks: []int{0, 1}}, {Gap: trace.Backwards, Name: "s", Count: 1, Ranks: []int{1}},
		{Gap: trace.Silent, Name: "quiet", Ranks: []int{0, 1}}, {Gap: trace.Silent, Name: "other", Ranks: []int{0, 1}}}
	got := GapLines(run, gaps, []string{"o*", "Quiet"})
	want := []string{"2 events of a counted, not recorded: it crashes", "rank 1: the clock of event source s went back 1 time",
		"no quiet was raised while events were recorded, after MPI_Init and before MPI_Finalize"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
