//go:build cgo && linux

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/recording/where"
)

// open opens the run of a job that has started.
func (s *stuck) open() *recording.Run {
	s.Helper()
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		run, err := recording.Open(s.run)
		if err != nil {
			continue
		}
		ready := func(p *where.Process) bool { return len(p.Threads) > 0 }
		if job := where.Read(run, nil); job.Size == 4 && !slices.ContainsFunc(job.Processes, func(p *where.Process) bool { return !ready(p) }) {
			s.Cleanup(func() { run.Close() })
			return run
		}
		run.Close()
	}
	s.Fatalf("the job does not start:\n%s\n%s", s.job.describe(), s.job.output())
	return nil
}

var duration = regexp.MustCompile(`\d[0-9.]* ?m?s\b|process \d+ on \S+`)

// findings are what mpitx where finds in a run, without times.
func findings(job *where.Job) string {
	var b strings.Builder
	for _, f := range where.Analyze(job).Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", f.Certainty, f.Kind, duration.ReplaceAllString(f.Text, "T"))
	}
	return b.String()
}

func (s *stuck) read(run *recording.Run) *where.Job {
	if err := run.Refresh(); err != nil {
		s.Fatal(err)
	}
	return where.Read(run, nil)
}

// Ranks that poll wait for all that they have tested; collectives that do not block are matched as others are. Each look gives the same answer.
func TestPolling(t *testing.T) {
	t.Parallel()
	const looks = 20
	kinds := []struct{ kind, says string }{
		{"alternating", `^(unknown wait: rank [01] polls with MPI_[^;\n]*; 2 (computes|sleeps (in nanosleep|outside of MPI)) for T, after MPI_[^;\n]*\n){2}$`},
		{"testing", `^(unknown wait: rank [01] polls with MPI_[^;\n]*; 2 (computes|sleeps (in nanosleep|outside of MPI)) for T, after MPI_[^;\n]*\n){2}$`},
		{"consensus", `^possible cycle: possible cycle: 0 → 2 → 0: 0 polls with MPI_Iprobe, MPI_Test for [^;\n]*MPI_Ibarrier on MPI_COMM_WORLD, which 2 has not entered[^;\n]*; ` +
			`2 waits for a message from 0, tag 9; rank 0 polls and may go on; ranks 1,3 wait with them\n$`},
		{"mismatch", `^certain mismatch: mismatched collectives on MPI_COMM_WORLD \(call 2\): rank 1 waits for MPI_Ibcast, ranks 0,2-3 wait for MPI_Iallreduce\n$`},
		{"endless", `^certain wait: ranks 2-3 are in MPI_Barrier on MPI_COMM_WORLD, which 0-1 have not entered; 0-1 are active\n$`},
		{"persistent", `^certain cycle: cycle: 0 → 1 → 0: 0 waits for MPI_(Ibarrier|Barrier_init) on MPI_COMM_WORLD, which 1 has not (entered|started); ` +
			`1 waits for a message from 0, tag 9\ncertain wait: ranks 2-3 wait for MPI_(Ibarrier|Barrier_init) on MPI_COMM_WORLD, which 1 has not (entered|started)\n$`},
		{"early", `^certain cycle: cycle: 0 → 1 → 0, all in MPI_Recv\ncertain cycle: cycle: 2 → 3 → 2, all in MPI_Recv\n$`},
		{"sleeper", `^certain wait: 0 exchanges messages: to 2, tag 1, from 1, tag 1; 2 is in MPI_Barrier on MPI_COMM_WORLD, which 0-1,3 have not entered; 3 waits for a message from 1, tag 2; ` +
			`1 (computes|sleeps (in nanosleep|outside of MPI)) for T, after MPI_[^;\n]*\n$`},
	}
	eachStuck(t, "polling.c", func(s *stuck) {
		for _, k := range kinds {
			s.start(k.kind)
			run := s.open()
			says := regexp.MustCompile(k.says)
			settled := 0 // looks that give the answer, one after the other
			for deadline := time.Now().Add(90 * time.Second); settled < looks && time.Now().Before(deadline); {
				job := where.Look(func() *where.Job { return s.read(run) })
				waits := slices.ContainsFunc(where.Analyze(job).Groups, func(g where.Group) bool { return g.Waits && g.Since > 2*time.Second })
				text := findings(job)
				switch {
				case says.MatchString(text) && waits:
					settled++
				case settled > 0:
					s.Errorf("%s: after %d looks:\n%s", k.kind, settled, text)
					settled = looks
				}
				time.Sleep(10 * time.Millisecond)
			}
			if settled < looks {
				s.Errorf("%s: not found:\n%s%s", k.kind, findings(s.read(run)), s.job.describe())
			}
			s.job.kill()
			<-s.job.ended
		}
	})
}

// In a program that ends normally, no cycle and no mismatch is named as certain, at whatever moment one looks.
func TestNoFalseDeadlock(t *testing.T) {
	t.Parallel()
	const looks = 500
	eachStuck(t, "random.c", func(s *stuck) {
		s.start("steps")
		run := s.open()
		type look struct {
			job *where.Job
			at  time.Time
		}
		var before []look
		waits := 0
		for n := 0; n < looks; {
			now := look{s.read(run), time.Now()}
			for len(before) > 1 && now.at.Sub(before[1].at) >= where.Between {
				before = before[1:]
			}
			if len(before) > 0 && now.at.Sub(before[0].at) >= where.Between {
				n++
				where.Compare(before[0].job, now.job)
				for _, f := range where.Analyze(now.job).Findings {
					if f.Kind == "wait" {
						waits++
					}
					if f.Certainty == finding.Certain && f.Kind != "wait" {
						s.Errorf("look %d: %s: %s", n, f.Kind, f.Text)
					}
				}
			}
			before = append(before, look{now.job, time.Now()})
			select {
			case <-s.job.ended:
				s.Fatalf("the program has ended:\n%s", s.job.describe())
			case <-time.After(15 * time.Millisecond):
			}
		}
		if waits == 0 {
			s.Error("no look has seen a rank that waits")
		}
	})
}
