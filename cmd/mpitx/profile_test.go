//go:build cgo && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// profiled is the part of mpitx.report that the tests check.
type profiledRun struct {
	Run       struct{ Elapsed_ns int64 }
	Functions []profiledFunction
	Sites     []profiledFunction
	Ranks     []struct {
		Rank           int
		Calls          uint64
		State          string
		In_mpi_ns      int64
		Elapsed_ns     int64
		Bytes_sent     uint64
		Bytes_received uint64
		Spawned_by     *int
		Processor      *struct {
			Cores                             int
			Cpu_time_ns, Cpu_wait_ns, Wait_ns int64
			Estimated                         bool
			Computed, Waited, Slept           struct{ Least_ns, Most_ns int64 }
		}
	}
	Processor struct {
		Groups []struct {
			Ranks []int
			Cores int
		}
	}
	Phases []struct {
		Name           string
		Entered, Calls uint64
		Ranks          []struct {
			Rank       int
			Elapsed_ns int64
		}
	}
	Communicators []struct {
		Name                  string
		Size                  int
		Calls, Bytes_received uint64
	}
	Matrix []struct {
		Source, Destination                                int
		Messages, Bytes, Messages_received, Bytes_received uint64
	}
	Findings   []struct{ Kind, Text string }
	Other_jobs map[string]uint64
}

type profiledFunction struct {
	Name, Site                                                          string
	Calls, Bytes_sent, Bytes_received, Messages_sent, Messages_received uint64
	Bytes_out, Bytes_in                                                 uint64
	Time_ns, Min_ns, P50_ns, P99_ns, Max_ns                             int64
	Ranks                                                               []struct{ Rank, Calls int }
	Waits                                                               []struct {
		Rank, For, Calls, Shared_calls int
		Time_ns                        int64
	}
	Stack []struct {
		Function, File string
		Line           int
	}
}

func (p *profiledRun) function(name string) profiledFunction {
	for _, f := range p.Functions {
		if f.Name == name {
			return f
		}
	}
	return profiledFunction{}
}

// buildSolver compiles testdata/profile/solver.c.
func buildSolver(t *testing.T, family string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "solver")
	if text, err := exec.Command("mpicc."+family, "-g", "-O1", "-w", "-I", "../../agent/include", "-o", out, "testdata/profile/solver.c").CombinedOutput(); err != nil {
		t.Fatalf("solver.c: %v\n%s", err, text)
	}
	return out
}

// lineOf is the number of the line of solver.c that ends with a comment.
func lineOf(t *testing.T, comment string) int {
	t.Helper()
	return lineIn(t, "testdata/profile/solver.c", comment)
}

func lineIn(t *testing.T, file, comment string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "/* line: "+comment+" */") {
			return n + 1
		}
	}
	t.Fatalf("no line %q", comment)
	return 0
}

func readReport(t *testing.T, environ []string, dir string, options ...string) *profiledRun {
	t.Helper()
	p := newProcess(environ, filepath.Dir(dir), append([]string{"mpitx", "report", dir, "-o", "json"}, options...)...)
	p.run(hung)
	var report profiledRun
	if err := json.Unmarshal(p.stdout.Bytes(), &report); err != nil || p.code != 0 {
		t.Fatalf("exit code %d, %v: %s", p.code, err, p.output())
	}
	return &report
}

// TestProfile profiles a program whose calls, bytes, peers, phases and lines are known, under both launchers.
func TestProfile(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			program, environ := buildSolver(t, family), append(testEnvironment(t), "MPITX_MPI=")
			dir := t.TempDir()
			for name, argv := range map[string][]string{
				"mpirun": append(slices.Clone(launchers[family]), "mpitx", "profile", "--dir", "mpirun", "--", program),
				"n":      {"mpitx", "profile", "-n", "4", "--dir", "n", "--stack", "2", "--", program},
			} {
				p := newProcess(environ, dir, argv...)
				p.run(hung)
				if p.failure != "" || p.code != 0 || p.stdout.Len() > 0 {
					t.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
				}
				for _, want := range []string{`^solver: 4 ranks on 1 node, .*s; `, `^FINDINGS$`, `^CALL SITE \(6 of 20\)`, `^mpitx: profiled in ` + name + `; next: mpitx report`} {
					if !regexp.MustCompile("(?m)" + want).MatchString(p.stderr.String()) {
						t.Errorf("no %q in\n%s", want, p.stderr.String())
					}
				}
				checkSolver(t, readReport(t, environ, filepath.Join(dir, name)))
				checkWait(t, readReport(t, environ, filepath.Join(dir, name), "--phase", "wait"))
			}
		})
	}
}

