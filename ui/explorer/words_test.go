package explorer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/link"
	"mpitx/ui/term"
)

// watched is an explorer that watches an enumeration and a text on three ranks, with samples of both.
func watched(t *testing.T, items []int64, texts []string) *Model {
	m, _ := fakeSession(t, Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}})
	c := &catalog.Catalog{Job: catalog.Job{Size: 3}}
	c.After.Read = true
	c.Cvars = []catalog.Variable{
		{Kind: catalog.Cvars, Name: "algorithm", Type: catalog.TypeInt, Enum: "algorithms", After: ok(catalog.TypeInt, 3)},
		{Kind: catalog.Cvars, Name: "provider", Type: catalog.TypeChar, After: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText("tcp"), Count: 4}},
	}
	c.Enums = []catalog.Enum{{Name: "algorithms", Items: []catalog.Item{{Value: 3, Name: "linear"}, {Value: 5, Name: "chain"}, {Value: 9, Name: "binomial"}}}}
	m.loaded(loadedMsg{x: ready(c, nil, m.Terminal)})
	press(m, "p", "j", "p")
	if len(m.watching.list) != 2 {
		t.Fatalf("%d are pinned: %s", len(m.watching.list), m.Note)
	}
	for i := range len(items) / 3 {
		s := &link.Sample{Time: time.Unix(int64(i), 0)}
		for r := range 3 {
			text := catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText(texts[3*i+r]), Count: 4}
			s.Ranks = append(s.Ranks, link.RankSample{Rank: r, Readings: []catalog.Reading{*ok(catalog.TypeInt, items[3*i+r]), text}})
		}
		m.Update(sampleMsg{ids: []string{"algorithm", "provider"}, sample: s, watch: true, serial: m.serial})
	}
	press(m, "w")
	return m
}

// Items and texts are shown by name, and never added up.
func TestWatchWords(t *testing.T) {
	m := watched(t, []int64{3, 3, 3, 3, 9, 9, 3, 9, 9}, []string{"tcp", "tcp", "tcp", "tcp", "tcp", "", "tcp", "verbs", "verbs"})
	row := func(name string) string {
		for _, l := range strings.Split(onScreen(t, m), "\n") {
			if strings.Contains(l, name+" ") {
				return l
			}
		}
		t.Fatalf("no %s in\n%s", name, onScreen(t, m))
		return ""
	}
	for range 4 { // however amounts are shown
		if l := row("algorithm"); !strings.Contains(l, " binomial and 1 other ") {
			t.Errorf("%q", l)
		}
		contains(t, m, "value of most ranks (s shows each)", " binomial│", " linear│")
		lacks(t, m, "sum of", "chain")
		press(m, "v")
	}
	if l := row("provider"); !strings.Contains(l, " verbs and 1 other ") {
		t.Errorf("%q", l)
	}
	press(m, "o", "s")
	contains(t, m, "value on each rank", "  0   binomial│", "  2   binomial│")
	press(m, "j")
	contains(t, m, " verbs│", " tcp│", ` ""│`)
	for width := 40; width < 200; width++ {
		resize(m, width, 24)
		onScreen(t, m)
	}
	path := filepath.Join(t.TempDir(), "s.csv")
	press(m, ":", "'export "+path, "enter")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"time,variable,rank,value,text\n", "1970-01-01T00:00:01Z,algorithm,1,9,binomial\n", "1970-01-01T00:00:02Z,provider,2,,verbs\n"} {
		if !strings.Contains(string(data), line) {
			t.Errorf("no %q in\n%s", line, data)
		}
	}
	press(m, "esc", ":", "'show algorithm", "enter")
	contains(t, m, "history", "binomial and 1 other")
}

// A constant has one label.
func TestWatchConstant(t *testing.T) {
	m := watched(t, []int64{3, 3, 3, 3, 3, 3}, []string{"a", "a", "a", "a", "a", "a"})
	if s := onScreen(t, m); strings.Count(s, " linear") != 2 { // in the list, and on the scale
		t.Error(s)
	}
}
