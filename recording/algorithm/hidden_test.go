package algorithm

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What is learned from short runs, with the mistakes that could be made: ring and pair are one function, old and lost are never used, card leaves
// the choice to the library, and twice uses a function of another operation. tree needs others within it, so it fails if nothing may be used
// instead.
func TestLearn(t *testing.T) {
	build, found, unknown := Learn([]Forced{
		{"bcast", "auto", false, "@b1 1/2/3/a 1/2/3/b"},
		{"bcast", "ring", false, "@b1 1/2/a/f 1/2/a/f/9"},
		{"bcast", "pair", false, "@b1 1/2/a"},
		{"bcast", "long", false, "@b1 1/2/b …"},
		{"bcast", "twice", false, "@b1 1/2/e 1/2/f"},
		{"bcast", "card", false, "@b1 1/2/3/a"},
		{"bcast", "tree", false, ""},
		{"bcast", "old", false, ""},
		{"bcast", "lost", false, "@b1"},
		{"bcast", "auto", true, "@b1 1/2/3/a"},
		{"bcast", "long", true, "@b1 1/2/b 1/3/a"},
		{"bcast", "tree", true, "@b1 1/2/c/2/3/a 1/3/a"},
		{"bcast", "old", true, "@b1 1/2/3/a 1/3/b"},
		{"bcast", "lost", true, "@b1 1/2/7/a 1/2/7/b"}, // 7 chooses what is used instead
		// the choice is a part of the operation's function, so it is not known whether a choice was made
		{"scan", "auto", false, "@b1 21/22/2a 21/22/2a"},
		{"scan", "ring", false, "@b1 21/22/2a"},
		{"scan", "tree", false, "@b1 21/22/2b"},
	})
	want := Hidden{"2": "bcast", "3": "bcast auto", "b": "bcast long", "c": "bcast tree", "22": "scan", "2b": "scan tree"}
	if build != "b1" || !maps.Equal(found, want) || !slices.Equal(unknown, []string{"bcast card", "bcast lost", "bcast old", "bcast pair", "bcast ring", "bcast twice", "scan auto", "scan ring"}) {
		t.Errorf("%s: %v, unknown %q", build, found, unknown)
	}
}

func TestParseHidden(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	data, err := json.Marshal(Hidden{"2": "bcast", "3": "bcast auto", "a": "bcast ring", "b": "bcast tree", "12": "reduce", "1a": "reduce ring"})
	if err == nil {
		err = os.Mkdir(filepath.Join(cache, "mpitx"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(cache, "mpitx", FileOf("t1")), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, function, want, decision string }{
		{"@t1 1/2/3/a/9 1/2/3/a", "MPI_Bcast", "ring", "auto"},
		{"@t1 1/2/a", "MPI_Bcast_c", "ring", "dynamic"},
		{"@t1 1/3/b/9", "MPI_Bcast", "tree", "auto"}, // the function before left its place to the one that chooses
		{"@t1 1/2/b/2/3/a 1/2/b/12/1a …", "MPI_Bcast", "tree → ring → reduce ring → …", "dynamic"},
		{"@t1 1/12/1a 1/2/3/b", "MPI_Bcast", "composition: reduce ring → bcast tree", ""},
		{"@t1 1/2/3/b 1", "MPI_Bcast", "composition: bcast tree → messages", ""},
		{"@t1 1/2/d 1/2/d/2/3/b", "MPI_Bcast", "unknown → tree", ""}, // an algorithm for intercommunicators
		{"@t1 1/2/3/d", "MPI_Bcast", "unknown", ""},
		{"@t1 1/9", "MPI_Ibcast", "unknown", ""},
		{"@t1 1/9", "MPI_Scan", "unknown", ""},
		{"@t1", "MPI_Bcast", "unknown", ""},
		{"@t2 1/2/3/a", "MPI_Bcast", "unknown", ""},     // another build
		{"@../t1 1/2/3/a", "MPI_Bcast", "ring", "auto"}, // not a path
	} {
		if got := Parse(c.text, c.function); got.Text() != c.want || got.Decision != c.decision || got.Known() == (c.decision == "" && got.Component == "") {
			t.Errorf("%s: %q, %q: %+v, want %q, %q", c.text, got.Text(), got.Decision, got, c.want, c.decision)
		}
	}
}
