package where

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

func (j *Job) ended(rank int, c Condition, e End) *Job {
	j.Processes[rank].Condition, j.Processes[rank].End = c, e
	return j
}

// How processes ended, and what the others waited for, is said as far as it is known.
func TestEnds(t *testing.T) {
	exit, killed := End{How: "exit"}, End{Known: true, Signal: 15}
	inReduce := func() *Job {
		return job(2, collective("MPI_Allreduce", 2), computes, collective("MPI_Allreduce", 2)).entering(1, 1).moment(0).moment(2)
	}
	for _, c := range []struct {
		what, says string
		job        *Job
	}{
		{"the launcher kills the others at once", "rank 1 exited without MPI_Finalize\nranks 0,2 were killed by SIGTERM\n" +
			"before that, ranks 0,2 are in MPI_Allreduce on MPI_COMM_WORLD, which 1 has not entered; 1 has exited without MPI_Finalize\n",
			inReduce().ended(0, Dead, killed).ended(1, Exited, exit).ended(2, Dead, killed)},
		{"nobody saw how they ended", "rank 1 exited without MPI_Finalize\nranks 0,2 have died\n" +
			"before that, ranks 0,2 are in MPI_Allreduce on MPI_COMM_WORLD, which 1 has not entered; 1 has exited without MPI_Finalize\n",
			inReduce().ended(0, Dead, End{}).ended(1, Exited, exit).ended(2, Dead, End{})},
		{"_exit", "rank 1 exited without MPI_Finalize, with code 3\n", job(0, computes, computes).ended(0, Exited, End{How: "MPI_Finalize"}).ended(1, Dead, End{Known: true, Code: 3})},
		{"_exit, and the launcher kills a rank that waits for it", "rank 1 exited without MPI_Finalize, with code 3\nrank 0 was killed by SIGTERM\n" +
			"before that, rank 0 waits for a message from 1, tag 7; 1 has exited without MPI_Finalize\n",
			job(0, receive(1, 7), computes).ended(0, Dead, killed).ended(1, Dead, End{Known: true, Code: 3})},
		{"the launcher kills a rank that has just begun to wait for it", "rank 1 exited without MPI_Finalize, with code 3\nrank 0 was killed by SIGKILL\n" +
			"before that, rank 0 waits for a message from 1, tag 7; 1 has exited without MPI_Finalize\n",
			job(0, receive(1, 7), computes).moment(0).ended(0, Dead, End{Known: true, Signal: 9}).ended(1, Exited, End{How: "exit", Known: true, Code: 3})},
		{"it has just begun to wait for another one", "rank 1 exited without MPI_Finalize, with code 3\nranks 0,2 were killed by SIGKILL\n",
			job(0, receive(2, 7), computes, computes).moment(0).ended(0, Dead, End{Known: true, Signal: 9}).ended(1, Exited, End{How: "exit", Known: true, Code: 3}).
				ended(2, Dead, End{Known: true, Signal: 9})},
		{"a watchdog ends ranks in a cycle", "ranks 0-1 exited without MPI_Finalize, with code 3\nbefore that, cycle: 0 → 1 → 0, all in MPI_Recv\n",
			job(0, receive(1, 7), receive(0, 7)).ended(0, Dead, End{Known: true, Code: 3}).ended(1, Dead, End{Known: true, Code: 3})},
		{"finalized and exited", "", job(0, computes, computes).ended(0, Exited, End{How: "MPI_Finalize"}).ended(1, Exited, End{How: "MPI_Finalize", Known: true})},
		{"aborted", "rank 1 called MPI_Abort\nrank 0 was killed by SIGKILL\n", job(0, computes, computes).ended(0, Dead, End{Known: true, Signal: 9}).ended(1, Exited, End{How: "MPI_Abort", Known: true, Code: 6})},
		{"the job goes on", "rank 1 exited without MPI_Finalize\n" +
			"ranks 0,2 are in MPI_Allreduce on MPI_COMM_WORLD, which 1 has not entered; 1 has exited without MPI_Finalize\n",
			job(2, collective("MPI_Allreduce", 2), computes, collective("MPI_Allreduce", 2)).entering(1, 1).ended(1, Exited, exit)},
	} {
		var b strings.Builder
		for _, f := range Analyze(c.job).Findings {
			b.WriteString(f.Text + "\n")
		}
		if b.String() != c.says {
			t.Errorf("%s:\n%s", c.what, b.String())
		}
	}
}

// Only a process that runs computes or sleeps. Of the others it is said what they did when they were seen last, if that is known.
func TestOutside(t *testing.T) {
	asleep := func(t *Thread) { computes(t); t.Outside, t.Busy = "read", true }
	unclear := func(t *Thread) { computes(t); t.Unclear = true }
	tests := func(t *Thread) { t.Call, t.Idle = "MPI_Test", 0 }
	for _, c := range []struct {
		condition Condition
		set       func(*Thread)
		want      string
	}{
		{Running, computes, "computes after MPI_Send"},
		{Running, asleep, "sleeps in read after MPI_Send, other threads compute"},
		{Running, tests, "computes after MPI_Test"},
		{Stopped, computes, "stopped, outside of MPI after MPI_Send"},
		{Stopped, asleep, "stopped, slept in read after MPI_Send"},
		{Dead, computes, "dead, outside of MPI after MPI_Send"},
		{Dead, asleep, "dead, slept in read after MPI_Send"},
		{Dead, unclear, "dead, outside of MPI after MPI_Send"},
		{Dead, tests, "dead, in MPI_Test"},
		{Dead, receive(1, 7), "dead, in MPI_Recv"},
	} {
		if got := Analyze(job(0, c.set).condition(0, c.condition)).Groups[0].Doing; got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
	j := job(0, receive(1, 7), unclear).condition(0, Dead).condition(1, Dead)
	if got := Analyze(j).Findings[1].Text; got != "before that, rank 0 waits for a message from 1, tag 7; 1 is outside of MPI for 5.0 s, after MPI_Send" {
		t.Error(got)
	}
}

// A thread that has just gone to sleep is looked at twice.
func TestAsleepSince(t *testing.T) {
	const ran = 3 * second
	for _, c := range []struct {
		what  string
		looks []kernel
		calls uint64 // that it has made in between
		want  string
	}{
		{"asleep", []kernel{{true, ran}, {true, ran}}, 0, "sleeps outside of MPI after MPI_Send"},
		{"awake", []kernel{{false, ran}, {true, ran}}, 0, "computes after MPI_Send"},
		{"awake at the second look", []kernel{{true, ran}, {false, ran}}, 0, "computes after MPI_Send"},
		{"asleep twice, and it ran in between", []kernel{{true, ran}, {true, ran + Between}}, 0, "computes after MPI_Send"},
		{"asleep twice, with calls in between", []kernel{{true, ran}, {true, ran}}, 1, "computes after MPI_Send"},
	} {
		n := 0
		j := Look(func() *Job {
			j := job(0, computes)
			j.Processes[0].Threads[0].kernel = c.looks[n]
			j.Processes[0].Threads[0].Calls = uint64(n) * c.calls
			n++
			return j
		})
		if got := Analyze(j).Groups[0].Doing; n != 1+map[bool]int{true: 1}[c.looks[0].asleep] || got != c.want {
			t.Errorf("%s, after %d looks: %s", c.what, n, got)
		}
	}
	if k := kernelOf(os.Getpid(), os.Getpid()); runtime.GOOS == "linux" && k.ran <= 0 {
		t.Errorf("%+v", k)
	}
}
