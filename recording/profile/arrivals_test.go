package profile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

type (
	kept = recordingtest.Arrival

	// come is when a rank comes to a call and leaves it, in milliseconds.
	come struct{ enter, leave float64 }

	// gathering is the calls of one function; by call and rank.
	gathering struct {
		function string
		root     int // of calls with a root
		calls    [][]come
	}
)

// met is a run whose ranks, in MPI_COMM_WORLD, come to calls. change changes what a rank kept.
func met(t testing.TB, ranks int, g gathering, change func(rank int, calls []kept) []kept) *recording.Run {
	t.Helper()
	return job(t, g.ranks(ranks, change)...)
}

func (g gathering) ranks(ranks int, change func(rank int, calls []kept) []kept) (write []func(p *recordingtest.Profile)) {
	for rank := range ranks {
		write = append(write, func(p *recordingtest.Profile) {
			p.Objects(object{ID: 1, Size: int32(ranks), Name: "MPI_COMM_WORLD", Group: 7})
			var calls []kept
			ticks := uint64(0)
			for i, of := range g.calls {
				if c := of[rank]; c.leave > 0 {
					role := uint32(0)
					if s := shapeOf(g.function); s == fromRoot || s == toRoot {
						role = map[bool]uint32{true: 1, false: 2}[rank == g.root]
					}
					calls = append(calls, kept{Call: 1000 + uint64(i), Enter: 1000 + uint64(c.enter*ms), Leave: 1000 + uint64(c.leave*ms), Size: uint32(ranks), Role: role})
					ticks += uint64((c.leave - c.enter) * ms)
				}
			}
			if change != nil {
				calls = change(rank, calls)
			}
			stack := []uint64{0x10100 + uint64(rank)*0x10000}
			p.Calls(call{Function: g.function, Object: 1, Stack: stack, Calls: uint64(len(g.calls)), Ticks: ticks})
			p.Arrivals(g.function, "", 1, 1, stack, calls...)
		})
	}
	return write
}

// steady are calls, 20 ms after one another, to which a rank comes some milliseconds after the others, who come half a millisecond apart.
func steady(function string, calls, ranks int, late func(call int) (rank int, by float64)) gathering {
	g := gathering{function: function}
	for i := range calls {
		who, by := late(i)
		at, last := float64(20*i), 0.0
		of := make([]come, ranks)
		for r := range of {
			of[r].enter = at + 0.5*float64((r+i)%ranks)
			if r == who {
				of[r].enter = at + 0.5*float64(ranks-1) + by
			}
			last = max(last, of[r].enter)
		}
		for r := range of {
			of[r].leave = last + 0.1
		}
		g.calls = append(g.calls, of)
	}
	return g
}

func lateFinding(p *Profile) string {
	for _, f := range p.Findings() {
		all := append(f.Also, f)
		for _, f := range all {
			if f.Kind == "late arrival" {
				return f.Text
			}
		}
	}
	return ""
}

func always(rank int, by float64) func(int) (int, float64) {
	return func(int) (int, float64) { return rank, by }
}

// Who came last, how often and how late.
func TestArrivals(t *testing.T) {
	p := mustRead(t, met(t, 3, gathering{function: "MPI_Allreduce", calls: [][]come{
		{{10, 16}, {11, 16}, {15, 16}}, {{30, 36}, {31, 36}, {33, 36}}, {{52, 56}, {50, 56}, {51, 56}}}}, nil), Cut{})
	if len(p.Arrivals) != 1 {
		t.Fatalf("%d call sites", len(p.Arrivals))
	}
	a := p.Arrivals[0]
	a.meetings, a.calls = nil, nil
	for i := range a.Ranks {
		a.Ranks[i].Chance = 0
	}
	msec := time.Millisecond
	equal(t, "observed", []int{a.Observed, a.Unwaited, a.Unknown()}, []int{3, 0, 0})
	equal(t, "place", a.Object.Text()+" "+a.Place(), "MPI_COMM_WORLD app+0x100")
	equal(t, "ranks", a.Ranks, []Latecomer{
		{Rank: 2, TookPart: 3, Last: 2, AfterSecond: Lateness{3 * msec, 2 * msec, 4 * msec}, AfterFirst: Lateness{4 * msec, 3 * msec, 5 * msec}},
		{Rank: 0, TookPart: 3, Last: 1, AfterSecond: Lateness{msec, msec, msec}, AfterFirst: Lateness{2 * msec, 2 * msec, 2 * msec}}})
}

