package variables

import (
	"path/filepath"
	"slices"
	"testing"

	"mpitx/catalog"
	"mpitx/settings/tuning"
	"mpitx/ui/explorer"
)

// A search finds what variables are for, and words near in meaning, in each MPI; the best match comes first.
func TestSearchMeaning(t *testing.T) {
	for _, c := range []struct {
		file, query string
		first       string   // "": nothing is found
		others      []string // are found, too
		not         []string
	}{
		{"openmpi-4.1.4.json", "eager shared memory", "btl_vader_eager_limit", []string{"btl_vader_rndv_eager_limit"}, []string{"btl_tcp_eager_limit"}},
		{"openmpi-4.1.4.json", "largest message on a node", "btl_vader_eager_limit", nil, []string{"btl_tcp_eager_limit", "opal_set_max_sys_limits"}},
		{"openmpi-4.1.4.json", "Largest messages over TCP", "btl_tcp_eager_limit", nil, nil},
		{"openmpi-6.0.0rc2.json", "eager shared memory", "btl_sm_eager_limit", nil, nil},
		{"openmpi-6.0.0rc2.json", "largest message on a node", "btl_sm_eager_limit", nil, nil},
		{"mpich-4.0.2.json", "eager shared memory", "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", []string{"MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ"}, []string{"MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE"}},
		{"mpich-4.0.2.json", "largest message on a node", "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", []string{"MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ"}, nil},
		{"mpich-4.0.2.json", "how to pin the progress thread", "MPIR_CVAR_PROGRESS_THREAD_AFFINITY", nil, nil},
		{"openmpi-4.1.4.json", "checking and debugging leaks", "mpi_show_handle_leaks", nil, nil},
		{"openmpi-4.1.4.json", "waiting processes yield", "mpi_yield_when_idle", nil, nil},
		// What one word means is clear; letters are only a guess.
		{"openmpi-4.1.4.json", "rndv", "btl_ofi_rndv_eager_limit", []string{"btl_vader_rndv_eager_limit"}, []string{"mtl_ofi_ctl_prog"}},
		{"openmpi-4.1.4.json", "pml", "pml", nil, nil},
		{"openmpi-4.1.4.json", "zzzzqqqq shared memory", "", nil, nil},
		{"openmpi-4.1.4.json", "on a", "", nil, nil},
	} {
		catalogue, err := catalog.Load(filepath.Join("../../../fixtures/snapshots", c.file))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range explorer.Search(catalogue, purposes(tuning.Own(), catalogue), c.query) {
			names = append(names, e.ID())
		}
		if c.query == "on a" { // these words alone are looked for as they are
			if len(names) == 0 {
				t.Error("fillers alone find nothing")
			}
			continue
		}
		if c.first == "" && names != nil || c.first != "" && (names == nil || names[0] != c.first) {
			t.Errorf("%s, %q: %q, want first %s", c.file, c.query, names[:min(len(names), 5)], c.first)
		}
		for _, name := range c.others {
			if !slices.Contains(names, name) {
				t.Errorf("%s, %q: no %s in %q", c.file, c.query, name, names)
			}
		}
		for _, name := range c.not {
			if slices.Contains(names, name) {
				t.Errorf("%s, %q: %s is in %q", c.file, c.query, name, names)
			}
		}
	}
}
