package catalog

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// simulateJob returns the answers of a job as the root receives them: each rank has three values of its own, and one rank in a
// hundred has a different set of variables.
func simulateJob(ranks int) (root *Process, answers [][]byte) {
	root = sampleProcess(0, 1300)
	root.Sort()
	told, err := DecodeRoot(root.Root().AppendBinary(nil))
	if err != nil {
		panic(err)
	}
	for rank := 1; rank < ranks; rank++ {
		p := sampleProcess(rank, 1300)
		if rank%100 == 50 {
			p.Meta.Cvars = slices.Delete(p.Meta.Cvars, 10, 15)
			p.Readings = slices.Delete(p.Readings, 10, 15)
			p.Meta.Cvars[0].Name = "only_there"
			p.Meta.Cvars[20].Scope = ScopeLocal
		}
		for i := range 3 {
			p.Readings[100+(rank+i*7)%1000] = Reading{Status: StatusOK, Count: 1, Value: NewText(fmt.Sprint("rank ", rank))}
		}
		p.Sort()
		answers = append(answers, told.Diff(p).AppendBinary(nil))
	}
	return root, answers
}

func mergeJob(t testing.TB, root *Process, answers [][]byte) *Catalog {
	var deltas []*Delta
	for _, a := range answers {
		d, err := DecodeDeltas(a)
		if err != nil {
			t.Fatal(err)
		}
		deltas = append(deltas, d...)
	}
	return Join(nil, Merge(root, deltas, nil))
}

func TestMergeJob(t *testing.T) {
	const ranks = 301
	root, answers := simulateJob(ranks)
	c := mergeJob(t, root, answers)
	if len(c.Job.Ranks) != ranks || c.Job.Size != ranks || !reflect.DeepEqual(c.Job.Ranks[17], Rank{Rank: 17, Host: "node1"}) {
		t.Errorf("%d ranks, %+v", len(c.Job.Ranks), c.Job.Ranks[17])
	}
	if len(c.Cvars) != 1301 || len(c.Pvars) != 33 {
		t.Fatalf("%d cvars, %d pvars", len(c.Cvars), len(c.Pvars))
	}
	odd := []int{50, 150, 250}
	var differing, others int
	for i := range c.Cvars {
		v := &c.Cvars[i]
		if v.Before != nil || v.After == nil {
			t.Fatalf("%s: wrong stage", v.Name)
		}
		var lacking, having []int
		for _, r := range v.Ranks {
			switch {
			case r.Status == StatusMissing:
				lacking = append(lacking, r.Rank)
			case v.After.Status == StatusMissing:
				having = append(having, r.Rank)
			default:
				differing++
				if want := fmt.Sprint("rank ", r.Rank); r.Value.String() != want {
					t.Errorf("%s: %s on rank %d", v.Name, r.Value, r.Rank)
				}
			}
		}
		switch {
		case v.Name == "only_there":
			if !slices.Equal(having, odd) {
				t.Errorf("%s on ranks %v", v.Name, having)
			}
		case len(lacking) > 0:
			others++
			if !slices.Equal(lacking, odd) {
				t.Errorf("%s lacking on ranks %v", v.Name, lacking)
			}
		}
		if want := v.Name == root.Meta.Cvars[25].Name; want != (len(v.Conflicts) == len(odd)) {
			t.Errorf("%s: conflicts %v", v.Name, v.Conflicts)
		}
	}
	if differing != 3*(ranks-1) || others != 6 {
		t.Errorf("%d values differ, %d variables lack somewhere", differing, others)
	}
	read, err := Read(bytes.NewReader([]byte(write(t, c))))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, read, compareValues); d != "" {
		t.Error(d)
	}
}

func BenchmarkMerge1000(b *testing.B) {
	root, answers := simulateJob(1000)
	b.ReportAllocs()
	for b.Loop() {
		mergeJob(b, root, answers)
	}
}

func ok(n byte) Reading {
	return Reading{Status: StatusOK, Value: NewValue(TypeInt, []byte{n, 0, 0, 0}), Count: 1}
}

