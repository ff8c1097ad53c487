// On ARM, all other tests cover this.

//go:build !arm64

package samplerrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/agent/agenttest"
	"mpitx/fixtures/need"
	"mpitx/recording"
)

const armTests = "../../selftest/testdata"

// Runs the agent on emulated 64-bit ARM. The program loads two plugins with an MPI library each, and the agent follows the first library of
// its family. The libraries are the tests' null MPI, as real ones for ARM are not installed.
func TestARM(t *testing.T) {
	need.Commands(t, "aarch64-linux-gnu-gcc", "qemu-aarch64")
	dir := t.TempDir()
	compile := func(command []string, arguments ...string) {
		t.Helper()
		line := slices.Concat(command, []string{"-w", "-O1"}, arguments)
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	source := func(name string) string { return filepath.Join(armTests, name) }
	loader := filepath.Join(dir, "two")
	compile([]string{"aarch64-linux-gnu-gcc"}, "-o", loader, source("two.c"), "-ldl")
	plugins, helpers := map[string]string{}, map[string]string{}
	for family, soname := range map[string]string{"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"} {
		need.Commands(t, "mpicc."+family)
		cc, err := agenttest.ARM("mpicc." + family)
		if err != nil {
			t.Fatal(err)
		}
		shared := append(cc, "-shared", "-fPIC", "-Wl,-rpath,"+dir)
		library := filepath.Join(dir, soname)
		plugins[family], helpers[family] = filepath.Join(dir, family+".so"), filepath.Join(dir, family+"-helper.so")
		compile(shared, "-o", library, "-Wl,-soname,"+soname, source("nullmpi.c"), source("nullmpi_sampled.c"))
		compile(shared, "-o", plugins[family], source("two_plugin.c"), library)
		compile(shared, "-o", helpers[family], "-DHELPER", source("two_plugin.c"), library)
	}
	for _, m := range mpis {
		agent, err := agenttest.BuildARM(m.mpicc)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range [][2]string{{"openmpi", "mpich"}, {"mpich", "openmpi"}} {
			t.Run(m.family+"/"+order[0]+" first", func(t *testing.T) {
				a, b := order[0], order[1]
				counts, run := filepath.Join(t.TempDir(), "counts"), t.TempDir()
				os.Chmod(run, 0o700)
				config := []string{"counts=" + counts, "dir=" + run, "pvar=mpitx:calls/*", "interval_ns=1000000", ""}
				out, err := exec.CommandContext(t.Context(), "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", "LD_PRELOAD="+agent,
					"-E", "MPITX_AGENT="+strings.Join(config, "\n"), loader, plugins[a], plugins[b], helpers[a], helpers[b]).CombinedOutput()
				if err != nil || string(out) != "done\n" {
					t.Fatalf("%v: %s", err, out)
				}
				text, err := os.ReadFile(counts)
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range []string{"MPI_Init 1 ", "MPI_Comm_rank 13 ", "MPI_Sendrecv 1 ", "MPI_File_write_at_all 1 ", "MPI_Finalize 1 ", "another MPI library"} {
					if !strings.Contains(string(text), want) {
						t.Errorf("no %q in:\n%s", want, text)
					}
				}
				r, err := recording.Open(run)
				if err != nil {
					t.Fatal(err)
				}
				got := result{run: r, dir: run}
				got.total(t, "mpitx:calls/MPI_Comm_rank", 13)
				if len(r.Ranks) != 1 || r.Ranks[0].End != recording.EndFinalize || !r.Ranks[0].TSC {
					t.Errorf("%+v", r.Ranks)
				}
			})
		}
	}
}
