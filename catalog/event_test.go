package catalog

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// eventProcess is a process with two events, a category of one of them, and a source.
func eventProcess(rank int) *Process {
	p := &Process{Rank: rank, Stage: Stage{Read: true}}
	p.Meta.Events = []Event{
		{Name: "sent", Verbosity: 1, Bind: BindNoObject, Elements: []Element{{"peer", TypeInt32, 0}, {"", TypeUint64, 8}}, Status: StatusOK},
		{Name: "made", Verbosity: 4, Bind: BindComm, Status: StatusOK},
	}
	p.Meta.Sources = []Source{{Name: "card", Order: Unordered, TicksPerSecond: 1000, MaxTicks: 4095, Status: StatusOK}}
	p.Meta.Categories = []Category{{Name: "matching", EventTypes: []string{"sent", "sent", "gone"}}}
	p.Sort()
	return p
}

func TestEventsOfRanks(t *testing.T) {
	root, other := eventProcess(0), eventProcess(1)
	other.Meta.Events[1].Elements[1].Displacement = 4
	other.Meta.Events[1].Status, other.Meta.Events[1].Reason = StatusFaulty, "crashes in register_callback (SIGSEGV)"
	other.Meta.Sources[0].TicksPerSecond = 500
	other.Meta.Events[0].Name = "only1" // for "made"
	other.Sort()
	after := merge(root, nil, other)
	before := merge(&Process{Stage: Stage{Read: true}, Meta: Meta{Lists: Lists{Events: []Event{{Name: "sent", Verbosity: 2, Bind: BindNoObject,
		Elements: root.Meta.Events[1].Elements}, {Name: "early"}}}}}, nil)
	c := Join(before, after)
	var names []string
	for i := range c.Events {
		e := &c.Events[i]
		names = append(names, e.Name)
		if wantBefore, wantAfter := e.Name == "early" || e.Name == "sent", e.Name != "early"; e.Before != wantBefore || e.After != wantAfter {
			t.Errorf("%s: before %v, after %v", e.Name, e.Before, e.After)
		}
	}
	if !slices.Equal(names, []string{"early", "made", "only1", "sent"}) {
		t.Fatal(names)
	}
	if d := cmp.Diff([]Conflict{{1, ConflictExists, "yes", "no"}}, c.Events[2].Conflicts); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Conflict{{1, ConflictExists, "no", "yes"}}, c.Events[1].Conflicts); d != "" {
		t.Error(d)
	}
	sent := &c.Events[3]
	want := []Conflict{
		{BeforeRank, "verbosity", "user-detail", "user-basic"},
		{1, "elements", "peer int32 at 0, uint64 at 4", "peer int32 at 0, uint64 at 8"},
	}
	if d := cmp.Diff(want, sent.Conflicts); d != "" {
		t.Error(d)
	}
	if sent.Status != StatusFaulty || sent.Reason != "on rank 1: crashes in register_callback (SIGSEGV)" {
		t.Errorf("%s: %s", sent.Status, sent.Reason)
	}
	if !slices.Equal(sent.Categories, []string{"matching"}) || c.Events[1].Categories != nil {
		t.Errorf("categories %v, %v", sent.Categories, c.Events[1].Categories)
	}
	if d := cmp.Diff([]Conflict{{1, "ticks_per_second", "500", "1000"}}, c.Sources[0].Conflicts); d != "" || !c.Sources[0].After || c.Sources[0].Before {
		t.Errorf("%+v %s", c.Sources[0], d)
	}
}

func TestNameElements(t *testing.T) {
	for want, items := range map[string][]Item{
		"b,c,a": {{2, "a"}, {0, "b"}, {1, "c"}},
		"a,b,c": {{10, "a"}, {0, "b"}, {30, "c"}}, // not indices
		",,a":   {{2, "a"}, {7, "b"}},
		",,":    {{-1, "x"}},
	} {
		e := Event{Elements: make([]Element, 3)}
		e.NameElements(items)
		if got := e.Elements[0].Name + "," + e.Elements[1].Name + "," + e.Elements[2].Name; got != want {
			t.Errorf("%v: %s, want %s", items, got, want)
		}
	}
	e := Event{Elements: []Element{{"", TypeDouble, 8}, {"", TypeChar, 0}}}
	if e.Size() != 16 || (&Event{}).Size() != 0 {
		t.Error(e.Size())
	}
}

func TestSourceClock(t *testing.T) {
	for _, test := range []struct {
		perSecond, most int64
		tick, wraps     time.Duration
	}{
		{1e9, 1<<63 - 1, 1, 0},
		{1000, 4095, time.Millisecond, 4096 * time.Millisecond},
		{1e6, 1<<32 - 1, time.Microsecond, 4294967296 * time.Microsecond},
		{2600e6, 1 << 62, 0, 1<<63 - 1},
		{0, 5, 0, 0},
		{-1, -1, 0, 0},
	} {
		s := Source{TicksPerSecond: test.perSecond, MaxTicks: test.most}
		if test.wraps == 1<<63-1 {
			test.wraps = time.Duration(float64(1<<62+1) / 2600e6 * float64(time.Second))
		}
		if s.Tick() != test.tick || s.Wraps() != test.wraps {
			t.Errorf("%+v: a tick of %v, wraps after %v", test, s.Tick(), s.Wraps())
		}
	}
}

func eventCatalog() *Catalog {
	c := graph("top: low\nlow:")
	c.Categories[0].EventTypes = []string{"sent", "missing"}
	c.Events = []Event{
		{Name: "made", Verbosity: VerbosityTunerBasic, Bind: BindComm, After: true, Enum: "f"},
		{Name: "sent", Verbosity: VerbosityUserBasic, Bind: BindNoObject, Elements: []Element{{"", TypeInt, 0}, {"", TypeChar, 4}}, Enum: "e", Before: true, After: true},
	}
	c.Sources = []Source{{Name: "card", Before: true, After: true}, {Name: "job", After: true, Conflicts: []Conflict{{}}}}
	c.Enums = []Enum{{Name: "e"}, {Name: "f"}}
	c.linkCategories()
	return c
}

func TestFilterEvents(t *testing.T) {
	for want, f := range map[string]Filter{
		"made sent card job low top e f": {},
		"sent low top e":                 {Categories: []string{"top"}},
		"sent card low top e":            {Stage: StageBefore, Names: []string{"*"}},
		"made f":                         {Binds: []Bind{BindComm}},
		"sent  low top e":                {Types: []Datatype{TypeChar}},
		"sent low   top e":               {Verbosity: VerbosityUserAll},
		"made job f":                     {Regexps: []string{"^m|o"}},
		"job":                            {Differing: true},
		"":                               {Scopes: []Scope{ScopeAll}},
		" ":                              {Set: true},
	} {
		m, err := f.Compile()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range m.Apply(eventCatalog()).Entries(AllKinds) {
			names = append(names, e.ID())
		}
		if got := strings.Join(names, " "); got != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%+v leaves %s, want %s", f, got, want)
		}
	}
	c := eventCatalog()
	for name, want := range map[string]int{"sent": 1, "SENT": 1, "card": 1, "low": 0, "sen": 0} {
		if got := c.Named(Events|Sources, name); len(got) != want {
			t.Errorf("%s: %d", name, len(got))
		}
	}
}

func TestTreeOfEvents(t *testing.T) {
	if got, want := show(Tree(eventCatalog())), " 4\n top 1\n  low 1 !sent\n uncategorised 1 !made\n event sources 2 @card @job\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