// tiny is a process with int control variables of the given names, all with the value n.
func tiny(rank int, n byte, names ...string) *Process {
	p := &Process{Rank: rank, Host: fmt.Sprint("h", rank), Stage: Stage{Read: true, Cvars: len(names)}}
	p.Meta.Library.Family = "demo"
	for _, name := range names {
		p.Meta.Cvars = append(p.Meta.Cvars, Variable{Kind: Cvars, Name: name, Type: TypeInt, Scope: ScopeAll})
		p.Readings = append(p.Readings, ok(n))
	}
	return p
}

func merge(root *Process, lost map[int]string, others ...*Process) *Merged {
	var deltas []*Delta
	for _, p := range others {
		deltas = append(deltas, root.Root().Diff(p))
	}
	return Merge(root, deltas, lost)
}

func TestMergeConflicts(t *testing.T) {
	root, other := tiny(0, 1, "a", "b"), tiny(1, 1, "a", "b", "c")
	other.Meta.Cvars[0].Type, other.Meta.Cvars[0].Description = TypeUnsigned, "other"
	other.Meta.Cvars[2].Verbosity = 3
	third := tiny(2, 1, "c")
	root.Meta.Pvars = []Variable{{Kind: Pvars, Name: "p", Class: ClassTimer}, {Kind: Pvars, Name: "q", Class: ClassTimer}}
	other.Meta.Pvars = []Variable{{Kind: Pvars, Name: "p", Class: ClassCounter}, {Kind: Pvars, Name: "q", Class: ClassTimer, Readonly: true}}
	root.Readings = append(root.Readings, missing, ok(0))
	root.Readings[2] = Reading{Status: StatusUnbound}
	other.Readings = append(other.Readings, ok(2), ok(0))
	root.Meta.Enums = []Enum{{Name: "e", Items: []Item{{0, "no"}}}}
	other.Meta.Enums = []Enum{{Name: "e", Items: []Item{{0, "no"}, {1, "yes"}}}, {Name: "f"}}
	root.Meta.Categories = []Category{{Name: "k", Cvars: []string{"a"}}}
	other.Meta.Categories = []Category{{Name: "k", Cvars: []string{"a", "c"}, Description: "d"}}
	m := merge(root, map[int]string{3: "no answer"}, third, other)

	get := func(vars []Variable, id string) *Variable {
		for i := range vars {
			if vars[i].ID() == id {
				return &vars[i]
			}
		}
		t.Fatalf("no %s", id)
		return nil
	}
	check := func(what string, got, want any) {
		t.Helper()
		if d := cmp.Diff(want, got, compareValues); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	check("a", get(m.Cvars, "a").Conflicts, []Conflict{{1, "type", "unsigned", "int"}, {1, "description", "other", ""}})
	check("a's ranks", get(m.Cvars, "a").Ranks, []RankReading{{2, missing}})
	check("c", get(m.Cvars, "c").Conflicts, []Conflict{{2, "verbosity", "", "user-all"}})
	check("c's ranks", get(m.Cvars, "c").Ranks, []RankReading{{1, ok(1)}, {2, ok(1)}})
	check("c at root", *get(m.Cvars, "c").After, missing)
	check("p", get(m.Pvars, "p:timer").Conflicts, []Conflict{{1, "class", "counter", "timer"}})
	check("q", get(m.Pvars, "q:timer").Conflicts, []Conflict{{1, "readonly", "true", "false"}})
	check("enums", m.Enums, []Enum{{Name: "e", Items: []Item{{0, "no"}}, Conflicts: []Conflict{{1, "items", "no=0, yes=1", "no=0"}}}, {Name: "f"}})
	check("categories", m.Categories, []Category{{Name: "k", Cvars: []string{"a", "c"},
		Conflicts: []Conflict{{1, "description", "d", ""}, {1, "cvars", "2", "1"}}}})
	check("ranks", m.Ranks, []Rank{{Rank: 0, Host: "h0"}, {Rank: 1, Host: "h1"}, {Rank: 2, Host: "h2"}, {Rank: 3, Error: "no answer"}})
}

func TestMergeUnread(t *testing.T) {
	dead := &Process{Host: "h0", Stage: Stage{Error: "MPI_Init aborted"}}
	for name, test := range map[string]struct {
		m     *Merged
		cvars int
		ranks []Rank
		err   string
	}{
		"root": {merge(dead, nil, tiny(1, 1, "a", "b"), tiny(2, 2, "a", "b")), 2,
			[]Rank{{Rank: 0, Host: "h0", Error: "MPI_Init aborted"}, {Rank: 1, Host: "h1"}, {Rank: 2, Host: "h2"}},
			"rank 0 could not be read (MPI_Init aborted); these are the readings of rank 1"},
		"all": {merge(dead, nil, &Process{Rank: 1, Stage: Stage{Error: "x"}}), 0,
			[]Rank{{Host: "h0", Error: "MPI_Init aborted"}, {Rank: 1, Error: "x"}}, "MPI_Init aborted"},
		"other": {merge(tiny(0, 1, "a"), nil, &Process{Rank: 1, Error: "hangs"}), 1,
			[]Rank{{Host: "h0"}, {Rank: 1, Error: "hangs"}}, ""},
		"nil": {Merge(nil, nil, nil), 0, []Rank{{}}, ""},
		"damaged": {Merge(tiny(0, 1, "a"), []*Delta{{Rank: 1, Changes: []Change{{Index: 0}, {Index: 1}}}, {Rank: 1}}, map[int]string{1: "x"}), 1,
			[]Rank{{Host: "h0"}, {Rank: 1, Error: ErrDamaged.Error()}}, ""},
	} {
		if d := cmp.Diff(test.ranks, test.m.Ranks); d != "" || len(test.m.Cvars) != test.cvars || test.m.Stage.Error != test.err {
			t.Errorf("%s: %d cvars, error %q\n%s", name, len(test.m.Cvars), test.m.Stage.Error, d)
		}
	}
	m := merge(dead, nil, tiny(1, 1, "a"), tiny(2, 2, "a"))
	if d := cmp.Diff([]RankReading{{2, ok(2)}}, m.Cvars[0].Ranks, compareValues); d != "" {
		t.Error(d)
	}
}

func TestMergeLibrary(t *testing.T) {
	other := tiny(1, 1, "a")
	other.Meta.Library.Path = "/elsewhere"
	m := merge(tiny(0, 1, "a"), nil, other)
	if got := m.Ranks[1].Library; got == nil || got.Path != "/elsewhere" || len(m.Cvars[0].Ranks) > 0 {
		t.Errorf("%+v", m)
	}
}

func TestMergeDuplicates(t *testing.T) {
	for _, other := range []*Process{tiny(1, 2, "a", "a", "b"), tiny(1, 2, "a", "a"), tiny(1, 2, "a", "b")} {
		m := merge(tiny(0, 1, "a", "a", "b"), nil, other)
		if len(m.Cvars) != 2 || len(m.Cvars[0].Conflicts) == 0 || len(m.Cvars[0].Ranks) != 1 {
			t.Errorf("%+v", m.Cvars)
		}
	}
}

func TestJoin(t *testing.T) {
	before, before2 := tiny(0, 1, "a", "b"), tiny(2, 2, "a", "b")
	after := tiny(0, 3, "b", "c")
	after.Meta.Cvars[0].Scope = ScopeLocal
	before.Meta.Categories = []Category{{Name: "k", Cvars: []string{"a", "b"}}, {Name: "old"}}
	before2.Meta.Categories = before.Meta.Categories
	after.Meta.Categories = []Category{{Name: "k", Cvars: []string{"b", "c"}}}
	before.Error = "slow"
	c := Join(merge(before, nil, before2), merge(after, map[int]string{1: "lost"}))
	g := func(n byte) *Reading { r := ok(n); return &r }
	k := []string{"k"}
	want := []Variable{
		{Kind: Cvars, Name: "a", Type: TypeInt, Scope: ScopeAll, Before: g(1), Nodes: []RankReading{{2, ok(2)}}, Categories: k},
		{Kind: Cvars, Name: "b", Type: TypeInt, Scope: ScopeLocal, Before: g(1), After: g(3), Nodes: []RankReading{{2, ok(2)}},
			Conflicts: []Conflict{{BeforeRank, "scope", "all", "local"}}, Categories: k},
		{Kind: Cvars, Name: "c", Type: TypeInt, Scope: ScopeAll, After: g(3), Categories: k},
	}
	if d := cmp.Diff(want, c.Cvars, compareValues); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Category{{Name: "k", Cvars: []string{"a", "b", "c"}, Before: true, After: true, Added: []string{"c"}, Removed: []string{"a"}}, {Name: "old", Before: true}}, c.Categories); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Rank{{Host: "h0", Error: "before MPI_Init: slow"}, {Rank: 1, Error: "lost"}, {Rank: 2, Host: "h2"}}, c.Job.Ranks); d != "" {
		t.Error(d)
	}
	if c := Join(nil, nil); c.Job.Size != 1 || len(c.Cvars) > 0 {
		t.Errorf("%+v", c)
	}
}

