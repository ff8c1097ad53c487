package catalog

import (
	"slices"
	"strings"
	"testing"
)

// The specification's names (Appendix D of PERUSE 2.0, and the events of Appendix E) are all there, once, with a meaning.
func TestPeruseTable(t *testing.T) {
	seen := map[string]bool{}
	sections := map[string]int{}
	for _, e := range PeruseEvents() {
		if seen[e.Name] || !strings.HasPrefix(e.Name, "PERUSE_") || !strings.HasSuffix(e.Meaning, ".") || e.How == "" || strings.HasSuffix(e.How, ".") {
			t.Errorf("%+v: twice, or without a meaning", e)
		}
		seen[e.Name] = true
		sections[e.Section]++
		object := map[Bind]string{BindComm: "COMM", BindFile: "FILE", BindWin: "WIN"}[e.Bind]
		if !strings.HasPrefix(e.Name, "PERUSE_"+object+"_") && !strings.HasPrefix(e.Name, "PERUSE_SPAWN_") {
			t.Errorf("%s is bound to %s", e.Name, e.Bind)
		}
		if inQueue := strings.Contains(e.Name+"_", "_Q_") || strings.Contains(e.Name, "_QUEUE_"); e.Queue != inQueue {
			t.Errorf("%s: queue %t", e.Name, e.Queue)
		}
	}
	for section, n := range map[string]int{"4.3.1": 12, "4.4": 4, "12.1": 3, "12.2": 8, "12.3": 2, "12.5": 2, "12.6": 4} {
		if sections[section] != n {
			t.Errorf("section %s has %d events, want %d", section, sections[section], n)
		}
	}
}

func supports(c *Catalog) map[Support][]string {
	all := map[Support][]string{}
	for i := range c.Events {
		all[c.Events[i].Support] = append(all[c.Events[i].Support], c.Events[i].Name)
	}
	return all
}

// A library's events are native in its spelling; of the rest, those that calls show are derived.
func TestWithPeruse(t *testing.T) {
	c := &Catalog{Library: Library{PERUSE: true}, After: Stage{Read: true}}
	c.Events = []Event{{Name: "mpi_t"}, NativePeruseEvent("PERUSE_COMM_REQ_ACTIVATE", "global"), NativePeruseEvent("PERUSE_COMM_SEARCH_UNEX_Q_BEGIN", "global"),
		NativePeruseEvent("PERUSE_CUSTOM_EVENT", "global")}
	all := c.WithPeruse()
	s := supports(all)
	if want := []string{"PERUSE_COMM_REQ_ACTIVATE", "PERUSE_COMM_SEARCH_UNEX_Q_BEGIN", "PERUSE_CUSTOM_EVENT"}; !slices.Equal(sorted(s[SupportNative]), want) {
		t.Errorf("native: %v", s[SupportNative])
	}
	if len(c.Events) != 4 || len(all.Events) != 1+1+len(peruseEvents) || !slices.IsSortedFunc(all.Events, func(a, b Event) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d events of %d", len(all.Events), len(c.Events))
	}
	for name, want := range map[string]Support{"PERUSE_COMM_REQ_NOTIFY": SupportDerived, "PERUSE_COMM_MSG_ARRIVED": SupportUnavailable, "PERUSE_COMM_N_SENDS": SupportDerived,
		"PERUSE_COMM_SEARCH_UNEX_QUEUE_BEGIN": SupportNative, "PERUSE_CUSTOM_EVENT": SupportNative, "peruse_win_sync_end": SupportDerived} {
		if found := all.Named(Events, name); len(found) != 1 || found[0].(*Event).Support != want {
			t.Errorf("%s: %+v, want %s", name, found, want)
		}
	}
	e := all.Named(Events, "PERUSE_COMM_SEARCH_UNEX_QUEUE_BEGIN")[0].(*Event)
	if e.QueueScope != "global" || e.Section != "4.4" || e.Description == "" {
		t.Errorf("%+v", e)
	}
	if custom := all.Named(Events, "PERUSE_CUSTOM_EVENT")[0].(*Event); custom.Section != "" || custom.QueueScope != "" {
		t.Errorf("%+v", custom)
	}
	if left := all.WithoutUnraised(); len(left.Events) != 4 || len(all.WithPeruse().Events) != len(all.Events) {
		t.Errorf("%d events are left", len(left.Events))
	}
}

// Without PERUSE nothing is native, and events that depend on native ones are unavailable. Without MPI_Init nothing is known of a
// library that has it.
func TestWithoutPeruse(t *testing.T) {
	s := supports((&Catalog{After: Stage{Read: true}}).WithPeruse())
	if len(s[SupportNative]) > 0 || !slices.Contains(s[SupportDerived], "PERUSE_COMM_REQ_ACTIVATE") || !slices.Contains(s[SupportUnavailable], "PERUSE_COMM_N_SENDS") {
		t.Errorf("%v", s)
	}
	if s := supports((&Catalog{Library: Library{PERUSE: true}}).WithPeruse()); len(s[SupportUnknown]) != len(peruseEvents) {
		t.Errorf("%v", s)
	}
}

// A glob finds both spellings.
func TestPeruseSpellings(t *testing.T) {
	c := (&Catalog{After: Stage{Read: true}}).WithPeruse()
	for _, glob := range []string{"*_SEARCH_UNEX_Q_*", "peruse_*search_unex_queue_*"} {
		m, err := (&Filter{Names: []string{glob}}).Compile()
		if err != nil {
			t.Fatal(err)
		}
		if found := m.Apply(c).Events; len(found) != 2 {
			t.Errorf("%s: %v", glob, found)
		}
	}
}

func sorted(names []string) []string { slices.Sort(names); return names }