// In calls with a root, nobody waits for a rank that only receives.
func TestArrivalsOfRoots(t *testing.T) {
	for _, test := range []struct {
		function string
		late     int
		waited   bool
	}{{"MPI_Bcast", 0, true}, {"MPI_Bcast", 2, false}, {"MPI_Scatterv_c", 0, true}, {"MPI_Gather", 0, false}, {"MPI_Reduce", 1, true}} {
		g := steady(test.function, 20, 3, always(test.late, 5))
		for _, of := range g.calls { // who need not wait does not
			for r := range of {
				if s := shapeOf(test.function); s == fromRoot && test.late != 0 && r != test.late || s == toRoot && r != 0 {
					of[r].leave = of[r].enter + 0.01
					if s == fromRoot {
						of[r].leave = max(of[r].leave, of[0].enter+0.01)
					}
				}
			}
		}
		p := mustRead(t, met(t, 3, g, nil), Cut{})
		a := p.Arrivals[0]
		if a.Observed != 20 || a.Unknown() > 0 || (a.Unwaited == 0) != test.waited || test.waited != (lateFinding(p) != "") {
			t.Errorf("%s, rank %d is late: %d observed, %d unwaited, %d unknown: %q", test.function, test.late, a.Observed, a.Unwaited, a.Unknown(), lateFinding(p))
		}
	}
	for _, function := range []string{"MPI_Scan", "MPI_Exscan_c", "MPI_Neighbor_alltoall"} {
		if p := mustRead(t, met(t, 3, steady(function, 20, 3, always(2, 5)), nil), Cut{}); len(p.Arrivals) > 0 {
			t.Errorf("%s: %+v", function, p.Arrivals[0])
		}
	}
}

// A finding says who comes last only if that is no chance, and matters.
func TestFindLateArrivals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const text = "rank 3 comes last to MPI_Barrier: app+0x100 in 40 of 40 observed calls, typically 5.00 ms after the second last: 20 % of the run time in all"
	for _, test := range []struct {
		name string
		g    gathering
		want string
	}{
		{"planted", steady("MPI_Barrier", 40, 4, always(3, 5)), text},
		{"balanced", steady("MPI_Barrier", 40, 4, func(int) (int, float64) { return -1, 0 }), ""},
		{"random", steady("MPI_Barrier", 40, 4, func(int) (int, float64) { return random.IntN(4), 5 }), ""},
		{"systematic but short", steady("MPI_Barrier", 40, 4, always(3, 0.1)), ""},
		{"one long delay", steady("MPI_Barrier", 40, 4, func(i int) (int, float64) { return 3, map[bool]float64{true: 15, false: 0.1}[i == 7] }), ""},
		{"few calls", steady("MPI_Barrier", 9, 4, always(3, 15)), ""},
	} {
		if got := lateFinding(mustRead(t, met(t, 4, test.g, nil), Cut{})); got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}

