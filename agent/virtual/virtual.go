// Package virtual lists mpitx's own performance variables: the totals, the share of each MPI function, and those of the node.
// Their only tables are the agent's (agent/tools/tally/variables.h, agent/node/names.h), which the C preprocessor turns into
// table.go.
package virtual

//go:generate sh -c "(echo '// Code generated from ../tools/tally/variables.h and ../node/names.h by table.h. DO NOT EDIT.'; cc -E -P -x c -I../tools/tally -I../node table.h) | gofmt > table.go"

import (
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
	name        string
	class       catalog.Class
	field       string   // of enum tally_field
	kinds       []string // kinds of functions that contribute; empty means all
	traffic     []string // the calls carry at least one of these; empty means any
	onlyTotal   bool
	description string
}

func (d *definition) variable() catalog.Variable {
	return catalog.Variable{Kind: catalog.Virtual, Name: Prefix + d.name, Description: d.description, Class: d.class, Unit: units[d.class],
		Type: catalog.TypeUint64, Bind: catalog.BindNoObject, Verbosity: catalog.VerbosityUserBasic, Readonly: true, Continuous: true}
}

// Totals are the variables of whole processes, sorted by name.
func Totals() []catalog.Variable {
	all := make([]catalog.Variable, len(table))
	for k, d := range table {
		all[k] = d.variable()
	}
	return sorted(all)
}

// Matching are the totals, the variables of the node, and the shares that globs with a slash match. A name of another node's
// interface is one, too. here: also those of this machine's interfaces.
func Matching(here bool, globs ...string) []catalog.Variable {
	all := append(Totals(), ofEachProcess()...)
	if here {
		all = append(Totals(), Node()...)
	}
	for _, g := range globs {
		all = append(all, slices.DeleteFunc(NamedLike(g), func(v catalog.Variable) bool {
			return v.Name != g || slices.ContainsFunc(all, func(o catalog.Variable) bool { return o.Name == g })
		})...)
	}
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
	functions := prototypes().Functions
	names := map[string]bool{}
	for _, f := range functions {
		names[f.Name] = true
	}
	var all []catalog.Variable
	for _, d := range table {
		for _, f := range functions {
			// A function for large counts is the same function (find_forms in virtual.c).
			base, large := strings.CutSuffix(f.Name, "_c")
			class, traffic := f.Carries()
			if large && names[base] || !d.hasShare(class, traffic) {
				continue
			}
			v := d.variable()
			v.Name += "/" + f.Name
			if d.field == "TIME" { // the share of a function is not the time in MPI
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
	carries := func(what string) bool { return slices.Contains(traffic, "CALL_"+what) }
	any := func(list []string, has func(string) bool) bool {
		return len(list) == 0 || slices.ContainsFunc(list, has)
	}
	is := func(kind string) bool { return kind == class }
	switch {
	case unobserved(class), d.onlyTotal, !any(d.kinds, is), !any(d.traffic, carries), d.field == "IO_READ" && carries("REQUESTS"):
		return false
	}
	return class != "COMPLETION" || any(d.kinds, func(kind string) bool { return kind == "POINT_TO_POINT" })
}
