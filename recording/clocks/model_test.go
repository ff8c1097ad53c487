package clocks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clock is a simulated clock: what it shows at each true time.
type clock struct {
	offset, rate float64 // ns; per ns
	curl         float64 // what the rate changes per second
}

func (c clock) at(t float64) int64 {
	return int64(math.Round(t + c.offset + c.rate*t + c.curl*t*t/2e9))
}

// job is simulated nodes.
type job struct {
	clocks   []clock
	messages []message
	truth    [][2]float64 // when a message was really sent and received
}

// send adds a message that takes delay nanoseconds.
func (j *job) send(from, to int, at, delay float64) {
	j.messages = append(j.messages, message{from, to, j.clocks[from].at(at), j.clocks[to].at(at + delay)})
	j.truth = append(j.truth, [2]float64{at, at + delay})
}

func (j *job) model() *model {
	m := &model{nodes: len(j.clocks)}
	m.fit(func(again func() func(message)) {
		give := again()
		for _, x := range j.messages {
			give(x)
		}
	})
	return m
}

// worst is the greatest error between two nodes' corrected times, of the true times of messages.
func (j *job) worst(m *model, a, b int) (worst float64) {
	from := j.messages[0].sent
	for _, x := range j.messages {
		from = min(from, x.sent, x.received)
	}
	for _, t := range j.truth {
		if j.clocks[a].at(t[0]) < from {
			continue
		}
		one := float64(m.curves[a].At(time.Duration(j.clocks[a].at(t[0]))))
		other := float64(m.curves[b].At(time.Duration(j.clocks[b].at(t[0]))))
		worst = max(worst, math.Abs(one-other))
	}
	return worst
}

// traffic is messages of both directions between nodes that are neighbours in a ring.
func traffic(random *rand.Rand, nodes, messages int, span float64) *job {
	j := &job{}
	for range nodes {
		j.clocks = append(j.clocks, clock{offset: (random.Float64() - 0.5) * 1e8, rate: (random.Float64() - 0.5) * 2e-4})
	}
	for range messages {
		from := random.IntN(nodes)
		to := (from + 1 + (nodes-2)*random.IntN(2)) % nodes
		if from != to {
			j.send(from, to, random.Float64()*span, 1000+random.ExpFloat64()*5000)
		}
	}
	return j
}

// Two clocks that are 5 ms apart and drift by 50 ppm are brought in step, and no message points back.
func TestTwoNodes(t *testing.T) {
	for _, span := range []float64{1e6, 1e9, 1e11} {
		j := &job{clocks: []clock{{}, {offset: 5e6, rate: 50e-6}}}
		random := rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			at := random.Float64() * span
			delay := 1000 + random.ExpFloat64()*20000
			j.send(0, 1, at, delay)
			j.send(1, 0, at+delay+1000, 1000+random.ExpFloat64()*20000)
		}
		m := j.model()
		p := m.pairs[0]
		if worst := j.worst(m, 0, 1); worst > 3000 || float64(p.Error) < worst || p.Error > 20000 {
			t.Errorf("span %v: wrong by %v ns, at most %v", span, worst, p.Error)
		}
		if !p.Known || p.OneWay || p.Messages != 2000 || p.Before == 0 || p.After != 0 || span > 1e8 && (math.Abs(p.Drift-50e-6) > 1e-6 || p.Apart.Round(10*time.Microsecond) < 5*time.Millisecond) {
			t.Errorf("span %v: %+v", span, p.ClockPair)
		}
	}
}

// With messages in one direction only, the clocks stay as they are, and arrows that point back are counted.
func TestOneWay(t *testing.T) {
	j := &job{clocks: []clock{{}, {offset: -5e6}}}
	for i := range 100 {
		j.send(0, 1, float64(i)*1e6, 2000)
	}
	m := j.model()
	if p := m.pairs[0]; p.Known || !p.OneWay || p.Before != 100 || p.After != 100 || len(m.curves) != 0 {
		t.Errorf("%+v", p)
	}
}

