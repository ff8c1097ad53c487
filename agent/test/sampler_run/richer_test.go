package samplerrun

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/fixtures/need"
	"mpitx/recording"
)

// richer builds a library with the variables of sampler_faulty.c, as no real one has all kinds, and returns its folder.
func (m *mpi) richer(t testing.TB) string { return m.inFront(t, "../sampler_faulty.c") }

// inFront builds a library from a source that goes in front of the real one, and returns its folder.
func (m *mpi) inFront(t testing.TB, source string) string {
	m.fronts.Lock()
	defer m.fronts.Unlock()
	dir := filepath.Join(work, m.family+"-"+filepath.Base(source))
	if os.Mkdir(dir, 0o700) != nil {
		return dir
	}
	name, other := "libmpi.so.40", "libmpi.so.XX"
	if m.family == "mpich" {
		name, other = "libmpich.so.12", "libmpich.so.XX"
	}
	out, err := exec.Command("ldd", m.compile(t, "exits.c")).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), name+" => ")
	real, _, _ := strings.Cut(rest, " ")
	text, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	renamed, object := filepath.Join(dir, other), filepath.Join(dir, "front.o")
	if err := need.Executable(renamed, bytes.ReplaceAll(text, []byte(name+"\x00"), []byte(other+"\x00"))); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{
		{m.mpicc, "-c", "-fPIC", "-O1", "-w", "-o", object, source},
		{"cc", "-shared", "-o", filepath.Join(dir, name), "-Wl,-soname," + name, "-Wl,--no-as-needed", object, renamed, "-ldl"},
	} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	return dir
}

// Variables that crash the library when opened or read, and one that hangs, are tried in children, skipped and named. The others are
// sampled.
func TestFaultyVariables(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		dir := m.richer(t)
		r := m.compareWithAgent(t, job{config: []string{"interval_ns=1000", "pvar=faulty*"}, program: []string{m.compile(t, "exits.c"), "three"}, env: []string{"LD_LIBRARY_PATH=" + dir}})
		k := r.rank(t, 0)
		if n := notes(k, recording.NoteFaulty); !slices.Equal(n, []string{"faulty_crashes_in_alloc", "faulty_crashes_in_read", "faulty_hangs"}) {
			t.Errorf("faulty: %q", n)
		}
		told := strings.Join(notes(k, recording.NoteText), "\n")
		for _, want := range []string{"crashes in MPI_T_pvar_handle_alloc", "crashes in MPI_T_pvar_read", "hangs in MPI_T_pvar_read"} {
			if !strings.Contains(told, want) {
				t.Errorf("no word of %q in %q", want, told)
			}
		}
		if v := r.values(0, "faulty_counts", "", 0); len(v) < 2 || v[1] <= v[0] {
			t.Errorf("faulty_counts: %v", v)
		}
	})
}

// A communicator is sampled a last time when it is freed. For an intercommunicator the elements count the processes of the remote group. If
// that is smaller than the local group, nothing is read.
func TestObjects(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.run(t, job{n: 4, config: []string{"interval_ns=100000000", "pvar=bound_counts@all", "pvar=mpitx:calls"},
			program: []string{m.compile(t, "sampler_objects.c")}, env: []string{"LD_LIBRARY_PATH=" + m.richer(t)}})
		if r.code != 0 || r.stderr != "" {
			t.Fatalf("exit %d: %s", r.code, r.stderr)
		}
		for rank := range 4 {
			k := r.rank(t, rank)
			instants, last := map[time.Duration]bool{}, time.Duration(-1)
			for in := range r.run.Instants(recording.Options{As: recording.Raw}) {
				for _, c := range in.Cells {
					if in.Rank == k && c.Column.Variable == "mpitx:calls" {
						instants[in.Time] = true
					} else if in.Rank == k && c.Column.ObjectName == "last" {
						last = in.Time
					}
				}
			}
			if last < 0 || instants[last] {
				t.Errorf("rank %d: \"last\" was last sampled at %v, and not when it was freed", rank, last)
			}
			peers := map[string][]int{}
			for _, c := range k.Columns {
				for i := range c.Count {
					if peer, ok := c.Peer(i); ok && c.Variable == "bound_counts" {
						peers[c.ObjectName] = append(peers[c.ObjectName], peer)
					}
				}
			}
			if want := [][]int{{1, 3}, {0, 2}}[rank%2]; !slices.Equal(peers["equal"], want) {
				t.Errorf("rank %d: \"equal\" is about %v, not %v", rank, peers["equal"], want)
			}
			samples := len(r.values(rank, "bound_counts", "inter", 0))
			skipped := slices.ContainsFunc(notes(k, recording.NoteText), func(s string) bool { return strings.Contains(s, "intercommunicators") })
			if (samples > 0) != (rank == 0) || skipped != (rank != 0) {
				t.Errorf("rank %d: %d samples of \"inter\"; %v", rank, samples, k.Notes)
			}
		}
		r.whole(t, 2)
	})
}
