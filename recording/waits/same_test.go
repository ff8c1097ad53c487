package waits

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/analyses.txt")

// mixture plays a random program of ranks with two threads on two nodes: messages of all modes and sizes, that wait or are copied, and are completed
// by later calls; collectives of all and of halves, blocking and not; calls of many in between. order is that in which the tracks are added.
func mixture(seed uint64, ranks, steps int, order []int) *machine {
	r := rand.New(rand.NewPCG(seed, 2))
	m := &machine{Program: NewProgram(), now: make([]int64, 2*ranks)}
	m.world = m.Group(ranks, true)
	m.world.neighbors = map[int][]int{}
	for rank := range ranks { // one way
		m.world.neighbors[rank] = []int{(rank + 1) % ranks, (rank + 3) % ranks}
	}
	halves := []*Group{m.Group((ranks+1)/2, false), m.Group(ranks/2, false)}
	tracks := make([]int32, 2*ranks)
	for _, i := range order {
		start := int64(i % 7)
		origin := "MPI_Init"
		if i%2 == 1 {
			start, origin = int64(500+i), threadStart
		}
		tracks[i], m.now[i] = m.Track(i/2, 100+i, i/2%2, start, origin), start
	}
	site := func(function, object string) uint32 {
		return m.Site(Site{Function: function, Place: fmt.Sprint("line ", r.IntN(4)), Object: object, Phase: []string{"", "solve"}[r.IntN(2)]})
	}
	call := func(i int, site uint32, until int64) Ref {
		begin := m.now[i]
		m.now[i] = max(begin, until) + r.Int64N(20)
		return m.Call(tracks[i], begin, m.now[i], site)
	}
	finish := func() {}
	for range steps {
		for i := range m.now {
			m.compute(i, r.Int64N(1000))
		}
		switch r.IntN(5) {
		case 0: // a collective of all ranks, or of halves
			name := []string{"MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_File_write_all", "MPI_Comm_split", "MPI_Neighbor_allgather"}[r.IntN(8)]
			s, _ := shapeOf(name)
			group := func(group *Group, members []int, object string) {
				latest, root := int64(0), -1
				for _, rank := range members {
					latest = max(latest, m.now[2*rank])
				}
				if s == fromRoot || s == toRoot {
					root = members[r.IntN(len(members))]
				}
				begun := map[int]int64{}
				for _, rank := range members {
					begun[rank] = m.now[2*rank]
				}
				at := site(name, object)
				for _, rank := range members {
					until := int64(0)
					for other, begin := range begun {
						switch {
						case s == fromRoot && other != root, s == toRoot && rank != root, s == fromLower && other >= rank, s == fromNeighbors && !slices.Contains(m.world.neighbors[rank], other):
						default:
							until = max(until, begin)
						}
					}
					m.Collective(call(2*rank, at, until), group, name, root)
				}
			}
			all := make([]int, ranks)
			for rank := range all {
				all[rank] = rank
			}
			if s == fromLower || s == fromNeighbors || r.IntN(2) == 0 {
				group(m.world, all, "MPI_COMM_WORLD")
				break
			}
			group(halves[0], all[:(ranks+1)/2], "half")
			if ranks > 1 {
				group(halves[1], all[(ranks+1)/2:], "half")
			}
		case 1: // one that is completed later
			begun, numbers := make([]int64, ranks), make([]int32, ranks)
			at, wait := site("MPI_Ialltoall", "MPI_COMM_WORLD"), site("MPI_Wait", "")
			before := finish
			for rank := range ranks {
				begun[rank] = m.now[2*rank]
				numbers[rank] = m.Collective(call(2*rank, at, 0), m.world, "MPI_Ialltoall", -1)
			}
			finish = func() {
				for rank := range ranks {
					m.Completed(call(2*rank, wait, slices.Max(begun)), numbers[rank])
				}
			}
			before()
		default: // messages
			for range 2 * ranks {
				from, to := r.IntN(2*ranks), r.IntN(2*ranks)
				if from == to {
					continue
				}
				size, mode := uint64(1)<<r.IntN(20), Mode(r.IntN(3))
				waits := mode == Synchronous || mode == Standard && size > 1<<10
				posted := nobody
				if r.IntN(2) == 0 {
					posted = call(to, site("MPI_Irecv", "MPI_COMM_WORLD"), 0)
				}
				m.compute(to, r.Int64N(300))
				receives := m.now[to]
				if posted != nobody {
					receives = m.at(posted).begin
				}
				until := int64(0)
				if waits {
					until = receives
				}
				sent := call(from, site("MPI_Send", "MPI_COMM_WORLD"), until)
				received := call(to, site("MPI_Recv", "MPI_COMM_WORLD"), m.at(sent).begin)
				if posted == nobody {
					posted = received
				}
				m.Received(received, sent, size)
				m.Sent(sent, posted, size, mode, true)
				for range r.IntN(3) {
					call(to, site("MPI_Test", ""), 0)
				}
			}
		}
	}
	finish()
	return m
}

// everything is all that an analysis says.
func everything(m *machine) string {
	a := m.Analyse()
	var b strings.Builder
	for _, x := range []any{a.Run, a.Time, a.InMPI, a.Waiting, a.Threads, a.Ranks, a.States, a.Rest, a.Causes, a.Path, a.Gains, a.Efficiency, a.Missing.Backwards, a.Missing.Incomplete, a.Missing.Undecided} {
		if err := json.NewEncoder(&b).Encode(x); err != nil {
			return err.Error()
		}
	}
	for _, f := range a.Findings() {
		fmt.Fprintln(&b, f.Text, f.Share)
	}
	var all []string
	for w := range a.Waits {
		all = append(all, fmt.Sprintln(*w))
	}
	slices.Sort(all)
	b.WriteString(strings.Join(all, ""))
	for p := range a.Pieces {
		fmt.Fprintln(&b, *p)
	}
	return b.String()
}

func ascending(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// TestSame checks that the results of random programs stay as they are, to the nanosecond.
func TestSame(t *testing.T) {
	var b strings.Builder
	for seed := range uint64(60) {
		ranks, steps := 1+int(seed%11), 5+int(seed*7%90)
		fmt.Fprintf(&b, "random %d %d %d %.8x\n", seed, ranks, steps, sha256.Sum256([]byte(everything(random(seed, ranks, steps)))))
		fmt.Fprintf(&b, "mixture %d %d %d %.8x\n", seed, ranks, steps, sha256.Sum256([]byte(everything(mixture(seed, ranks, steps, ascending(2*ranks))))))
	}
	path := filepath.Join("testdata", "analyses.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, lines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range got {
		if i >= len(lines) || got[i] != lines[i] {
			t.Errorf("not as before: %s", got[i])
		}
	}
}

// TestOrder checks that neither the order of ranks nor the number of processors matters.
func TestOrder(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for seed := range uint64(20) {
		order := ascending(14)
		want := everything(mixture(seed, 7, 60, order))
		for _, processors := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(processors)
			rand.New(rand.NewPCG(seed, 3)).Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
			if got := everything(mixture(seed, 7, 60, order)); got != want {
				t.Errorf("seed %d: another order of ranks, on %d processors, gives\n%s\nnot\n%s", seed, processors, got, want)
			}
		}
	}
}
