package decision

import (
	"strings"
	"testing"
)

// A tree of compositions selects for the communicators of programs. Without a match, the algorithms of MPICH decide.
func TestCompositions(t *testing.T) {
	l := library("mpich", "4.2.1")
	l.Learn([]byte("\x00composition=MPIDI_Bcast_intra_composition_alpha\x00composition=MPIDI_Bcast_intra_composition_gamma\x00composition=MPIDI_Barrier_intra_composition_alpha\x00"))
	file := `{"collective=bcast": {"comm_type=intra": {
 "comm_hierarchy=node": {"composition=MPIDI_Barrier_intra_composition_alpha": {}},
 "avg_msg_size<=100": {"composition=MPIDI_Bcast_intra_composition_gamma": {}},
 "comm_size<=4": {"composition=MPIDI_Bcast_intra_composition_alpha": {}},
 "comm_hierarchy=parent": {"composition=MPIDI_Barrier_intra_composition_alpha": {}}}}}`
	table := read(t, l, file)
	if table.Form != Composed || len(table.Problems) > 0 || table.library.Variable() != "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE" {
		t.Fatalf("%s: %s", table.Form, problems(table))
	}
	for _, c := range []struct {
		function           string
		ranks, nodes, size int
		want               string
	}{
		{"MPI_Bcast", 8, 1, 100, "line 3: MPIDI_Bcast_intra_composition_gamma"}, {"MPI_Bcast", 4, 1, 101, "line 4: MPIDI_Bcast_intra_composition_alpha"},
		{"MPI_Bcast", 8, 1, 101, "line 5: MPIDI_Barrier_intra_composition_alpha: it is not a composition of MPI_Bcast, so MPICH aborts in the call"},
		{"MPI_Bcast", 8, 8, 101, "MPICH's own algorithms"}, {"MPI_Reduce", 8, 1, 8, "MPICH's own algorithms"},
	} {
		if a := table.Serve(Call{Function: c.function, Ranks: c.ranks, Nodes: c.nodes, Bytes: int64(c.size)}); !strings.HasPrefix(a.Text, c.want) {
			t.Errorf("%+v: %s", c, a.Text)
		}
	}
	for wrong, want := range map[string]string{
		strings.Replace(file, "alpha", "omega", 1): `line 2: MPICH 4.2.1 has no composition "MPIDI_Barrier_intra_composition_omega" of MPI_Bcast`,
		`{"collective=bcast":{"composition=MPIDI_Bcast_intra_composition_alpha":{}},
		"collective=reduce":{}}`: `line 2: expected conditions or a composition, such as "composition=MPIDI_…"`,
	} {
		if table := read(t, l, wrong); !table.Rejected() || problems(table) != want {
			t.Errorf("%s", problems(table))
		}
	}
	if _, err := Read([]byte(`{"collective=bcast":{"algorithm=MPIDI_POSIX_mpi_bcast_release_gather":{}}}`), l); err == nil || !strings.Contains(err.Error(), "mpitx does not read it, because") {
		t.Error(err)
	}
}