func drawProcess(t *rapid.T) *Process {
	p := &Process{Rank: rapid.IntRange(0, 1e6).Draw(t, "rank"), Host: foreign.Draw(t, "host"), Error: foreign.Draw(t, "error"), Stage: drawStage(t)}
	p.Meta.Library = drawLibrary(t)
	p.Meta.Cvars = some(t, func() Variable { return drawMeta(t, Cvars) })
	p.Meta.Pvars = some(t, func() Variable { return drawMeta(t, Pvars) })
	for range len(p.Meta.Cvars) + len(p.Meta.Pvars) {
		p.Readings = append(p.Readings, drawReading(t, drawEnum[Datatype](t, datatypeNames)))
	}
	for _, k := range drawCategories(t) {
		k.Before, k.Added, k.Removed, k.Conflicts = false, nil, nil, nil
		p.Meta.Categories = append(p.Meta.Categories, k)
	}
	for _, e := range drawEnums(t) {
		e.Conflicts = nil
		p.Meta.Enums = append(p.Meta.Enums, e)
	}
	for _, e := range drawEvents(t) {
		e.Before, e.After, e.Categories, e.Conflicts = false, false, nil, nil
		p.Meta.Events = append(p.Meta.Events, e)
	}
	for _, s := range drawSources(t) {
		s.Before, s.After, s.Conflicts = false, false, nil
		p.Meta.Sources = append(p.Meta.Sources, s)
	}
	p.Sort()
	return p
}

func TestCodecProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProcess(t)
		back, err := DecodeProcess(p.AppendBinary([]byte("x"))[1:])
		if d := cmp.Diff(p, back, compareValues); err != nil || d != "" {
			t.Fatal(err, d)
		}
		if back.Meta.Digest() != p.Meta.Digest() {
			t.Fatal("another digest")
		}
		root, err := DecodeRoot(p.Root().AppendBinary(nil))
		if d := cmp.Diff(p.Root(), root, compareValues); err != nil || d != "" {
			t.Fatal(err, d)
		}
		same := *p
		same.Readings = slices.Clone(p.Readings)
		for i := range same.Readings {
			if rapid.Bool().Draw(t, "differs") {
				same.Readings[i] = drawReading(t, TypeChar)
			}
		}
		deltas := []*Delta{root.Diff(&same), root.Diff(drawProcess(t))}
		var b []byte
		for _, d := range deltas {
			b = d.AppendBinary(b)
		}
		got, err := DecodeDeltas(b)
		if d := cmp.Diff(deltas, got, compareValues); err != nil || d != "" {
			t.Fatal(err, d)
		}
		// Merging deltas gives the processes' own readings.
		v := Merge(p, deltas[:1], nil)
		if len(v.Ranks) == 2 && v.Ranks[0].Rank != v.Ranks[1].Rank {
			t.Fatal("one process became two ranks")
		}
	})
}

