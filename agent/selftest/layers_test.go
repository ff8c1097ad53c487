package selftest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mpitx/agent/agenttest"
)

// Dependencies between the agent's folders point down only: each folder may need those after it in this list. docs/guide.md has the
// picture. Within a folder, files need each other in one direction only.
var layers = []string{"life", "trigger", "sample", "event", "pvar", "node", "tools", "where", "trace", "profile", "processor", "tally", "algorithms", "paths", "objects", "window", "chain", "run", "mpi", "base"}

// use is a symbol that a file takes from another one.
type use struct{ from, to, symbol string }

func (n use) String() string { return n.from + " needs " + n.symbol + " of " + n.to }

func folder(file string) string {
	name, _, _ := strings.Cut(file, "_")
	return name
}

// readNeeds reads the output of nm for the agent's objects. A file is FOLDER_FILE.
func readNeeds(text string) []use {
	definedIn := map[string]string{}
	var undefined, needs []use
	for line := range strings.Lines(text) {
		object, rest, _ := strings.Cut(line, ":")
		file := strings.TrimSuffix(object, ".o")
		words := strings.Fields(rest)
		switch kind, symbol := words[len(words)-2], words[len(words)-1]; {
		case kind == "U":
			undefined = append(undefined, use{from: file, symbol: symbol})
		case kind == strings.ToUpper(kind):
			// wrappers.c is two files: the tables at the bottom of chain, and at its top the wrappers, which only programs call.
			if file == "chain_wrappers" && !strings.HasPrefix(strings.TrimPrefix(symbol, "P"), "MPI") {
				file = "chain_tables"
			}
			definedIn[symbol] = file
		}
	}
	for _, n := range undefined {
		n.to = definedIn[n.symbol]
		if slices.Contains(layers, folder(n.from)) && slices.Contains(layers, folder(n.to)) { // not the C library, the shim and the tests
			needs = append(needs, n)
		}
	}
	return needs
}

// findCircle returns the needs that lead from a file of a folder back to it; nil if there are none.
func findCircle(needs []use, name string) []use {
	const visiting, done = 1, 2
	state := map[string]int{}
	var visit func(path []use, file string) []use
	visit = func(path []use, file string) []use {
		state[file] = visiting
		for _, n := range needs {
			if n.from != file || n.to == file || folder(n.to) != name {
				continue
			}
			longer := append(slices.Clip(path), n)
			if state[n.to] == visiting {
				return longer[slices.IndexFunc(longer, func(other use) bool { return other.from == n.to }):]
			}
			if state[n.to] != done {
				if circle := visit(longer, n.to); circle != nil {
					return circle
				}
			}
		}
		state[file] = done
		return nil
	}
	for _, n := range needs {
		if folder(n.from) == name && state[n.from] == 0 {
			if circle := visit(nil, n.from); circle != nil {
				return circle
			}
		}
	}
	return nil
}

func TestLayers(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		text, err := os.ReadFile(agenttest.Symbols(f.agent))
		if err != nil {
			t.Fatal(err)
		}
		needs := readNeeds(string(text))
		found := map[string]bool{}
		for _, n := range needs {
			found[folder(n.from)], found[folder(n.to)] = true, true
			if slices.Index(layers, folder(n.to)) < slices.Index(layers, folder(n.from)) {
				t.Errorf("%v, which stands above it", n)
			}
		}
		for _, layer := range layers {
			if !found[layer] {
				t.Errorf("no symbol of %s was seen", layer)
			}
			if circle := findCircle(needs, layer); circle != nil {
				t.Errorf("files of %s need each other: %v", layer, circle)
			}
		}
	})
}

func TestFindCircle(t *testing.T) {
	needs := []use{{"x_a", "x_b", "f"}, {"x_b", "x_c", "g"}, {"x_c", "y_a", "h"}, {"y_a", "y_a", "i"}, {"x_c", "x_b", "j"}}
	if got := findCircle(needs, "x"); !slices.Equal(got, []use{needs[1], needs[4]}) {
		t.Errorf("x: %v", got)
	}
	if got := findCircle(needs, "y"); got != nil {
		t.Errorf("y: %v", got)
	}
}
