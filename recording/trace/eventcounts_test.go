package trace

import (
	"fmt"
	"slices"
	"testing"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// Each finding comes once for all its ranks.
func TestEventGaps(t *testing.T) {
	rank := func(types []recordingtest.EventType, backwards, peruse uint64) func(*recordingtest.Trace) {
		return func(x *recordingtest.Trace) {
			x.Queued(5000, 7, 1, 0, 7)
			x.EventTypes(types...)
			x.Sources(recordingtest.Source{Name: "clock", Backwards: backwards}, recordingtest.Source{Index: 1, Name: "good"})
			x.PeruseType("PERUSE_COMM_MSG_ARRIVED", peruse, peruse, 0)
		}
	}
	type types = []recordingtest.EventType
	run := save(t,
		rank(types{{Name: "a", Received: 7, Recorded: 5, Refused: 2, Dropped: 3}, {Name: "b", Received: 4, Reason: "it crashes"}, {Name: "none"}}, 1, 2),
		rank(types{{Name: "a", Received: 2, Recorded: 2, Dropped: 4, Late: 1}, {Name: "b", Received: 1, Reason: "it crashes"}, {Name: "none"}}, 2, 0),
		rank(types{{Name: "a", Received: 1, Recorded: 1}, {Name: "b", Reason: "it crashes"}, {Name: "none"}}, 0, 0))
	for _, d := range run.Damage() {
		t.Error(d)
	}
	got := fmt.Sprint(EventGaps(run, nil))
	if want := fmt.Sprint([]EventGap{{OnlyCounted, "b", "it crashes", 5, []int{0, 1}}, {Refused, "a", "", 2, []int{0}}, {Late, "a", "", 1, []int{1}},
		{Dropped, "a", "", 7, []int{0, 1}}, {Backwards, "clock", "", 3, []int{0, 1}}, {Silent, "none", "", 0, []int{0, 1, 2}}}); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	one := EventGaps(run, func(r *recording.Rank) bool { return r.Rank == 2 })
	if !slices.ContainsFunc(one, func(g EventGap) bool { return g.Gap == Silent && g.Name == "PERUSE_COMM_MSG_ARRIVED" }) || len(one) != 3 {
		t.Errorf("%+v", one)
	}
	// Refused events of a rank that has lost events are in Totals.LostEvents.
	run.Ranks[0].Counters.LostEvents = 2
	if all := EventGaps(run, nil); slices.ContainsFunc(all, func(g EventGap) bool { return g.Gap == Refused }) {
		t.Errorf("%+v", all)
	}
}
