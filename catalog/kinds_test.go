package catalog

import (
	"reflect"
	"strings"
	"testing"
)

// Every list is in the table, and each operation of the table reaches it.
func TestKinds(t *testing.T) {
	p := &Process{Stage: Stage{Read: true}}
	fill(t, reflect.ValueOf(&p.Meta.Lists).Elem())
	p.Readings = make([]Reading, len(p.Meta.Cvars)+len(p.Meta.Pvars))
	p.Meta.setKinds()
	lists := reflect.TypeFor[Lists]()
	if len(kinds) != lists.NumField() || p.Meta.Count(AllKinds) != len(kinds) || p.Meta.Count(0) != len(kinds) {
		t.Fatalf("%d kinds, %d lists", len(kinds), lists.NumField())
	}
	members := map[string]bool{}
	for i := range lists.NumField() {
		name, _, _ := strings.Cut(lists.Field(i).Tag.Get("json"), ",")
		members[name] = true
	}
	sent, err := DecodeProcess(p.AppendBinary(nil))
	if err != nil {
		t.Fatal(err)
	}
	merged := Merge(p, []*Delta{{Whole: &Process{Rank: 1, Stage: p.Stage}}, p.Root().Diff(p)}, nil)
	joined := Join(merged, merged)
	for i := range kinds {
		k := &kinds[i]
		if k.Kind != 1<<i || k.Info() != k || !members[k.Word] {
			t.Errorf("%s: wrong in the table", k.Word)
		}
		for _, word := range []string{k.Word, k.One, strings.ToUpper(k.Word)} {
			if got, ok := ParseKind(word); !ok || got != k.Kind {
				t.Errorf("%s is %v", word, got)
			}
		}
		only := p.Meta.Only(k.Kind)
		if only.Count(AllKinds) != 1 || only.Count(k.Kind) != 1 {
			t.Errorf("%s: Only keeps %d", k.Word, only.Count(AllKinds))
		}
		want := 1
		if k.Kind&agentKinds != 0 {
			want = 0
		}
		for what, l := range map[string]*Lists{"sent": &sent.Meta.Lists, "merged": &merged.Lists, "joined": &joined.Lists} {
			if n := l.Count(k.Kind); n != want {
				t.Errorf("%s: %d are %s, want %d", k.Word, n, what, want)
			}
		}
		for info, e := range p.Meta.Entries(k.Kind) {
			if info != k || e.ID() == "" || len(*e.conflicts()) != 1 {
				t.Errorf("%s: %+v", k.Word, e)
			}
		}
	}
}

func TestDescribe(t *testing.T) {
	for k, want := range map[Kind]string{
		0: "variables, events, event sources, categories or enumerations", AllKinds: "variables, events, event sources, categories or enumerations",
		Variables: "variables", Events | Sources: "events or event sources",
		Cvars: "control variables", Pvars | Virtual: "performance variables or variables of mpitx", Categories | Enums: "categories or enumerations",
	} {
		if got := k.Describe(false); got != want {
			t.Errorf("%d: %s, want %s", k, got, want)
		}
	}
	if got := (Cvars | Pvars | Enums).Describe(true); got != "variable or enumeration" {
		t.Error(got)
	}
	if got := AllKinds.Words(); strings.Join(got, " ") != "cvars pvars virtual events sources categories enums" || Kind(0).Words() != nil {
		t.Error(got)
	}
}
