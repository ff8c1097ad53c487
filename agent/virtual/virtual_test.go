package virtual

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
)

// table.go is what the preprocessor makes of the agent's table.
func TestTable(t *testing.T) {
	made, err := exec.Command("cc", "-E", "-P", "-x", "c", "-I../tools/tally", "-I../node", "table.h").Output()
	if err != nil {
		t.Fatal(err)
	}
	if made, err = format.Source(made); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("table.go")
	if _, table, _ := bytes.Cut(table, []byte("\n")); err != nil || !bytes.Equal(table, made) {
		t.Errorf("table.go is stale (%v); run make generate", err)
	}
	all := Totals()
	if len(all) < 15 {
		t.Errorf("%d definitions", len(all))
	}
	for _, v := range all {
		if v.Kind != catalog.Virtual || v.Class == 0 || v.Description == "" || !strings.HasPrefix(v.Name, Prefix) {
			t.Errorf("%+v", v)
		}
	}
}

func TestShares(t *testing.T) {
	has := func(name string) bool {
		for _, v := range Matching(true, name) {
			if v.Name == name {
				return true
			}
		}
		return false
	}
	for name, want := range map[string]bool{
		"mpitx:calls": true, "mpitx:calls/MPI_Barrier": true, "mpitx:calls/MPI_Send_c": false, "mpitx:calls/MPI_Nothing": false,
		"mpitx:time/MPI_Send": true, "mpitx:time_in_mpi/MPI_Send": false, "mpitx:bytes_sent/MPI_Send": true, "mpitx:bytes_sent/MPI_Barrier": false,
		"mpitx:bytes_sent/MPI_Recv": false, "mpitx:bytes_received/MPI_Wait": true, "mpitx:collectives/MPI_Bcast": false,
		"mpitx:collective_bytes_sent/MPI_Ibcast": true, "mpitx:collective_bytes_sent/MPI_Wait": false, "mpitx:rma_bytes_put/MPI_Put": true,
		"mpitx:rma_bytes_put/MPI_Get": false, "mpitx:io_bytes_read/MPI_File_read": true, "mpitx:io_bytes_read/MPI_File_iread": false,
		"mpitx:calls/MPI_Wtime": false, "mpitx:time/MPI_Comm_c2f": false,
	} {
		if has(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if slices.Contains(Functions(), "MPI_Wtime") || !slices.Contains(Functions(), "MPI_Send") {
		t.Errorf("functions: %v", Functions())
	}
	if got, want := Matching(true, "mpitx:*"), len(Totals())+len(Node()); len(got) != want {
		t.Errorf("mpitx:* matches %d, not the %d totals and variables of the node", len(got), want)
	}
	for _, v := range Matching(true, "mpitx:*/MPI_Send") {
		if strings.Contains(v.Name, "/MPI_") && !strings.HasSuffix(v.Name, "/MPI_Send") {
			t.Error(v.Name)
		}
	}
}
