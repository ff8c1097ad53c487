package waits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// machine plays programs of some ranks whose calls take exactly as long as they must: transfer takes no time, calls take one unit after what
// they wait for.
type machine struct {
	*Program
	now   []int64
	world *Group
	inter *Group
}

func newMachine(ranks int) *machine {
	m := &machine{Program: NewProgram(), now: make([]int64, ranks)}
	m.world = m.Group(ranks, true)
	m.world.neighbors = map[int][]int{}
	for r := range ranks {
		m.Track(r, 100+r, 0, 0, "MPI_Init")
		m.world.neighbors[r] = []int{(r + ranks - 1) % ranks, (r + 1) % ranks} // a ring
	}
	return m
}

// neighbors is when the last neighbour of a rank began, of the times of all ranks.
func (m *machine) neighbors(rank int, begun []int64) (last int64) {
	for _, other := range m.world.neighbors[rank] {
		last = max(last, begun[other])
	}
	return last
}

func (m *machine) compute(rank int, d int64) { m.now[rank] += d }

// call adds a call that ends one unit after a moment, or after it began.
func (m *machine) call(rank int, function, place string, until int64) Ref {
	begin := m.now[rank]
	m.now[rank] = max(begin, until) + 1
	return m.Call(int32(rank), begin, m.now[rank], m.Site(Site{Function: function, Place: place, Object: "MPI_COMM_WORLD"}))
}

// message sends a message in standard mode without waiting, and receives it.
func (m *machine) message(from, to int, place string) {
	sent := m.call(from, "MPI_Send", "send "+place, 0)
	received := m.call(to, "MPI_Recv", "recv "+place, m.at(sent).begin)
	m.Received(received, sent, 8)
	m.Sent(sent, received, 8, Standard, true)
}

// rendezvous sends a message that waits for its receive.
func (m *machine) rendezvous(from, to int, place string) {
	both := max(m.now[from], m.now[to])
	sent := m.call(from, "MPI_Ssend", "send "+place, both)
	received := m.call(to, "MPI_Recv", "recv "+place, both)
	m.Received(received, sent, 8)
	m.Sent(sent, received, 8, Synchronous, true)
}

// together is a collective of all ranks.
func (m *machine) together(function, place string, root int) {
	latest, rooted := slices.Max(m.now), int64(0)
	if root >= 0 {
		rooted = m.now[root]
	}
	lower, begun := int64(0), slices.Clone(m.now)
	for r := range m.now {
		until := latest
		began := m.now[r]
		switch s, _ := shapeOf(function); {
		case s == fromRoot:
			until = rooted
		case s == toRoot && r != root:
			until = 0
		case s == toRoot:
			until = 0
			for o, at := range m.now {
				if o > r { // those below have ended their call already
					until = max(until, at)
				}
			}
			until = max(until, lower)
		case s == fromLower:
			until = lower
		case s == fromNeighbors:
			until = m.neighbors(r, begun)
		}
		m.Collective(m.call(r, function, place, until), m.world, function, root)
		lower = max(lower, began)
	}
}

// start lets all ranks start a nonblocking collective. They complete it when finish is called.
func (m *machine) start(function, place string, root int) (finish func()) {
	begun, numbers := make([]int64, len(m.now)), make([]int32, len(m.now))
	for r := range m.now {
		begun[r] = m.now[r]
		numbers[r] = m.Collective(m.call(r, function, "start "+place, 0), m.world, function, root)
	}
	return func() {
		for r := range m.now {
			until := int64(0)
			for o, at := range begun {
				switch s, _ := shapeOf(function); {
				case s == fromRoot && o != root, s == toRoot && r != root, s == fromLower && o >= r, s == fromNeighbors && !slices.Contains(m.world.neighbors[r], o):
				default:
					until = max(until, at)
				}
			}
			m.Completed(m.call(r, "MPI_Wait", "wait "+place, until), numbers[r])
		}
	}
}

