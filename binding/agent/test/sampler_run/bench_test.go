package samplerrun

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mpitx/binding/agent/agenttest"
	"mpitx/recording"
)

const pairs = 5

var nanoseconds = regexp.MustCompile(`([0-9.]+) ns`)

// sixteen are as many variables on any MPI.
var sixteen = []string{"pvar=mpitx:*", "pvar=mpitx:*/MPI_Send"}

func took(b *testing.B, r *result) float64 {
	b.Helper()
	m := nanoseconds.FindStringSubmatch(r.stdout)
	if r.code != 0 || m == nil {
		b.Fatalf("exit %d: %s%s", r.code, r.stdout, r.stderr)
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	return v
}

// What sampling sixteen variables costs a program that communicates all the time, and one that computes: pairs of runs without
// and with the agent in turn; the median of their ratios, and the lowest and highest.
func BenchmarkOverhead(b *testing.B) {
	programs := []struct {
		name, source, seconds string
		ranks                 int
		more                  []string
		bounds                map[time.Duration]float64 // per cent
	}{
		{"pingpong", "sampler_pingpong.c", "0.5", 2, []string{"finalize"}, map[time.Duration]float64{10 * time.Millisecond: 1, time.Millisecond: 1, 100 * time.Microsecond: 3}},
		{"cpu", "sampler_cpu.c", "0.5", 1, nil, map[time.Duration]float64{10 * time.Millisecond: 1, time.Millisecond: 2}},
	}
	for _, m := range mpis {
		for _, p := range programs {
			for _, interval := range []time.Duration{10 * time.Millisecond, time.Millisecond, 100 * time.Microsecond} {
				bound, ok := p.bounds[interval]
				if !ok {
					continue
				}
				b.Run(fmt.Sprintf("%s/%s/%v", m.family, p.name, interval), func(b *testing.B) {
					m.needs(b)
					line := append([]string{m.compile(b, p.source), p.seconds}, p.more...)
					config := append([]string{fmt.Sprintf("interval_ns=%d", interval.Nanoseconds())}, sixteen...)
					for b.Loop() {
						var ratios []float64
						for range pairs {
							plain := took(b, m.run(b, job{n: p.ranks, program: line}))
							with := took(b, m.run(b, job{n: p.ranks, program: line, config: config}))
							ratios = append(ratios, 100*(with/plain-1))
						}
						slices.Sort(ratios)
						b.ReportMetric(ratios[pairs/2], "%slower")
						b.ReportMetric(ratios[0], "%lowest")
						b.ReportMetric(ratios[pairs-1], "%highest")
						b.ReportMetric(bound, "%bound")
						b.ReportMetric(0, "ns/op")
					}
				})
			}
		}
	}
}

// One sample of sixteen scalar variables of the library, as a call takes and records it, beside the bare loop of MPI_T_pvar_read
// over the same: in one process, batch by batch in turn; the medians, the median of the ratios, and their quartiles. Open MPI has so
// many under its monitoring, in a job of one process; Debian's MPICH has none, so there they are of sampler_faulty.c, which does
// nothing but lock and copy; the lab's MPICH has some. Without the timer of the helper thread, which moves every few milliseconds.
func BenchmarkSample(b *testing.B) {
	cases := []struct {
		name   string
		m      *mpi
		richer bool
		pvars  []string
		env    []string
	}{
		{"openmpi", mpis[0], false, []string{"coll_monitoring_*", "osc_monitoring_*", "mpool_hugepage_bytes_allocated", "pml_ob1_*", "pml_ob1_posted_*@self"}, []string{"OMPI_MCA_pml_monitoring_enable=1"}},
		{"openmpi-locks", mpis[0], true, []string{"plain_*"}, nil},
		{"mpich-locks", mpis[1], true, []string{"plain_*"}, nil},
		{"mpich-lab", lab(), false, []string{"nem_*", "posted_*", "time_*", "unexpected_*", "rma_win*", "rma_lock*"}, nil},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			c.m.needs(b)
			agent, err := agenttest.Build(c.m.mpicc, false, "../sampler_inside.c")
			if err != nil {
				b.Fatal(err)
			}
			inside := &mpi{family: c.m.family, mpicc: c.m.mpicc, agent: agent}
			config := []string{"interval_ns=160000"}
			for _, p := range c.pvars {
				config = append(config, "pvar="+p)
			}
			env := append([]string{"MPI_LOCALNRANKS=1000"}, c.env...) // no free processor: no helper thread below 1 ms
			if c.richer {
				env = append(env, "LD_LIBRARY_PATH="+c.m.richer(b))
			}
			program := c.m.compile(b, "sampler_cost.c", "-ldl")
			for b.Loop() {
				r := inside.run(b, job{config: config, program: []string{program, "2000", "50"}, env: env})
				if c := r.rank(b, 0).Counters; r.code != 0 || c.LostFull+c.LostBusy > 0 {
					b.Fatalf("exit %d: %s; %+v", r.code, r.stderr, c)
				}
				var bare, sample, ratio []float64
				n := 0
				for line := range strings.Lines(r.stdout) {
					var x, y float64
					if fmt.Sscan(line, &n, &x, &y); n > 0 {
						bare, sample, ratio = append(bare, x), append(sample, y), append(ratio, y/x)
					}
				}
				if len(ratio) < 1000 {
					b.Fatalf("%s", r.stdout)
				}
				for _, v := range [][]float64{bare, sample, ratio} {
					slices.Sort(v)
				}
				half := len(ratio) / 2
				b.ReportMetric(float64(n), "variables")
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

// lab is the lab's MPICH with performance variables.
func lab() *mpi {
	dir := os.Getenv("MPITX_LAB")
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "mpitx-lab")
	}
	return &mpi{family: "mpich", mpicc: filepath.Join(dir, "mq/bin/mpicc"), mpirun: filepath.Join(dir, "mq/bin/mpirun")}
}

// Sixteen variables every 160 µs, a hundred thousand values a second: how many samples are missing, the bytes that a value
// takes in the run, and what one sample costs.
func BenchmarkRate(b *testing.B) {
	for _, m := range mpis {
		b.Run(m.family, func(b *testing.B) {
			m.needs(b)
			line := []string{m.compile(b, "sampler_pingpong.c"), "2", "finalize"}
			for b.Loop() {
				r := m.run(b, job{n: 2, program: line, config: append([]string{"interval_ns=160000"}, sixteen...)})
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
				b.ReportMetric(float64((r.starved(b, 0)+r.starved(b, 1)).Milliseconds())/2, "ms-starved") // of 2000: else it says nothing
				b.ReportMetric(float64(columns), "variables")
				b.ReportMetric(100*float64(c.Missed+c.LostBusy+c.LostFull)/float64(c.Samples+c.Missed+c.LostBusy+c.LostFull), "%missing")
				b.ReportMetric(float64(size)/float64(c.Samples)/float64(columns), "B/value")
				b.ReportMetric(float64(c.CostNs)/float64(c.Instants), "ns/sample")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
