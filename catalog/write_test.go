package catalog

import (
	"slices"
	"testing"
)

func TestSameOutcomes(t *testing.T) {
	on := func(name string, rank int, host string, r WriteResult) Outcome {
		return Outcome{Name: name, Rank: rank, Host: host, Result: r}
	}
	all := Outcomes{on("b", 3, "n2", WriteOK), on("b", 0, "n1", WriteOK), on("a", 1, "n1", WriteOK), on("b", 1, "n1", WriteNever), on("a", 0, "n1", WriteOK)}
	want := []SameOutcome{{on("a", 0, "", WriteOK), []int{0, 1}}, {on("b", 0, "", WriteOK), []int{0, 3}}, {on("b", 0, "", WriteNever), []int{1}}}
	got := all.Same()
	if !slices.EqualFunc(got, want, func(a, b SameOutcome) bool { return a.Outcome == b.Outcome && slices.Equal(a.Ranks, b.Ranks) }) {
		t.Errorf("%+v", got)
	}
	if all[0].Rank != 3 {
		t.Error("the outcomes themselves have changed")
	}
}
