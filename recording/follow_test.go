package recording

import (
	"slices"
	"testing"
)

// After yield has stopped a follower, the rest comes with later calls, in order.
func TestFollowStopped(t *testing.T) {
	var chunks []byte
	for rank := range 3 {
		s := counting(uint64(rank+1), int32(rank), 50, 7)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	run := save(t, chunks)
	want := raws(run)
	for _, every := range []int{1, 2, 7, 1000} {
		var got []uint64
		f := run.Follow(Options{As: Raw})
		for range len(want) + 1 {
			n := 0
			if err := f.Poll(func(in *Instant) bool {
				v, _ := in.Cells[0].Value.Uint64()
				got = append(got, v)
				n++
				return n < every
			}); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("stopped after every %d: %v, not %v", every, got, want)
		}
	}
}

func TestFollowLast(t *testing.T) {
	s := counting(1, 0, 50, 7)
	s.Seal()
	run := save(t, s.Out)
	all := raws(run)
	var got []uint64
	f := run.FollowLast(Options{As: Raw}, 2)
	if err := f.Poll(func(in *Instant) bool {
		v, _ := in.Cells[0].Value.Uint64()
		got = append(got, v)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 || len(got) >= 20 || !slices.Equal(got, all[len(all)-len(got):]) {
		t.Errorf("the last two chunks of %v are not %v", all, got)
	}
	for _, set := range run.Ranks[0].Sets {
		if first := set.First(run.Ranks[0]); len(first) > 0 && first[0].Column != set.Columns[0] {
			t.Errorf("the first sample %v", first)
		}
	}
}
