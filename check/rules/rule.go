//go:build cgo && linux

package rules

import (
	"cmp"
	"slices"

	"mpitx/check"
)

// stage is what a rule finds.
type stage int

const (
	after  stage = iota // MPI_Init, then MPI_T
	before              // MPI_T, without MPI_Init
	across              // MPI_T, then MPI_Init
	bare                // nothing is initialized; the rule does it itself
)

// rule is a rule with the code that tests it.
type rule struct {
	check.Rule
	stage stage
	needs string // a routine; the rule does not apply to a library that lacks it
	none  string // why the rule does not apply if nothing was tested
	item  string // of a rule with one item; "": run begins items
	ranks int    // processes of a job; 0: one, without a launcher
	file  string // C before main in programs
	alone bool   // each item needs a process of its own
	run   func(*mpi)
	merge func([]*journal, *check.Result) // of a job: compares what the ranks noted
}

// section has the rules of one file, with what most of them need.
type section struct {
	subject, needs, none, file string
	stage                      stage
	ranks                      int
	rules                      []rule
}

var subjects = []section{names, stringRules, enumRules, cvarRules, writeRules, pvarRules, sessionRules, categoryRules, initRules, threadRules,
	invalidRules, profilingRules, rankRules, eventRules, firedRules, peruseRules, peruseFiredRules, qmpiRules}

// All are all rules, in the order of reports.
func All() []check.Rule {
	var out []check.Rule
	for _, r := range allRules() {
		out = append(out, r.Rule)
	}
	return out
}

func allRules() []rule {
	var out []rule
	for _, s := range subjects {
		for _, r := range s.rules {
			r.Subject, r.needs, r.none, r.file = s.subject, cmp.Or(r.needs, s.needs), cmp.Or(r.none, s.none), cmp.Or(r.file, s.file)
			r.stage, r.ranks = cmp.Or(r.stage, s.stage), cmp.Or(r.ranks, s.ranks)
			out = append(out, r)
		}
	}
	return out
}

func find(name string) *rule {
	rules := allRules()
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
		m.startTool()
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
