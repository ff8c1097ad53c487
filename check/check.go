// Package check is the model of mpitx check: rules of the standard, what came of them on a library, and reports.
package check

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is one promise of the standard.
type Rule struct {
	Name    string `json:"rule"`
	Subject string `json:"subject"`           // "names", "strings", …
	Section string `json:"section"`           // "MPI-3.1, 14.3.3"
	Promise string `json:"promise"`           // one sentence
	Allowed string `json:"allowed,omitempty"` // why a library may break the rule; its breaches are then Unchecked
}

// Status is what came of a rule.
type Status string

// The statuses, from the best.
const (
	Passed        Status = "passed"
	NotApplicable Status = "not applicable"
	Known         Status = "known"     // the baseline has all its violations
	Unchecked     Status = "unchecked" // the library breaks a rule that it may break
	Violated      Status = "violated"
	Hung          Status = "hung"
	Crashed       Status = "crashed"
	Failed        Status = "failed" // the rule could not be tested
)

// Bad reports whether the library broke the rule.
func (s Status) Bad() bool { return s == Violated || s == Hung || s == Crashed }

// Violation is one breach of a rule.
type Violation struct {
	Status   Status   `json:"status"`
	Item     string   `json:"item"`     // the variable, category or argument
	Called   []string `json:"called"`   // the calls that show it, in C
	Expected string   `json:"expected"` // by the standard
	Got      string   `json:"got"`
	Program  string   `json:"-"` // a C program that shows it; see Program
}

// Report is what came of all rules on a library.
type Report struct {
	Schema   string    `json:"schema"` // "mpitx.check"
	Version  int       `json:"version"`
	Library  string    `json:"library"`
	Standard string    `json:"standard"` // the version of MPI that the library claims
	Path     string    `json:"path,omitempty"`
	Results  []*Result `json:"results"`
	Features []Feature `json:"features,omitempty"`
	Baseline string    `json:"baseline,omitempty"` // the library of the baseline
	Known    []string  `json:"known,omitempty"`    // violations of the baseline that were left out
	Gone     []string  `json:"gone,omitempty"`     // violations of the baseline that did not happen
	Untested []string  `json:"untested,omitempty"` // rules that the baseline does not have, or could not test
	Seconds  float64   `json:"seconds"`
}

// Schema and Version are those of reports that this package writes. Reports of the first mpitx had no version; they are the same.
const (
	Schema  = "mpitx.check"
	Version = 1
)

// Count returns the number of rules with a status.
func (r *Report) Count(s Status) (n int) {
	for _, one := range r.Results {
		if one.Status == s {
			n++
		}
	}
	return n
}

// Bad reports whether the library broke a rule.
func (r *Report) Bad() bool {
	return slices.ContainsFunc(r.Results, func(one *Result) bool { return one.Status.Bad() })
}

// Result returns a rule's result, or nil.
func (r *Report) Result(rule string) *Result {
	for _, one := range r.Results {
		if one.Name == rule {
			return one
		}
	}
	return nil
}

// Some shortens a list of items.
func Some(items []string, most int) string {
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}
