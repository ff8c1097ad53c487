package catalog

import (
	"fmt"
	"strings"
	"testing"
)

// Ranks that were set differently keep their own origins: in groups, on one rank, and in a snapshot. None is said to have rank 0's.
func TestOrigins(t *testing.T) {
	value := func(n byte) Reading {
		return Reading{Status: StatusOK, Value: NewValue(TypeInt, []byte{n, 0, 0, 0}), Count: 1}
	}
	root := value(1)
	env := &Origin{Kind: OriginEnvironment, Where: "A", Value: "3"}
	c := &Catalog{Job: Job{Size: 4, Ranks: []Rank{{Rank: 0, Host: "a"}, {Rank: 1, Host: "a"}, {Rank: 2, Host: "a"}, {Rank: 3, Host: "a"}}}}
	c.Cvars = []Variable{
		{Kind: Cvars, Name: "a", Type: TypeInt, Before: &root, After: &root, Ranks: []RankReading{{1, value(3)}, {3, value(3)}},
			Origins: []RankOrigin{{1, env}, {3, &Origin{Kind: OriginEnvironment, Where: "A", Value: "3"}}}},
		{Kind: Cvars, Name: "b", Type: TypeInt, Before: &root, After: &root, Origin: env, Origins: []RankOrigin{{2, nil}}},
		{Kind: Cvars, Name: "c", Type: TypeInt, Before: &root, After: &root},
	}
	c, err := Read(strings.NewReader(write(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "[0 2] - 1; [1 3] A 3", "b": "[0 1 3] A 1; [2] - 1", "c": "[] - 1"} {
		var got []string
		for _, s := range c.Settings(c.Cvar(name)) {
			where := "-"
			if s.Origin != nil {
				where = s.Origin.Where
			}
			got = append(got, fmt.Sprint(s.Ranks, " ", where, " ", s.Variable.After.Value.String()))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
	}
	if a, b := c.Cvar("a"), c.Cvar("b"); !a.IsSet() || !b.IsSet() || c.Cvar("c").IsSet() || a.FirstOrigin().Rank != 1 || b.FirstOrigin().Rank != 0 {
		t.Error("which are set")
	}
	one, err := OnRank(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Rank 0 read the stage before MPI_Init without the setting.
	if a, b := one.Cvar("a"), one.Cvar("b"); a.Origin == nil || a.Before != nil || a.Origins != nil || b.Origin == nil || b.Before == nil {
		t.Errorf("rank 1: %+v, %+v", a, b)
	}
	two, err := OnRank(c, 2)
	if err != nil || two.Cvar("a").Origin != nil || two.Cvar("a").Before == nil || two.Cvar("b").Origin != nil {
		t.Errorf("rank 2: %v, %+v", err, two)
	}
}
