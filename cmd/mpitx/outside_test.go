//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/recording"
)

// Computing, sleeping outside of MPI, being killed and exiting without MPI_Finalize are four different things.
func TestOutsideOfMPI(t *testing.T) {
	t.Parallel()
	eachStuck(t, "outside.c", func(s *stuck) {
		s.start("each")
		for _, says := range []string{
			`\[0\] computes after MPI_Allreduce\|`, // though a thread of it sleeps
			`\[1\] sleeps in nanosleep after MPI_Allreduce\|`,
			`\[2\] sleeps in futex after MPI_Allreduce, other threads compute\|`,
			`\[3\] sleeps in read after MPI_Allreduce\|`,
		} {
			s.says(says)
		}
		run, err := recording.Open(s.run)
		if err != nil {
			s.Fatal(err)
		}
		pid := run.Ranks[3].PID
		run.Close()
		syscall.Kill(pid, syscall.SIGKILL)
		<-s.job.ended
		s.says(`(?s)^dead: .*\[(3|0 1 2 3|\d.*3)\] (dead|killed by SIGKILL), slept in read after MPI_Allreduce\|`)

		s.start("exits")
		s.says(`\[0 2 3\] in MPI_Allreduce\|`)
		if err := os.WriteFile(filepath.Join(s.dir, "written"), nil, 0o600); err != nil {
			s.Fatal(err)
		}
		<-s.job.ended
		s.says(`^exited: rank 1 exited without MPI_Finalize(, with code 0)?\ndead: ranks 0,2-3 (have died|were killed by SIG\w+)\n` +
			`wait: before that, ranks 0,2-3 are in MPI_Allreduce on MPI_COMM_WORLD, which 1 has not entered; 1 has exited without MPI_Finalize\n`)
	})
}

// A pool of processes in Python: the ranks have made no MPI call that can wait.
func TestOutsidePool(t *testing.T) {
	t.Parallel()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	need.Commands(t, "/usr/bin/python3")
	source, err := filepath.Abs("testdata/pool.py")
	if err != nil {
		t.Fatal(err)
	}
	s := &stuck{T: t, environ: append(testEnvironment(t), "MPITX_MPI="), dir: t.TempDir(), never: "computes, no"}
	s.run = filepath.Join(s.dir, "pool")
	s.job = newProcess(s.environ, s.dir, "mpitx", "run", "-n", "2", "--dir", s.run, "--", "/usr/bin/python3", source)
	if err := s.job.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.job.kill()
		<-s.job.ended
	})
	s.never = ""
	s.says(`^\[0 1\] sleeps in (futex|poll), no MPI call that can wait yet\|`)
}