// What is not certain is unknown: calls that not all ranks kept, different functions and roots, ranks that did not wait for each other.
func TestUnknownArrivals(t *testing.T) {
	planted := steady("MPI_Barrier", 40, 4, always(3, 5))
	for _, test := range []struct {
		name     string
		change   func(rank int, calls []kept) []kept
		observed int
		unknown  [3]int
	}{
		{"a rank died", func(rank int, calls []kept) []kept { return calls[:len(calls)-map[int]int{2: 30}[rank]] }, 10, [3]int{}},
		{"a rank kept others", func(rank int, calls []kept) []kept {
			for i := range calls {
				calls[i].Call += map[int]uint64{2: 1000}[rank]
			}
			return calls
		}, 0, [3]int{}},
		{"a rank counts one more", func(rank int, calls []kept) []kept { // and so takes its call for the one before
			for i := range calls {
				calls[i].Call -= map[int]uint64{2: 1}[rank]
			}
			return calls
		}, 0, [3]int{0, 39, 0}},
		{"a smaller communicator", func(rank int, calls []kept) []kept {
			for i := range calls {
				calls[i].Size = 3
			}
			return calls
		}, 0, [3]int{}},
		{"a root", func(rank int, calls []kept) []kept {
			for i := range calls {
				calls[i].Role = map[bool]uint32{true: 1, false: 2}[rank == 0]
			}
			return calls
		}, 0, [3]int{40, 0, 0}},
	} {
		p := mustRead(t, met(t, 4, planted, test.change), Cut{})
		observed, unknown := 0, [3]int{}
		for _, a := range p.Arrivals {
			observed += a.Observed
			unknown = [3]int{unknown[0] + a.Mismatched, unknown[1] + a.Unordered, unknown[2] + a.Unclocked}
		}
		if observed != test.observed || unknown != test.unknown {
			t.Errorf("%s: %d observed, %v unknown, not %d and %v", test.name, observed, unknown, test.observed, test.unknown)
		}
		if found := lateFinding(p); test.observed == 0 && found != "" {
			t.Errorf("%s: %s", test.name, found)
		}
	}
	two := mustRead(t, job(t, append(planted.ranks(4, nil)[:3], steady("MPI_Allreduce", 40, 4, always(3, 5)).ranks(4, nil)[3])...), Cut{})
	if a := two.Arrivals[0]; a.Observed > 0 || a.Mismatched != 40 || lateFinding(two) != "" {
		t.Errorf("two functions: %+v", a)
	}
}

// A part of the ranks is about them, with the calls of all.
func TestArrivalsOfSomeRanks(t *testing.T) {
	run := met(t, 4, steady("MPI_Barrier", 40, 4, func(i int) (int, float64) { return i % 2, 5 }), nil)
	p := mustRead(t, run, Cut{Ranks: []int{1, 2}})
	if len(p.Arrivals) != 1 || len(p.Arrivals[0].Ranks) != 1 || p.Arrivals[0].Ranks[0].Rank != 1 || p.Arrivals[0].Ranks[0].Last != 20 || p.Arrivals[0].Observed != 40 {
		t.Errorf("%+v", p.Arrivals)
	}
	if p := mustRead(t, run, Cut{NoArrivals: true}); len(p.Arrivals) > 0 {
		t.Errorf("none: %+v", p.Arrivals)
	}
	if p := mustRead(t, run, Cut{Functions: []string{"MPI_Barrier"}}); len(p.Arrivals) != 1 {
		t.Errorf("a chosen function: %+v", p.Arrivals)
	}
}

// Nodes' clocks must be in step to less than ranks are late.
func TestArrivalsOnNodes(t *testing.T) {
	run := met(t, 4, steady("MPI_Barrier", 40, 4, always(3, 5)), nil)
	other := &recording.Node{Host: "m"}
	run.Ranks[3].Node = other
	run.Nodes = append(run.Nodes, other)
	judged := func() (int, int) {
		b := &builder{p: &Profile{Run: run}, arrivals: newArrivals()}
		o := &Object{}
		for i, of := range steady("MPI_Barrier", 40, 4, always(3, 5)).calls {
			for r, c := range of {
				s := b.arrivals.site("MPI_Barrier", o, "")
				b.arrivals.calls[uint64(i)] = append(b.arrivals.calls[uint64(i)], arrival{run.Ranks[r], time.Duration(c.enter * 1e6), time.Duration(c.leave * 1e6), 4, 0, "MPI_Barrier", s})
			}
		}
		b.finishArrivals()
		return b.p.Arrivals[0].Observed, b.p.Arrivals[0].Unclocked
	}
	for _, test := range []struct {
		clocks   *recording.Clocks
		observed int
	}{{nil, 0}, {&recording.Clocks{Pairs: []recording.ClockPair{{Nodes: [2]int{0, 1}, Known: true, Error: 100 * time.Microsecond}}}, 40},
		{&recording.Clocks{Pairs: []recording.ClockPair{{Nodes: [2]int{0, 1}, Known: true, Error: 10 * time.Millisecond}}}, 0},
		{&recording.Clocks{Pairs: []recording.ClockPair{{Nodes: [2]int{0, 1}, Error: time.Microsecond}}}, 0}} {
		run.Clocks = test.clocks
		if observed, unknown := judged(); observed != test.observed || unknown != 40-test.observed {
			t.Errorf("%+v: %d observed, %d unknown", test.clocks, observed, unknown)
		}
	}
}

