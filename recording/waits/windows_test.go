package waits

import (
	"fmt"
	"slices"
	"testing"

	"mpitx/recording/trace"
)

// TestLocks checks which calls are said to wait for a lock, and which are not.
func TestLocks(t *testing.T) {
	type made struct {
		rank       int
		function   string
		target     int
		exclusive  bool
		begin, end int64
	}
	const x = true
	held := made{0, "MPI_Win_lock", 1, x, 0, 1} // until 500
	freed := made{0, "MPI_Win_unlock", 1, false, 500, 501}
	for _, c := range []struct {
		name  string
		calls []made
		want  []string
	}{
		{"exclusive", []made{held, {2, "MPI_Win_lock", 1, x, 100, 502}, freed, {2, "MPI_Win_unlock", 1, false, 600, 601}}, []string{"rank 2 waits 400 in call 0 for rank 0"}},
		{"shared after exclusive", []made{held, {2, "MPI_Win_lock", 1, false, 100, 502}, freed, {2, "MPI_Win_unlock", 1, false, 600, 601}}, []string{"rank 2 waits 400 in call 0 for rank 0"}},
		{"locked when it is flushed", []made{held, {2, "MPI_Win_lock", 1, x, 100, 101}, {2, "MPI_Win_flush", 1, false, 200, 502}, freed, {2, "MPI_Win_unlock", 1, false, 600, 601}},
			[]string{"rank 2 waits 300 in call 1 for rank 0"}},
		{"all", []made{held, {2, "MPI_Win_lock_all", 0, false, 100, 502}, freed, {2, "MPI_Win_unlock_all", 0, false, 600, 601}}, []string{"rank 2 waits 400 in call 0 for rank 0"}},
		{"one after the other", []made{held, {1, "MPI_Win_lock", 1, x, 50, 502}, {2, "MPI_Win_lock", 1, x, 100, 802}, freed, {1, "MPI_Win_unlock", 1, false, 800, 801}, {2, "MPI_Win_unlock", 1, false, 900, 901}},
			[]string{"rank 1 waits 450 in call 0 for rank 0", "rank 2 waits 700 in call 0 for rank 1"}},
		{"that was asked for later", []made{{2, "MPI_Win_lock", 1, x, 100, 502}, {0, "MPI_Win_lock", 1, x, 400, 401}, freed, {2, "MPI_Win_unlock", 1, false, 600, 601}}, nil}, // until then, rank 2 waited for something else
		{"after another one", []made{{1, "MPI_Win_lock", 1, x, 50, 51}, {2, "MPI_Win_lock", 1, x, 100, 502}, {0, "MPI_Win_lock", 1, x, 200, 402}, {1, "MPI_Win_unlock", 1, false, 400, 401}, freed, {2, "MPI_Win_unlock", 1, false, 600, 601}},
			[]string{"rank 0 waits 200 in call 0 for rank 1", "rank 2 waits 400 in call 0 for rank 0"}},
		{"shared", []made{{0, "MPI_Win_lock", 1, false, 0, 1}, {2, "MPI_Win_lock", 1, false, 100, 502}, freed, {2, "MPI_Win_unlock", 1, false, 600, 601}}, nil},
		{"at another target", []made{held, {2, "MPI_Win_lock", 0, x, 100, 502}, freed, {2, "MPI_Win_unlock", 0, false, 600, 601}}, nil},
		{"before the other one", []made{held, {2, "MPI_Win_lock", 1, x, 502, 503}, freed, {2, "MPI_Win_unlock", 1, false, 600, 601}}, nil},
		{"two that end together", []made{held, {2, "MPI_Win_lock", 1, x, 100, 101}, freed, {2, "MPI_Win_unlock", 1, false, 400, 502}}, nil}, // either may have had it first
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(3)
			r := &Reader{program: m.Program, windows: windows{map[onObject]*exposure{}, map[onObject]*access{}, map[onObject][]*lock{}, map[*trace.Object][]*lock{}}}
			window := &trace.Object{Kind: "window"}
			slices.SortStableFunc(c.calls, func(a, b made) int { return int(a.end - b.end) }) // as in a trace
			for _, one := range c.calls {
				of := m.Call(int32(one.rank), one.begin, one.end, m.Site(Site{Function: one.function}))
				r.window(of, one.rank, &trace.Call{Function: one.function, Object: window, Peer: one.target, Exclusive: one.exclusive})
			}
			var got []string
			for i := range m.tracks {
				for k := range m.tracks[i].calls.len() {
					of := Ref{int32(i), k}
					if w := m.find(of); w.kind != None {
						got = append(got, fmt.Sprintf("rank %d waits %d in call %d for rank %d", i, w.length(m.at(of)), k, m.tracks[w.on.Track].rank))
						if w.kind != Locked {
							t.Error(w.kind)
						}
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
