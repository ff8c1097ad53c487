package waits

import "testing"

// Nonblocking functions wait as the blocking ones do; MPI_Intercomm_merge is none of them.
func TestKindOf(t *testing.T) {
	for function, want := range map[string]Kind{"MPI_Intercomm_merge": Management, "MPI_Comm_idup": Management, "MPI_Ibarrier": AtBarrier, "MPI_Iallreduce": NToN,
		"MPI_Ibcast": LateRoot, "MPI_Ineighbor_alltoall": AtNeighbors, "MPI_File_iwrite_all": CollectiveIO} {
		s, _ := shapeOf(function)
		if got := kindOf(function, s); got != want || s == 0 {
			t.Errorf("%s: %v, want %v", function, got, want)
		}
	}
}