// Random arrivals: each observed call has one last rank or none, and times fit together, in whatever order rows come.
func TestRandomArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 6).Draw(t, "ranks")
		function := rapid.SampledFrom([]string{"MPI_Barrier", "MPI_Bcast", "MPI_Reduce"}).Draw(t, "function")
		run := &recording.Run{}
		node := &recording.Node{}
		for r := range ranks {
			run.Ranks = append(run.Ranks, &recording.Rank{Rank: r, Node: node})
		}
		read := func(shuffle bool) *Profile {
			b := &builder{p: &Profile{Run: run}, arrivals: newArrivals()}
			s := b.arrivals.site(function, &Object{}, "")
			random := rand.New(rand.NewPCG(7, uint64(ranks)))
			for i := range rapid.IntRange(1, 40).Draw(t, "calls") {
				var all []arrival
				for r := range ranks {
					enter := time.Duration(random.IntN(100))
					role := roleAlike
					if function != "MPI_Barrier" {
						role = map[bool]uint64{true: roleRoot, false: roleOther}[r == 0]
					}
					all = append(all, arrival{run.Ranks[r], enter, enter + time.Duration(random.IntN(100)), ranks, role, function, s})
				}
				if random.IntN(5) == 0 {
					all = all[:random.IntN(len(all))]
				}
				if shuffle {
					slices.Reverse(all)
				}
				b.arrivals.calls[uint64(i)] = all
			}
			b.finishArrivals()
			return b.p
		}
		for _, p := range []*Profile{read(false), read(true)} {
			for _, a := range p.Arrivals {
				last := 0
				for _, l := range a.Ranks {
					last += l.Last
					if l.Last > l.TookPart || l.TookPart != a.Observed || l.AfterSecond.Max > l.AfterFirst.Max || l.AfterSecond.Mean > l.AfterSecond.Max || l.AfterSecond.Mean < 0 ||
						math.Abs(l.Chance-1/float64(ranks)) > 1e-9 || l.byChance() < 0 || l.byChance() > 1 {
						t.Fatalf("%+v", l)
					}
				}
				if last+a.Unwaited != a.Observed {
					t.Fatalf("%d last, %d unwaited, %d observed", last, a.Unwaited, a.Observed)
				}
			}
		}
	})
}

// The probability of chance is that of the binomial distribution.
func TestByChance(t *testing.T) {
	for _, test := range []struct {
		n, k int
		p    float64
		want float64
	}{{10, 10, 0.5, 1.0 / 1024}, {10, 0, 0.25, 1}, {2, 1, 0.25, 0.4375}, {64, 58, 0.25, 0}} {
		l := Latecomer{TookPart: test.n, Last: test.k, Chance: test.p}
		if got := l.byChance(); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%+v: %g", test, got)
		}
	}
}

