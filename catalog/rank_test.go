package catalog

import (
	"strings"
	"testing"
)

// A rank sees its own readings and metadata, and those before MPI_Init of its node.
func TestOnRank(t *testing.T) {
	value := func(n byte) Reading {
		return Reading{Status: StatusOK, Value: NewValue(TypeInt, []byte{n, 0, 0, 0}), Count: 1}
	}
	root := value(1)
	c := &Catalog{Job: Job{Size: 4, Ranks: []Rank{{Rank: 0, Host: "a"}, {Rank: 1, Host: "a"}, {Rank: 2, Host: "b"}, {Rank: 3, Host: "b", Error: "it died"}}}}
	c.Cvars = []Variable{
		{Kind: Cvars, Name: "x", Type: TypeInt, Scope: ScopeAll, Before: &root, After: &root, Ranks: []RankReading{{2, value(3)}}, Nodes: []RankReading{{2, value(2)}},
			Conflicts: []Conflict{{2, "scope", "local", "all"}, {1, "scope", "group", "all"}}},
		{Kind: Cvars, Name: "y", Type: TypeInt, After: &root, Ranks: []RankReading{{2, Reading{Status: StatusMissing}}}},
	}
	two, err := OnRank(c, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(two.Cvars) != 1 || two.Cvars[0].Before.Value.Int(0) != 2 || two.Cvars[0].After.Value.Int(0) != 3 || two.Cvars[0].Scope != ScopeLocal || two.Job.Size != 1 {
		t.Errorf("rank 2: %+v", two.Cvars)
	}
	one, err := OnRank(c, 1)
	if err != nil || len(one.Cvars) != 2 || one.Cvars[0].Before.Value.Int(0) != 1 || one.Cvars[0].Scope != ScopeGroup {
		t.Errorf("rank 1: %v, %+v", err, one)
	}
	node, err := OnNode(c, "b")
	if err != nil || node.Job.Ranks[0].Rank != 2 {
		t.Errorf("node b: %v, %+v", err, node)
	}
	if c.Cvars[0].Scope != ScopeAll || len(c.Cvars[0].Ranks) != 1 {
		t.Error("the catalog changed")
	}
	for _, x := range []struct {
		err  func() error
		want string
	}{
		{func() error { _, err := OnRank(c, 4); return err }, "the job has no rank 4; it has 4 ranks"},
		{func() error { _, err := OnRank(c, 3); return err }, "rank 3 did not answer: it died"},
		{func() error { _, err := OnNode(c, "c"); return err }, "no rank on c; it ran on a, b"},
	} {
		if err := x.err(); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}
