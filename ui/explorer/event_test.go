package explorer

import (
	"fmt"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/term"
)

// withEvents is a small catalog with two variables, three events and two sources.
func withEvents() *catalog.Catalog {
	read := &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(catalog.TypeInt, []byte{7, 0, 0, 0}), Count: 1}
	c := &catalog.Catalog{Library: catalog.Library{Family: "demo", Text: "demo 1.0"}, Job: catalog.Job{Size: 1, Ranks: []catalog.Rank{{}}},
		Before: catalog.Stage{Read: true}, After: catalog.Stage{Read: true}}
	for _, name := range []string{"eager_limit", "queue_length"} {
		c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeInt, Scope: catalog.ScopeLocal,
			Verbosity: catalog.VerbosityUserBasic, Bind: catalog.BindNoObject, Categories: []string{"matching"}, Before: read, After: read})
	}
	c.Events = []catalog.Event{
		{Name: "finalizing", Verbosity: catalog.VerbosityUserAll, Bind: catalog.BindNoObject, Status: catalog.StatusOK, Before: true},
		{Name: "message_sent", Verbosity: catalog.VerbosityUserBasic, Bind: catalog.BindComm, Description: "A message was sent; queue_length counts it.",
			Elements: []catalog.Element{{Name: "peer", Type: catalog.TypeInt32}, {Name: "bytes", Type: catalog.TypeUint64, Displacement: 8}},
			Hints:    []catalog.Hint{{Key: "rate", Value: "each message"}}, Categories: []string{"matching"}, Status: catalog.StatusOK, Before: true, After: true},
		{Name: "unexpected", Verbosity: catalog.VerbosityMPIDevAll, Bind: catalog.BindNoObject, Categories: []string{"matching"}, Status: catalog.StatusFaulty,
			Elements: []catalog.Element{{Type: catalog.TypeInt}}, Reason: "on rank 1: crashes in register_callback (SIGSEGV)", Before: true, After: true,
			Conflicts: []catalog.Conflict{{Rank: 1, Field: "verbosity", Here: "user-basic", Root: "mpidev-all"}}},
	}
	c.Sources = []catalog.Source{
		{Name: "card", Order: catalog.Unordered, TicksPerSecond: 1000, MaxTicks: 4095, Description: "The card's thread.", Status: catalog.StatusOK, Before: true, After: true},
		{Name: "progress", Order: catalog.Ordered, TicksPerSecond: 1e9, MaxTicks: 1<<63 - 1, Readable: true, Status: catalog.StatusOK, Before: true, After: true},
	}
	c.Categories = []catalog.Category{{Name: "matching", Description: "Messages and who receives them.", Cvars: []string{"eager_limit", "queue_length"},
		EventTypes: []string{"message_sent", "unexpected"}, Events: 2, Before: true, After: true}}
	return c
}

func eventExplorer(t *testing.T, width, height int) *Model {
	return explorer(t, withEvents(), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}, width, height)
}

func TestGoldenEvents(t *testing.T) {
	for _, size := range [][2]int{{40, 24}, {80, 24}, {100, 30}, {160, 48}} {
		for name, keys := range map[string][]string{
			"event":   {"/", "'message", "enter"},
			"source":  {"/", "'card", "enter"},
			"faulty":  {"/", "'unexpected", "enter"},
			"matched": {":", "'filter kind=event", "enter"},
		} {
			m := eventExplorer(t, size[0], size[1])
			press(m, keys...)
			golden(t, fmt.Sprintf("event-%s-%dx%d.txt", name, size[0], size[1]), onScreen(t, m))
		}
	}
}

func TestEventsInTree(t *testing.T) {
	m := eventExplorer(t, 160, 40)
	contains(t, m, "all variables", "matching", "4│", "uncategorised", "event sources", "message_sent", "unordered, 1000 ticks/s")
	for _, b := range m.x.root.kids {
		if b.count != len(b.below(m.x)) {
			t.Errorf("%s: %d entries are counted, and %d listed", b.name, b.count, len(b.below(m.x)))
		}
	}
	press(m, "tab", "tab", "j")
	contains(t, m, "category matching", "2 variables, 2 events", "peer, bytes")
	for filter, want := range map[string]int{
		"kind=event": 3, "kind=source": 2, "verbosity=user-basic": 3, "type=int": 3, "type=uint64": 1, "stage=both": 6, "differing=yes": 1, "writable=yes": 0, "scope=local": 2,
	} {
		m := eventExplorer(t, 120, 40)
		press(m, ":", "'filter "+filter, "enter")
		if len(m.shown) != want {
			t.Errorf("%s shows %d entries, want %d", filter, len(m.shown), want)
		}
	}
}

// What needs a value explains that an event has none.
func TestEventsHaveNoValue(t *testing.T) {
	c := withEvents()
	x := newIndex(c, term.Term{Terminal: export.Terminal{UTF8: true}})
	for _, e := range x.entries {
		if watchable(&e) != e.variable() || writable(e.v) {
			t.Errorf("%s: watchable %v, writable %v", e.name, watchable(&e), writable(e.v))
		}
	}
	m := eventExplorer(t, 120, 40)
	press(m, "/", "'message_sent", "enter")
	m.openEdit(m.current(), "")
	contains(t, m, "message_sent is an event: it has no value")
	press(m, "S")
	contains(t, m, "mpitx knows no way to set message_sent for a run")
}

func TestSearchEvents(t *testing.T) {
	var names []string
	for _, e := range Search(withEvents(), nil, "message") {
		names = append(names, e.ID())
	}
	if got := strings.Join(names, " "); got != "message_sent" {
		t.Error(got)
	}
	if found := Search(withEvents(), nil, "thread"); len(found) != 1 {
		t.Errorf("%d found", len(found))
	} else if s, ok := found[0].(*catalog.Source); !ok || s.Name != "card" {
		t.Errorf("%+v", found[0])
	}
}

// An event with the name of a variable hides neither.
func TestEventNamedAsVariable(t *testing.T) {
	c := withEvents()
	c.Events[1].Name, c.Categories[0].EventTypes[0] = "queue_length", "queue_length"
	m := explorer(t, c, Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}, 120, 40)
	b := m.x.root.kids[0]
	if b.count != 4 || len(b.own) != 4 || m.x.entries[m.x.byID["queue_length"]].event != nil {
		t.Errorf("%s has %d entries, %d of its own", b.name, b.count, len(b.own))
	}
}
