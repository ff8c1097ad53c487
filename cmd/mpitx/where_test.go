//go:build cgo && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/cmd/mpitx/record"
	"mpitx/fixtures/need"
	"mpitx/recording"
)

// stuck is a job of deadlock.c that runs under mpitx run.
type stuck struct {
	*testing.T
	environ  []string
	dir, run string
	program  string
	job      *process
	never    string // what mpitx where must not say
}

// start starts a job, which ends with the test.
func (s *stuck) start(kind string, flags ...string) {
	s.Helper()
	s.launch(kind, 4, flags, kind, filepath.Join(s.dir, "written"))
}

// launch starts a job with a name, a number of ranks, flags of mpitx run and arguments of the program.
func (s *stuck) launch(name string, ranks int, flags []string, arguments ...string) {
	s.Helper()
	s.run = filepath.Join(s.dir, name)
	args := append([]string{"mpitx", "run", "-n", fmt.Sprint(ranks), "--dir", s.run}, flags...)
	s.job = newProcess(s.environ, s.dir, append(append(args, "--", s.program), arguments...)...)
	if err := s.job.start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		s.job.kill()
		<-s.job.ended
	})
}

// where is an answer of mpitx where as text: its findings, then its states.
func (s *stuck) where() string {
	p := newProcess(s.environ, s.dir, "mpitx", "where", s.run, "-o", "json")
	p.run(hung)
	var answer struct {
		Findings []struct{ Kind, Text string }
		States   []struct {
			Ranks                                               []int
			State, Object, Peer, Tag, Site, Condition, Requests string
			Bytes                                               *int64
		}
	}
	if err := json.Unmarshal(p.stdout.Bytes(), &answer); err != nil {
		return p.output()
	}
	var b strings.Builder
	for _, f := range answer.Findings {
		fmt.Fprintf(&b, "%s: %s\n", f.Kind, f.Text)
	}
	for _, t := range answer.States {
		bytes := "unknown"
		if t.Bytes != nil {
			bytes = fmt.Sprint(*t.Bytes)
		}
		fmt.Fprintf(&b, "%v %s|%s|%s|%s|%s|%s|%s\n", t.Ranks, t.State, t.Object, t.Peer, t.Tag, t.Site, t.Requests, bytes)
	}
	return b.String()
}

// says waits until mpitx where says something.
func (s *stuck) says(want string) {
	s.Helper()
	re := regexp.MustCompile(want)
	text := ""
	for deadline := time.Now().Add(hung); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		text = s.where()
		if s.never != "" && strings.Contains(text, s.never) {
			break
		}
		if re.MatchString(text) {
			return
		}
	}
	s.Errorf("mpitx where does not say %q:\n%s%s", want, text, s.job.describe())
}

// eachStuck runs a test of a program in testdata with each MPI.
func eachStuck(t *testing.T, source string, test func(s *stuck)) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program := filepath.Join(dir, strings.TrimSuffix(source, filepath.Ext(source)))
			compiler := map[string]string{".c": "mpicc.", ".F90": "mpif90."}[filepath.Ext(source)] + family
			need.Commands(t, compiler)
			if out, err := exec.Command(compiler, "-g", "-O1", "-pthread", "-o", program, "testdata/"+source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			test(&stuck{T: t, environ: append(testEnvironment(t), "MPITX_MPI="), dir: dir, program: program})
		})
	}
}

