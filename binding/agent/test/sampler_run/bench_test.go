package samplerrun

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

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
