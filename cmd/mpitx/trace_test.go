//go:build cgo && linux

package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mpitx/export/perfetto/perfettotest"
)

// TestTraceCommand traces a program with known messages under a launcher, with -n, and alone, and writes each format.
func TestTraceCommand(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			program, environ, dir := buildSolver(t, family), append(testEnvironment(t), "MPITX_MPI="), t.TempDir()
			run := func(words ...string) *process {
				t.Helper()
				p := newProcess(environ, dir, words...)
				if p.run(hung); p.code != 0 {
					t.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
				}
				return p
			}
			// 50 steps with a message on each of 4 ranks, rank r sends r messages to rank 0, and rank 2 one to rank 3.
			const says = "207 messages on 4 ranks; 207 arrows from a send to its receive\n"
			p := run(slices.Concat(launchers[family], []string{"mpitx", "trace", "--dir", "run", "--out", "app.ndjson", "--", program})...)
			if !strings.Contains(p.stderr.String(), says) || !strings.Contains(p.stderr.String(), "the trace is in app.ndjson\n") {
				t.Errorf("got %s", p.output())
			}
			if p := run("mpitx", "trace", "--mpi", family, "-n", "4", "--pvar", "mpitx:calls", "--out", "n.pftrace", "--", program); !strings.Contains(p.stderr.String(), says) {
				t.Errorf("got %s", p.output())
			}
			checkFlows(t, filepath.Join(dir, "n.pftrace"))
			for _, format := range []string{"parquet", "pftrace", "csv"} {
				file := filepath.Join(dir, "part."+format)
				run("mpitx", "export", "run", "--trace", "--rank", "1", "--out", file)
				if st, err := os.Stat(file); err != nil || st.Size() < 1000 {
					t.Errorf("%s: %v", file, err)
				}
			}
			checkTraceRows(t, filepath.Join(dir, "part.csv"))
			if family == "openmpi" { // MPICH's ranks need their launcher only to find each other; Open MPI's start one
				if p := run("mpitx", "trace", "--dir", "alone", "--function", "MPI_Comm_*", "--", "sh", "-c", "echo no MPI here"); !strings.Contains(p.stdout.String(), "no MPI here") {
					t.Errorf("got %s", p.output())
				}
			}
		})
	}
}

// checkFlows checks a trace for Perfetto: each message is a flow from the call that sends to the one that receives, on another rank, and
// each rank has a counter that reaches its calls.
func checkFlows(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, counters := perfettotest.Read(t, data)
	pairs := map[string]int{}
	for id, f := range perfettotest.Flows(t, all) {
		from, _, _ := strings.Cut(f.From.Thread, "/")
		to, _, _ := strings.Cut(f.To.Thread, "/")
		if pairs[f.From.Name+" "+f.To.Name]++; from == to || f.From.Begin >= f.To.End {
			t.Errorf("flow %x from %+v to %+v", id, f.From, f.To)
		}
	}
	if want := map[string]int{"MPI_Isend MPI_Waitall": 200, "MPI_Send MPI_Recv": 7}; !maps.Equal(pairs, want) {
		t.Errorf("got %v, want %v", pairs, want)
	}
	for rank := range 4 {
		highest := 0.0
		for track, values := range counters {
			if strings.HasPrefix(track, fmt.Sprintf("rank %d ", rank)) && strings.HasSuffix(track, "/mpitx:calls") {
				highest = slices.Max(values)
			}
		}
		if highest < 200 { // four calls in each of 50 steps
			t.Errorf("rank %d: %v calls", rank, highest)
		}
	}
}

// checkTraceRows checks the rows of rank 1: its messages go to rank 2, and in the second phase one to rank 0.
func checkTraceRows(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	count, flows := map[string]int{}, map[string]bool{}
	for _, row := range rows[1:] {
		kind := column(row, "kind")
		if column(row, "rank") != "1" {
			t.Fatal(row)
		}
		if kind == "send" || kind == "receive" {
			count[kind+" "+column(row, "peer")+" of "+column(row, "bytes")]++
			if seconds, err := strconv.ParseFloat(column(row, "duration"), 64); err != nil || seconds < 0 {
				t.Fatal(row)
			}
			if flow := column(row, "flow"); flow != "" && flows[flow] {
				t.Fatal("a flow has two sides on one rank: ", row)
			} else {
				flows[flow] = true
			}
		}
	}
	if want := map[string]int{"send 2 of 1000": 50, "receive 0 of 1000": 50, "send 0 of 100": 1}; len(count) != len(want) || count["send 2 of 1000"] != 50 || count["receive 0 of 1000"] != 50 || count["send 0 of 100"] != 1 {
		t.Errorf("got %v, want %v", count, want)
	}
}
