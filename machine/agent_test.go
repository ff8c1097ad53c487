package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"mpitx/fixtures/need"
)

// An agent lacks the functions that were added after its mpi.h. Symbols outside of the C interface and undefined symbols do not count.
func TestAgentGaps(t *testing.T) {
	dir := t.TempDir()
	object := func(name, source string) string {
		path := filepath.Join(dir, name+".so")
		if err := os.WriteFile(path+".c", []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, path+".c").CombinedOutput(); err != nil {
			need.Missing(t, "cc: %v: %s", err, out)
		}
		return path
	}
	agent := object("agent", "void MPI_Init(void) {} void MPI_Send(void) {} void other(void);")
	library := object("library", `void MPI_Later(void); void use(void) { MPI_Later(); }
		void MPI_Init(void) {} void MPI_Send(void) {} void MPI_Send_c(void) {} void MPI_T_event_read(void) {} void PMPI_Recv(void) {}
		double MPI_Wtime(void) { return 0; } void MPI_SEND(void) {} int MPI_Datum = 1;`)
	gaps, err := AgentGaps(agent, library)
	if want := []string{"MPI_Send_c", "MPI_T_event_read", "MPI_Wtime"}; err != nil || !slices.Equal(gaps, want) {
		t.Errorf("%v, %v; want %v", gaps, err, want)
	}
	if gaps, err := AgentGaps(library, agent); err != nil || len(gaps) > 0 {
		t.Errorf("%v, %v", gaps, err)
	}
	if _, err := AgentGaps(agent, agent+".c"); err == nil {
		t.Error("a text was taken for a library")
	}
}
