package text

import (
	"slices"
	"testing"
)

func TestCompareNumbered(t *testing.T) {
	got := []string{"d #70", "d", "d #7", "c #9", "d #07", "d #69", "d #18446744073709551616"}
	slices.SortFunc(got, CompareNumbered)
	if want := []string{"c #9", "d", "d #07", "d #7", "d #69", "d #70", "d #18446744073709551616"}; !slices.Equal(got, want) {
		t.Error(got)
	}
}
