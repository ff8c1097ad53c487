package grid

import (
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/settings/decision"
)

// The library serves the calls of a table, as it reads the file, with the chosen algorithms, and others itself.
func TestRules(t *testing.T) {
	ring, tree := Algorithm{Name: "ring", Value: 4}, Algorithm{Name: "tree", Value: 2, Segment: 64}
	choices := []Choice{
		{Function: "allreduce", Variable: "x", Ranks: 4, From: 64, To: 999, Algorithm: tree}, {Function: "allreduce", Variable: "x", Ranks: 4, From: 1000, To: 4096, Algorithm: ring},
		{Function: "allgather", Variable: "y", Ranks: 2, From: 100, To: 200, Algorithm: ring},
	}
	names := map[string][]string{
		"allreduce": {"MPIR_Allreduce_intra_tree", "MPIR_Allreduce_intra_ring", "MPIR_Allreduce_intra_own"},
		"allgather": {"MPIR_Allgather_intra_tree", "MPIR_Allgather_intra_ring", "MPIR_Allgather_intra_own"},
	}
	for _, l := range []*decision.Library{
		{Family: "openmpi", Version: "4.1.4"},
		{Family: "openmpi", Version: "5.0.7"},
		{Family: "openmpi", Version: "6.0.0rc2"},
		{Family: "mpich", Version: "4.0.2", Algorithms: names, Default: []byte(`{"collective=allreduce": {"comm_type=intra": {"algorithm=MPIR_Allreduce_intra_own": {}}},
			"collective=allgather": {"comm_type=intra": {"algorithm=MPIR_Allgather_intra_own": {}}}}`)},
	} {
		r := &Result{Plan: Plan{Library: l.Text()}, Choices: choices}
		file, err := r.Write(l, "/site")
		if err != nil || file.Name == "" || len(file.Left) > 0 || !strings.HasPrefix(file.Set[len(file.Set)-1].Value, "/site/") {
			t.Fatalf("%v: %+v", err, file)
		}
		table, err := decision.Read(file.Content, l)
		if err != nil || table.Rejected() || len(table.Problems) > 0 {
			t.Fatalf("%v, %v\n%s", err, table.Problems, file.Content)
		}
		for _, c := range []struct {
			function string
			ranks    int
			bytes    int64
			want     *Algorithm
		}{
			{"allreduce", 4, 60, nil}, {"allreduce", 4, 64, &tree}, {"allreduce", 4, 996, &tree}, {"allreduce", 4, 1000, &ring}, {"allreduce", 4, 4096, &ring}, {"allreduce", 4, 4100, nil},
			{"allreduce", 3, 100, nil}, {"allreduce", 5, 100, nil}, {"allreduce", 2, 100, nil},
			{"allgather", 2, 96, nil}, {"allgather", 2, 100, &ring}, {"allgather", 2, 200, &ring}, {"allgather", 2, 204, nil}, {"allgather", 4, 100, nil},
		} {
			a := table.Serve(decision.Call{Function: decision.Function(c.function), Ranks: c.ranks, Bytes: c.bytes, Element: 4})
			own := a.Rule == nil || a.Rule.Number == 0 && (a.Rule.Algorithm == "" || strings.HasSuffix(a.Rule.Algorithm, "_own") || l.Family == "openmpi")
			right := own
			if c.want != nil {
				right = a.Rule != nil && (a.Rule.Number == int(c.want.Value) && a.Rule.Segment == c.want.Segment || strings.HasSuffix(a.Rule.Algorithm, "_intra_"+c.want.Name))
			}
			if !right {
				t.Errorf("%s: %s of %d bytes on %d ranks: %s, want %+v\n%s", l.Text(), c.function, c.bytes, c.ranks, a.Text, c.want, file.Content)
			}
		}
	}
}

// Without the tree that is built into MPICH, a variable can have an algorithm only if it won everywhere.
func TestWithoutTree(t *testing.T) {
	ring := Algorithm{Name: "ring", Value: 4}
	r := &Result{Choices: []Choice{{Function: "bcast", Variable: "B", Ranks: 4, From: 8, To: 64, Algorithm: ring}, {Function: "reduce", Variable: "R", Ranks: 4, From: 8, To: 8, Algorithm: ring}}}
	for _, function := range []string{"bcast", "reduce"} {
		for _, bytes := range []int64{8, 64} {
			r.Findings = append(r.Findings, Finding{Cell: Cell{function, 4, bytes}, Coarse: true, Winner: function == "bcast" || bytes == 8, Algorithm: ring})
		}
	}
	file, err := r.Write(&decision.Library{Family: "mpich", Version: "4.0.2"}, "/site")
	if err != nil || file.Name != "" || len(file.Set) != 1 || file.Set[0].Name != "B" || file.Set[0].Value != "ring" || len(file.Left) != 1 || file.Left[0].Function != "reduce" {
		t.Errorf("%v: %+v", err, file)
	}
}

// The algorithms are those of the library's variables: from enumerations, or from MPICH's descriptions.
func TestAlgorithmsOfLibraries(t *testing.T) {
	for _, file := range []string{"openmpi-4.1.4", "openmpi-5.0.7", "openmpi-6.0.0rc2", "mpich-4.0.2", "mpich-4.2.1", "mpich-5.0.2"} {
		c, err := catalog.Load("../../fixtures/snapshots/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		impl, _, _ := strings.Cut(file, "-")
		l := decision.LibraryOf(c)
		all, err := Collectives(c, impl, l, nil)
		if err != nil || len(all) < 10 {
			t.Fatalf("%s: %d, %v", file, len(all), err)
		}
		for _, one := range all {
			cut := slices.ContainsFunc(one.Algorithms, func(a Algorithm) bool { return a.Segment > 0 })
			if cut != (impl == "openmpi" && segmented[one.Function] != nil) || len(one.Algorithms) == 0 || one.Algorithms[0].Value == 0 || one.Sizeless != (one.Function == "barrier" || one.Function == "scan" || one.Function == "alltoallv" && impl == "openmpi") {
				t.Errorf("%s: %+v", file, one)
			}
		}
		if some, err := Collectives(c, impl, l, []string{"scan"}); err != nil || len(some) != 1 {
			t.Errorf("%s: %+v, %v", file, some, err)
		}
		for _, wrong := range []string{"scam", "pingpong"} {
			if _, err := Collectives(c, impl, l, []string{wrong}); err == nil {
				t.Error(wrong)
			}
		}
	}
}
