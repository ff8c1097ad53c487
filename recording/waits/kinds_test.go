package waits

import (
	"os"
	"slices"
	"strings"
	"testing"
)

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

// docs/waits.md describes each kind, under the name that the output has.
func TestDocumentedKinds(t *testing.T) {
	page, err := os.ReadFile("../../docs/waits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| kind | the call |")
	table, _, _ = strings.Cut(table, "\n\n")
	described := map[string]bool{}
	for _, row := range strings.Split(table, "\n")[2:] {
		kind := strings.TrimSpace(strings.Split(row, "|")[1])
		described[kind] = true
		if !slices.Contains(kindNames[LateSender:], kind) {
			t.Errorf("the output has no kind %s", kind)
		}
	}
	for _, kind := range kindNames[LateSender:] {
		if !described[kind] {
			t.Errorf("%s is not described", kind)
		}
	}
}
