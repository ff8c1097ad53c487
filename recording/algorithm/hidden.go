package algorithm

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Hidden is what functions of one build of a library do that hides the names of its functions, by their offsets: "allreduce" carries out that operation,
// by the algorithm that "allreduce auto" chooses, or by the one that a variable forces; "allreduce ring" is an algorithm.
type Hidden map[string]string

const auto = "auto"

// messages stands for messages outside of any operation's function.
const messages = "messages"

// parseHidden reads the agent's text about a call of such a library: "@" and its build ID, then chains of functions, the outermost one first:
// "@15ff29 2af00/2b040/1f320 2af00/2b040/1f480".
//
// A library may compose an operation of others, and of messages of its own. Then it has no algorithm, only parts.
func parseHidden(text, function string) (s Served) {
	words, operation := strings.Fields(text), Operation(function)
	s.Build = words[0][1:]
	table := HiddenOf(s.Build)
	var parts []string
	composed, first := false, true
	for _, chain := range words[1:] {
		if chain == "…" {
			s.More = true
			continue
		}
		s.Functions = append(s.Functions, chain)
		known, chose := table.known(chain)
		composed = composed || !strings.HasPrefix(known[0], operation+" ")
		if first {
			s.Decision, first = map[bool]string{false: "dynamic", true: auto}[chose], false
		}
		for _, part := range known {
			if !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	switch {
	case first || !table.has(function):
		s.Decision = ""
		return s
	case composed:
		s.Component, s.Only, s.Decision = "composition", true, ""
	case parts[0] == operation+" "+Unknown:
		s.Decision, parts = "", parts[1:]
	default:
		s.Algorithm, parts = strings.TrimPrefix(parts[0], operation+" "), parts[1:]
	}
	for _, part := range parts {
		if !composed {
			part = strings.TrimPrefix(part, operation+" ")
		}
		s.addPart(part)
	}
	return s
}

// known are the algorithms in a chain, the outermost one first, and whether the library chose the first one. The function that follows the one
// that carries out an operation, and the one that chooses for it, is the algorithm.
func (h Hidden) known(chain string) (list []string, chose bool) {
	functions := strings.Split(chain, "/")
	for i, f := range functions {
		name, next := h[f], ""
		if i+1 < len(functions) {
			next = h[functions[i+1]]
		}
		operation, value, algorithm := strings.Cut(name, " ")
		switch {
		case name == "":
		case algorithm && value != auto:
			list = append(list, name)
		case !strings.HasPrefix(next, operation+" "):
			list = append(list, operation+" "+Unknown)
		default:
			chose = chose || algorithm && len(list) == 0
		}
	}
	if list == nil {
		list = []string{messages}
	}
	return list, chose
}

// has reports whether algorithms of a function are known. Those of nonblocking functions and the like are not: the library plans such a call,
// and carries it out later.
func (h Hidden) has(function string) bool {
	operation := Operation(function)
	blocking := strings.TrimSuffix(strings.ToLower(function), "_c") == "mpi_"+operation
	return blocking && slices.Contains(slices.Collect(maps.Values(h)), operation)
}

// Algorithms is how many algorithms are known.
func (h Hidden) Algorithms() (n int) {
	for _, name := range h {
		if _, value, ok := strings.Cut(name, " "); ok && value != auto {
			n++
		}
	}
	return n
}

// ---- learning ----

// Forced is what calls of an operation went through while a variable had a value.
type Forced struct {
	Operation, Value string
	Instead          bool   // the library uses another algorithm if it cannot use the forced one; else the calls fail
	Text             string // the agent's
}

// Learn finds the functions of algorithms. All chains of an operation begin with the same functions if nothing is used instead. The last of
// them carries out the operation, and the next one is the algorithm, or for the value "auto", what chooses one. Calls of some algorithms fail
// unless others may be used within them. Values without a function of their own are unknown.
func Learn(all []Forced) (build string, found Hidden, unknown []string) {
	found = Hidden{}
	chains := map[Forced][][]string{}
	var operations []string
	for _, f := range all {
		words := strings.Fields(f.Text)
		if len(words) == 0 || !strings.HasPrefix(words[0], "@") {
			words = []string{""}
		}
		build = cmp.Or(build, strings.TrimPrefix(words[0], "@"))
		operations = append(operations, f.Operation)
		f.Text = ""
		if chains[f] == nil {
			chains[f] = [][]string{} // known, even without chains
		}
		for _, chain := range words[1:] {
			if chain != "…" {
				chains[f] = append(chains[f], strings.Split(chain, "/"))
			}
		}
	}
	slices.Sort(operations)
	for _, operation := range slices.Compact(operations) {
		next, last, chooses := nextFunctions(operation, chains)
		if last != "" {
			found[last] = operation
		}
		for value, functions := range next {
			own := len(functions) == 1 && last != "" && (value != auto || chooses)
			for other, others := range next {
				shared := other != value && own && slices.Contains(others, functions[0])
				own = own && (!shared || value == auto) // the others left it to the library's rules
			}
			if own && found[functions[0]] == "" {
				found[functions[0]] = operation + " " + value
			} else {
				unknown = append(unknown, operation+" "+value)
			}
		}
	}
	slices.Sort(unknown)
	return build, found, unknown
}

// nextFunctions are, by value, the functions that follow those that all chains of an operation begin with, and the last one of these.
// chooses is true if the function of the value "auto" calls algorithms.
func nextFunctions(operation string, chains map[Forced][][]string) (next map[string][]string, last string, chooses bool) {
	var common []string
	for f, of := range chains {
		for _, chain := range of {
			if f.Operation != operation || f.Instead {
				continue
			}
			if common == nil {
				common = chain
			}
			n := 0
			for n < min(len(common), len(chain)) && common[n] == chain[n] {
				n++
			}
			common = common[:n]
		}
	}
	next = map[string][]string{}
	n := len(common)
	calls := func(chain []string) bool { // the next function calls the algorithm of another value
		for value, functions := range next {
			if value != auto && len(chain) > n+1 && slices.Contains(functions, chain[n+1]) {
				return true
			}
		}
		return false
	}
	for _, instead := range []bool{false, true} {
		found := map[string][]string{}
		for f, of := range chains {
			if f.Operation != operation || f.Instead != instead || instead && len(next[f.Value]) > 0 {
				continue
			}
			found[f.Value] = nil
			for _, chain := range of {
				if len(chain) > n && slices.Equal(chain[:n], common) && !slices.Contains(found[f.Value], chain[n]) && !(instead && (slices.Contains(next[auto], chain[n]) || calls(chain))) {
					found[f.Value] = append(found[f.Value], chain[n])
				}
			}
		}
		maps.Copy(next, found)
	}
	ofAuto := chains[Forced{Operation: operation, Value: auto}]
	chooses = len(ofAuto) > 0 && !slices.ContainsFunc(ofAuto, func(chain []string) bool { return !calls(chain) })
	if n > 0 {
		last = common[n-1]
	}
	return next, last, chooses
}

// ---- the cache ----

var tables sync.Map // what HiddenOf has read, by build ID

// HiddenOf is what was learned about a build; nil if nothing was.
func HiddenOf(build string) Hidden {
	if known, ok := tables.Load(build); ok {
		return known.(Hidden)
	}
	var h Hidden
	if dir, err := os.UserCacheDir(); err == nil {
		if data, err := os.ReadFile(filepath.Join(dir, "mpitx", FileOf(build))); err != nil || json.Unmarshal(data, &h) != nil {
			h = nil
		}
	}
	tables.Store(build, h)
	return h
}

// FileOf is the name of the file in mpitx's cache that has a build's functions.
func FileOf(build string) string { return "algorithms-" + filepath.Base(build) + ".json" }