// Each classic deadlock is named as what it is, while the job hangs and after it was killed.
func TestDeadlocks(t *testing.T) {
	t.Parallel()
	const at = `\|(send_to|receive_from|main) deadlock.c:\d+\|`
	kinds := []struct{ kind, says string }{
		{"send-send", `(?s)cycle: 0 → 1 → 0, all in MPI_Send\n.*cycle: 2 → 3 → 2, all in MPI_Send\n\[0 1 2 3\] in MPI_Send\|MPI_COMM_WORLD\|1, 0, 3, 2\|7` + at},
		{"barrier", `(?s)cycle: 0 → 1 → 0: 0 is in MPI_Barrier on MPI_COMM_WORLD, which 1 has not entered; 1 waits for a message from 0, tag 3\n.*\[1\] in MPI_Recv\|.*\[0 2 3\] in MPI_Barrier\|`},
		{"collectives", `mismatched collectives on MPI_COMM_WORLD \(call 2\): rank 2 is in MPI_Bcast, ranks 0-1,3 are in MPI_Barrier`},
		{"roots", `mismatched`},
		{"tag", `^tags: the tags differ: 1 sends to 0 with tag 8 in MPI_Send, and 0 waits for a message from 1 with tag 7 in MPI_Recv\n` +
			`tags: the communicators differ: 3 sends to 2 with tag 7 on MPI_COMM_WORLD in MPI_Ssend, and 2 waits for a message from 3 with tag 7 on copy in MPI_Recv\n\[`},
		{"objects", `^mismatch: mismatched collectives: rank 2 calls MPI_Barrier on solid, the others on fluid\n\[`},
		{"chain", `wait: 3 waits for a message from 2, tag 3; 2 waits for a message from 1, tag 2; 1 waits for a message from 0, tag 1; 0 computes for`},
		{"waitall", `(?s)cycle: 0 → 1 → 0, all in MPI_Waitall.*\[0 1 2 3\] in MPI_Waitall\|.*0 waits in MPI_Waitall for 2 requests \(a message from 3, tag 5; a message from 1, tag 6\)`},
		{"polls", `(?s)possible cycle: 0 → 3 → 2 → 1 → 0, all in MPI_Test; ranks 0-3 poll and may go on\n.*\[0 1 2 3\] polls with MPI_Test\|`},
		{"probes", `possible cycle: 0 → 3 → 2 → 1 → 0, all in MPI_Iprobe; ranks 0-3 poll and may go on\n\[0 1 2 3\] polls with MPI_Iprobe\|MPI_COMM_WORLD\|3, 0, 1, 2\|5\|`},
		{"subcomm", `(?s)cycle: 0 → 2 → 0: 0 waits for a message from 2, tag 4 on even again; 2 is in MPI_Barrier on even again, which 0 has not entered\ncycle: cycle: 1 → 3 → 1: .* odd again, `},
		{"finalize", `wait: rank 0 waits for a message from 1, tag 9; 1-3 (has|have) called MPI_Finalize|wait: rank 0 waits for a message from 1, tag 9; 1 has called MPI_Finalize`},
		{"compute", `^\[0 1 2 3\] computes after MPI_Barrier\|`},
	}
	eachStuck(t, "deadlock.c", func(s *stuck) {
		for _, k := range kinds {
			s.start(k.kind)
			s.says(k.says)
			s.job.kill()
			<-s.job.ended
			switch k.kind { // what a dead job did
			case "objects":
				s.says(`mismatch: before that, mismatched collectives: rank 2 calls MPI_Barrier on solid, the others on fluid\n`)
			case "chain":
				s.says(`(?s)dead: ranks 0-3 have died\n.*\[0\] dead, outside of MPI after MPI_Barrier.*\[1\] dead, in MPI_Recv|dead: ranks 0-3 have died\n`)
			}
		}
	})
}

// Threads of a rank wait together or not at all. Callbacks that call MPI are shown in their call, with what they wait for.
func TestThreadsAndCallbacks(t *testing.T) {
	t.Parallel()
	const chain = `^wait: a thread of rank 1 waits for a message from 0, tag 7 on copy; 0 waits for a message from 1, tag 7 on copy, and another thread of it `
	kinds := []struct{ kind, says, never string }{
		{"thread-works", chain + "may call MPI\n", "cycle"},
		{"thread-sleeps", chain + "may call MPI\n", "cycle"},
		{"thread-called", chain + `computes for [0-9.]+ s, after MPI_Send at works_after_call stuck.c:\d+ \(process \d+ on \S+\)\n`, "cycle"},
		{"threads-wait", `(?s)^cycle: possible cycle: 0 → 1 → 0, all in MPI_Recv; another thread of ranks 0-1 may call MPI\n.*\[0 1 2 3\] waits for a thread, after MPI_Comm_dup\|`, ""},
		{"operation", `waits for a message from \d, tag 3 on copy, in a callback of MPI_Allreduce|(?s)all in MPI_Recv.*in MPI_Allreduce, a callback in MPI_Recv\|MPI_COMM_WORLD\|.*\|receive stuck.c`, ""},
		{"handler", `(?s)cycle: 0 → 1 → 0, all in MPI_Recv.*\[0 1 2 3\] in MPI_Send, a callback in MPI_Recv\|wrong\|`, ""},
		{"jump", `^\[0 1 2 3\] computes after MPI_Send\|`, ""},
		{"attribute", `(?s)cycle: 0 → 1 → 0, all in MPI_Recv.*\[0 1 2 3\] in MPI_Recv\|copy\|`, ""},
		{"returned", `wait: ranks 0,2-3 are in MPI_Allreduce on copy, which 1 has not entered; 1 computes for [0-9.]+ s, after MPI_Allreduce `, "callback"},
		{"generalized", `\[0 1 2 3\] in MPI_Wait\|.*0 waits for MPI_Grequest_start`, ""},
		{"collective", `(?s)\[1\] computes after .*\[0 2 3\] in MPI_Wait\|.*0 waits for MPI_Ibarrier on copy`, ""},
		{"persistent", `in MPI_Waitall\|.*0 waits in MPI_Waitall for one of 2 requests \(a message from 1, tag 6 on copy; a message from any rank, any tag on copy\)`, ""},
		{"sizes", `(?s)\[0 1\] in MPI_Recv\|copy\|1, 0\|7\|[^|]*\|\|12\n.*\[2 3\] in MPI_Recv\|copy\|3, 2\|8\|[^|]*\|\|(8|unknown)\n`, ""},
	}
	eachStuck(t, "stuck.c", func(s *stuck) {
		for _, k := range kinds {
			s.never = k.never
			s.start(k.kind)
			s.says(k.says)
			s.job.kill()
			<-s.job.ended
		}
	})
}

