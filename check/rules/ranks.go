//go:build cgo && linux

package rules

import (
	"fmt"

	"mpitx/check"
)

var rankRules = section{subject: "ranks", ranks: 2, rules: []rule{
	{Rule: promise("ranks-variables", "MPI-3.1, Table 14.1", "Variables of the same name have the same metadata in all processes: verbosity, class, datatype, enumeration, description, binding, scope and flags."), run: eachEntry(shares, cvars, pvars), merge: compareRanks},
	{Rule: promise("ranks-enumerations", "MPI-3.1, Table 14.1", "Enumerations of the same name have the same number of items in all processes."), none: "no variable has an enumeration", run: eachEnum(noteEnums), merge: compareRanks},
	{Rule: promise("ranks-categories", "MPI-3.1, Table 14.1", "Categories of the same name have the same description and numbers of members in all processes."), run: eachEntry(shares, categories), merge: compareRanks},
	{Rule: promise("ranks-events", "MPI_T_event_get_info(3)", "Event types of the same name have the same metadata in all processes: verbosity, elements, description and binding."), needs: "MPI_T_event_get_num", none: noEvents, run: eachEntry(noteEvents, events), merge: compareRanks},
}}

func noteEvents(e *entry) {
	n := min(mostElements, max(0, e.value("num_elements")))
	e.fact("event "+e.label(), fmt.Sprint(e.nums, e.types.b[:n], e.offsets.b[:n], e.desc.String()))
}

// shares notes what must be the same in all processes, and the lines that get it.
func shares(e *entry) {
	m := e.mpi
	key := e.what + " " + e.label()
	if e.class() != 0 {
		key += fmt.Sprintf(":%d", e.class())
	}
	enum := ""
	if e.hasEnum() {
		m.quietly(func() {
			_, name := (&enumeration{mpi: m, handle: e.enum, name: e.label()}).getName()
			enum = "enumeration " + name.String() + ", "
		})
	}
	m.fact(key, fmt.Sprint(e.nums, enum, e.desc.String()))
}

func noteEnums(e *enumeration) {
	n, name := e.getName()
	e.fact("enumeration "+name.String(), n.String())
}

// compareRanks compares what the ranks noted by name.
func compareRanks(all []*journal, r *check.Result) {
	for k, j := range all {
		for _, key := range j.sharedKeys() {
			root, ok := all[0].shared[key]
			if k == 0 || !ok || root == j.shared[key] {
				continue
			}
			v := check.Violation{Status: check.Violated, Item: key, Called: []string{"MPI_T_*_get_info in rank 0 and rank " + fmt.Sprint(k)},
				Expected: fmt.Sprintf("%.200s, as in rank 0", root), Got: fmt.Sprintf("%.200s in rank %d", j.shared[key], k)}
			v.Program = rankProgram(r.Rule, key, v, all[0].facts)
			r.Add(v)
		}
	}
}
