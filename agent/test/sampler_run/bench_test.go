package samplerrun

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/agent/agenttest"
	"mpitx/recording"
)

// sixteen are sixteen scalar variables.
type sixteen struct {
	name   string
	m      *mpi
	richer bool // of sampler_faulty.c, which only locks and copies
	pvars  []string
	env    []string
}

// Open MPI has sixteen under its monitoring in a job of one process; with two they are arrays of two. Debian's MPICH has none, the lab's has
// some, and any MPI has the virtual ones.
var (
	monitored    = sixteen{"openmpi", mpis[0], false, []string{"coll_monitoring_*", "osc_monitoring_*", "mpool_hugepage_bytes_allocated", "pml_ob1_*", "pml_ob1_posted_*@self"}, []string{"OMPI_MCA_pml_monitoring_enable=1"}}
	lockedOpen   = sixteen{"openmpi-locks", mpis[0], true, []string{"plain_*"}, nil}
	lockedMPICH  = sixteen{"mpich-locks", mpis[1], true, []string{"plain_*"}, nil}
	ofLab        = sixteen{"mpich-lab", lab(), false, []string{"nem_*", "posted_*", "time_*", "unexpected_*", "rma_win*", "rma_lock*"}, nil}
	virtualOpen  = sixteen{"openmpi-own", mpis[0], false, []string{"mpitx:*", "mpitx:*/MPI_Send"}, nil}
	virtualMPICH = sixteen{"mpich-own", mpis[1], false, []string{"mpitx:*", "mpitx:*/MPI_Send"}, nil}
)

// inside returns a job that samples them with an agent that includes sampler_inside.c, which the program calls.
func (s sixteen) inside(b *testing.B, interval time.Duration, n int, source string, arguments ...string) (*mpi, job) {
	s.m.needs(b)
	agent, err := agenttest.Build(s.m.mpicc, "", "../sampler_inside.c")
	if err != nil {
		b.Fatal(err)
	}
	j := job{n: n, config: []string{fmt.Sprintf("interval_ns=%d", interval.Nanoseconds())}, env: slices.Clone(s.env),
		program: append([]string{s.m.compile(b, source, "-ldl")}, arguments...)}
	for _, p := range s.pvars {
		j.config = append(j.config, "pvar="+p)
	}
	if s.richer {
		j.env = append(j.env, "LD_LIBRARY_PATH="+s.m.richer(b))
	}
	return &mpi{family: s.m.family, mpicc: s.m.mpicc, mpirun: s.m.mpirun, agent: agent}, j
}

// pairs returns the numbers that a program prints, two on each line, and their ratios; each sorted.
func (r *result) pairs(b *testing.B) (without, with, ratio []float64) {
	b.Helper()
	for line := range strings.Lines(r.stdout) {
		var x, y float64
		if n, _ := fmt.Sscan(line, &x, &y); n == 2 && x > 0 {
			without, with, ratio = append(without, x), append(with, y), append(ratio, y/x)
		}
	}
	if r.code != 0 || len(ratio) < 20 {
		k := r.rank(b, 0)
		b.Fatalf("exit %d: %s%s; %d variables, %+v, %v", r.code, r.stdout, r.stderr, len(k.Columns), k.Counters, k.Notes)
	}
	for _, v := range [][]float64{without, with, ratio} {
		slices.Sort(v)
	}
	return without, with, ratio
}

