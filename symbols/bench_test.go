package symbols

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mpitx/fixtures/need"
)

// largeLibrary links copies of one object file: 100 of them have 200 MB.
func largeLibrary(b *testing.B, copies int) string {
	need.Commands(b, "g++", "objcopy")
	dir := b.TempDir()
	object := filepath.Join(dir, "large.o")
	command(b, "g++", "-g", "-O1", "-fPIC", "-c", "testdata/large.cc", "-o", object)
	args := []string{"-shared", "-nostdlib", "-Wl,--build-id", "-o", filepath.Join(dir, "large.so")}
	for i := range copies {
		part := filepath.Join(dir, fmt.Sprintf("%d.o", i))
		command(b, "objcopy", fmt.Sprintf("--prefix-symbols=c%d_", i), object, part)
		args = append(args, part)
	}
	command(b, "g++", args...)
	return filepath.Join(dir, "large.so")
}

// resolveOnce resolves addresses as a report does, with nothing known before.
func resolveOnce(m *Module, addresses []uint64) (named int) {
	s := New(Options{})
	defer s.Close()
	for _, a := range addresses {
		if s.Resolve(m, a+1)[0].Line > 0 {
			named++
		}
	}
	return named
}

// BenchmarkResolve resolves 1000 call sites of a library of 200 MB, and compares with addr2line.
func BenchmarkResolve(b *testing.B) {
	path := largeLibrary(b, 100)
	all := code(b, path)
	r := rand.New(rand.NewPCG(1, 2))
	var addresses []uint64
	for range 1000 {
		addresses = append(addresses, all[r.IntN(len(all))])
	}
	m := module(b, path, 0)
	b.ResetTimer()
	for b.Loop() {
		if named := resolveOnce(m, addresses); named < 990 {
			b.Fatalf("%d of %d have lines", named, len(addresses))
		}
	}
	b.StopTimer()
	ours := b.Elapsed() / time.Duration(b.N)
	var list strings.Builder
	for _, a := range addresses {
		fmt.Fprintf(&list, "%#x\n", a)
	}
	for _, program := range []string{"addr2line", "llvm-addr2line"} {
		cmd := exec.Command(program, "-f", "-i", "-e", path)
		cmd.Stdin = strings.NewReader(list.String())
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		b.ReportMetric(took.Seconds(), program+"-s")
		b.ReportMetric(took.Seconds()/ours.Seconds(), program+"/ours")
	}
}

// Several goroutines may resolve at the same time.
func TestConcurrent(t *testing.T) {
	path := build(t, "calls.c", "gcc -g -O2")
	m, at := module(t, path, 0), address(t, path, "calls.c", "relax", `puts("relax")`)
	s := New(Options{})
	defer s.Close()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if got := chain(s.Resolve(m, at)); got != inlined {
				t.Error(got)
			}
		})
	}
	wait.Wait()
}
