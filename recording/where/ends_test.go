package where

import (
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
