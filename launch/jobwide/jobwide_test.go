package jobwide

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// Whichever ranks come, in whatever order, one says the text, the lowest of those that come together; and again if they have it to say
// again. After all have come, no file is left.
func TestSay(t *testing.T) {
	for _, c := range []struct {
		ranks []int
		size  int
		want  []int
	}{{[]int{2}, 3, []int{2}}, {[]int{3, 1, 2}, 3, []int{1}}, {[]int{0, 1, 0, 1}, 2, []int{0, 0}}, {[]int{2, 0, 1}, 0, []int{0}}} {
		dir := t.TempDir()
		if grace, atMost = time.Millisecond, time.Millisecond; len(c.ranks) > 1 {
			grace, atMost = time.Hour, time.Hour
		}
		var mu sync.Mutex
		var said []int
		var all sync.WaitGroup
		say := func(rank int) {
			Job{Dir: dir, Key: "a job", Rank: rank, Size: c.size}.Say("the text", func() {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, rank)
			})
		}
		if slices.Equal(c.ranks, []int{0, 1, 0, 1}) {
			for _, rank := range c.ranks {
				say(rank)
			}
		} else {
			for _, rank := range c.ranks {
				all.Go(func() { say(rank) })
			}
		}
		all.Wait()
		if !slices.Equal(said, c.want) {
			t.Errorf("ranks %v of %d: said by %v, not by %v", c.ranks, c.size, said, c.want)
		}
		if left, _ := os.ReadDir(dir); (len(left) == 0) != (c.size > 1 && len(c.ranks) > 1) {
			t.Errorf("ranks %v of %d: %d files are left", c.ranks, c.size, len(left))
		}
	}
}

// One process finds it out; a late one removes files of jobs that have ended.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, prefix+"old")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*keep)); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	found := 0
	var all sync.WaitGroup
	for rank := range 8 {
		all.Go(func() {
			got := Job{Dir: dir, Key: "a job", Rank: rank}.Find("names", func() []byte {
				mu.Lock()
				defer mu.Unlock()
				found++
				return []byte("a\nb")
			})
			if string(got) != "a\nb" {
				t.Errorf("%q", got)
			}
		})
	}
	all.Wait()
	if found != 1 {
		t.Errorf("found %d times", found)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("an old file is left")
	}
}
