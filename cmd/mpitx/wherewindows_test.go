//go:build cgo && linux

package main

import (
	"strings"
	"testing"
)

// Windows, files and communicators that ranks wait for, each with three ranks of a job: who holds a lock, who has not posted, who is in another
// collective call. Libraries acquire locks at different times, so that ranks wait in different calls.
func TestWindows(t *testing.T) {
	t.Parallel()
	hangs := []string{"lock", "start", "across", "fence"}
	const lock = `cycle: cycle: 1 → 2 → 1: 1 is in MPI_Barrier on MPI_Comm_split of MPI_COMM_WORLD, which 2 has not entered; ` +
		`2 waits for the lock of lock at 0, which 1 holds \(hold windows.c:\d+\)\n`
	says := []string{lock,
		`cycle: (possible )?cycle: 3 → 4 → 3: 3 is in MPI_Win_(start|complete) on start, for which 4 has not called MPI_Win_post; 4 waits for a message from 3, tag 1`,
		`mismatch: mismatched collectives: rank 8 calls MPI_Allreduce on solid, ranks 6-7 on fluid\n`,
		`mismatch: mismatched collectives: rank 10 calls MPI_Barrier on MPI_Comm_split of MPI_COMM_WORLD, ranks 9,11 call MPI_Win_fence on fence\n`,
	}
	works := []string{"slow", "absent", "shared", "late", "closes", "count"}
	saysWaiting := []string{
		`2 waits for the lock of slow at 0, which 1 holds \(hold windows.c:\d+\); 1 computes`,
		`(4|5|4-5) (waits?|is|are) (for|in) `,
		`8 waits for the lock of shared at 6, which 6-7 hold \(hold windows.c:\d+\)`,
		`9 is in MPI_Win_(start|complete) on late, for which 10 has not called MPI_Win_post; .*10 computes`,
		`13-14 are in MPI_File_close on \S+/closed.out, which 12 has not entered; 12 computes`,
	}
	check := func(s *stuck, osc string) {
		hangs, works, says, saysWaiting := hangs, works, says, saysWaiting
		if osc != "" { // locks and groups only
			hangs, works, says, saysWaiting = hangs[:2], works[:3], says[:2], saysWaiting[:3]
		}
		s.launch("hangs"+osc, 3*len(hangs), nil, append([]string{s.dir}, hangs...)...)
		for _, want := range says {
			s.says(want)
		}
		s.end()
		s.never = "cycle"
		s.launch("works"+osc, 3*len(works), nil, append([]string{s.dir}, works...)...)
		for _, want := range saysWaiting {
			s.says(want)
		}
		for range 3 {
			if text := s.where(); strings.Contains(text, "cycle") || strings.Contains(text, "mismatch") || strings.Contains(text, "polls") {
				s.Errorf("%s", text)
			}
		}
		s.end()
		s.never = ""
	}
	eachStuck(t, "windows.c", func(s *stuck) {
		check(s, "")
		s.launch("polls", 9, nil, s.dir, "polls", "gets", "file")
		for _, want := range []string{ // after 10 s without progress
			`ranks 1-2 are in MPI_Barrier on MPI_Comm_split of MPI_COMM_WORLD, which 0 has not entered; 0 polls window polls on rank 1 for ([0-9]{2,} s|[0-9]+m[0-9]+s), with MPI_Fetch_and_op \(polls windows.c:\d+\)\n`,
			`; 3 polls window gets on rank 4 for ([0-9]{2,} s|[0-9]+m[0-9]+s), with MPI_Get \(gets windows.c:\d+\)\n`,
			`mismatched collectives on \S+/plot.out \(call 2\): rank 6 is in MPI_File_write_at_all, ranks 7-8 are in MPI_File_close\n`,
		} {
			s.says(want)
		}
		s.end()
		if !strings.HasSuffix(s.Name(), "openmpi") {
			return
		}
		s.launch("spawned", 1, nil, s.dir, "spawn")
		s.says(`(?s)cycle: (possible )?cycle: 0 → 1 → 0: 0 waits for a message from 1, tag 1 on MPI_Comm_spawn of MPI_COMM_WORLD; 1 is in MPI_Barrier on MPI_COMM_PARENT, which 0 has not entered\n` +
			`.*rank 2 is in MPI_Barrier on MPI_COMM_PARENT, which 0 has not entered`)
		s.end()
		s.never = "cycle"
		s.launch("spawnslow", 1, nil, s.dir, "spawnslow")
		s.says(`1(-2)? computes?`)
		s.end()
		s.never = ""
		s.environ = append(s.environ, "OMPI_MCA_osc=pt2pt")
		check(s, "pt2pt")
	})
}

// end ends a job.
func (s *stuck) end() {
	s.job.kill()
	<-s.job.ended
}
