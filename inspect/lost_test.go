package inspect

import (
	"slices"
	"testing"
)

// Lost ranks are sorted, with one line for each reason.
func TestLostText(t *testing.T) {
	lost, hosts := map[int]string{}, map[int]string{0: "a", 11: "b"}
	for _, rank := range []int{10, 2, 9, 1, 3, 100} {
		lost[rank], hosts[rank] = "did not answer", "a"
	}
	lost[11], lost[4] = "did not answer", "died"
	want := []string{"ranks 1-3,9-10,100 on a: did not answer", "rank 4 on an unknown host: died", "rank 11 on b: did not answer"}
	if got := lostText(lost, hosts); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