// across is a collective of an intercommunicator, whose groups have the ranks with even and with odd numbers.
func (m *machine) across(function, place string, root int) {
	if m.inter == nil {
		m.inter = m.Group(len(m.now), false)
		m.inter.sides = map[int]uint64{}
		for r := range m.now {
			m.inter.sides[r] = uint64(r%2) + 1
		}
	}
	begun := slices.Clone(m.now)
	s, _ := shapeOf(function)
	for r := range begun {
		until, named := int64(0), -1
		for o, at := range begun {
			if r%2 == o%2 || s == fromRoot && o != root || s == toRoot && r != root {
				continue
			}
			until = max(until, at)
		}
		if root >= 0 && r%2 != root%2 {
			named = root
		}
		m.Collective(m.call(r, function, place, until), m.inter, function, named)
	}
}

// state is what a test expects of a state.
type state struct {
	Kind    Kind
	Rank    int
	Waiting time.Duration
	For     int
}

func statesOf(a *Analysis) (all []state) {
	for _, s := range a.States {
		all = append(all, state{s.Kind, s.Rank, s.Waiting, s.For})
	}
	return all
}

func causesOf(a *Analysis) (all []string) {
	for _, c := range a.Causes {
		all = append(all, fmt.Sprintf("rank %d: %s %s %d for %v", c.Rank, c.What, c.Place, c.Cost, c.Ranks))
	}
	return all
}