// reading is the median of what a reading of the time stamp counter took, the third number of each line.
func (r *result) reading() float64 {
	var all []float64
	for line := range strings.Lines(r.stdout) {
		var x, y, z float64
		if n, _ := fmt.Sscan(line, &x, &y, &z); n == 3 {
			all = append(all, z)
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// One sample of sixteen scalar variables of the library, as a call takes and records it, compared with the bare loop of MPI_T_pvar_read over
// them: in one process, in alternating batches. Prints the medians, the median of the ratios, and their quartiles. The helper thread is off,
// as it moves its timer every few milliseconds.
func BenchmarkSample(b *testing.B) {
	for _, s := range []sixteen{monitored, ofLab, lockedOpen, lockedMPICH} {
		b.Run(s.name, func(b *testing.B) {
			m, j := s.inside(b, 160*time.Microsecond, 0, "sampler_cost.c", "2000", "50", "16")
			j.env = append(j.env, "MPI_LOCALNRANKS=1000") // no free processor: no helper thread below 1 ms
			j.config = append(j.config, "probe=late")     // the lab's MPICH lists some variables after MPI_Init only
			for b.Loop() {
				r := m.run(b, j)
				if c := r.rank(b, 0).Counters; c.LostFull+c.LostBusy > 0 {
					b.Fatalf("%+v", c)
				}
				bare, sample, ratio := r.pairs(b)
				half := len(ratio) / 2
				b.ReportMetric(bare[half], "ns-bare")
				b.ReportMetric(sample[half], "ns-sample")
				b.ReportMetric(ratio[half], "ratio")
				b.ReportMetric(ratio[half/2], "ratio-quarter")
				b.ReportMetric(ratio[half+half/2], "ratio-3-quarters")
				b.ReportMetric(1.2, "ratio-bound")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// lab returns the lab's MPICH with performance variables.
func lab() *mpi {
	dir := os.Getenv("MPITX_LAB")
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "mpitx-lab")
	}
	return &mpi{family: "mpich", mpicc: filepath.Join(dir, "mq/bin/mpicc"), mpirun: filepath.Join(dir, "mq/bin/mpirun")}
}

// The overhead of sampling sixteen variables in a program that communicates all the time, and in one that computes and calls no MPI: alone,
// and on all cores, where each sample interrupts a process. Blocks without and with the agent alternate in one job, as a shared machine
// differs between jobs. Prints the median of the ratios of neighbouring blocks minus one, and the quartiles. Virtual variables also count
// every call; for them BenchmarkWrapper has the bound. "threads" is one process with a thread on each core, MPI_THREAD_FUNNELED. "wake-all"
// replaces the agent with a thread that only wakes up: the machine's own cost of each sample of "compute-all".
func BenchmarkOverhead(b *testing.B) {
	const ms, µs = time.Millisecond, time.Microsecond
	bounds := map[string]map[time.Duration]float64{"pingpong": {10 * ms: 1, ms: 1, 100 * µs: 3}, "compute": {10 * ms: 1, ms: 2},
		"compute-all": {10 * ms: 1, ms: 2}, "threads": {10 * ms: 1, ms: 2, 100 * µs: 3, 50 * µs: 3}, "wake-all": {ms: 2}} // per cent
	for _, s := range []sixteen{monitored, lockedMPICH, virtualOpen, virtualMPICH} {
		for _, work := range []string{"pingpong", "compute", "compute-all", "threads", "wake-all"} {
			for _, interval := range []time.Duration{10 * ms, ms, 100 * µs, 50 * µs} {
				bound, ok := bounds[work][interval]
				if !ok {
					continue
				}
				b.Run(fmt.Sprintf("%s/%s/%v", s.name, work, interval), func(b *testing.B) {
					ranks := map[string]int{"pingpong": 2, "compute": 1, "threads": 1}[work]
					if ranks == 0 {
						ranks = runtime.NumCPU()
					}
					m, j := s.inside(b, interval, ranks, "sampler_overhead.c", work, "10", "20", fmt.Sprint(interval.Seconds()*1000))
					for b.Loop() {
						r := m.run(b, j)
						without, _, ratio := r.pairs(b)
						c := r.rank(b, 0).Counters
						half := len(ratio) / 2
						b.ReportMetric(without[half], "ns-round")
						b.ReportMetric(r.reading(), "reading-ns")
						b.ReportMetric(float64(c.CostNs)/float64(c.Instants), "ns/sample")
						b.ReportMetric(100*(ratio[half]-1), "%slower")
						b.ReportMetric(100*(ratio[half/2]-1), "%quarter")
						b.ReportMetric(100*(ratio[half+half/2]-1), "%3-quarters")
						if s.pvars[0] != virtualOpen.pvars[0] {
							b.ReportMetric(bound, "%bound")
						}
						b.ReportMetric(0, "ns/op")
					}
				})
			}
		}
	}
}

// Sixteen variables every 160 µs, a hundred thousand values a second: the missed samples, the bytes of a value in the run, and the cost of
// one sample.
func BenchmarkRate(b *testing.B) {
	for _, m := range mpis {
		b.Run(m.family, func(b *testing.B) {
			m.needs(b)
			line := []string{m.compile(b, "sampler_pingpong.c"), "2", "finalize"}
			for b.Loop() {
				r := m.run(b, job{n: 2, program: line, config: []string{"interval_ns=160000", "pvar=mpitx:*", "pvar=mpitx:*/MPI_Send"}})
				var c recording.Counters
				columns := 0
				for _, k := range r.run.Ranks {
					c.Samples += k.Counters.Samples
					c.Missed += k.Counters.Missed
					c.LostBusy += k.Counters.LostBusy
					c.LostFull += k.Counters.LostFull
					c.Instants += k.Counters.Instants
					c.CostNs += k.Counters.CostNs
					columns = len(k.Columns)
				}
				var size int64
				files, _ := filepath.Glob(filepath.Join(r.dir, "*.mpxr"))
				for _, f := range files {
					if st, err := os.Stat(f); err == nil {
						size += st.Size()
					}
				}
				b.ReportMetric(float64((r.starved(b, 0)+r.starved(b, 1)).Milliseconds())/2, "ms-starved") // of 2000 ms; the result is valid only if small
				b.ReportMetric(float64(columns), "variables")
				b.ReportMetric(100*float64(c.Missed+c.LostBusy+c.LostFull)/float64(c.Samples+c.Missed+c.LostBusy+c.LostFull), "%missing")
				b.ReportMetric(float64(size)/float64(c.Samples)/float64(columns), "B/value")
				b.ReportMetric(float64(c.CostNs)/float64(c.Instants), "ns/sample")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
