// Package virtual lists mpitx's own performance variables: the totals, and the share of each MPI function. Their only
// table is the agent's (agent/tools/tally/virtual.c), read from the sources in the binary.
package virtual

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"mpitx/agent"
	"mpitx/agent/wrapgen"
	"mpitx/catalog"
)

// Prefix begins the names of all of them.
const Prefix = "mpitx:"

// units are the units of the classes: times in nanoseconds, sums in bytes (virtual_info in virtual.c).
var units = map[catalog.Class]string{catalog.ClassTimer: "ns", catalog.ClassAggregate: "B"}

// definition is an entry of the agent's table.
type definition struct {
	variable  catalog.Variable
	field     string   // enum tally_field
	kinds     []string // kinds of functions that contribute; nil means all
	traffic   []string // traffic that the calls must be able to carry; nil means any
	messages  bool     // counts messages
	onlyTotal bool
}

// Totals are the variables of whole processes, sorted by name.
func Totals() []catalog.Variable {
	all := make([]catalog.Variable, len(definitions()))
	for k, d := range definitions() {
		all[k] = d.variable
	}
	return sorted(all)
}

// Matching are the totals, and the shares that globs with a slash match. As for --pvar, mpitx:* means totals only.
func Matching(globs ...string) []catalog.Variable {
	all := Totals()
	globs = slices.DeleteFunc(slices.Clone(globs), func(g string) bool { return !strings.Contains(g, "/") })
	if m, err := (&catalog.Filter{Names: globs}).Compile(); err == nil && len(globs) > 0 {
		for _, v := range shares() {
			if m.MatchName(v.Name) {
				all = append(all, v)
			}
		}
	}
	return sorted(all)
}

func sorted(vars []catalog.Variable) []catalog.Variable {
	slices.SortFunc(vars, func(a, b catalog.Variable) int { return strings.Compare(a.Name, b.Name) })
	return vars
}

// prototypes are the functions that the agent intercepts.
var prototypes = sync.OnceValue(func() *wrapgen.Table {
	text, err := agent.Sources.ReadFile("prototypes.txt")
	if err != nil {
		panic(err)
	}
	table, err := wrapgen.ParseTable(string(text))
	if err != nil {
		panic(err)
	}
	return table
})

// Functions are the names of all functions that the agent intercepts, if the library has them.
func Functions() []string {
	var names []string
	for _, f := range prototypes().Functions {
		if class, _ := f.Carries(); unobserved(class) {
			continue
		}
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// shares are the variables of single functions, mpitx:calls/MPI_Send.
var shares = sync.OnceValue(func() []catalog.Variable {
	table := prototypes()
	names := map[string]bool{}
	for _, f := range table.Functions {
		names[f.Name] = true
	}
	var all []catalog.Variable
	for _, d := range definitions() {
		for _, f := range table.Functions {
			// A function for large counts is the same function (find_forms in virtual.c).
			base, large := strings.CutSuffix(f.Name, "_c")
			class, traffic := f.Carries()
			if large && names[base] || !d.hasShare(class, traffic) {
				continue
			}
			v := d.variable
			v.Name += "/" + f.Name
			if d.field == "TALLY_TIME" { // the share of a function is not the time in MPI
				v.Name = Prefix + "time/" + f.Name
			}
			v.Description = "of " + f.Name + " alone: " + v.Description
			all = append(all, v)
		}
	}
	return sorted(all)
})

// unobserved functions return no error code; only function tools see them.
func unobserved(class string) bool { return class == "VALUE" || class == "CONVERSION" }

// hasShare mirrors has_share in virtual.c.
func (d *definition) hasShare(class string, traffic []string) bool {
	carries := func(what string) bool { return slices.Contains(traffic, what) }
	switch {
	case unobserved(class), d.onlyTotal, d.kinds != nil && !slices.Contains(d.kinds, class), d.traffic != nil && !slices.ContainsFunc(d.traffic, carries):
		return false
	case d.field == "TALLY_IO_READ" && carries("CALL_REQUESTS"):
		return false
	}
	return d.kinds == nil || d.messages || class != "COMPLETION"
}

var definitions = sync.OnceValue(func() []definition {
	text, err := agent.Sources.ReadFile("tools/tally/virtual.c")
	if err != nil {
		panic(err)
	}
	all, err := parse(string(text))
	if err != nil {
		panic(err) // a test parses the same text
	}
	return all
})

// parse parses the initializer of definitions in virtual.c: name, description, class, field, kinds, traffic,
// requirements, the field in a function's row, and whether there is only a total.
func parse(source string) ([]definition, error) {
	_, body, ok := strings.Cut(source, "definitions[] = {")
	body, _, closed := strings.Cut(body, "\n};")
	if !ok || !closed {
		return nil, fmt.Errorf("virtual.c: no table of definitions")
	}
	var all []definition
	for _, entry := range entries(body) {
		if len(entry) != 9 || !strings.HasPrefix(entry[0], Prefix) {
			return nil, fmt.Errorf("virtual.c: %q: not a definition", entry)
		}
		class, err := catalog.ParseClass(strings.TrimPrefix(entry[2], "MPITX_PVAR_CLASS_"))
		if err != nil {
			return nil, fmt.Errorf("virtual.c: %s: %w", entry[0], err)
		}
		d := definition{field: entry[3], messages: entry[4] == "MESSAGES", onlyTotal: entry[8] == "true",
			variable: catalog.Variable{Kind: catalog.Virtual, Name: entry[0], Description: entry[1], Class: class, Unit: units[class],
				Type: catalog.TypeUint64, Bind: catalog.BindNoObject, Verbosity: catalog.VerbosityUserBasic, Readonly: true, Continuous: true}}
		switch {
		case d.messages:
			d.kinds = []string{"POINT_TO_POINT", "COMPLETION"}
		case entry[4] != "ALL_KINDS":
			for word := range strings.SplitSeq(entry[4], "|") {
				d.kinds = append(d.kinds, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(word), "KIND(CALL_"), ")"))
			}
		}
		if entry[5] != "0" {
			for word := range strings.SplitSeq(entry[5], "|") {
				d.traffic = append(d.traffic, strings.TrimSpace(word))
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// entries are the values in each pair of braces, with strings unquoted.
func entries(body string) [][]string {
	var all [][]string
	var values []string
	var value strings.Builder
	quoted, inside := false, false
	for _, c := range body {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
			value.WriteRune(c)
		case c == '{':
			inside, values = true, nil
			value.Reset()
		case inside && (c == ',' || c == '}'):
			values = append(values, strings.TrimSpace(value.String()))
			value.Reset()
			if c == '}' {
				inside, all = false, append(all, values)
			}
		case inside:
			value.WriteRune(c)
		}
	}
	return all
}
