//go:build cgo && linux

package main

import (
	"encoding/json"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// BenchmarkTune measures what a campaign costs beside its runs: the time of mpitx between two of them (bound: 2 % of runs that take a second), and the
// files and the memory of 1,000 of them (bound: 100 MB). Settings that do nothing are compared, so that all runs are made.
func BenchmarkTune(b *testing.B) {
	bin := benchBinary(b)
	for _, family := range []string{"openmpi", "mpich"} {
		mpicc := "mpicc." + family
		if _, err := exec.LookPath(mpicc); err != nil {
			continue
		}
		program := compiled(b, mpicc, "testdata/tune/slow.c")
		b.Run(family, func(b *testing.B) {
			const runs = 40
			for range b.N {
				dir := filepath.Join(b.TempDir(), "campaign")
				cmd := exec.Command(bin, "tune", "-n", "2", "--runs", strconv.Itoa(runs), "--add", added[family], "--dir", dir, "-o", "json", "--", program)
				out, err := cmd.Output()
				var found struct {
					Runs int
					Own  int64 `json:"own_ns"`
					Took int64 `json:"took_ns"`
				}
				if json.Unmarshal(out, &found) != nil || found.Runs == 0 {
					b.Fatalf("%v: %s", err, out)
				}
				bytes := int64(0)
				filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
					if info, failed := d.Info(); err == nil && failed == nil && !d.IsDir() {
						bytes += info.Size()
					}
					return nil
				})
				n := float64(found.Runs)
				b.ReportMetric(float64(found.Own)/n/1e9*100, "%-of-1s-runs")
				b.ReportMetric(float64(found.Own)/float64(found.Took+found.Own)*100, "%-of-these")
				b.ReportMetric(float64(bytes)/n/1e3, "MB-files/1000-runs")
				b.ReportMetric(float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1e3, "MB-memory")
				b.ReportMetric(2, "%-bound")
				b.ReportMetric(100, "MB-bound")
				b.ReportMetric(n, "runs")
			}
		})
	}
}
