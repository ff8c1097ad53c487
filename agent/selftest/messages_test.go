package selftest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// messages runs messages.c and returns the messages of each process, by its rank in its MPI_COMM_WORLD and whether it was spawned.
func (f *family) messages(t *testing.T, j job, arguments ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	j.config = []string{"messages=" + dir}
	r := f.run(t, j, f.compile(t, "mpicc", "messages.c"), arguments...)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if strings.Contains(string(text), "parent") {
			name = "child " + name
		}
		texts[name] = string(text)
	}
	return texts
}

// Ranks 0, 1 and 2 are ranks 2, 1 and 0 of most communicators of the program.
const messagesOf0 = `MPI_Send to 1 of world 0:1 tag 1 4 bytes
MPI_Send to 1 of other 0:1 tag 3 12 bytes
MPI_Send to 1 of other 0:1 tag 5 12 bytes
MPI_Sendrecv to 0 of other 0:2 tag 6 16 bytes
MPI_Sendrecv from 1 of other 0:1 tag 6 16 bytes
MPI_Send to 1 of other 0:1 tag 8 20 bytes
MPI_Isend to 0 of other 0:2 tag 11 4 bytes
MPI_Irecv from 1 of other 0:1 tag 11 4 bytes in MPI_Waitall
MPI_Isend to 0 of other 0:2 tag 12 8 bytes
MPI_Irecv from 1 of other 0:1 tag 12 8 bytes in MPI_Waitsome
MPI_Send_init to 0 of other 0:2 tag 13 12 bytes in MPI_Startall
MPI_Recv_init from 1 of other 0:1 tag 13 12 bytes in MPI_Wait
MPI_Send_init to 0 of other 0:2 tag 13 12 bytes in MPI_Startall
MPI_Recv_init from 1 of other 0:1 tag 13 12 bytes in MPI_Wait
MPI_Sendrecv to 0 of other 0:2 tag 14 16 bytes
MPI_Sendrecv from 1 of other 0:1 tag 14 16 bytes
MPI_Isend to 0 of other 0:2 tag 15 20 bytes
MPI_Mrecv from 1 of other 0:1 tag 15 20 bytes
MPI_Isend to 0 of other 0:2 tag 16 24 bytes
MPI_Imrecv from 1 of other 0:1 tag 16 24 bytes in MPI_Waitall
MPI_Isend to 0 of other 0:2 tag 17 28 bytes
MPI_Irecv from 1 of other 0:1 tag 17 28 bytes in MPI_Waitall
`

// exchangesOf0 are the additional messages in MPI-4 libraries. MPICH does not set the status of MPI_Isendrecv; Open MPI does.
var exchangesOf0 = map[string]string{
	"mpich": `MPI_Isendrecv to 0 of other 0:2 tag 18 36 bytes
MPI_Isendrecv from 1 of other 0:1 tag 18 40 bytes estimated in MPI_Wait
MPI_Isendrecv to 0 of other 0:2 tag 19 36 bytes
MPI_Isendrecv from -1000000 of other unknown 40 bytes estimated in MPI_Wait
`,
	"openmpi": `MPI_Isendrecv to 0 of other 0:2 tag 18 36 bytes
MPI_Isendrecv from 1 of other 0:1 tag 18 36 bytes in MPI_Wait
MPI_Isendrecv to 0 of other 0:2 tag 19 36 bytes
MPI_Isendrecv from 1 of other 0:1 tag 19 36 bytes in MPI_Wait
`}

const partitionsOf0 = `MPI_Psend_init to 0 of other 0:2 tag 20 32 bytes in MPI_Startall
MPI_Precv_init from 1 of other 0:1 tag 20 32 bytes in MPI_Waitall
`

// standard is MPI_VERSION.
func (f *family) standard(t *testing.T) int {
	command := exec.Command("mpicc."+f.name, "-E", "-P", "-x", "c", "-")
	command.Stdin = strings.NewReader("#include <mpi.h>\nMPI_VERSION\n")
	text, err := command.Output()
	lines := strings.Fields(string(text))
	if err != nil || len(lines) == 0 {
		t.Fatalf("%v: %v: %d words", command, err, len(lines))
	}
	version, err := strconv.Atoi(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func TestMessages(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		texts := f.messages(t, job{ranks: 3})
		want := messagesOf0
		if f.standard(t) >= 4 {
			want += exchangesOf0[f.name] + partitionsOf0
		}
		if texts["0"] != want {
			t.Errorf("rank 0:\n%s\nwant:\n%s", texts["0"], want)
		}
		// The handle of a communicator is reused, in the world's order and reversed; an intercommunicator's rank 0 is the other group's.
		for _, part := range []string{
			"MPI_Recv from 0 of world 0:0 tag 1 4 bytes\nMPI_Recv from 0 of other 0:2 tag 2 8 bytes\n",
			"MPI_Recv from 0 of other 0:0 tag 3 12 bytes\nMPI_Recv from 0 of other 0:2 tag 4 12 bytes\nMPI_Recv from 0 of other 0:0 tag 5 12 bytes\n",
			"MPI_Recv from 0 of other 0:0 tag 8 20 bytes\n",
		} {
			if !strings.Contains(texts["1"], part) {
				t.Errorf("rank 1:\n%s\nlacks:\n%s", texts["1"], part)
			}
		}
		oneSided := "MPI_Put to 2 of other 0:0 12 bytes\nMPI_Get_accumulate to 1 of other 0:1 8 bytes\nMPI_Get_accumulate from 1 of other 0:1 8 bytes\n"
		if !strings.Contains(texts["2"], oneSided) {
			t.Errorf("rank 2:\n%s\nlacks:\n%s", texts["2"], oneSided)
		}
	})
}

// Debian's MPICH cannot spawn processes.
func TestMessagesOfSpawned(t *testing.T) {
	f := families[0]
	f.build(t)
	texts := f.messages(t, job{ranks: 1}, "spawn")
	for rank, want := range map[string]string{
		"0": `MPI_Send to 1 of other 1:1 tag 31 4 bytes
MPI_Recv from 0 of other 1:0 tag 32 8 bytes
MPI_Recv from 0 of other 1:0 tag 33 12 bytes
MPI_Send to 1 of other 1:1 tag 34 16 bytes
`,
		"child 0": `MPI_Send to 0 of other parent tag 32 8 bytes
MPI_Send to 2 of other parent tag 33 12 bytes
MPI_Send to 1 of other 0:1 tag 35 20 bytes
`,
		"child 1": `MPI_Recv from 0 of other parent tag 31 4 bytes
MPI_Recv from 2 of other parent tag 34 16 bytes
MPI_Recv from 0 of other 0:0 tag 35 20 bytes
`,
	} {
		if texts[rank] != want {
			t.Errorf("rank %s:\n%s\nwant:\n%s", rank, texts[rank], want)
		}
	}
}