// The call site is the program's, also if the library's Fortran interface makes the call.
func TestWhereFortran(t *testing.T) {
	t.Parallel()
	eachStuck(t, "stuck.F90", func(s *stuck) {
		s.start("f90")
		s.says(`in MPI_Recv\|MPI_COMM_WORLD\|1, 0, 3, 2\|7\|waits stuck.F90:\d+\|`)
	})
}

// A stopped rank, and then a dead one.
func TestStoppedRank(t *testing.T) {
	t.Parallel()
	eachStuck(t, "deadlock.c", func(s *stuck) {
		s.start("works")
		s.says(`MPI_Sendrecv_replace`)
		run, err := recording.Open(s.run)
		if err != nil {
			s.Fatal(err)
		}
		pid := run.Ranks[1].PID
		run.Close()
		syscall.Kill(pid, syscall.SIGSTOP)
		defer syscall.Kill(pid, syscall.SIGCONT)
		s.says(`(?s)^stopped: rank 1 is stopped by a signal \(SIGSTOP\); kill -CONT \d+ continues it\n.*wait: .*; 1 is stopped`)
	})
}

// --hang reports, and ends the job with its exit code; it leaves a job in peace in which all ranks compute, or that works.
func TestHang(t *testing.T) {
	t.Parallel()
	eachStuck(t, "deadlock.c", func(s *stuck) {
		hangs := []struct{ kind, says string }{
			{"recv-recv", `(?s)\n  cycle: 0 → 3 → 2 → 1 → 0, all in MPI_Recv\n.*\n0-3 +in MPI_Recv +MPI_COMM_WORLD +3, 0, 1, 2 +7 +4194304 `},
			{"polls", `\n0-3 +polls with MPI_Test `},
			{"probes", `\n0-3 +polls with MPI_Iprobe `},
			{"loop", `; 1 computes for `},
			{"file", ` in MPI_File_write_ordered `},
			{"stops", `\n  rank 1 is stopped by a signal \(SIGSTOP\); kill -CONT \d+ continues it\n`},
			{"finalize", `rank 0 waits for a message from 1, tag 9; 1(-3)? (has|have) called MPI_Finalize\n`},
		}
		for _, h := range hangs {
			s.start(h.kind, "--hang", "2s:kill")
			s.job.wait(hung)
			text := s.job.stderr.String()
			head := regexp.MustCompile(`mpitx: no rank has made progress for [0-9.]+ s\n` + h.kind + `: 4 ranks, running for [0-9ms]+\n`)
			if s.job.code != record.ExitHung || !head.MatchString(text) || !regexp.MustCompile(h.says).MatchString(text) || !strings.Contains(text, "mpitx: --hang: ending the job\n") {
				s.Errorf("%s: exit code %d:\n%s", h.kind, s.job.code, text)
			}
		}
		var lively []*process
		for _, kind := range []string{"compute", "works"} { // at the same time
			s.start(kind, "--hang", "3s:kill")
			s.says(`computes after MPI_Barrier|MPI_Sendrecv_replace`)
			lively = append(lively, s.job)
		}
		time.Sleep(6 * time.Second) // twice what --hang takes
		for _, job := range lively {
			select {
			case <-job.ended:
				s.Errorf("ended: %s", job.output())
			default:
				job.kill()
				<-job.ended
			}
			if strings.Contains(job.stderr.String(), "no rank has made progress") {
				s.Errorf("reported: %s", job.output())
			}
		}
		s.start("aborts", "--hang", "60s:kill")
		s.job.wait(hung)
		if text := s.job.stderr.String(); s.job.code != 5 || strings.Contains(text, "--hang") || strings.Contains(text, "no rank has made progress") {
			s.Errorf("MPI_Abort: exit code %d:\n%s", s.job.code, text)
		}
	})
}

// A run that ends well leaves nothing behind unless it was named; mpitx where shows how it ended.
func TestRunDirectory(t *testing.T) {
	t.Parallel()
	eachStuck(t, "deadlock.c", func(s *stuck) {
		p := newProcess(s.environ, s.dir, "mpitx", "run", "-n", "2", "--", s.program, "nothing")
		p.run(hung)
		if left, _ := filepath.Glob(filepath.Join(s.dir, "mpitx-run-*")); p.code != 0 || len(left) > 0 || p.stderr.Len() > 0 {
			s.Errorf("exit code %d, %q left:\n%s", p.code, left, p.output())
		}
		p = newProcess(s.environ, s.dir, "mpitx", "run", "-n", "2", "--dir", "named", "--", s.program, "nothing")
		p.run(hung)
		if _, err := os.Stat(filepath.Join(s.dir, "named")); p.code != 0 || err != nil {
			s.Errorf("exit code %d, %v:\n%s", p.code, err, p.output())
		}
		s.run = filepath.Join(s.dir, "named")
		s.job = p
		s.says(`^\[0 1\] exited\|`)
	})
}
