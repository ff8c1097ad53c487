package selftest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mpitx/agent/agenttest"
)

// Only these objects can find a routine of the library: to ask it (mpi/ask.c), to send messages of --sync (mpi/pings.c), to call it for the application, and to find the library's file.
var finders = map[string][]string{
	"library_function": {"chain_resolve.o", "mpi_ask.o", "mpi_pings.o", "pvar_library.o"},
	"library_symbol":   {"chain_names.o", "chain_resolve.o", "event_carrier.o"},
}

func TestOnePlaceAsks(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		text, err := os.ReadFile(agenttest.Symbols(f.agent))
		if err != nil {
			t.Fatal(err)
		}
		users := map[string]map[string]bool{}
		for line := range strings.Lines(string(text)) {
			object, rest, _ := strings.Cut(line, ":")
			words := strings.Fields(rest)
			symbol := words[len(words)-1]
			if _, ok := finders[symbol]; ok && words[len(words)-2] == "U" {
				if users[symbol] == nil {
					users[symbol] = map[string]bool{}
				}
				users[symbol][object] = true
			}
			if name := strings.TrimPrefix(symbol, "P"); strings.HasPrefix(name, "MPI_") && words[len(words)-2] == "U" && !strings.HasPrefix(object, "chain_wrappers") {
				t.Errorf("%s needs %s", object, symbol)
			}
		}
		for symbol, want := range finders {
			if got := slices.Sorted(maps.Keys(users[symbol])); !slices.Equal(got, want) {
				t.Errorf("%s is used by %v, want %v", symbol, got, want)
			}
		}
	})
}

// The guide lists all MPI calls that the agent makes itself.
func TestOwnCallsAreListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, own, _ := strings.Cut(string(page), "\n## The agent's own calls\n")
	own, _, _ = strings.Cut(own, "\n## ")
	listed := map[string]bool{}
	for _, name := range regexp.MustCompile(`\b(MPI|PERUSE)_\w+`).FindAllString(own, -1) {
		listed[strings.ToLower(name)] = true
	}
	used := map[string]string{}
	sources, _ := filepath.Glob("../*/*.[ch]")
	more, _ := filepath.Glob("../tools/*/*.c")
	table := regexp.MustCompile(`table->(\w+)\(`)
	for _, file := range append(sources, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(file, "/test/") {
			continue
		}
		for _, m := range table.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			if !strings.HasPrefix(name, "peruse_") {
				name = "mpi_" + map[bool]string{false: "t_"}[strings.HasPrefix(name, "t_") || strings.HasPrefix(name, "get_") || name == "info_free"] + name
			}
			used[name] = file
		}
		if strings.HasSuffix(file, "mpi/ask.h") || strings.HasSuffix(file, "mpi/pings.c") {
			for _, m := range regexp.MustCompile(`\bX\(([A-Z]\w+)\)`).FindAllStringSubmatch(string(text), -1) {
				used["mpi_"+strings.ToLower(m[1])] = file
			}
		}
	}
	delete(used, "mpi_t_has") // asks no library
	for name, file := range used {
		if !listed[name] {
			t.Errorf("docs/guide.md: the agent's own calls do not have %s of %s", name, file)
		}
	}
	if len(used) < 50 {
		t.Errorf("only %d routines found", len(used))
	}
}
