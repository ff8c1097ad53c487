package text

import (
	"slices"
	"strings"
	"testing"
)

func TestRankList(t *testing.T) {
	for want, ranks := range map[string][]int{"": nil, "3": {3}, "0-1": {0, 1}, "0-2,4": {0, 1, 2, 4}, "-1,0": {-1, 0}, "1,3,5-9": {1, 3, 5, 6, 7, 8, 9}} {
		if got := RankList(ranks); got != want {
			t.Errorf("%v: %q, want %q", ranks, got, want)
		}
		if back, err := ParseRanks(want); !strings.HasPrefix(want, "-") && (err != nil || !slices.Equal(back, ranks)) {
			t.Errorf("%q reads as %v: %v", want, back, err)
		}
	}
	if got := Ranks([]int{3}) + ", " + Ranks([]int{3, 4}); got != "rank 3, ranks 3-4" {
		t.Error(got)
	}
}
