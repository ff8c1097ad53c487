package selftest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mpitx/agent/agenttest"
)

// Dependencies between the agent's folders point down only: each folder may need those after it in this list. docs/guide.md has the
// picture.
var layers = []string{"life", "trigger", "sample", "event", "pvar", "tools", "where", "trace", "profile", "processor", "tally", "objects", "window", "chain", "run", "mpi", "base"}

func TestLayers(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		text, err := os.ReadFile(agenttest.Symbols(f.agent))
		if err != nil {
			t.Fatal(err)
		}
		definedIn := map[string]string{}
		type need struct{ layer, object, symbol string }
		var needs []need
		for line := range strings.Lines(string(text)) {
			object, rest, _ := strings.Cut(line, ":")
			words := strings.Fields(rest)
			layer, _, _ := strings.Cut(object, "_")
			switch kind, symbol := words[len(words)-2], words[len(words)-1]; {
			case kind == "U":
				needs = append(needs, need{layer, object, symbol})
			case kind == strings.ToUpper(kind):
				definedIn[symbol] = layer
			}
		}
		found := map[string]bool{}
		for _, n := range needs {
			from, to := slices.Index(layers, n.layer), slices.Index(layers, definedIn[n.symbol])
			if from < 0 || to < 0 { // symbols of the C library, the shim and the tests
				continue
			}
			found[n.layer], found[definedIn[n.symbol]] = true, true
			if to < from {
				t.Errorf("%s needs %s of %s, which stands above it", n.object, n.symbol, definedIn[n.symbol])
			}
		}
		for _, layer := range layers {
			if !found[layer] {
				t.Errorf("no symbol of %s was seen", layer)
			}
		}
	})
}
