// Package algorithm says which component and algorithm of a library served a collective call, from the functions that the call went
// through.
package algorithm

import (
	"slices"
	"strings"
)

// Served is how a collective call was served. Names are those of the library's enumerations (coll_tuned_allreduce_algorithm and the like)
// where it has one for the function, else what the function's name says.
type Served struct {
	Component string   `json:"component,omitempty"` // "tuned"; "": not known
	Decision  string   `json:"decision,omitempty"`  // "fixed": the component's own rules; "dynamic": rules or variables of the user; "": not known
	Algorithm string   `json:"algorithm,omitempty"` // "ring"; "": not known, or the only one of the component
	Parts     []string `json:"parts,omitempty"`     // the algorithms within it, in the order in which they were first called: "recursive_doubling", "reduce binomial"
	Only      bool     `json:"-"`                   // the component has one algorithm for this operation
	Functions []string `json:"functions,omitempty"` // of the library, in the order in which they were first called: the evidence
	More      bool     `json:"more,omitzero"`       // there were more functions
	Build     string   `json:"-"`                   // of a library that hides its functions: its build ID
}

// Known reports whether the algorithm is known, not only the component.
func (s *Served) Known() bool { return s.Algorithm != "" || s.Only }

// Unknown stands for what is not known.
const Unknown = "unknown"

// Text is "tuned: ring → recursive_doubling", "basic", "libnbc: unknown", "unknown".
func (s *Served) Text() string {
	var words []string
	switch {
	case s.Algorithm != "":
		words = append(words, s.Algorithm)
	case !s.Only:
		words = append(words, Unknown)
	}
	if words = append(words, s.Parts...); s.More {
		words = append(words, "…")
	}
	chain := strings.Join(words, " → ")
	switch {
	case len(s.Functions) == 0:
		return Unknown
	case s.Component == "" && s.Build != "":
		return chain
	case s.Component == "":
		return "unknown component: " + chain
	case chain == "":
		return s.Component
	}
	return s.Component + ": " + chain
}

// Parse reads the agent's text about a call of an MPI function: the names of the library's functions, each preceded by "COMPONENT:" if the
// component is a plug-in of its own, and by "-" if it works on another communicator than the call, separated by spaces; "…" at the end
// if there were more.
//
// What the call went through on its own communicator for its own operation is the component and the algorithm; anything else is a part.
func Parse(text, function string) (s Served) {
	if strings.HasPrefix(text, "@") {
		return parseHidden(text, function)
	}
	var all []passage
	for _, word := range strings.Fields(text) {
		if word == "…" {
			s.More = true
			continue
		}
		f := parse(word)
		if n := len(s.Functions); n == 0 || s.Functions[n-1] != f.symbol { // a function may be reached by two references
			s.Functions = append(s.Functions, f.symbol)
			all = append(all, f)
		}
	}
	if len(all) > 0 && all[0].other { // the agent does not know the library's handle of the communicator
		for i := range all {
			all[i].other = false
		}
	}
	operation, started := Operation(function), false
	apart := slices.ContainsFunc(all, func(f passage) bool { return f.other })
	for i := range all {
		f := &all[i]
		own := !f.other && f.operation == operation
		switch {
		case slices.Contains(passing, f.component):
		case !own:
			s.addPart(f.part(operation, s.Component))
		case !started:
			started = true
			s.Component = f.component
			s.serve(f)
		case s.Component == "han" && f.component != "han" && apart: // it made communicators of its own first, and has used them
			s.addPart(f.part(operation, s.Component))
		case f.decision != "" && s.Algorithm == "": // another component was asked instead
			s.Component = f.component
			s.serve(f)
		case s.Algorithm == "" && !s.Only || s.Algorithm == "" && s.Only && f.base() && len(s.Parts) == 0:
			s.serve(f)
		default:
			s.addPart(f.part(operation, s.Component))
		}
	}
	return s
}

