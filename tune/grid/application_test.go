package grid

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mpitx/settings"
	"mpitx/settings/decision"
	"mpitx/tune/kernel"
)

// For an application, a function with the same fast algorithm at all places gets a variable, and others get lines of a file, for the sizes of their
// calls.
func TestChoose(t *testing.T) {
	names := map[string][]string{"bcast": {"MPIR_Bcast_intra_ring", "MPIR_Bcast_intra_tree", "MPIR_Bcast_intra_binomial"}, "allreduce": {"MPIR_Allreduce_intra_ring"}}
	tree := []byte(`{"collective=bcast": {"comm_type=intra": {"algorithm=MPIR_Bcast_intra_binomial": {}}}}`)
	for _, c := range []struct {
		library *decision.Library
		file    string
		set     string
	}{
		{&decision.Library{Family: "openmpi", Version: "4.1.4"}, "rules.conf", "coll_tuned_use_dynamic_rules=true coll_tuned_dynamic_rules_filename=/campaign/rules.conf allreduce_algorithm=ring allreduce_algorithm_segmentsize=1024"},
		{&decision.Library{Family: "openmpi", Version: "6.0.0"}, "rules.json", "coll_tuned_use_dynamic_rules=true coll_tuned_dynamic_rules_filename=/campaign/rules.json allreduce_algorithm=ring allreduce_algorithm_segmentsize=1024"},
		{&decision.Library{Family: "mpich", Version: "4.2.1", Algorithms: names, Default: tree}, "selection.json", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=/campaign/selection.json allreduce_algorithm=ring allreduce_algorithm_segmentsize=1024"},
	} {
		plan := planOf(1)
		plan.Collectives[0].Algorithms = append(plan.Collectives[0].Algorithms, Algorithm{"ring", 2, 1024})
		segmented["allreduce"]["ring"] = 1
		m := &library{Rand: rand.New(rand.NewPCG(1, 1)), quiet: true, factor: func(o kernel.Operation) float64 {
			switch {
			case o.Function == "allreduce" && o.Value == 2 && o.Segment == 1024:
				return 0.3
			case o.Function == "allreduce" && o.Value == 2, o.Function == "bcast" && o.Value == 2 && o.Bytes < 100, o.Function == "bcast" && o.Value == 3 && o.Bytes > 100000:
				return 0.5
			}
			return 2
		}}
		use := func(function string, ranks int, bytes, from, to int64) kernel.Use {
			return kernel.Use{Operation: kernel.Operation{Function: function, Ranks: ranks, Bytes: bytes}, From: from, To: to}
		}
		g := &Campaign{Plan: plan, Measure: m.measure, Journal: &Journal{}}
		r, err := g.Choose([]kernel.Use{use("bcast", 4, 200000, 131072, math.MaxInt64), use("allreduce", 8, 40000, 32768, 65535), use("bcast", 4, 10, 8, 15), use("bcast", 8, 3000, 2048, 4095),
			use("bcast", 4, 20, 16, 31), use("allreduce", 4, 3000, 2048, 4095), use("scan", 4, 8, 8, 15)})
		delete(segmented["allreduce"], "ring")
		if err != nil {
			t.Fatal(err)
		}
		file, choices, err := r.Answer(c.library, "/campaign")
		if err != nil || file.Name != c.file || texts(file.Set) != c.set || len(choices) != 3 {
			t.Fatalf("%v: %s, %s, %+v", err, file.Name, texts(file.Set), choices)
		}
		if text := Text(choices); text != "bcast on 4 ranks, 8 to 31 bytes: ring; bcast on 4 ranks, 128k and more bytes: tree" {
			t.Error(text)
		}
		table, err := decision.Read(file.Content, c.library)
		if err != nil || table.Rejected() || len(table.Problems) > 0 {
			t.Fatalf("%v, %v\n%s", err, table.Problems, file.Content)
		}
		for _, at := range []struct {
			ranks  int
			bytes  int64
			number int
			name   string
		}{{4, 7, 0, "binomial"}, {4, 8, 2, "ring"}, {4, 31, 2, "ring"}, {4, 32, 0, "binomial"}, {4, 131071, 0, "binomial"}, {4, 1 << 30, 3, "tree"}, {8, 3000, 0, "binomial"}, {5, 10, 0, "binomial"}} {
			a := table.Serve(decision.Call{Function: "MPI_Bcast", Ranks: at.ranks, Bytes: at.bytes})
			number, name := 0, "binomial"
			if a.Rule != nil {
				number, name = a.Rule.Number, a.Rule.Algorithm
			}
			if mpich := c.library.Family == "mpich"; mpich && !strings.HasSuffix(name, "_"+at.name) || !mpich && number != at.number {
				t.Errorf("%s: %d bytes on %d ranks: %s\n%s", c.library.Text(), at.bytes, at.ranks, a.Text, file.Content)
			}
		}
		r.Findings, r.Choices = r.Findings[1:2], r.Choices[:1] // only allreduce
		if file, choices, err := r.Answer(c.library, "/campaign"); err != nil || file.Name != "" || len(choices) != 0 || !strings.HasSuffix(texts(file.Set), "allreduce_algorithm=ring allreduce_algorithm_segmentsize=1024") {
			t.Errorf("%v: %+v", err, file)
		}
	}
}

func texts(set []settings.NameValue) string {
	var words []string
	for _, s := range set {
		words = append(words, s.Name+"="+s.Value)
	}
	return strings.Join(words, " ")
}
