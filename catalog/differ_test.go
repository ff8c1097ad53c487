package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update replaces the readings of ranks, but not the results of trial writes.
func TestUpdate(t *testing.T) {
	g := func(n byte, w Writable) Reading {
		return Reading{Status: StatusOK, Value: NewValue(TypeChar, []byte{n}), Writable: w}
	}
	at := func(rank int, g Reading) RankReading { return RankReading{rank, g} }
	root := g('a', WritableYes)
	v := &Variable{After: &root, Ranks: []RankReading{at(1, g('b', WritableYes)), at(2, g('c', WritableNever)), at(5, g('d', WritableYes))}}
	for _, step := range []struct {
		name  string
		now   []RankReading
		root  Reading
		ranks []RankReading
	}{
		{"nobody answers", nil, root, v.Ranks},
		{"1 has rank 0's value now, 2 has another, 3 begins to differ, 5 is silent",
			[]RankReading{at(0, g('a', "")), at(1, g('a', "")), at(2, g('e', "")), at(3, g('f', "")), at(4, g('a', ""))}, root,
			[]RankReading{at(2, g('e', WritableNever)), at(3, g('f', WritableYes)), at(5, g('d', WritableYes))}},
		{"rank 0 catches up with 5", []RankReading{at(0, g('d', "")), at(2, g('d', ""))}, g('d', WritableYes),
			[]RankReading{at(2, g('d', WritableNever)), at(3, g('f', WritableYes))}},
	} {
		v.Update(step.now)
		if d := cmp.Diff(step.root, *v.After, compareValues); d != "" {
			t.Errorf("%s: rank 0: %s", step.name, d)
		}
		if d := cmp.Diff(step.ranks, v.Ranks, compareValues); d != "" {
			t.Errorf("%s: %s", step.name, d)
		}
	}
	none := &Variable{}
	none.Update([]RankReading{at(1, root)})
	if none.After != nil || len(none.Ranks) != 1 {
		t.Errorf("without rank 0: %+v", none)
	}
}
