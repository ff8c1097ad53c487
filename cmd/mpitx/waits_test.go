//go:build cgo && linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// waitsReport is what mpitx report RUN waits -o json prints.
type waitsReport struct {
	Run      time.Duration `json:"run_ns"`
	Waiting  time.Duration `json:"waiting_ns"`
	Findings []struct{ Kind, Subject, Text string }
	States   []struct {
		Kind, Function, Place string
		Rank, For             int
		Waiting               time.Duration `json:"waiting_ns"`
	}
	Causes []struct {
		What, Function, Place string
		Rank                  int
		Cost                  time.Duration  `json:"cost_ns"`
		Excess                time.Duration  `json:"excess_ns"`
		NoCore                *time.Duration `json:"no_core_most_ns"`
	}
	Path []struct {
		Time time.Duration `json:"time_ns"`
	}
	Missing map[string]int
}

// waitsOf reports on a run, and checks that sums agree.
func waitsOf(t *testing.T, environ []string, run string, flags ...string) *waitsReport {
	t.Helper()
	p := newProcess(environ, filepath.Dir(run), slices.Concat([]string{"mpitx", "report", run, "waits", "-o", "json"}, flags)...)
	p.run(hung)
	var r waitsReport
	if err := json.Unmarshal(p.stdout.Bytes(), &r); err != nil || p.code != 0 {
		t.Fatalf("exit code %d, %v: %s", p.code, err, p.output())
	}
	states, causes, path := time.Duration(0), time.Duration(0), time.Duration(0)
	for _, s := range r.States {
		states += s.Waiting
	}
	for _, c := range r.Causes {
		causes += c.Cost
	}
	for _, s := range r.Path {
		path += s.Time
	}
	if states != r.Waiting || causes != r.Waiting || path != r.Run {
		t.Errorf("waits %d, states %d, causes %d; run %d, path %d", r.Waiting, states, causes, r.Run, path)
	}
	for what, n := range r.Missing {
		if n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
	return &r
}

// TestWaits traces a program that makes ranks wait in calls of each kind, and compares with its own clock.
func TestWaits(t *testing.T) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{"MPI_Barrier/MPI_Barrier": "wait at barrier", "MPI_Allreduce/MPI_Allreduce": "wait at N x N", "MPI_Bcast/MPI_Bcast": "late root",
		"MPI_Reduce/MPI_Reduce": "early root", "MPI_Scan/MPI_Scan": "wait in scan", "MPI_Win_fence/MPI_Win_fence": "wait at window", "MPI_Comm_split/MPI_Comm_split": "wait in management",
		"MPI_Recv/MPI_Send": "late sender", "MPI_Ssend/MPI_Recv": "late receiver", "MPI_Probe/MPI_Send": "late sender", "MPI_Waitall/MPI_Isend": "late sender", "MPI_Win_wait/MPI_Win_complete": "late complete",
		"MPI_Wait/MPI_Iallreduce": "wait at N x N", "MPI_Waitall/MPI_Ibcast": "late root", "MPI_Waitany/MPI_Ireduce": "early root", "MPI_Wait/MPI_Ibarrier": "wait at barrier", "MPI_Win_lock/MPI_Win_unlock": "lock contention",
		"MPI_Neighbor_alltoall/MPI_Neighbor_alltoall": "wait at neighbours", "MPI_Wait/MPI_Ineighbor_allgather": "wait at neighbours", "MPI_Wait/MPI_Comm_idup": "wait in management",
		"MPI_Alltoall/MPI_Alltoall": "wait at N x N", "MPI_Gather/MPI_Gather": "early root", "MPI_Scatter/MPI_Scatter": "late root", "MPI_Wait/MPI_Iallgather": "wait at N x N",
		"MPI_Exscan/MPI_Exscan": "wait in scan", "MPI_Intercomm_create/MPI_Intercomm_create": "wait in management", "MPI_Comm_create_group/MPI_Comm_create_group": "wait in management",
		"MPI_File_set_atomicity/MPI_File_set_atomicity": "wait in collective I/O", "MPI_File_seek_shared/MPI_File_seek_shared": "wait in collective I/O",
		"MPI_File_write_ordered/MPI_File_write_ordered": "wait in collective I/O"}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")
			program := compilePlanted(t, dir, family)
			kinds := maps.Clone(kinds)
			if family == "openmpi" { // MPICH does not wait in it
				kinds["MPI_Comm_disconnect/MPI_Comm_disconnect"] = "wait in management"
			}
			if family == "mpich" { // Debian's Open MPI has no persistent collectives and no partitioned messages, and its ranks do not wait for one another to write a few bytes
				kinds["MPI_Wait/MPI_Start"] = "wait at N x N"
				kinds["MPI_Wait/MPI_Pready"], kinds["MPI_Waitall/MPI_Start"] = "late sender", "late receiver"
				for _, planted := range []string{"MPI_File_write_at_all/MPI_File_write_at_all", "MPI_Wait/MPI_File_iwrite_at_all", "MPI_File_write_at_all_begin/MPI_File_write_at_all_begin",
					"MPI_File_read_at_all_begin/MPI_File_read_at_all_begin"} {
					kinds[planted] = "wait in collective I/O"
				}
			}
			wrong := map[string]string{} // what was not as measured until a run has it right
			for planted := range kinds {
				wrong[planted] = "not called"
			}
			for attempt := 0; attempt < 4 && len(wrong) > 0; attempt++ { // the program may lose its core between its clock and a call
				p := launched(t, environ, dir, family, "mpitx", "trace", "--dir", fmt.Sprint("run", attempt), "--", program)
				r := waitsOf(t, environ, filepath.Join(dir, fmt.Sprint("run", attempt)))
				places := map[string]bool{}
				for line := range strings.Lines(p.stdout.String()) {
					var planted string
					var at, rank, late int
					var waited time.Duration
					if _, err := fmt.Sscan(line, &planted, &at, &rank, (*int64)(&waited), &late); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
					place := fmt.Sprint("main planted.c:", at)
					places[place] = true
					if _, open := wrong[planted]; !open {
						continue
					}
					function, later, _ := strings.Cut(planted, "/")
					got, cost := time.Duration(0), time.Duration(0)
					for _, s := range r.States {
						if s.Kind == kinds[planted] && s.Function == function && s.Place == place && s.Rank == rank && s.For == late {
							got += s.Waiting
						}
					}
					for _, c := range r.Causes {
						if c.What == "computation" && c.Function == later && c.Place == place && c.Rank == late {
							cost += c.Cost
						}
					}
					wrong[planted] = fmt.Sprintf("line %d: rank %d waited %v for rank %d, not %v; its computation costs %v: %+v %+v", at, rank, waited, late, got, cost, r.States, r.Causes)
					if (got-waited).Abs() <= waited/50+time.Millisecond && cost >= waited*8/10 {
						delete(wrong, planted)
					}
				}
				for _, s := range r.States {
					if s.Function == "MPI_Waitall" && !places[s.Place] { // of partitioned messages that were ready, and whose receives were started
						t.Errorf("nobody was late: %+v", s)
					}
				}
			}
			run := filepath.Join(dir, "run0")
			all, first, second := waitsOf(t, environ, run), waitsOf(t, environ, run, "--to", "1234567890ns"), waitsOf(t, environ, run, "--from", "1234567890ns")
			if first.Waiting == 0 || second.Waiting == 0 || first.Waiting+second.Waiting != all.Waiting || first.Run+second.Run != all.Run {
				t.Errorf("%v and %v of waiting in parts, %v in all; the parts take %v and %v, the run %v", first.Waiting, second.Waiting, all.Waiting, first.Run, second.Run, all.Run)
			}
			after := newProcess(environ, dir, "mpitx", "report", run, "waits", "--from", "1h")
			if after.run(hung); after.code != 0 || after.stdout.Len() > 0 || !strings.Contains(after.stderr.String(), "no calls in this part of the run; it ends after ") {
				t.Errorf("after the end, exit code %d: %s", after.code, after.output())
			}
			for planted, problem := range wrong {
				t.Errorf("%s: %s", planted, problem)
			}
		})
	}
}

