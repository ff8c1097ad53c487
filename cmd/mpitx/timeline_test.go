//go:build cgo && linux

package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestTimeline looks at the trace of a program whose calls are known: before it begins, while it runs, after its ranks were killed, and in a pipe.
func TestTimeline(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		bin, _ := build()
		program, dir := buildSolver(f.T, f.family), f.dir
		// The trace is waited for.
		s := onScreen(f.T, environment(dir, os.TempDir(), bin), "cd "+dir+"; echo before; mpitx timeline run1; echo code $?; read go; mpitx timeline run1 --rank 0-3 --at 0s")
		s.until("Waiting for the run. run1: there is no such directory.", "q quit")
		s.keys("q")
		s.until("before", "code 0")
		s.keys("Enter")
		s.until("Waiting for the run. run1: there is no such directory.", "q quit")
		p := newProcess(f.environ, dir, "mpitx", "trace", "-n", "4", "--dir", "run1", "--", program, filepath.Join(dir, "ready"), filepath.Join(dir, "go"))
		if err := p.start(); err != nil {
			f.Fatal(err)
		}
		defer p.wait(hung)
		defer p.kill()
		defer func() {
			if f.Failed() {
				f.Log(p.output())
			}
		}()
		for end := time.Now().Add(hung); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
				break
			} else if time.Now().After(end) {
				f.Fatal("the program does not come to its end")
			}
		}
		for end := time.Now().Add(hung); ; time.Sleep(10 * time.Millisecond) {
			out := f.run("mpitx", "export", "run1", "-o", "csv").stdout.String()
			if strings.Count(out, "MPI_Barrier") == 4 { // the last call but those that poll
				break
			} else if time.Now().After(end) {
				f.Fatalf("the calls do not come into the trace: %s", out)
			}
		}
		s.until("4 ranks", "live", "the whole time", ">     ", "init, finalize", "q quit", "!─…") // the cursor is on the rank that was there first
		// Rank 2 sends two messages to rank 0 in the phase gather, and one to rank 3 in the phase wait.
		s.keys(":rank 2", "Enter")
		s.until("rank 2 on ", ">     2 ")
		s.keys("/", "mpi_send world", "Enter")
		s.until("MPI_Send  took", "in phase gather", "peer 0  tag 2  bytes 100 B", "main solver.c:", "send → MPI_Recv")
		s.keys("n", "n")
		s.until("in phase gather > wait", "peer 3  tag 3  bytes 1 B", "send → MPI_Recv")
		s.keys("n")
		s.until("no call with mpi_send world after this place on this thread")
		s.keys("Enter")
		s.until("rank 3 on ", "MPI_Recv  took", "receive → MPI_Send", "peer 2  tag 3")
		s.keys("c", "-", "-")
		s.until("MPI_Recv  took", "from ", "a column")
		s.keys("Enter")
		s.until("rank 2 on ", "MPI_Send  took")
		s.keys("F", "0", "X", "shown.csv", "Enter")
		s.until("exported ", " messages to shown.csv")
		text, err := os.ReadFile(filepath.Join(dir, "shown.csv"))
		if n := strings.Count(string(text), ",send,"); err != nil || n != 207 {
			f.Errorf("exported %d messages: %v", n, err)
		}
		// New calls are shown.
		s.keys(":rank 3", "Enter", ":at 0s", "Enter", "/", "allreduce", "Enter")
		s.until("rank 3 on ", "MPI_Allreduce  took", "live")
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			f.Fatal(err)
		}
		s.keys("F", ":rank 0", "Enter", "0", ":at 0s", "Enter", "/", "MPI_Isend", "Enter")
		s.until("rank 0 on ", "MPI_Isend  took", "send → MPI_Waitall")
		for range 50 { // the first one of the new calls follows the last one of those before
			s.keys("n")
		}
		s.until("MPI_Isend  took", "send → MPI_Waitall", "!in phase", "live")
		p.kill()
		s.until("died: ranks 0-3", "!live")
		s.keys("q")
		s.until("ended 0")
		s.plain()
		// Ranks do not enter MPI_Init at the same time.
		begin := firstCall(f.T, f.run("mpitx", "export", "run1", "-o", "csv").stdout.String(), "1", "MPI_Init")
		q := f.run("mpitx", "timeline", "run1", "--once", "--rank", "1-2", "--at", begin)
		out := q.stdout.String()
		for _, part := range []string{" mpitx timeline  run1  2 of 4 ranks", ">     1 ", "\n      2 ", "rank 1 on ", "MPI_Init  took"} {
			if !strings.Contains(out, part) {
				f.Errorf("no %q in\n%s", part, out)
			}
		}
		if q.code != 0 || strings.Contains(out, "\x1b") || strings.Contains(out, "\n      0 ") {
			f.Errorf("exit code %d: %s", q.code, q.output())
		}
	})
}

// firstCall is the time at which a rank calls a function first, in the middle of that call, for --at.
func firstCall(t *testing.T, trace, rank, function string) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(trace)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	time, duration, ranks, name := slices.Index(rows[0], "time"), slices.Index(rows[0], "duration"), slices.Index(rows[0], "rank"), slices.Index(rows[0], "name")
	for _, row := range rows[1:] {
		if row[ranks] == rank && row[name] == function {
			at, _ := strconv.ParseFloat(row[time], 64)
			took, _ := strconv.ParseFloat(row[duration], 64)
			return fmt.Sprintf("%.9fs", at+took/2)
		}
	}
	t.Fatalf("rank %s does not call %s in\n%s", rank, function, trace)
	return ""
}