// Operation is the operation of a collective function of MPI, in the library's words: "allreduce" of MPI_Iallreduce and
// MPI_Allreduce_init; "" of other functions.
func Operation(function string) string {
	name, ok := strings.CutPrefix(strings.ToLower(function), "mpi_")
	for _, prefix := range []string{"ineighbor_", "neighbor_"} {
		name = strings.TrimPrefix(name, prefix)
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_c"), "_init")
	for _, o := range operations {
		if ok && (name == o || name == "i"+o) {
			return o
		}
	}
	return ""
}

// serve takes what the functions of the call's operation say.
func (s *Served) serve(f *passage) {
	if f.decision != "" {
		s.Decision = f.decision
		return
	}
	s.Algorithm = f.name()
	s.Only = s.Algorithm == "" && f.only()
}

func (s *Served) addPart(part string) {
	if part != "" && !slices.Contains(s.Parts, part) {
		s.Parts = append(s.Parts, part)
	}
}

// passage is what the name of a function of the library says, and whether it works on another communicator than the call.
type passage struct {
	other     bool
	symbol    string
	component string // "tuned"; "": base, which several components use
	operation string // "allreduce"
	decision  string
	rest      string // of the name, after the operation
}

// operations are those of collectives, longer names before those that they begin with.
var operations = []string{"reduce_scatter_block", "reduce_scatter", "reduce", "allgatherv", "allgather", "allreduce", "alltoallw", "alltoallv", "alltoall",
	"barrier", "bcast", "exscan", "gatherv", "gather", "scan", "scatterv", "scatter"}

func parse(word string) (f passage) {
	word, f.other = strings.CutPrefix(word, "-")
	owner, symbol, found := strings.Cut(word, ":")
	if !found {
		owner, symbol = "", word
	}
	f.symbol = symbol
	rest := strings.TrimPrefix(strings.TrimPrefix(symbol, "ompi_coll_"), "mca_coll_")
	f.component, rest, _ = strings.Cut(rest, "_")
	if f.component == "base" {
		f.component = owner
	}
	for _, prefix := range []string{"ineighbor_", "neighbor_"} {
		rest = strings.TrimPrefix(rest, prefix)
	}
	for _, o := range operations {
		if after, ok := strings.CutPrefix(strings.TrimPrefix(rest, "i"), o); ok {
			f.operation, rest = o, after
			break
		}
	}
	for decision, suffixes := range map[string][]string{"fixed": {"_dec_fixed"}, "dynamic": {"_dec_dynamic", "_intra_dynamic", "_inter_dynamic"}} {
		for _, suffix := range suffixes {
			if strings.HasSuffix(rest, suffix) {
				f.decision = decision
			}
		}
	}
	words := slices.DeleteFunc(strings.Split(rest, "_"), func(w string) bool { return w == "" || w == "intra" || w == "inter" || w == "init" })
	f.rest = strings.Join(words, "_")
	return f
}

// passing are components that pass each call on to another one.
var passing = []string{"sync", "monitoring"}

// base reports whether a function is one of those that components share.
func (f *passage) base() bool { return strings.HasPrefix(f.symbol, "ompi_coll_base_") }

// only reports whether the component has one algorithm for the operation, so that its function is the algorithm.
func (f *passage) only() bool {
	return slices.Contains([]string{"basic", "self", "inter", "sm", "han"}, f.component)
}

// name is the name of the algorithm in a component's enumeration.
func (f *passage) name() string {
	if !f.base() {
		return f.rest
	}
	if name, ok := names[f.operation+" "+f.rest]; ok {
		return name
	}
	if name, ok := names[f.rest]; ok {
		return name
	}
	return f.rest
}

// part is the function as a part of another operation of a component.
func (f *passage) part(operation, component string) string {
	name := f.name()
	if f.decision != "" {
		return ""
	}
	if (f.other || f.operation != operation) && f.operation != "" {
		name = strings.TrimSpace(f.operation + " " + name)
	}
	if f.component != "" && f.component != component && !f.base() {
		name = strings.TrimSpace(f.component + " " + name)
	}
	return name
}

// names are those of the enumerations of the component tuned (ompi/mca/coll/tuned/coll_tuned_*_decision.c) for functions whose own names
// differ, by operation and name, or by name.
var names = map[string]string{
	"allgather basic_linear":                 "linear",
	"allgather direct_messaging":             "direct-messaging",
	"allgather k_bruck":                      "bruck-k-fanout",
	"allgatherv basic_default":               "default",
	"alltoall basic_linear":                  "linear",
	"alltoall bruck":                         "modified_bruck",
	"barrier basic_linear":                   "linear",
	"reduce basic_linear":                    "linear",
	"reduce in_order_binary":                 "in-order_binary",
	"reduce redscat_gather":                  "rabenseifner",
	"allreduce redscat_allgather":            "rabenseifner",
	"allreduce ring_segmented":               "segmented_ring",
	"reduce_scatter nonoverlapping":          "non-overlapping",
	"reduce_scatter basic_recursivehalving":  "recursive_halving",
	"reduce_scatter_block recursivehalving":  "recursive_halving",
	"reduce_scatter_block recursivedoubling": "recursive_doubling",
	"bcast bintree":                          "binary_tree",
	"bcast split_bintree":                    "split_binary_tree",
	"lin":                                    "linear",
	"lin_inter":                              "linear",
	"doublering":                             "double_ring",
	"neighborexchange":                       "neighbor",
	"recursivedoubling":                      "recursive_doubling",
	"two_procs":                              "two_proc",
}