// TestWaitsWithoutCore traces the program on one core, with samples of the time that its processes wait for it. MPICH does not yield while it waits.
func TestWaitsWithoutCore(t *testing.T) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")
			program := compilePlanted(t, dir, family)
			launched(t, environ, dir, family, "mpitx", "run", "--trace", "--sample", "mpitx:cpu_wait", "--interval", "5ms", "--dir", "run", "--", program, "core")
			late, without := time.Duration(0), time.Duration(0)
			for _, c := range waitsOf(t, environ, filepath.Join(dir, "run")).Causes {
				if c.NoCore == nil {
					t.Fatalf("%s of rank %d: it is not known for how long it had no core", c.Function, c.Rank)
				}
				if c.What == "computation" && c.Excess > 100*time.Millisecond {
					late, without = late+c.Excess, without+*c.NoCore
				}
			}
			if family == "mpich" && (late < time.Second || without < late/4) || without > 2*late {
				t.Errorf("ranks computed %v and had no core for at most %v of it", late, without)
			}
		})
	}
}

func compilePlanted(t *testing.T, dir, family string) string {
	t.Helper()
	program := filepath.Join(dir, "planted")
	if text, err := exec.Command("mpicc."+family, "-g", "-O1", "-o", program, "testdata/waits/planted.c").CombinedOutput(); err != nil {
		t.Fatalf("planted.c: %v\n%s", err, text)
	}
	return program
}

