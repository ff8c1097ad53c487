//go:build cgo && linux

package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/fixtures/need"
	"mpitx/machine"
	"mpitx/settings"
)

// MPICH takes a word for a truth value where mpitx says so, for each of its control variables that are numbers or truth values.
func TestMPICHTypes(t *testing.T) {
	t.Parallel()
	needs(t, "mpich")
	need.Commands(t, "mpicc.mpich")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "init.c"), filepath.Join(dir, "init")
	if err := os.WriteFile(source, []byte("#include <mpi.h>\nint main(void) { int p; return MPI_T_init_thread(MPI_THREAD_SINGLE, &p) != MPI_SUCCESS; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mpicc.mpich", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := newProcess(testEnvironment(t), dir, "mpitx", "list", "cvars", "--mpi", "mpich", "-o", "csv", "--fields", "name,value")
	p.run(hung)
	rows, err := csv.NewReader(strings.NewReader(p.stdout.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, row := range rows[1:] {
		v := &catalog.Variable{Kind: catalog.Cvars, Name: row[1], Type: catalog.TypeInt}
		accepts := func(word string) bool { return settings.Accepts(machine.MPICH, v, nil, 1, word) == nil }
		if accepts("no") && accepts("2") { // not known
			continue
		}
		judged++
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), row[1]+"=no")
		if takes := cmd.Run() == nil; takes != accepts("no") {
			t.Errorf("%s=no: the library takes it: %v", row[1], takes)
		}
	}
	if judged < 200 {
		t.Errorf("only %d judged\n%s", judged, p.output())
	}
}
