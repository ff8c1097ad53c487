package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/text"
)

func filterCatalog() *Catalog {
	c := graph("top: low = a\nlow: = b p:timer\nother: = c", "a", "b", "c", "d:x", "p:timer", "p:counter", "d:timer:counter")
	set := func(id string, change func(*Variable)) { change(c.Lookup(id)[0]) }
	set("a", func(v *Variable) {
		v.Verbosity, v.Scope, v.Type, v.Bind, v.Enum = VerbosityUserBasic, ScopeAll, TypeInt, BindNoObject, "e"
		v.Before = &Reading{Status: StatusOK, Writable: WritableYes}
		v.Origin = &Origin{Kind: OriginFile}
	})
	set("b", func(v *Variable) {
		v.Verbosity, v.Scope, v.Type, v.Bind = VerbosityTunerBasic, ScopeLocal, TypeChar, BindComm
		v.Before, v.After = &Reading{Status: StatusOK, Writable: WritableYes}, &Reading{Status: StatusOK, Writable: WritableNever}
		v.Ranks = []RankReading{{Rank: 1}}
	})
	set("c", func(v *Variable) { v.After = &Reading{Status: StatusMissing}; v.Verbosity = unknownBase + 3 })
	c.Enums = []Enum{{Name: "e"}, {Name: "f"}}
	return c
}

func TestFilter(t *testing.T) {
	c := filterCatalog()
	for _, test := range []struct {
		f    Filter
		want string
	}{
		{Filter{}, "a b c d:x d:timer:counter p:counter p:timer"},
		{Filter{Names: []string{"A", "c*"}}, "a c"},
		{Filter{Names: []string{"p"}}, "p:counter p:timer"},
		{Filter{Names: []string{"p:timer"}}, "p:timer"},
		{Filter{Names: []string{"?:TIMER"}}, "d:timer:counter p:timer"},
		{Filter{Names: []string{"d:*"}}, "d:x d:timer:counter"},
		{Filter{Names: []string{"d:timer"}}, "d:timer:counter"},
		{Filter{Regexps: []string{"^[ab]$", "x"}}, "a b d:x"},
		{Filter{Regexps: []string{"b"}, Names: []string{"a"}}, ""},
		{Filter{Categories: []string{"TOP"}}, "a b p:timer"},
		{Filter{Categories: []string{"l*", "oth?r"}}, "b c p:timer"},
		{Filter{Classes: []Class{ClassTimer}}, "p:timer"},
		{Filter{Verbosity: VerbosityUserAll}, "a d:x d:timer:counter p:counter p:timer"},
		{Filter{Scopes: []Scope{ScopeAll, ScopeLocal}}, "a b"},
		{Filter{Types: []Datatype{TypeChar}}, "b"},
		{Filter{Binds: []Bind{BindComm}}, "b"},
		{Filter{Stage: StageBefore}, "a b"},
		{Filter{Stage: StageAfter}, "b"},
		{Filter{Stage: StageBoth}, "b"},
		{Filter{Writable: true}, "a"}, {Filter{Writable: true, Stage: StageBefore}, "a b"},
		{Filter{Writable: true, Stage: StageAfter}, ""},
		{Filter{Set: true}, "a"},
		{Filter{Differing: true}, "b"},
	} {
		m, err := test.f.Compile()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, v := range m.Variables(c) {
			ids = append(ids, v.ID())
		}
		if got := strings.Join(ids, " "); got != test.want {
			t.Errorf("%+v:\n got %s\nwant %s", test.f, got, test.want)
		}
		if out := m.Apply(c); len(out.Cvars)+len(out.Pvars) != len(ids) {
			t.Errorf("%+v: Apply gives %d and %d", test.f, len(out.Cvars), len(out.Pvars))
		}
	}
}

func TestFilterApply(t *testing.T) {
	c := filterCatalog()
	m, err := (&Filter{Names: []string{"b", "a"}}).Compile()
	if err != nil {
		t.Fatal(err)
	}
	out := m.Apply(c)
	if d := cmp.Diff(" 2\n top 2 a\n  low 1 b\n", show(Tree(out))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Enum{{Name: "e"}}, out.Enums); d != "" {
		t.Error(d)
	}
	if len(c.Categories) != 3 || len(c.Enums) != 2 {
		t.Error("the catalog itself has changed")
	}
	if !m.MatchName("A") || m.MatchName("ab") {
		t.Error("MatchName")
	}
}

func TestFilterErrors(t *testing.T) {
	for _, f := range []Filter{{Names: []string{"a["}}, {Regexps: []string{"("}}, {Categories: []string{"["}}, {Names: []string{"[:timer"}}} {
		if _, err := f.Compile(); err == nil {
			t.Errorf("%+v: no error", f)
		}
	}
	if _, err := ParseStageFilter("now"); err == nil {
		t.Error("no error")
	}
	if s, err := ParseStageFilter("Both"); s != StageBoth || err != nil {
		t.Error(s, err)
	}
}

func TestLookup(t *testing.T) {
	c := filterCatalog()
	for name, want := range map[string]string{"a": "a", "A": "a", "p": "p:counter p:timer", "p:timer": "p:timer", "P:Timer": "p:timer",
		"d:x": "d:x", "d:timer": "d:timer:counter", "d:timer:counter": "d:timer:counter", "gone": "", "a:timer": ""} {
		var ids []string
		for _, v := range c.Lookup(name) {
			ids = append(ids, v.ID())
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"messages_count", "messages_count:size", "messages_size", "messages_size:size"}
	for name, want := range map[string]string{
		"messages_coumt":      "; did you mean messages_count?",
		"messages_coumt:size": "; did you mean messages_count:size, messages_size:size?",
		"messages_count":      "", // it exists, though not in this catalog
		"mesages_*":           "",
		"xyz":                 "",
	} {
		if got := DidYouMean(names, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	var names []string
	for _, v := range sampleProcess(0, 1300).Meta.Cvars {
		names = append(names, v.Name)
	}
	for b.Loop() {
		text.Nearest(names, "framework07_component1_paremeter_0299", 5)
	}
}
