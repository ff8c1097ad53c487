package samplerrun

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/recording"
)

// nodeTree is a recorded /proc and /sys, with another /proc/net/dev for later.
func nodeTree(t *testing.T, now, later string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../selftest/testdata/infiniband")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "proc/net"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"proc/net/dev": now, "later": later} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The rank that reads what a node's processes share is its lowest one; an interface that comes late is in the last sample, and one that has
// gone has no value there.
func TestNode(t *testing.T) {
	const line = "%s: %d 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n"
	each(t, func(t *testing.T, m *mpi) {
		for _, lowest := range []int{0, 1} { // as the launcher says, and as the file of the ranks that mpitx has started says
			root := nodeTree(t, fmt.Sprintf(line+line, "old", 10, "both", 20), fmt.Sprintf(line+line, "both", 21, "new", 30))
			dir := filepath.Join(t.TempDir(), "run")
			if lowest > 0 {
				host, _ := os.Hostname()
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "started-"+host), []byte("2 7 1\n-1 8 2\n1 9 3\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := m.run(t, job{n: 3, dir: dir, program: []string{m.compile(t, "node_dev.c"), root},
				config: []string{"interval_ns=1000000", "pvar=mpitx:net/*", "pvar=mpitx:os/resident_memory", "node_root=" + root}})
			if r.code != 0 {
				t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			for rank := range 3 {
				k := r.rank(t, rank)
				var shared []string
				for _, c := range k.Columns {
					if strings.HasPrefix(c.Variable, "mpitx:net/") && !strings.HasPrefix(c.Variable, "mpitx:net/tcp/") {
						shared = append(shared, c.Variable)
					}
				}
				reads := rank == lowest || lowest > 0 && rank == 0 // rank 0 is below all that the file has
				if (len(shared) > 0) != reads {
					t.Errorf("lowest %d: rank %d: %v", lowest, rank, shared)
				}
				if reads && (!slices.Contains(shared, "mpitx:net/ib/mlx5_0/1/link_downed") || slices.Contains(shared, "mpitx:net/ib/mlx5_0/2/waits")) {
					t.Errorf("rank %d: %v", rank, shared)
				}
				if len(r.values(rank, "mpitx:os/resident_memory", "", 0)) < 2 {
					t.Errorf("rank %d: no memory", rank)
				}
				if texts := notes(k, recording.NoteUnmatched); len(texts) > 0 {
					t.Errorf("rank %d: unmatched: %v", rank, texts)
				}
			}
			last := func(name string) float64 {
				v := r.values(lowest, name, "", 0)
				if len(v) == 0 {
					return -1
				}
				return v[len(v)-1]
			}
			if got := fmt.Sprint(last("mpitx:net/old/bytes_received"), last("mpitx:net/both/bytes_received"), last("mpitx:net/new/bytes_received"),
				last("mpitx:net/ib/mlx5_0/1/symbol_errors")); got != "10 21 30 17" {
				t.Errorf("lowest %d: last values %s", lowest, got)
			}
			for _, c := range r.rank(t, lowest).Columns {
				if want := strings.HasPrefix(c.Variable, "mpitx:net/old/"); want != (c.Status == recording.Gone) {
					t.Errorf("%s: %v %s", c.Variable, c.Status, c.Reason)
				}
			}
		}
	})
}

// Without /proc/net/dev and /sys, as in some containers, nothing of the node is sampled, and the pattern has matched nothing. One process says so.
func TestNodeWithout(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.run(t, job{n: 2, program: []string{m.compile(t, "pcontrol.c")}, config: []string{"interval_ns=1000000", "pvar=mpitx:net/eth*", "pvar=mpitx:net/tcp/*", "node_root=" + t.TempDir()}})
		if a, b := notes(r.rank(t, 0), recording.NoteUnmatched), notes(r.rank(t, 1), recording.NoteUnmatched); r.code != 0 || !slices.Equal(a, []string{"mpitx:net/eth*"}) || len(b) > 0 {
			t.Errorf("exit %d: %v, %v\n%s", r.code, a, b, r.stderr)
		}
		if len(r.values(1, "mpitx:net/tcp/connections", "", 0)) < 2 {
			t.Error("no sockets")
		}
	})
}
