//go:build cgo && linux

package rules

import (
	"slices"

	"mpitx/catalog"
	"mpitx/check"
)

// stage is what a rule finds.
type stage int

const (
	bare   stage = iota // nothing is initialized; the rule does it itself
	before              // MPI_T, without MPI_Init
	after               // MPI_Init, then MPI_T
	across              // MPI_T, then MPI_Init
)

// rule is a rule with the code that tests it.
type rule struct {
	check.Rule
	stage stage
	needs string // a routine; the rule does not apply to a library that lacks it
	ranks int    // processes of a job; 0: one, without a launcher
	file  string // C before main in programs
	alone bool   // each item needs a process of its own
	run   func(*mpi)
	merge func([]*journal, *check.Result) // of a job: compares what the ranks noted
}

// section has the rules of one file.
type section struct {
	subject string
	rules   []rule
}

// All are all rules, in the order of reports.
func All() []check.Rule {
	var out []check.Rule
	for _, r := range all() {
		out = append(out, r.Rule)
	}
	return out
}

func all() []rule {
	var out []rule
	for _, s := range []section{names, stringRules, enumRules, cvarRules, writeRules, pvarRules, sessionRules, categoryRules, initRules, threadRules, invalidRules, profilingRules, rankRules, eventRules, eventHandleRules, sourceRules, firedRules, peruseRules, peruseFiredRules, qmpiRules} {
		for _, r := range s.rules {
			r.Subject = s.subject
			out = append(out, r)
		}
	}
	return out
}

func find(name string) *rule {
	rules := all()
	if k := slices.IndexFunc(rules, func(r rule) bool { return r.Name == name }); k >= 0 {
		return &rules[k]
	}
	return nil
}

// enter brings the library to the rule's stage.
func (m *mpi) enter(s stage) {
	if s == after {
		m.initMPI()
	}
	if s != bare {
		m.initTool(catalog.ThreadSingle)
	}
	if s == across {
		m.initMPI()
	}
}

// promise describes a rule.
func promise(name, section, text string) check.Rule {
	return check.Rule{Name: name, Section: section, Promise: text}
}

// allowed describes a rule about arguments that the standard's table of return codes lists, but which a library need not check.
func allowed(name, section, text string) check.Rule {
	return lenient(name, section, text, "an implementation is not required to check all arguments (14.3.9)")
}

// lenient describes a rule that a library may break, and why.
func lenient(name, section, text, why string) check.Rule {
	r := promise(name, section, text)
	r.Allowed = why
	return r
}
