//go:build cgo && linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/ui/link"
)

// An idle back end costs almost nothing, also after a workload: its threads hardly ever wake up, and use next to no processor time. Neither
// grows if other programs use the processors.
func TestServeIdle(t *testing.T) {
	const window = 3 * time.Second
	for family, argv := range serveCommands() {
		t.Run(family, func(t *testing.T) {
			s := serveOn(t, family, argv)
			s.read(servedLimit, s.catalog.Cvars[0].ID())
			exercise(t, s.Client, "pingpong")
			busy := jobTime(s.p.alive())
			for end := time.Now().Add(servedLimit); jobTime(s.p.alive()).since(busy).ranks < 5*time.Millisecond; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("a workload uses no processor time: not all processes are seen")
				}
			}
			exercise(t, s.Client, "")
			if n := len(s.p.alive()); n < 9 {
				t.Fatalf("%d processes: not all are seen", n)
			}
			for end := time.Now().Add(servedLimit); ; { // the workload's unfinished work comes first
				before, woken := jobTime(s.p.alive()), wakeups(s.p.alive())
				time.Sleep(window)
				used, times := jobTime(s.p.alive()).since(before), wakeups(s.p.alive())-woken
				if used.ranks+used.launcher <= 15*time.Millisecond && times <= 30 {
					t.Logf("in %s ranks used %s, the launcher %s, %d wake-ups", window, used.ranks, used.launcher, times)
					return
				}
				if time.Now().After(end) {
					t.Fatalf("in %s ranks used %s, the launcher %s, %d wake-ups", window, used.ranks, used.launcher, times)
				}
			}
		})
	}
}

// wakeups is how often the threads of processes have waited for something and continued.
func wakeups(pids []int) (sum int) {
	for _, pid := range pids {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		for _, path := range tasks {
			text, _ := os.ReadFile(path)
			var n int
			_, rest, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
			fmt.Sscan(rest, &n)
			sum += n
		}
	}
	return sum
}

func exercise(t testing.TB, c *link.Client, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), servedLimit)
	defer cancel()
	if err := c.Workload(ctx, name); err != nil {
		t.Fatal(err)
	}
}

// processors is the processor time of a job's processes so far.
type processors struct{ ranks, launcher time.Duration }

func (p processors) since(before processors) processors {
	return processors{p.ranks - before.ranks, p.launcher - before.launcher}
}

// jobTime is the sum over all threads, from the scheduler's nanoseconds: what /proc/PID/stat has in ticks.
func jobTime(pids []int) (sum processors) {
	for _, pid := range pids {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		to := &sum.launcher
		if line := cmdline(pid); !strings.Contains(line, "mpirun") && !strings.Contains(line, " -n ") && (strings.Contains(line, "mpitx backend serve") || strings.Contains(line, " backend after")) {
			to = &sum.ranks
		}
		for _, path := range tasks {
			text, _ := os.ReadFile(path)
			var ns int64
			fmt.Sscan(string(text), &ns)
			*to += time.Duration(ns)
		}
	}
	return sum
}

// BenchmarkServeIdle is what four ranks that serve an explorer, and their launcher, use of the processors in ten seconds in which
// nobody asks for anything, and in ten in which twenty variables are watched, as the explorer reads them twice a second.
func BenchmarkServeIdle(b *testing.B) {
	bin := benchBinary(b)
	for family, argv := range serveCommands() {
		b.Run(family, func(b *testing.B) {
			if ok, _ := have(family); !ok && family != "demo" {
				b.Skipf("%s is not installed", family)
			}
			environ := append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "MPITX_MPI=")
			if family == "demo" {
				environ = append(environ, "MPITX_MPI=demo")
			}
			argv := slices.Clone(argv)
			argv[slices.Index(argv, "mpitx")] = bin
			p := newProcess(environ, "", argv...)
			c, err := link.Start(context.Background(), link.Options{Command: argv, Env: p.cmd.Env})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			catalog, err := c.Catalog(context.Background(), nil)
			if err != nil {
				b.Fatal(err)
			}
			ids := idsOf(catalog)[:20]
			time.Sleep(time.Second)
			for b.Loop() {
				before := jobTime(p.alive())
				time.Sleep(10 * time.Second)
				idle := jobTime(p.alive())
				for range 20 {
					time.Sleep(500 * time.Millisecond)
					if _, err := c.Read(context.Background(), ids); err != nil {
						b.Fatal(err)
					}
				}
				watched := jobTime(p.alive()).since(idle)
				idle = idle.since(before)
				for name, d := range map[string]time.Duration{"idle-ranks": idle.ranks, "idle-launcher": idle.launcher, "watch-ranks": watched.ranks, "watch-launcher": watched.launcher} {
					b.ReportMetric(float64(d.Microseconds())/1000, name+"-ms/10s")
				}
			}
		})
	}
}
