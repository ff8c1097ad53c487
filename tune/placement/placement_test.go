package placement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// blocks places ranks on nodes of these sizes in order.
func blocks(sizes ...int) (node []int) {
	for k, n := range sizes {
		for range n {
			node = append(node, k)
		}
	}
	return node
}

// least is the fewest bytes between nodes of any placement with the numbers of ranks of another one.
func least(g *Graph, now []int) int64 {
	left := make([]int, slices.Max(now)+1)
	for _, k := range now {
		left[k]++
	}
	node, best := make([]int, len(now)), int64(math.MaxInt64)
	var place func(rank int, crossing int64)
	place = func(rank int, crossing int64) {
		if crossing >= best {
			return
		}
		if rank == len(now) {
			best = crossing
			return
		}
		for k := range left {
			if left[k] == 0 {
				continue
			}
			left[k]--
			node[rank] = k
			more := int64(0)
			for _, p := range g.peers[rank] {
				if p.rank < rank && node[p.rank] != k {
					more += p.bytes
				}
			}
			place(rank+1, crossing+more)
			left[k]++
		}
	}
	place(0, 0)
	return best
}

// check checks what holds for each result, and returns its bytes between nodes.
func check(t *testing.T, g *Graph, now []int) int64 {
	t.Helper()
	before := slices.Clone(now)
	node := g.Improve(now)
	a, b := slices.Clone(node), slices.Clone(now)
	slices.Sort(a)
	slices.Sort(b)
	after := g.Crossing(node)
	if !slices.Equal(a, b) || !slices.Equal(now, before) || after > g.Crossing(now) || after == g.Crossing(now) && !slices.Equal(node, now) {
		t.Fatalf("%v: %d bytes: from %v: %d bytes", node, after, now, g.Crossing(now))
	}
	if again := g.Improve(now); !slices.Equal(again, node) {
		t.Errorf("two searches: %v, %v", node, again)
	}
	return after
}

// On small graphs of any kind the search finds the best placement, or nearly.
func TestBest(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	sizes := [][]int{{2, 2}, {3, 3}, {2, 2, 2}, {4, 4}, {2, 2, 2, 2}, {5, 3}, {4, 3, 1}, {5, 5}, {2, 2, 2, 2, 2}, {4, 3, 3}}
	missed, all := 0, 0
	for k := range 300 {
		now := blocks(sizes[k%len(sizes)]...)
		random.Shuffle(len(now), func(i, j int) { now[i], now[j] = now[j], now[i] })
		var traffic []Traffic
		for a := range now {
			for b := range now {
				if random.IntN(3) <= k%3 {
					traffic = append(traffic, Traffic{a, b, uint64(random.ExpFloat64() * 1000)})
				}
			}
		}
		g := NewGraph(len(now), traffic)
		got, best := check(t, g, now), least(g, now)
		if all++; got > best {
			missed++
		}
		if float64(got) > 1.03*float64(best) {
			t.Errorf("graph %d: %d bytes between nodes, the least are %d", k, got, best)
		}
	}
	if missed > all/50 {
		t.Errorf("%d of %d graphs have a better placement", missed, all)
	}
}

