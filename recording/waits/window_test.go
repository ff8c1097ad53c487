package waits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// waited is how long a rank waited for a kind of reason.
type waited struct {
	rank int
	kind Kind
}

// TestWithin checks parts of random programs: waits are those of the whole, as far as they lie in the part, and all sums agree.
func TestWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		ranks, steps := rapid.IntRange(1, 9).Draw(t, "ranks"), rapid.IntRange(1, 30).Draw(t, "steps")
		var m *machine
		if rapid.Bool().Draw(t, "mixture") {
			m = mixture(seed, ranks, steps, ascending(2*ranks))
		} else {
			m = random(seed, ranks, steps)
		}
		whole := m.Waits()
		begin, end := whole.Span()
		from := rapid.Int64Range(int64(begin), max(int64(end)-1, int64(begin))).Draw(t, "from")
		to := rapid.Int64Range(from+1, int64(end)+100).Draw(t, "to")
		a := m.Within(time.Duration(from), time.Duration(to)).Analyse()
		want, sum := map[waited]time.Duration{}, time.Duration(0)
		for w := range whole.Waits {
			if d := min(w.To, time.Duration(to)) - max(w.From, time.Duration(from)); d > 0 {
				want[waited{w.Rank, w.Kind}] += d
				sum += d
			}
		}
		for _, s := range a.States {
			want[waited{s.Rank, s.Kind}] -= s.Waiting
		}
		for k, d := range want {
			if d != 0 {
				t.Errorf("rank %d, %v: %d more in the whole", k.rank, k.kind, d)
			}
		}
		costs, path := time.Duration(0), time.Duration(0)
		for _, c := range a.Causes {
			costs += c.Cost
		}
		for _, s := range a.Path {
			path += s.Time
		}
		if a.Waiting != sum || costs != sum || path != a.Run || a.Run > time.Duration(to-from) {
			t.Errorf("waiting %d of %d, causes %d; run %d of %d, path %d", a.Waiting, sum, costs, a.Run, to-from, path)
		}
		if a.Missing != whole.Missing {
			t.Errorf("missing %+v, not %+v", a.Missing, whole.Missing)
		}
	})
}

// TestTiles checks that parts that follow one another have the waits of the whole together.
func TestTiles(t *testing.T) {
	for seed := range uint64(20) {
		m := random(seed, 5, 30)
		all := m.Analyse()
		sum := time.Duration(0)
		for from := time.Duration(0); from < all.Run; from += 997 {
			p := m.Within(from, from+997)
			a := p.Analyse()
			sum += a.Waiting
			if took, ok := p.replay(nil, false); !ok || time.Duration(took[1]) != a.Run {
				t.Errorf("seed %d, from %d: the replay takes %d (%v), the part %d", seed, from, took[1], ok, a.Run)
			}
		}
		if sum != all.Waiting {
			t.Errorf("seed %d: %d in parts, %d in all", seed, sum, all.Waiting)
		}
	}
}

// TestEdges checks waits that reach beyond a part.
func TestEdges(t *testing.T) {
	for _, c := range []struct {
		name     string
		play     func(m *machine)
		from, to time.Duration
		states   []state
		causes   []string
		window   Window
	}{
		{"it begins and ends outside", func(m *machine) { m.compute(0, 500); m.message(0, 1, "a") }, 100, 400,
			[]state{{LateSender, 1, 300, 0}}, []string{"rank 0: computation send a 300 for [1]"}, Window{Cut: 1, Outside: 1}},
		{"its cause is before the part", func(m *machine) {
			m.compute(0, 500)
			m.call(0, "MPI_Comm_rank", "c", 0)
			m.message(0, 1, "a")
		}, 450, 600, []state{{LateSender, 1, 51, 0}}, []string{"rank 0: computation c 50 for [1]", "rank 0: call c 1 for [1]"}, Window{Cut: 1}},
		{"the other one was there before the part, with less to do since", func(m *machine) {
			m.compute(0, 500)
			m.message(0, 1, "a") // rank 1 has it at 501
			m.compute(2, 600)
			m.message(2, 1, "b")
		}, 550, 700, []state{{LateSender, 1, 50, 2}}, []string{"rank 2: computation send b 50 for [1]"}, Window{Cut: 1, Outside: 2}},
		{"a collective that it left early", func(m *machine) {
			for rank, begin := range []int64{0, 200, 200} {
				m.compute(rank, begin)
				m.Collective(m.call(rank, "MPI_File_write_all", "b", begin+100), m.world, "MPI_File_write_all", -1)
			}
		}, 0, 50, nil, nil, Window{Cut: 1, Outside: 2}},
		{"the last of two messages", func(m *machine) {
			m.compute(0, 300)
			m.compute(2, 500)
			first, second := m.call(0, "MPI_Send", "s0", 0), m.call(2, "MPI_Send", "s2", 0)
			all := m.call(1, "MPI_Waitall", "w", 500)
			m.Received(all, first, 8)
			m.Received(all, second, 8)
		}, 100, 200, []state{{LateSender, 1, 100, 2}}, []string{"rank 2: computation s2 100 for [1]"}, Window{Cut: 1, Outside: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(3)
			c.play(m)
			a := m.Within(c.from, c.to).Analyse()
			if diff := cmp.Diff(c.states, statesOf(a)); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.causes, causesOf(a)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			_, end := m.Waits().Span()
			c.window.From, c.window.To, c.window.End = c.from, min(c.to, end), end
			if *a.Window != c.window {
				t.Errorf("%+v, want %+v", *a.Window, c.window)
			}
		})
	}
}
