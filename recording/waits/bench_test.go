package waits

import (
	"flag"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// BenchmarkRead reads and analyses a trace of two ranks.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	const rounds = 400_000
	if err := recordingtest.SaveTrace(dir, rounds); err != nil {
		b.Fatal(err)
	}
	before := used(b)
	for b.Loop() {
		run, err := recording.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		p := Read(run, func(*recording.Rank, uint64) string { return "" })
		if a := p.Analyse(); a.Run == 0 {
			b.Fatal("nothing")
		}
		run.Close()
	}
	report(b, 3*rounds, before)
}

var (
	benchRanks = flag.Int("ranks", 64, "ranks of BenchmarkAnalyse")
	benchCalls = flag.Int("calls", 100_000, "calls of each of them")
)

// halo plays a program in which each rank exchanges messages with two neighbours, one of which the library copies, and sometimes all reduce.
func halo(ranks, calls int) *machine {
	r := rand.New(rand.NewPCG(1, 1))
	m := newMachine(ranks)
	site := func(function string) uint32 {
		return m.Site(Site{Function: function, Place: "exchange", Object: "MPI_COMM_WORLD"})
	}
	irecv, isend, waitall, allreduce := site("MPI_Irecv"), site("MPI_Isend"), site("MPI_Waitall"), site("MPI_Allreduce")
	sizes := []uint64{8, 1 << 20} // to the left and to the right
	posted, sent := make([][2]Ref, ranks), make([][2]Ref, ranks)
	call := func(rank int, site uint32, until int64) Ref {
		begin := m.now[rank]
		m.now[rank] = max(begin, until) + 1
		return m.Call(int32(rank), begin, m.now[rank], site)
	}
	together := func(at uint32, until []int64) {
		for rank := range ranks {
			m.Collective(call(rank, at, slices.Max(until)), m.world, "MPI_Allreduce", -1)
		}
	}
	for made, step := 0, 0; made < calls; made, step = made+5, step+1 {
		for rank := range ranks {
			m.compute(rank, 100+r.Int64N(1000))
			posted[rank] = [2]Ref{call(rank, irecv, 0), call(rank, irecv, 0)}
			sent[rank] = [2]Ref{call(rank, isend, 0), call(rank, isend, 0)}
		}
		for rank := range ranks {
			until := int64(0)
			for side, by := range []int{ranks - 1, 1} {
				to, from := (rank+by)%ranks, (rank+ranks-by)%ranks
				until = max(until, m.at(sent[from][side]).begin)
				if sizes[side] > 8 {
					until = max(until, m.at(posted[to][side]).begin)
				}
			}
			done := call(rank, waitall, until)
			for side, by := range []int{ranks - 1, 1} {
				to, from := (rank+by)%ranks, (rank+ranks-by)%ranks
				m.Received(done, sent[from][side], sizes[side])
				m.Sent(done, posted[to][side], sizes[side], Standard)
			}
		}
		if step%5 == 0 {
			together(allreduce, slices.Clone(m.now))
			made++
		}
	}
	return m
}

// BenchmarkAnalyse analyses a program of 64 ranks with 100,000 calls each, or of another size: -args -ranks 1000 -calls 100000. calls/s is of all
// processors; RSS-MB is the most memory of the process, with the calls.
func BenchmarkAnalyse(b *testing.B) {
	m := halo(*benchRanks, *benchCalls)
	calls := 0
	for i := range m.tracks {
		calls += int(m.tracks[i].calls.len())
	}
	before := used(b)
	for b.Loop() {
		m.Analyse()
	}
	report(b, calls, before)
}

// report reports how many calls were done in a second and in a second of one processor, and the most memory of the process in MB.
func report(b *testing.B, calls int, before syscall.Rusage) {
	now := used(b)
	cpu := time.Duration(now.Utime.Nano() + now.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	b.ReportMetric(float64(b.N*calls)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(b.N*calls)/cpu.Seconds(), "calls/cpu-s")
	b.ReportMetric(float64(now.Maxrss)/1000, "RSS-MB")
}

func used(b *testing.B) (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}