func checkSolver(t *testing.T, r *profiledRun) {
	t.Helper()
	const steps, ranks = 50, 4
	for name, want := range map[string]profiledFunction{
		"MPI_Isend":     {Calls: steps * ranks, Messages_sent: steps * ranks, Bytes_sent: steps * ranks * 1000},
		"MPI_Irecv":     {Calls: steps * ranks},
		"MPI_Waitall":   {Calls: steps * ranks, Messages_received: steps * ranks, Bytes_received: steps * ranks * 1000},
		"MPI_Allreduce": {Calls: steps * ranks, Bytes_out: steps * ranks * 8, Bytes_in: steps * ranks * 8},
		"MPI_Send":      {Calls: 7, Messages_sent: 7, Bytes_sent: 601},
		"MPI_Recv":      {Calls: 7, Messages_received: 7, Bytes_received: 601},
		"MPI_Barrier":   {Calls: ranks},
	} {
		f := r.function(name)
		got := profiledFunction{Calls: f.Calls, Messages_sent: f.Messages_sent, Bytes_sent: f.Bytes_sent, Messages_received: f.Messages_received,
			Bytes_received: f.Bytes_received, Bytes_out: f.Bytes_out, Bytes_in: f.Bytes_in}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, not %+v", name, got, want)
		}
		if f.Min_ns > f.P50_ns || f.P50_ns > f.P99_ns || f.P99_ns > f.Max_ns || f.Max_ns > f.Time_ns || f.Max_ns == 0 {
			t.Errorf("%s: durations %+v", name, f)
		}
	}
	if wait := r.function("MPI_Recv"); wait.Max_ns < 300e6 {
		t.Errorf("the longest MPI_Recv took %d ns", wait.Max_ns)
	}
	sites := map[string]uint64{}
	for _, s := range r.Sites {
		sites[s.Name+" "+s.Site] += s.Calls
	}
	if send := fmt.Sprintf("MPI_Isend solver.c:%d", lineOf(t, "send")); sites[send] != steps*ranks {
		t.Errorf("%d calls of %s among %v", sites[send], send, sites)
	}
	var sent, received [ranks]uint64
	for _, m := range r.Matrix {
		if m.Messages != m.Messages_received || m.Bytes != m.Bytes_received {
			t.Errorf("messages were lost: %+v", m)
		}
		want := [2]uint64{}
		if m.Destination == (m.Source+1)%ranks {
			want = [2]uint64{steps, steps * 1000}
		}
		if m.Destination == 0 {
			want[0] += uint64(m.Source)
			want[1] += 100 * uint64(m.Source)
		}
		if m.Source == 2 && m.Destination == 3 {
			want[0], want[1] = want[0]+1, want[1]+1
		}
		if m.Messages != want[0] || m.Bytes != want[1] {
			t.Errorf("%+v, not %v", m, want)
		}
		sent[m.Source] += m.Bytes
		received[m.Destination] += m.Bytes
	}
	if len(r.Ranks) != ranks || len(r.Matrix) != ranks+2 {
		t.Fatalf("%d ranks, %d pairs", len(r.Ranks), len(r.Matrix))
	}
	for i, rank := range r.Ranks {
		if rank.Bytes_sent != sent[i] || rank.Bytes_received != received[i] {
			t.Errorf("rank %d: %d bytes sent and %d received, in the matrix %d and %d", i, rank.Bytes_sent, rank.Bytes_received, sent[i], received[i])
		}
		if rank.Elapsed_ns < rank.In_mpi_ns || rank.In_mpi_ns <= 0 {
			t.Errorf("rank %d: %d of %d ns in MPI", i, rank.In_mpi_ns, rank.Elapsed_ns)
		}
	}
	phases, elapsed := map[string]uint64{}, [ranks]int64{}
	for _, ph := range r.Phases {
		phases[ph.Name] = ph.Calls
		for _, rank := range ph.Ranks {
			elapsed[rank.Rank] += rank.Elapsed_ns
		}
	}
	if phases["exchange"] != 4*steps*ranks+ranks || phases["gather"] != 12+3*ranks || phases["wait"] != 2+ranks { // with calls of MPI_Pcontrol
		t.Errorf("phases: %v", phases)
	}
	for i, rank := range r.Ranks {
		if elapsed[i] != rank.Elapsed_ns { // time in nested phases counts once
			t.Errorf("rank %d: its phases took %d ns, the run %d", i, elapsed[i], rank.Elapsed_ns)
		}
	}
	// Irecv, Isend, Waitall, Allreduce in each step, and the name; then all calls with MPI_COMM_WORLD.
	on, arrived := map[string]uint64{}, map[string]uint64{}
	for _, c := range r.Communicators {
		on[c.Name], arrived[c.Name] = c.Calls, c.Bytes_received
	}
	if on["ring"] != 4*steps*ranks+ranks || arrived["ring"] != 1000*steps*ranks || on["MPI_COMM_WORLD"] != 4*ranks+14 || arrived["MPI_COMM_WORLD"] != 601 {
		t.Errorf("communicators: %v, %v", on, arrived)
	}
}

