package selftest

import (
	"debug/elf"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Functions without a wrapper: predefined callbacks, and one for a callback.
var unwrapped = regexp.MustCompile(`^P?MPIX?_([A-Z_]+_(FN|FN_NULL|F90)|Async_get_state)$`)

var function = regexp.MustCompile(`^P?MPIX?_`)

// mpiFunctions returns the MPI functions that a library or an agent exports.
func mpiFunctions(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC && function.MatchString(s.Name) {
			functions[s.Name] = true
		}
	}
	return functions
}

// path returns the path of the MPI library.
func (f *family) path(t *testing.T) string {
	t.Helper()
	output, err := exec.Command("ldd", f.compile(t, "mpicc", "plain.c")).Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(output))
	at := slices.Index(words, f.library)
	if at < 0 || at+2 >= len(words) {
		t.Fatalf("%s is not in %s", f.library, output)
	}
	return words[at+2]
}

// Every MPI function of the installed library has a wrapper, and no exception is useless.
func TestEveryFunction(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		library, wrapped := mpiFunctions(t, f.path(t)), mpiFunctions(t, f.agent)
		if len(library) < 800 || len(wrapped) < 800 {
			t.Fatalf("%d functions in %s, %d in the agent", len(library), f.path(t), len(wrapped))
		}
		for name := range library {
			if wrapped[name] == unwrapped.MatchString(name) {
				t.Errorf("%s: wrapped: %v; add it to prototypes.txt, or to the exceptions", name, wrapped[name])
			}
		}
	})
}
