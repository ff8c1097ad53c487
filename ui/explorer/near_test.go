package explorer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
)

// A query is split into words and phrases, also while it is typed; words that say nothing are left out.
func TestPhrases(t *testing.T) {
	for query, want := range map[string]string{
		"eager":                     "eager",
		"eager shared memory":       "eager|shared memory",
		"eager shared mem":          "eager|shared mem",
		"shared mem eager":          "shared|mem|eager",
		"largest message on a node": "largest|message|on a node",
		"message on a":              "message|on a",
		"size of the buffer":        "size|buffer",
		"on the":                    "on|the",
		"the":                       "the",
	} {
		if got := strings.Join(phrases(strings.Fields(query)), "|"); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	for _, c := range []struct {
		word   string
		typing bool
		want   string
	}{{"messages", false, "message msg"}, {"la", true, ""}, {"larg", false, ""}, {"zz", true, ""}} {
		if got := strings.Join(alike(c.word, c.typing), " "); got != c.want {
			t.Errorf("%s: %s", c.word, got)
		}
	}
	if got := alike("larg", true); !slices.Contains(got, "maximum") || slices.Contains(got, "largest") {
		t.Errorf("larg: %q", got)
	}
}

func TestWordAt(t *testing.T) {
	for _, c := range []struct {
		text, word string
		at         int
	}{{"btl_sm_limit", "sm", 4}, {"small", "sm", -1}, {"a small sm", "sm", 8}, {"segments", "segment", 0}, {"segmented", "segment", -1},
		{"messages on a node", "message", 0}, {"xsm sm", "sm", 4}, {"sm", "sm", 0}, {"", "sm", -1}} {
		if got := wordAt(c.text, c.word); got != c.at {
			t.Errorf("%q in %q: %d", c.word, c.text, got)
		}
	}
}

// Whatever is typed before, a query finds the same.
func TestSearchSteps(t *testing.T) {
	c := fixture(t, "openmpi-4.1.4.json")
	for _, query := range []string{"eager shared memory", "largest message on a node", "the limits of messages", "max recv buf", "li mi ts", "sm eager"} {
		m := explorer(t, c, Options{}, 120, 40)
		press(m, "/")
		for i, r := range query {
			press(m, "'"+string(r))
			typed := query[:i+1]
			fresh := searcher{x: m.x}
			if got, want := m.search.find(m.x.all, typed), fresh.find(m.x.all, typed); !slices.Equal(got, want) {
				t.Fatalf("%q: %d found, without the steps before %d", typed, len(got), len(want))
			}
		}
	}
}

// What is near in meaning is marked in names, and comes after what was asked for.
func TestNearMarks(t *testing.T) {
	c := &catalog.Catalog{}
	for _, n := range []string{"btl_vader_eager_limit", "eager_shared_memory", "btl_tcp_eager"} {
		c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: n})
	}
	m := explorer(t, c, Options{}, 80, 24)
	press(m, "/", "'eager shared memory")
	var got []string
	for _, k := range m.shown {
		got = append(got, m.x.entries[k].name)
	}
	if s := fmt.Sprint(got); s != "[eager_shared_memory btl_vader_eager_limit]" {
		t.Error(s)
	}
	marks := m.x.entries[0].hits(m.terms())
	if marks[3] || !marks[4] || !marks[8] || marks[9] || !marks[10] {
		t.Errorf("%v", marks)
	}
}
