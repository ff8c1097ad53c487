package settings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/text"
)

// Influences of ranks are one row for each setting, with the ranks that do not share it with all. Ranks that did not answer do not count.
func TestEverywhere(t *testing.T) {
	environ := append(strings.Fields("UCX_TLS=tcp OMP_NUM_THREADS=2 OMPI_MCA_btl_tcp_links=3"), underMpirun...)
	q := Query{Env: testMachine(t, environ, strings.Fields("OMP_NUM_THREADS=2"), strings.Fields("mpirun -n 2 -x UCX_TLS=tcp --mca btl_tcp_links 3 a : -n 3 b")...), Impl: machine.OpenMPI, Names: openmpiNames}
	second := strings.Fields("OMP_NUM_THREADS=2 OMPI_MCA_btl_tcp_links=3")
	job := &catalog.Job{Ranks: []catalog.Rank{{Binding: "CPU 0"}, {Rank: 1, Binding: "CPU 1"}, {Rank: 2, Settings: second, Binding: "CPU 0"}, {Rank: 3, Error: "lost"},
		{Rank: 4, Settings: append([]string{"UCX_TLS=self"}, second...)}}}
	everywhere := func() (all []string) {
		for _, i := range Everywhere(q, job) {
			all = append(all, fmt.Sprintf("%s=%s %s [%s]", i.Name, i.Value, i.Kind, text.RankList(i.Ranks)))
		}
		return all
	}
	want := []string{"OMPI_MCA_btl_tcp_links=3 launcher []", "OMP_NUM_THREADS=2 environment []", "UCX_TLS=tcp launcher [0-1]", "UCX_TLS=self environment [4]",
		"binding=CPU 0  [0,2]", "binding=CPU 1  [1]"}
	if got := everywhere(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	job.Ranks = []catalog.Rank{{}, {Rank: 1}}
	want = []string{"OMPI_MCA_btl_tcp_links=3 launcher []", "OMP_NUM_THREADS=2 environment []", "UCX_TLS=tcp launcher []"}
	if got := everywhere(); !slices.Equal(got, want) {
		t.Errorf("equal ranks: %q", got)
	}
	// What a process was started with: no variables of the launcher's own.
	if got := q.Settings(environ); !slices.Equal(got, []string{"OMPI_MCA_btl_tcp_links=3", "OMP_NUM_THREADS=2", "UCX_TLS=tcp"}) {
		t.Errorf("settings %q", got)
	}
}