// launched runs a command on two ranks.
func launched(t *testing.T, environ []string, dir, family string, command ...string) *process {
	t.Helper()
	argv := slices.Concat(launchers[family], command)
	argv[slices.Index(argv, "4")] = "2"
	p := newProcess(environ, dir, argv...)
	if p.run(hung); p.code != 0 {
		t.Fatalf("exit code %d: %s", p.code, p.output())
	}
	return p
}

// TestWaitsSpawned traces a program that spawns a job, and compares the waits between the two with its own clocks.
func TestWaitsSpawned(t *testing.T) {
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	for family, tools := range spawners(t) {
		t.Run(family, func(t *testing.T) {
			dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")
			program := filepath.Join(dir, "spawn")
			if text, err := exec.Command(tools[0], "-g", "-w", "-o", program, "testdata/waits/spawn.c").CombinedOutput(); err != nil {
				t.Fatalf("spawn.c: %v\n%s", err, text)
			}
			wrong := map[string]string{"": "not run"}                    // what was not as measured until a run has it right
			for attempt := 0; attempt < 4 && len(wrong) > 0; attempt++ { // a rank may lose its core between its clock and a call
				run := fmt.Sprint("run", attempt)
				p := newProcess(environ, dir, append(strings.Fields(tools[1]), "-n", "2", "mpitx", "trace", "--dir", run, "--", program)...)
				if p.run(hung); p.code != 0 {
					t.Fatalf("exit code %d: %s", p.code, p.output())
				}
				began := map[string]time.Duration{}
				for line := range strings.Lines(p.stdout.String()) {
					var call string
					var rank int
					var at time.Duration
					if _, err := fmt.Sscan(line, &call, &rank, (*int64)(&at)); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
					began[fmt.Sprint(call, rank)] = at
				}
				r := waitsOf(t, environ, filepath.Join(dir, run))
				first := attempt == 0
				delete(wrong, "")
				for _, w := range []struct {
					kind, call string
					rank, on   int
				}{{"wait in management", "MPI_Comm_spawn", 0, 1}, {"wait at barrier", "MPI_Barrier", 0, 3}, {"wait at barrier", "MPI_Barrier", 1, 3},
					{"late root", "MPI_Bcast", 2, 0}, {"late root", "MPI_Bcast", 3, 0}, {"early root", "MPI_Gather", 1, 2},
					{"late sender", "MPI_Recv/MPI_Send", 1, 2}, {"late sender", "MPI_Recv/MPI_Send", 3, 0}} {
					got := time.Duration(0)
					call, late, other := strings.Cut(w.call, "/")
					if !other {
						late = call
					}
					for _, s := range r.States {
						if s.Kind == w.kind && s.Function == call && s.Rank == w.rank && s.For == w.on {
							got += s.Waiting
						}
					}
					waited := max(began[fmt.Sprint(late, w.on)]-began[fmt.Sprint(call, w.rank)], 0)
					key := fmt.Sprint(w.call, w.rank)
					if _, open := wrong[key]; !open && !first {
						continue
					}
					delete(wrong, key)
					if (got - waited).Abs() > waited/50+time.Millisecond {
						wrong[key] = fmt.Sprintf("rank %d waited %v for rank %d, not %v", w.rank, waited, w.on, got)
					}
				}
			}
			for call, problem := range wrong {
				t.Errorf("%s: %s", call, problem)
			}
		})
	}
}