// TestStates checks kinds, lengths, who is waited for, and causes, of programs with one reason to wait each.
func TestStates(t *testing.T) {
	for _, c := range []struct {
		name   string
		play   func(m *machine)
		states []state
		causes []string
	}{
		{"late sender", func(m *machine) { m.compute(0, 500); m.message(0, 1, "a") },
			[]state{{LateSender, 1, 500, 0}}, []string{"rank 0: computation send a 500 for [1]"}},
		{"early sender", func(m *machine) { m.compute(1, 500); m.message(0, 1, "a") }, nil, nil},
		{"late receiver", func(m *machine) { m.compute(1, 300); m.rendezvous(0, 1, "a") },
			[]state{{LateReceiver, 0, 300, 1}}, []string{"rank 1: computation recv a 300 for [0]"}},
		{"barrier", func(m *machine) { m.compute(0, 100); m.compute(2, 400); m.together("MPI_Barrier", "b", -1) },
			[]state{{AtBarrier, 1, 400, 2}, {AtBarrier, 0, 300, 2}}, []string{"rank 2: computation b 700 for [0 1]"}},
		{"allreduce", func(m *machine) { m.compute(2, 400); m.together("MPI_Allreduce", "b", -1) },
			[]state{{NToN, 0, 400, 2}, {NToN, 1, 400, 2}}, []string{"rank 2: computation b 800 for [0 1]"}},
		{"late root", func(m *machine) { m.compute(1, 400); m.compute(2, 100); m.together("MPI_Bcast", "b", 1) },
			[]state{{LateRoot, 0, 400, 1}, {LateRoot, 2, 300, 1}}, []string{"rank 1: computation b 700 for [0 2]"}},
		{"late leaf of a broadcast", func(m *machine) { m.compute(2, 400); m.together("MPI_Bcast", "b", 1) }, nil, nil},
		{"early root", func(m *machine) { m.compute(2, 400); m.together("MPI_Reduce", "b", 0) },
			[]state{{EarlyRoot, 0, 400, 2}}, []string{"rank 2: computation b 400 for [0]"}},
		{"late root of a reduction", func(m *machine) { m.compute(0, 400); m.together("MPI_Gather", "b", 0) }, nil, nil},
		{"nonblocking", func(m *machine) {
			m.compute(2, 400)
			finish := m.start("MPI_Iallreduce", "b", -1)
			m.compute(1, 100)
			finish()
		}, []state{{NToN, 0, 399, 2}, {NToN, 1, 299, 2}}, []string{"rank 2: computation start b 698 for [0 1]"}},
		{"nonblocking, in time", func(m *machine) {
			m.compute(2, 400)
			finish := m.start("MPI_Ibarrier", "b", -1)
			m.compute(0, 500)
			m.compute(1, 600)
			finish()
		}, nil, nil},
		{"late root of a nonblocking broadcast", func(m *machine) { m.compute(1, 400); m.compute(2, 700); m.start("MPI_Ibcast", "b", 1)() },
			[]state{{LateRoot, 0, 399, 1}}, []string{"rank 1: computation start b 399 for [0]"}},
		{"persistent", func(m *machine) { m.compute(1, 400); m.start("MPI_Reduce_init", "b", 0)() },
			[]state{{EarlyRoot, 0, 399, 1}}, []string{"rank 1: computation start b 399 for [0]"}},
		{"two at once", func(m *machine) {
			m.compute(1, 100)
			first := m.start("MPI_Iallgather", "b", -1)
			m.compute(2, 500)
			second := m.start("MPI_Ibarrier", "c", -1)
			second()
			first()
		}, []state{{AtBarrier, 0, 499, 2}, {AtBarrier, 1, 399, 2}}, []string{"rank 2: computation start c 898 for [0 1]"}},
		{"scan", func(m *machine) { m.compute(1, 200); m.together("MPI_Scan", "b", -1) },
			[]state{{Prefix, 2, 200, 1}}, []string{"rank 1: computation b 200 for [2]"}},
		{"two groups", func(m *machine) {
			m.compute(0, 700)
			m.compute(1, 300)
			m.compute(2, 400)
			m.across("MPI_Allreduce", "b", -1)
		}, // 0 and 2, 1
			[]state{{NToN, 1, 400, 0}}, []string{"rank 0: computation b 400 for [1]"}},
		{"barrier of two groups", func(m *machine) { m.compute(0, 100); m.compute(1, 300); m.across("MPI_Barrier", "b", -1) },
			[]state{{AtBarrier, 2, 300, 1}, {AtBarrier, 0, 200, 1}}, []string{"rank 1: computation b 500 for [0 2]"}},
		{"late root of another group", func(m *machine) { m.compute(0, 100); m.compute(1, 300); m.across("MPI_Bcast", "b", 1) },
			[]state{{LateRoot, 2, 300, 1}, {LateRoot, 0, 200, 1}}, []string{"rank 1: computation b 500 for [0 2]"}},
		{"not the root of the other group", func(m *machine) { m.compute(0, 300); m.compute(2, 400); m.across("MPI_Scatter", "b", 0) },
			[]state{{LateRoot, 1, 300, 0}}, []string{"rank 0: computation b 300 for [1]"}},
		{"early root of another group", func(m *machine) {
			m.compute(0, 100)
			m.compute(1, 300)
			m.compute(2, 900)
			m.across("MPI_Gather", "b", 0)
		},
			[]state{{EarlyRoot, 0, 200, 1}}, []string{"rank 1: computation b 200 for [0]"}},
		{"neighbours", func(m *machine) {
			m.world.neighbors = map[int][]int{0: {1}, 1: {0, 2}, 2: {1}}
			m.compute(0, 100)
			m.compute(2, 400)
			m.together("MPI_Neighbor_alltoall", "b", -1)
		}, []state{{AtNeighbors, 1, 400, 2}}, []string{"rank 2: computation b 400 for [1]"}},
		{"neighbours, one way", func(m *machine) {
			m.world.neighbors = map[int][]int{0: {}, 1: {0, 1}, 2: {1}}
			m.compute(0, 400)
			m.compute(1, 100)
			m.together("MPI_Neighbor_allgatherv_c", "b", -1)
		}, []state{{AtNeighbors, 1, 300, 0}, {AtNeighbors, 2, 100, 1}}, []string{"rank 0: computation b 300 for [1]", "rank 1: computation b 100 for [2]"}},
		{"neighbours, nonblocking", func(m *machine) {
			m.world.neighbors = map[int][]int{0: {1}, 1: {0, 2}, 2: {1}}
			m.compute(2, 400)
			finish := m.start("MPI_Ineighbor_alltoallw", "b", -1)
			m.compute(1, 100)
			finish()
		}, []state{{AtNeighbors, 1, 299, 2}}, []string{"rank 2: computation start b 299 for [1]"}},
		{"neighbours, persistent", func(m *machine) {
			m.world.neighbors = map[int][]int{0: {1}, 1: {0}, 2: {}}
			m.compute(1, 400)
			m.start("MPI_Neighbor_allgather_init", "b", -1)()
		}, []state{{AtNeighbors, 0, 399, 1}}, []string{"rank 1: computation start b 399 for [0]"}},
		{"file", func(m *machine) { m.compute(1, 200); m.together("MPI_File_write_all", "b", -1) },
			[]state{{CollectiveIO, 0, 200, 1}, {CollectiveIO, 2, 200, 1}}, []string{"rank 1: computation b 400 for [0 2]"}},
		{"chain", func(m *machine) { m.compute(0, 500); m.message(0, 1, "a"); m.message(1, 2, "b") },
			[]state{{LateSender, 2, 501, 1}, {LateSender, 1, 500, 0}},
			[]string{"rank 0: computation send a 1000 for [1]", "rank 1: call recv a 1 for [2]"}},
		{"excess long before", func(m *machine) {
			m.compute(0, 700)
			m.compute(1, 100)
			m.call(0, "MPI_Comm_rank", "x", 0)
			m.call(1, "MPI_Comm_rank", "x", 0)
			m.compute(0, 200)
			m.compute(1, 200)
			m.compute(2, 901)
			m.together("MPI_Barrier", "b", -1)
		}, []state{{AtBarrier, 1, 600, 0}}, []string{"rank 0: computation x 600 for [1]"}},
		{"wrong order", func(m *machine) {
			early := m.call(2, "MPI_Send", "s2", 0)
			m.compute(0, 500)
			late := m.call(0, "MPI_Send", "s0", 0)
			m.compute(1, 10)
			first := m.call(1, "MPI_Recv", "r0", m.at(late).begin)
			second := m.call(1, "MPI_Recv", "r2", 0)
			m.Received(first, late, 8)
			m.Received(second, early, 8)
		}, []state{{WrongOrder, 1, 490, 0}}, []string{"rank 0: computation s0 490 for [1]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(3)
			c.play(m)
			a := m.Analyse()
			if diff := cmp.Diff(c.states, statesOf(a)); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.causes, causesOf(a)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLateReceiverOfEager checks that a send of which the library may have copied the message is not said to wait for its receive.
func TestLateReceiverOfEager(t *testing.T) {
	late := []state{{LateReceiver, 0, 500, 1}}
	for _, c := range []struct {
		name         string
		first, bytes uint64 // of a send that ended before its receive was posted, and of one that a receive follows after 500
		ends         int64  // after that receive was posted
		slow         int    // earlier sends of about as many bytes that end at another time
		more         bool   // the call completes something else
		want         []state
	}{
		{"ends as its receive is posted", 4, 8, 10, 3, false, late},
		{"ends as its receive is posted, but most others do not", 4, 8, 10, 4, false, nil},
		{"ends as its receive is posted, and completes others", 4, 8, 10, 0, true, nil},
		{"ends at another time", 4, 8, 200, 0, false, nil}, // without a processor, or until its receive is posted
		{"as small as one that did not wait", 8, 8, 10, 0, false, nil},
		{"large", 4, 1 << 20, 200, 0, false, late},
	} {
		m := newMachine(2)
		first := m.call(0, "MPI_Send", "a", 0)
		m.compute(1, 100)
		received := m.call(1, "MPI_Recv", "b", 0)
		m.Sent(first, received, c.first, Standard, true)
		for range c.slow {
			m.ends[1][4].add(8, false)
		}
		m.compute(1, 400)
		second := m.call(0, "MPI_Send", "a", m.now[1]+c.ends)
		received = m.call(1, "MPI_Recv", "b", 0)
		m.Sent(second, received, c.bytes, Standard, !c.more)
		if diff := cmp.Diff(c.want, statesOf(m.Analyse())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestMissing checks that collectives in which calls are missing are counted, and not taken for others.
func TestMissing(t *testing.T) {
	m := newMachine(2)
	m.together("MPI_Barrier", "a", -1)
	m.Lose(1, 3)
	m.compute(0, 50)
	m.together("MPI_Barrier", "a", -1)
	m.compute(1, 500)
	m.together("MPI_Barrier", "a", -1)
	a := m.Analyse()
	if a.Waiting != 0 || a.Missing != (Missing{Lost: 3, Undecided: 2, Incomplete: 2}) {
		t.Errorf("waiting %d, missing %+v", a.Waiting, a.Missing)
	}
	m = newMachine(2)
	m.Collective(m.call(0, "MPI_Barrier", "a", 900), m.world, "MPI_Barrier", -1)
	m.compute(1, 800)
	m.Collective(m.call(1, "MPI_Allreduce", "a", 900), m.world, "MPI_Allreduce", -1)
	if a := m.Analyse(); a.Waiting != 0 || a.Missing.Undecided != 1 || a.Missing.Incomplete != 1 {
		t.Errorf("different functions: waiting %d, missing %+v", a.Waiting, a.Missing)
	}
}

// TestUnknownNeighbors checks that calls of ranks whose neighbours are not known are counted, and other ranks still wait for them.
func TestUnknownNeighbors(t *testing.T) {
	m := newMachine(3)
	delete(m.world.neighbors, 1)
	m.compute(2, 400)
	m.compute(1, 100)
	m.together("MPI_Neighbor_alltoall", "b", -1)
	a := m.Analyse()
	if diff := cmp.Diff([]state{{AtNeighbors, 0, 400, 2}}, statesOf(a)); diff != "" || a.Missing != (Missing{Undecided: 1}) {
		t.Errorf("missing %+v, states (-want +got):\n%s", a.Missing, diff)
	}
}

// random plays a program of random computation, messages and collectives.
func random(seed uint64, ranks, steps int) *machine {
	r := rand.New(rand.NewPCG(seed, 1))
	m := newMachine(ranks)
	names := []string{"MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Alltoall", "MPI_Neighbor_alltoall"}
	started := []string{"MPI_Ibarrier", "MPI_Iallreduce", "MPI_Ibcast", "MPI_Ireduce", "MPI_Iscan", "MPI_Allgather_init", "MPI_Ineighbor_allgather", "MPI_File_write_all_begin"}
	finish := func() {}
	for range steps {
		for rank := range ranks {
			m.compute(rank, r.Int64N(1000))
		}
		switch place := fmt.Sprint("step ", r.IntN(5)); r.IntN(5) {
		case 3: // one that the next step completes, and one that another step does
			name, before := started[r.IntN(len(started))], finish
			root := -1
			if s, _ := shapeOf(name); s == fromRoot || s == toRoot {
				root = r.IntN(ranks)
			}
			finish = m.start(name, place, root)
			before()
		case 0:
			name := names[r.IntN(len(names))]
			root := -1
			if s, _ := shapeOf(name); s == fromRoot || s == toRoot {
				root = r.IntN(ranks)
			}
			m.together(name, place, root)
		case 1:
			for range ranks {
				if from, to := r.IntN(ranks), r.IntN(ranks); from != to {
					m.message(from, to, place)
				}
			}
		case 4:
			name := []string{"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allgather"}[r.IntN(4)]
			root := -1
			if s, _ := shapeOf(name); s == fromRoot || s == toRoot {
				root = r.IntN(ranks)
			}
			if ranks > 1 {
				m.across(name, place, root)
			}
		default:
			for range ranks {
				if from, to := r.IntN(ranks), r.IntN(ranks); from != to {
					m.rendezvous(from, to, place)
				}
			}
		}
	}
	finish()
	return m
}

// TestRandom checks what holds for each program: causes add up to the waits, the path to the run time, and a replay without changes takes as
// long as the run.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		ranks, steps := rapid.IntRange(1, 9).Draw(t, "ranks"), rapid.IntRange(1, 40).Draw(t, "steps")
		m := random(seed, ranks, steps)
		a := m.Analyse()
		var costs, direct, path, waiting time.Duration
		for _, c := range a.Causes {
			costs, direct = costs+c.Cost, direct+c.Direct
			if c.Cost < c.Direct || c.Direct < 0 {
				t.Errorf("cost %d, direct %d of %+v", c.Cost, c.Direct, c)
			}
			if c.What == Unexplained && c.Cost > 0 {
				t.Errorf("unexplained: %d", c.Cost)
			}
		}
		for _, s := range a.States {
			waiting += s.Waiting
		}
		if costs != a.Waiting || waiting != a.Waiting || direct > costs {
			t.Errorf("causes %d (direct %d), states %d, waiting %d", costs, direct, waiting, a.Waiting)
		}
		at := time.Duration(0)
		for s := range a.Pieces {
			if s.From != at || s.To <= s.From {
				t.Errorf("a piece from %d to %d after %d", s.From, s.To, at)
			}
			at = s.To
			path += s.To - s.From
		}
		each := time.Duration(0)
		for w := range a.Waits {
			each += w.To - w.From
		}
		if each != a.Waiting {
			t.Errorf("waits of %d, %d in all", each, a.Waiting)
		}
		if path != a.Run {
			t.Errorf("the path takes %d, the run %d", path, a.Run)
		}
		if took, ok := m.replay(nil, false); !ok || time.Duration(took[1]) != a.Run {
			t.Errorf("the replay takes %d (%v), the run %d", took[1], ok, a.Run)
		}
		longest := int64(0)
		for i := range m.tracks {
			own := m.tracks[i].end()
			for k := range m.tracks[i].calls.len() {
				c := m.tracks[i].calls.at(k)
				own -= c.end - c.begin
			}
			longest = max(longest, own)
		}
		if a.Efficiency.Ideal < longest || a.Efficiency.Ideal > int64(a.Run) {
			t.Errorf("%d on an ideal network, %d computing, %d in all", a.Efficiency.Ideal, longest, a.Run)
		}
		for _, g := range a.Gains {
			if g.Saved < 0 || g.Saved > a.Run/10+1 {
				t.Errorf("a tenth of %v saves %d of %d", g.At, g.Saved, a.Run)
			}
		}
	})
}

// TestComputationAlone checks that the replay of a program that only computes takes as long as its longest rank.
func TestComputationAlone(t *testing.T) {
	m := newMachine(3)
	for rank, d := range []int64{300, 900, 200} {
		m.compute(rank, d)
		m.Call(int32(rank), m.now[rank], m.now[rank], m.Site(Site{Function: "MPI_Finalize"}))
	}
	if a := m.Analyse(); a.Run != 900 || a.Efficiency.Ideal != 900 || a.Efficiency.LoadBalance < 0.51 || a.Efficiency.LoadBalance > 0.52 {
		t.Errorf("run %d, %+v", a.Run, a.Efficiency)
	}
}

// TestLook checks what a screen asks for.
func TestLook(t *testing.T) {
	m := newMachine(2)
	m.compute(0, 500)
	m.message(0, 1, "a") // rank 1 waits from 0 to 500
	m.compute(1, 300)
	m.together("MPI_Barrier", "b", -1) // rank 0 waits from 501 to 801
	a := m.Analyse()
	var found []string
	look := func(thread int, from, to time.Duration) string {
		found = nil
		for w := range func(yield func(*Wait) bool) { a.Between(a.Thread(thread, 100+thread), from, to, yield) } {
			found = append(found, fmt.Sprint(w.Kind, " ", w.From, w.To, w.For, w.OnThread, w.On.Function))
		}
		return fmt.Sprint(found)
	}
	for _, c := range []struct {
		thread   int
		from, to time.Duration
		want     string
	}{{1, 0, 100, "[late sender 0s 500ns 0 100MPI_Send]"}, {1, 502, 600, "[]"}, {0, 0, 400, "[]"}, {0, 700, 750, "[wait at barrier 501ns 801ns 1 101MPI_Barrier]"}, {0, 900, 1000, "[]"}} {
		if got := look(c.thread, c.from, c.to); got != c.want {
			t.Errorf("thread %d, %d to %d: %s, want %s", c.thread, c.from, c.to, got, c.want)
		}
	}
	if a.Thread(7, 7) != -1 {
		t.Error("a thread that is not there")
	}
	for _, c := range []struct {
		at   time.Duration
		by   int
		want string
	}{{0, 1, "1 500ns call"}, {600, -1, "0 0s computation"}, {0, -1, "none"}, {801, 1, "none"}} {
		got := "none"
		if x, ok := a.NextPiece(c.at, c.by); ok {
			got = fmt.Sprint(x.Rank, " ", x.From, " ", x.What)
		}
		if got != c.want {
			t.Errorf("from %d by %d: %s, want %s", c.at, c.by, got, c.want)
		}
	}
}

// TestFindings checks whom sentences are about: the cost of one rank only if that rank causes most.
func TestFindings(t *testing.T) {
	said := func(m *machine) (all []string) {
		for _, f := range m.Analyse().Findings() {
			all = append(all, f.Text)
		}
		return all
	}
	m := newMachine(2)
	for range 4 { // in turn
		m.compute(0, 1000)
		m.together("MPI_Barrier", "b", -1)
		m.compute(1, 1000)
		m.together("MPI_Barrier", "b", -1)
	}
	want := []string{"ranks 0-1 compute longer than others, in turn, before MPI_Barrier in b; that costs 8.00 µs of waiting, 100.0 % of all waiting"}
	if diff := cmp.Diff(want, said(m)); diff != "" {
		t.Error(diff)
	}
	m = newMachine(2)
	m.compute(0, 1000)
	m.together("MPI_Barrier", "b", -1)
	want = []string{"rank 0 computes 1.00 µs longer than others before MPI_Barrier in b; that costs 1.00 µs of waiting, 100.0 % of all waiting; rank 1 waited for it directly"}
	if diff := cmp.Diff(want, said(m)); diff != "" {
		t.Error(diff)
	}
	m = newMachine(2)
	for range 8 {
		m.compute(0, 200)
		m.call(0, "MPI_Test", "poll", 0)
	}
	m.together("MPI_Barrier", "b", -1)
	if all := said(m); len(all) == 0 || !strings.Contains(all[0], "rank 0 computes or polls 1.60 µs longer than others before MPI_Test in poll") {
		t.Errorf("%q", all)
	}
	m = newMachine(2) // balanced
	for range 8 {
		m.compute(0, 500)
		m.compute(1, 500)
		m.together("MPI_Barrier", "b", -1)
	}
	if all := said(m); all != nil {
		t.Errorf("%q", all)
	}
}

// TestPaused checks that collectives after a part that was not recorded are not taken for others, and efficiencies are not given.
func TestPaused(t *testing.T) {
	m := newMachine(2)
	m.together("MPI_Barrier", "a", -1)
	m.Missing.Paused++
	m.unsure(1)
	m.compute(0, 500)
	m.together("MPI_Barrier", "a", -1)
	if a := m.Analyse(); a.Waiting != 0 || a.Missing.Undecided != 1 || a.Missing.Incomplete != 1 || a.Efficiency.Factors() != nil {
		t.Errorf("waiting %d, missing %+v, %+v", a.Waiting, a.Missing, a.Efficiency)
	}
}

// TestUnknownSize checks that collectives of an unknown number of processes are counted only. A damaged run may name any number.
func TestUnknownSize(t *testing.T) {
	m := newMachine(2)
	m.world = m.Group(0, true)
	m.compute(0, 500)
	m.together("MPI_Barrier", "a", -1)
	if a := m.Analyse(); a.Waiting != 0 || a.Missing.Undecided != 2 || m.meetings.len() != 0 {
		t.Errorf("waiting %d, missing %+v, %d collectives", a.Waiting, a.Missing, m.meetings.len())
	}
}
