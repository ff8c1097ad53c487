//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/catalog"
)

// The explorer as its users have it: the program in bin/, on a pseudo-terminal of 200 columns and 60 lines.

type benchScreen struct {
	b      *testing.B
	cmd    *exec.Cmd
	master *os.File
	start  time.Time
	mu     sync.Mutex
	out    bytes.Buffer // since forget
	came   chan struct{}
}

func startScreen(b *testing.B, args ...string) *benchScreen {
	b.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	slave, openErr := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err = errors.Join(err, openErr); err != nil {
		b.Fatal(err)
	}
	defer slave.Close()
	unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: 200})
	s := &benchScreen{b: b, master: master, came: make(chan struct{}, 1)}
	s.cmd = exec.Command(benchBinary(b), append([]string{"tui"}, args...)...)
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "COLORTERM=truecolor", "XDG_CONFIG_HOME="+b.TempDir())
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	s.start = time.Now()
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	go func() {
		chunk := make([]byte, 1<<16)
		for {
			n, err := master.Read(chunk)
			s.mu.Lock()
			s.out.Write(chunk[:n])
			s.mu.Unlock()
			select {
			case s.came <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	b.Cleanup(s.quit)
	return s
}

func (s *benchScreen) quit() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.cmd.Wait()
	s.master.Close()
}

// until waits for text on the screen ("": any) and returns when it came.
func (s *benchScreen) until(text string) time.Time {
	s.b.Helper()
	late := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		found := s.out.Len() > 0 && bytes.Contains(s.out.Bytes(), []byte(text))
		s.mu.Unlock()
		if found {
			return time.Now()
		}
		select {
		case <-s.came:
		case <-late:
			s.b.Fatalf("no %q on the screen: %q", text, s.out.String())
		}
	}
}

// typed types a key and returns how long the next frame takes.
func (s *benchScreen) typed(key string) time.Duration {
	s.b.Helper()
	s.mu.Lock()
	s.out.Reset()
	s.mu.Unlock()
	start := time.Now()
	s.master.WriteString(key)
	took := s.until("").Sub(start)
	time.Sleep(20 * time.Millisecond) // the rest of the frame, before the next one is due; people are slower
	return took
}

// memory is the program's resident memory in MB.
func (s *benchScreen) memory() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kB, _ := strconv.Atoi(strings.Fields(rest)[0])
	return float64(kB) / 1024
}

func largeSnapshot(b *testing.B, n int) string {
	c := &catalog.Catalog{Library: catalog.Library{Family: "demo"}, Job: catalog.Job{Size: 1}, Lists: catalog.Lists{Categories: make([]catalog.Category, 100)}}
	for i := range n {
		name := fmt.Sprintf("framework%02d_component%03d_%s_%06d", i%40, i%333, []string{"eager_limit", "priority", "algorithm_segment", "verbose"}[i%4], i)
		c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeInt, Scope: catalog.ScopeLocal,
			Description: fmt.Sprintf("Sets something of the component; larger values need more memory on every rank of the job. Number %d", i),
			After:       &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(catalog.TypeInt, []byte{byte(i), 0, 0, 0}), Count: 1}})
		k := &c.Categories[i%100]
		k.Name, k.Cvars = fmt.Sprintf("category_%02d", i%100), append(k.Cvars, name)
	}
	path := filepath.Join(b.TempDir(), "large.json")
	var text bytes.Buffer
	if err := errors.Join(catalog.Write(&text, c), os.WriteFile(path, text.Bytes(), 0o666)); err != nil {
		b.Fatal(err)
	}
	return path
}

func median(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1e3
}

// BenchmarkExplorerStart is the time from the start of the program to its first frame, and to the first complete one.
func BenchmarkExplorerStart(b *testing.B) {
	for name, c := range map[string]struct{ path, full string }{
		"openmpi": {"../../fixtures/snapshots/openmpi-4.1.4.json", "1282 cvars"},
		"100k":    {largeSnapshot(b, 100_000), "100000 cvars"},
	} {
		b.Run(name, func(b *testing.B) {
			var first, full []time.Duration
			for b.Loop() {
				for range 5 { // one start varies too much
					s := startScreen(b, "--from", c.path)
					first = append(first, s.until("mpitx  ").Sub(s.start))
					full = append(full, s.until(c.full).Sub(s.start))
					s.quit()
				}
			}
			b.ReportMetric(median(first), "ms-first")
			b.ReportMetric(median(full), "ms-full")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkExplorerKeys is the time from a key to the first byte of the frame it makes, and the memory after all of them.
func BenchmarkExplorerKeys(b *testing.B) {
	for b.Loop() { // forgets what was reported before
	}
	s := startScreen(b, "--from", largeSnapshot(b, 100_000))
	s.until("100000 cvars")
	time.Sleep(time.Second)
	report := func(what string, keys []string, n int) {
		var took []time.Duration
		for i := range n {
			took = append(took, s.typed(keys[i%len(keys)]))
		}
		b.ReportMetric(median(took), "ms-"+what)
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "ms-"+what+"-p99")
	}
	report("move", []string{"j", "\x1b[6~", "j", "G", "k", "\x1b[5~", "g"}, 600)
	var rested []time.Duration // the first key after a while
	for i := range 60 {
		time.Sleep(time.Duration(60+i) * time.Millisecond)
		rested = append(rested, s.typed([]string{"j", "k"}[i%2]))
	}
	b.ReportMetric(median(rested), "ms-rested")
	b.ReportMetric(float64(rested[len(rested)-1].Microseconds())/1e3, "ms-rested-max")
	s.typed("/")
	report("search", strings.Split("eager limit 0999\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", ""), 320)
	b.ReportMetric(s.memory(), "MB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkExplorerIdle is the processor time in 10 s in which nothing happens: of the screen, of its four ranks, and separately of
// the launcher's own processes.
func BenchmarkExplorerIdle(b *testing.B) {
	for _, mpi := range []string{"openmpi", "mpich"} {
		b.Run(mpi, func(b *testing.B) {
			for b.Loop() {
			}
			s := startScreen(b, "-n", "4", "--mpi", mpi)
			s.until(" cvars")
			time.Sleep(2 * time.Second)
			before := processorTime(s.cmd.Process.Pid)
			time.Sleep(10 * time.Second)
			used := map[string]float64{"screen": 0, "ranks": 0, "launcher": 0}
			for pid, now := range processorTime(s.cmd.Process.Pid) {
				kind := "launcher"
				switch args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); {
				case pid == s.cmd.Process.Pid:
					kind = "screen"
				case strings.HasPrefix(string(args), s.cmd.Path):
					kind = "ranks"
				}
				used[kind] += float64((now - before[pid]).Microseconds()) / 1e3
			}
			for kind, ms := range used {
				b.ReportMetric(ms, "ms-"+kind)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// processorTime is the processor time of a process and its descendants, from the scheduler's nanoseconds.
func processorTime(pid int) map[int]time.Duration {
	all := map[int]time.Duration{}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, task := range tasks {
		var ns int64
		text, _ := os.ReadFile(task + "/schedstat")
		fmt.Sscan(string(text), &ns)
		all[pid] += time.Duration(ns)
		children, _ := os.ReadFile(task + "/children")
		for _, child := range strings.Fields(string(children)) {
			n, _ := strconv.Atoi(child)
			for p, t := range processorTime(n) {
				all[p] = t
			}
		}
	}
	return all
}