// Rows of two threads, and call sites of one line, are one call site.
func TestArrivalsAreMerged(t *testing.T) {
	g := steady("MPI_Barrier", 40, 3, always(2, 5))
	half := func(part int) func(rank int, calls []kept) []kept {
		return func(rank int, calls []kept) []kept { return calls[20*part : 20*part+20] }
	}
	var ranks []func(p *recordingtest.Profile)
	for rank := range 3 {
		ranks = append(ranks, func(p *recordingtest.Profile) {
			g.ranks(3, half(0))[rank](p)
			stack := []uint64{0x10108 + uint64(rank)*0x10000}
			calls := make([]kept, 20)
			for i := range calls {
				c := g.calls[20+i][rank]
				calls[i] = kept{Call: 1020 + uint64(i), Enter: 1000 + uint64(c.enter*ms), Leave: 1000 + uint64(c.leave*ms), Size: 3}
			}
			p.Arrivals(g.function, "", 1, 2, stack, calls...)
		})
	}
	p := mustRead(t, job(t, ranks...), Cut{})
	equal(t, "call sites by address", len(p.Arrivals), 2)
	p.Resolve(func(Address) []Frame { return []Frame{{File: "/src/solver.c", Line: 65}} })
	equal(t, "call sites by line", len(p.Arrivals), 1)
	if a := p.Arrivals[0]; a.Observed != 40 || a.Ranks[0].Last != 40 {
		t.Errorf("%+v", a)
	}
	if got := lateFinding(p); !strings.HasPrefix(got, "rank 2 comes last to MPI_Barrier: solver.c:65 in 40 of 40 observed calls") {
		t.Error(got)
	}
}

// The error of clocks is that of the two ranks that are compared: a root on another node may seem to come after others have left.
func TestErrorOfRoot(t *testing.T) {
	here, there := &recording.Node{Host: "n"}, &recording.Node{Host: "m"}
	run := &recording.Run{Nodes: []*recording.Node{here, there}, Ranks: []*recording.Rank{{Rank: 0, Node: there}, {Rank: 1, Node: here}, {Rank: 2, Node: here}}}
	run.Clocks = &recording.Clocks{Pairs: []recording.ClockPair{{Nodes: [2]int{0, 1}, Known: true, Error: time.Millisecond}}}
	b := &builder{p: &Profile{Run: run}, arrivals: newArrivals()}
	s := b.arrivals.site("MPI_Bcast", &Object{}, "")
	for r, c := range []come{{10.5, 11}, {1, 10}, {20, 21}} {
		role := map[bool]uint64{true: roleRoot, false: roleOther}[r == 0]
		b.arrivals.calls[1] = append(b.arrivals.calls[1], arrival{run.Ranks[r], time.Duration(c.enter * 1e6), time.Duration(c.leave * 1e6), 3, role, "MPI_Bcast", s})
	}
	b.finishArrivals()
	if a := b.p.Arrivals[0]; a.Observed != 1 || a.Unwaited != 1 || a.Unknown() > 0 {
		t.Errorf("%+v", a)
	}
}

// Waited is the time of all ranks in calls before the last one came, with the calls that were not observed.
func TestWaited(t *testing.T) {
	late := func(int) (int, float64) { return 1, 5 }
	for name, c := range map[string]struct {
		g    gathering
		want time.Duration // of a call
	}{
		"all for all": {steady("MPI_Allreduce", 16, 2, late), 5250 * time.Microsecond}, // 5.5 and 5 ms in turn
		"few calls":   {steady("MPI_Allreduce", 3, 2, late), 5166666 * time.Nanosecond},
	} {
		p, err := Read(met(t, 2, c.g, nil), Cut{})
		if err != nil {
			t.Fatal(err)
		}
		a := p.Arrivals[0]
		if n := uint64(len(c.g.calls)); a.Covered != 2*n || (a.Waited/time.Duration(n)-c.want).Abs() > 200*time.Microsecond {
			t.Errorf("%s: %v in %d calls", name, a.Waited, a.Covered)
		}
	}
	p, err := Read(met(t, 2, steady("MPI_Allreduce", 16, 2, late), func(rank int, calls []kept) []kept { return calls[:3] }), Cut{})
	if err != nil || p.Arrivals[0].Covered != 0 {
		t.Errorf("3 of 16 calls: %+v, %v", p.Arrivals, err)
	}
}