// Known graphs: pairs and blocks that are apart are brought together; where nothing can be gained, ranks stay where they are.
func TestKnown(t *testing.T) {
	ring := func(n int) (all []Traffic) {
		for k := range n {
			all = append(all, Traffic{k, (k + 1) % n, 100})
		}
		return all
	}
	var uniform, cliques []Traffic
	for a := range 16 {
		for b := range 16 {
			uniform = append(uniform, Traffic{a, b, 100})
			if a%4 == b%4 {
				cliques = append(cliques, Traffic{a, b, 100})
			}
		}
	}
	for name, c := range map[string]struct {
		traffic []Traffic
		now     []int
		want    int64
	}{
		"pairs":            {[]Traffic{{0, 2, 10}, {1, 3, 10}, {2, 0, 5}}, blocks(2, 2), 0},
		"ring":             {ring(16), blocks(4, 4, 4, 4), 400},
		"ring, by node":    {ring(4), []int{0, 1, 0, 1}, 200},
		"ring, unequal":    {ring(10), blocks(1, 4, 5), 300},
		"uniform":          {uniform, blocks(4, 4, 4, 4), 16 * 12 * 100},
		"cliques":          {cliques, blocks(4, 4, 4, 4), 0},
		"nothing":          {nil, blocks(2, 2), 0},
		"one node":         {ring(4), blocks(4), 0},
		"one rank a node":  {ring(4), blocks(1, 1, 1, 1), 400},
		"itself":           {[]Traffic{{0, 0, 100}}, blocks(1, 1), 0},
		"bytes at the end": {[]Traffic{{0, 2, math.MaxUint64}, {1, 3, math.MaxUint64}, {0, 1, math.MaxUint64 / 2}}, blocks(2, 2), math.MaxInt64 / 16},
	} {
		if got := check(t, NewGraph(len(c.now), c.traffic), c.now); got != c.want {
			t.Errorf("%s: %d bytes between nodes, want %d", name, got, c.want)
		}
	}
}

// Ranks that stay together stay on their node.
func TestStay(t *testing.T) {
	node := NewGraph(6, []Traffic{{0, 1, 10}, {1, 2, 10}, {3, 5, 10}, {2, 4, 1}}).Improve([]int{1, 1, 2, 0, 2, 0})
	if !slices.Equal(node, []int{1, 1, 2, 0, 2, 0}) {
		t.Errorf("%v", node)
	}
	// two triangles, each with a rank on the other's node: these two change
	all := []Traffic{{0, 1, 9}, {1, 2, 9}, {0, 2, 9}, {3, 4, 9}, {4, 5, 9}, {3, 5, 9}}
	if node := NewGraph(6, all).Improve([]int{1, 1, 0, 0, 0, 1}); !slices.Equal(node, []int{1, 1, 1, 0, 0, 0}) {
		t.Errorf("%v", node)
	}
}

// stencil is a grid of ranks that exchange with their neighbors.
func stencil(lengths ...int) (n int, traffic []Traffic) {
	n = 1
	for _, l := range lengths {
		n *= l
	}
	for rank := range n {
		stride := 1
		for _, l := range lengths {
			if rank/stride%l < l-1 {
				traffic = append(traffic, Traffic{rank, rank + stride, 1000})
			}
			stride *= l
		}
	}
	return n, traffic
}

// Ranks of a grid, placed by its rows, are placed in compact parts.
func TestGrid(t *testing.T) {
	for _, c := range []struct{ nodes, atMost int }{{4, 120}, {16, 250}} {
		n, traffic := stencil(32, 32)
		now := make([]int, n)
		for rank := range now {
			now[rank] = rank % c.nodes
		}
		if got := check(t, NewGraph(n, traffic), now); got > int64(c.atMost)*1000 {
			t.Errorf("%d nodes: %d bytes between nodes, want at most %d", c.nodes, got, c.atMost*1000)
		}
	}
}

func random(n, peers int) (traffic []Traffic) {
	r := rand.New(rand.NewPCG(3, 3))
	for a := range n {
		for range peers {
			traffic = append(traffic, Traffic{a, r.IntN(n), uint64(r.IntN(10000))})
		}
	}
	return traffic
}

// 10,000 ranks take some seconds.
func BenchmarkImprove(b *testing.B) {
	three, cubes := stencil(20, 20, 25)
	for _, c := range []struct {
		name    string
		traffic []Traffic
	}{{"grid", cubes}, {"random", random(three, 20)}, {"dense", random(three, 400)}} {
		for _, size := range []int{2, 40, 200} {
			now := make([]int, three)
			for rank := range now {
				now[rank] = rank / size
			}
			b.Run(fmt.Sprintf("%s/%d", c.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					g := NewGraph(three, c.traffic)
					node := g.Improve(now)
					b.ReportMetric(float64(g.Crossing(node))/float64(g.Crossing(now)), "of-before")
				}
			})
		}
	}
}