// TestProfileLive: reports of a running job and of a killed one include all calls so far.
func TestProfileLive(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			program, environ := buildSolver(t, family), append(testEnvironment(t), "MPITX_MPI=")
			dir := t.TempDir()
			ready, run := filepath.Join(dir, "ready"), filepath.Join(dir, "run")
			p := newProcess(environ, dir, "mpitx", "profile", "-n", "4", "--dir", run, "--", program, ready)
			if err := p.start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(hung); ; time.Sleep(20 * time.Millisecond) {
				if _, err := os.Stat(ready); err == nil {
					break
				}
				if time.Now().After(deadline) || len(p.alive()) == 0 {
					p.kill()
					p.wait(hung)
					t.Fatal("the program does not come to its end", p.output())
				}
			}
			live := readReport(t, environ, run)
			if n := live.function("MPI_Allreduce").Calls; n != 200 || live.Ranks[0].State != "running" {
				t.Errorf("running: %d calls of MPI_Allreduce; %+v", n, live.Ranks[0])
			}
			for _, pid := range p.alive() {
				if strings.HasPrefix(cmdline(pid), program) {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			p.wait(hung)
			dead := readReport(t, environ, run)
			if n := dead.function("MPI_Allreduce").Calls; n != 200 || len(dead.Ranks) != 4 || len(dead.Matrix) != 6 {
				t.Errorf("killed: %d calls of MPI_Allreduce; %d ranks; %d pairs\n%s", n, len(dead.Ranks), len(dead.Matrix), p.output())
			}
		})
	}
}

// TestProfileHang: a report of a job that hangs says so, and calls that have not returned count as time in MPI.
func TestProfileHang(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")
			program, run := filepath.Join(dir, "deadlock"), filepath.Join(dir, "run")
			if text, err := exec.Command("mpicc."+family, "-w", "-o", program, "testdata/deadlock.c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			p := newProcess(environ, dir, "mpitx", "profile", "-n", "2", "--dir", run, "--", program, "recv-recv")
			if err := p.start(); err != nil {
				t.Fatal(err)
			}
			defer p.wait(hung)
			defer p.kill()
			text := "2 ranks have been in MPI_Recv for "
			for deadline := time.Now().Add(hung); ; time.Sleep(100 * time.Millisecond) {
				report := newProcess(environ, dir, "mpitx", "report", run, "-o", "json")
				report.run(hung)
				var r profiledRun
				if json.Unmarshal(report.stdout.Bytes(), &r) == nil && len(r.Findings) > 0 && strings.HasPrefix(r.Findings[0].Text, text) {
					for _, rank := range r.Ranks {
						if rank.In_mpi_ns < 1e9 || rank.In_mpi_ns > rank.Elapsed_ns {
							t.Errorf("rank %d is in MPI for %d of %d ns", rank.Rank, rank.In_mpi_ns, rank.Elapsed_ns)
						}
					}
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("no finding %q: %s", text, report.output())
				}
			}
		})
	}
}

// checkWait looks at the phase in which rank 3 waits. In the whole run, ranks without a core may wait longer elsewhere.
func checkWait(t *testing.T, r *profiledRun) {
	t.Helper()
	wait := regexp.MustCompile(fmt.Sprintf(`(^|; )rank 3 waits \d+ %% of its time in MPI_Recv for rank 2: solver\.c:%d `, lineOf(t, "wait")))
	short := r.Findings[:min(len(r.Findings), 1)] // without enough cores, nobody knows what a rank waits for
	if !slices.ContainsFunc(r.Findings, func(f struct{ Kind, Text string }) bool { return wait.MatchString(f.Text) }) && (len(short) == 0 || short[0].Kind != "processor") {
		t.Errorf("no finding about the wait of rank 3: %+v", r.Findings)
	}
	for _, s := range r.Sites {
		if s.Name != "MPI_Recv" {
			continue
		}
		if w := s.Waits; len(w) != 1 || w[0].Rank != 3 || w[0].For != 2 || w[0].Calls != 1 || w[0].Time_ns != s.Time_ns || w[0].Shared_calls != 0 {
			t.Errorf("%s waits for %+v", s.Site, w)
		}
	}
}
