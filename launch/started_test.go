package launch

import (
	"os"
	"slices"
	"testing"
	"time"

	"mpitx/machine"
)

// The lowest rank that has registered finishes the run, and none does after another has finished it and removed the directory.
func TestElected(t *testing.T) {
	dir := t.TempDir()
	job := &runDir{dir: dir}
	elected := func() (ranks []int) {
		for rank := range 4 {
			r := &Job{Config: &Config{Env: machine.System()}, launch: machine.Launch{Rank: rank}, job: job}
			if r.elected() {
				ranks = append(ranks, rank)
			}
		}
		return ranks
	}
	for _, c := range []struct {
		registers int
		want      []int
	}{{2, []int{0, 2}}, {3, []int{0, 2}}, {1, []int{0, 1}}, {0, []int{0}}} {
		if job.register(machine.System(), c.registers) {
			t.Fatal("over")
		}
		if got := elected(); !slices.Equal(got, c.want) {
			t.Errorf("after rank %d: %v", c.registers, got)
		}
	}
	late := &Job{Config: &Config{Env: machine.System()}, launch: machine.Launch{Rank: 3}, job: job}
	first := &Job{Config: &Config{Env: machine.System()}, job: job}
	if !late.overtaken() || first.overtaken() {
		t.Error("rank 3 does not leave the run to rank 0, or rank 0 to another")
	}
	if err := os.Remove(startedPath(dir)); err != nil {
		t.Fatal(err)
	}
	if got := elected(); !slices.Equal(got, []int{0}) {
		t.Errorf("after the end: %v", got)
	}
}

// Rank 0 of a run without data waits for the others of its node, unless its program was killed.
func TestOvertakenWaits(t *testing.T) {
	job := &runDir{dir: t.TempDir()}
	zero := func() *Job {
		return &Job{Config: &Config{Env: machine.System()}, launch: machine.Launch{Rank: 0, Size: 2, LocalSize: 2}, size: 2, job: job}
	}
	job.register(machine.System(), 0)
	killed := zero()
	if killed.killed = "SIGKILL"; killed.overtaken() || len(zero().absent()) != 1 {
		t.Error("a rank registered without having started")
	}
	done := make(chan bool)
	go func() { done <- zero().overtaken() }()
	select {
	case <-done:
		t.Fatal("rank 0 did not wait for rank 1")
	case <-time.After(100 * time.Millisecond):
	}
	job.register(machine.System(), 1)
	if <-done {
		t.Error("rank 0 leaves the run to rank 1")
	}
}