// Sorting moves each variable together with its reading and keeps the order of equal names.
func TestSortProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Process{}
		for i, name := range rapid.SliceOf(rapid.StringMatching("[a-c]{1,2}")).Draw(t, "names") {
			p.Meta.Cvars = append(p.Meta.Cvars, Variable{Name: name, Description: strconv.Itoa(i)})
			p.Readings = append(p.Readings, Reading{Count: i})
		}
		want := slices.Clone(p.Meta.Cvars)
		slices.SortStableFunc(want, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
		p.Sort()
		for i, v := range p.Meta.Cvars {
			if v.Name != want[i].Name || v.Description != want[i].Description || strconv.Itoa(p.Readings[i].Count) != v.Description {
				t.Fatalf("%d: %s %s with the reading of %d, not %s %s", i, v.Name, v.Description, p.Readings[i].Count, want[i].Name, want[i].Description)
			}
		}
	})
}

func TestMergeProperty(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		var all []*Process
		for rank := range rapid.IntRange(1, 5).Draw(t, "ranks") {
			names := rapid.SliceOfNDistinct(name, 0, 4, rapid.ID).Draw(t, "names")
			p := tiny(rank, byte(rapid.IntRange(0, 1).Draw(t, "value")), names...)
			p.Stage.Read = rapid.IntRange(0, 4).Draw(t, "read") > 0
			p.Sort()
			all = append(all, p)
		}
		m := merge(all[0], nil, all[1:]...)
		for _, p := range all {
			if !p.Stage.Read {
				continue
			}
			for i := range m.Cvars {
				want := missing
				for j := range p.Meta.Cvars {
					if p.Meta.Cvars[j].Name == m.Cvars[i].Name {
						want = p.Readings[j]
					}
				}
				got := *m.Cvars[i].After
				for _, r := range m.Cvars[i].Ranks {
					if r.Rank == p.Rank {
						got = r.Reading
					}
				}
				if got != want {
					t.Fatalf("%s on rank %d: %v, not %v", m.Cvars[i].Name, p.Rank, got, want)
				}
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	p, q := tiny(0, 1, "a", "b"), tiny(1, 2, "a", "b")
	q.Meta.Pvars = []Variable{{Name: "p", Class: ClassTimer, Description: "d"}}
	q.Readings = append(q.Readings, ok(1))
	q.Meta.Categories = []Category{{Name: "k", Cvars: []string{"a"}}}
	q.Meta.Enums = []Enum{{Name: "e", Items: []Item{{1, "x"}}}}
	f.Add(q.AppendBinary(nil))
	q.Meta.Events = []Event{{Name: "v", Enum: "e", Elements: []Element{{"n", TypeInt, 4}}, Hints: []Hint{{"k", "v"}}, Status: StatusOK}}
	q.Meta.Sources = []Source{{Name: "s", Order: Ordered, TicksPerSecond: 1e9, MaxTicks: 1 << 40, Readable: true, Status: StatusOK}}
	f.Add(p.AppendBinary(nil))
	f.Add(q.AppendBinary(nil))
	f.Add(p.Root().AppendBinary(nil))
	f.Add(q.Root().Diff(p).AppendBinary(p.Root().Diff(q).AppendBinary(nil)))
	f.Add(p.Root().Diff(tiny(2, 9, "a", "b")).AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := DecodeRoot(b); err == nil {
			r.Diff(p)
		}
		if o, err := DecodeProcess(b); err == nil {
			o.Sort()
			merge(o, nil, p, q)
			merge(p, nil, o, q)
		}
		deltas, _ := DecodeDeltas(b)
		c := Join(Merge(p, deltas, nil), Merge(q, deltas, nil))
		if err := c.checkLists(); err != nil {
			t.Error(err)
		}
	})
}