// The rates of clocks change: several lines follow them.
func TestRateChanges(t *testing.T) {
	j := &job{clocks: []clock{{}, {offset: 5e6, rate: 10e-6, curl: 0.05e-6}}} // 600 s: 30 ppm, or 9 ms from a line
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		j.send(0, 1, random.Float64()*600e9, 2000+random.ExpFloat64()*20000)
		j.send(1, 0, random.Float64()*600e9, 2000+random.ExpFloat64()*20000)
	}
	m := j.model()
	if p, worst := m.pairs[0], j.worst(m, 0, 1); worst > 10_000 || p.After > 0 || float64(p.Error) < worst || p.Error > 50_000 {
		t.Errorf("wrong by %v ns, %+v", worst, p.ClockPair)
	}
}

// Errors are within the stated bounds.
func TestErrorIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		j := traffic(random, rapid.IntRange(2, 6).Draw(t, "nodes"), rapid.IntRange(1, 3000).Draw(t, "messages"), math.Pow(10, rapid.Float64Range(6, 11.5).Draw(t, "span")))
		m := j.model()
		for _, p := range m.pairs {
			if worst := j.worst(m, p.Nodes[0], p.Nodes[1]); p.Known && worst > float64(p.Error)+2 {
				t.Fatalf("nodes %d and %d are wrong by %v ns: %+v", p.Nodes[0], p.Nodes[1], worst, p.ClockPair)
			}
			if p.Known && p.After > 0 && !p.OneWay && len(m.pairs) == 1 {
				t.Fatalf("%d messages point back: %+v", p.After, p.ClockPair)
			}
		}
	})
}

// The order of messages does not matter.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		j := traffic(random, rapid.IntRange(2, 4).Draw(t, "nodes"), rapid.IntRange(1, 2000).Draw(t, "messages"), 1e10)
		a := j.model()
		random.Shuffle(len(j.messages), func(x, y int) { j.messages[x], j.messages[y] = j.messages[y], j.messages[x] })
		b := j.model()
		if fmt.Sprint(a.curves, a.pairs) != fmt.Sprint(b.curves, b.pairs) {
			t.Fatalf("%v\n%v", a.pairs, b.pairs)
		}
	})
}

// Times that are damage, and clocks that jump, are no trouble. Corrected times of a node never go back.
func TestHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 1000), rapid.Int64Range(0, 1e12), rapid.Int64Range(-2e18, 2e18))
		j := &job{clocks: make([]clock, rapid.IntRange(1, 5).Draw(t, "nodes"))}
		node := rapid.IntRange(0, len(j.clocks)-1)
		n := rapid.IntRange(1, 300).Draw(t, "n")
		j.messages = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message {
			return message{node.Draw(t, "from"), node.Draw(t, "to"), times.Draw(t, "sent"), times.Draw(t, "received")}
		}), n, n).Draw(t, "messages")
		m := j.model()
		for n, curve := range m.curves {
			for i := 1; i < len(curve); i++ {
				if curve[i].From <= curve[i-1].From || curve[i].To <= curve[i-1].To {
					t.Fatalf("node %d: %v", n, curve)
				}
			}
			all := rapid.SliceOfN(rapid.Int64Range(-mostTime, mostTime), 2, 50).Draw(t, "times")
			slices.Sort(all)
			for i := 1; i < len(all); i++ {
				if curve.At(time.Duration(all[i])) < curve.At(time.Duration(all[i-1])) {
					t.Fatalf("node %d: %d is before %d with %v", n, all[i], all[i-1], curve)
				}
			}
		}
	})
}

// Memory stays bounded although messages come from all pairs of many nodes.
func TestMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	x := newPoints()
	for range 500_000 {
		at := random.Int64N(1e13)
		x.add(random.IntN(200), random.IntN(200), at, at+1000+random.Int64N(100_000))
	}
	kept := 0
	for _, of := range x.pairs {
		for _, s := range of.parts {
			kept += len(s.points[0]) + len(s.points[1])
		}
	}
	if x.parts > max(allParts, len(x.pairs)) {
		t.Errorf("%d parts of %d pairs with %d points", x.parts, len(x.pairs), kept)
	}
	t.Logf("%d parts of %d pairs with %d points", x.parts, len(x.pairs), kept)
}
