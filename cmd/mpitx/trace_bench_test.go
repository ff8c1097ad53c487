package main

import (
	"os/exec"
	"testing"
)

// BenchmarkTrace measures what a trace of all calls costs. The loops of an 8-byte ping-pong and of requests call the library alternately
// through the wrappers and directly, in one job, with the bound of BenchmarkProfile's kind. BenchmarkWrite of export/perfetto measures how fast a trace is written.
func BenchmarkTrace(b *testing.B) {
	through := []string{benchBinary(b), "trace", "--no-summary", "--out", "trace.csv", "--max-size", "500M", "--"}
	for _, family := range []string{"openmpi", "mpich"} {
		mpicc, mpirun := "mpicc."+family, "mpirun."+family
		if _, err := exec.LookPath(mpicc); err != nil {
			continue
		}
		library := "libmpi.so.40"
		if family == "mpich" {
			library = "libmpich.so.12"
		}
		b.Run(family+"/pingpong", func(b *testing.B) {
			line := []string{"2", compiled(b, mpicc, "testdata/bench/pingpong.c"), library}
			for b.Loop() {
				pairsOf(b, numbers(job(b, mpirun, line, through)), "")
			}
			b.ReportMetric(0, "ns/op")
		})
		b.Run(family+"/requests", func(b *testing.B) {
			line := []string{"1", compiled(b, mpicc, "../../agent/selftest/testdata/bench_requests.c"), library}
			for b.Loop() {
				beyondReadings(b, job(b, mpirun, line, through), 2, 40)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
