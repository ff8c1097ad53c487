// Package check is the model of mpitx check: rules of the standard, what came of them on a library, and reports.
package check

import (
	"encoding/json"
	"errors"
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

// Result is what came of a rule on a library.
type Result struct {
	Rule
	Status     Status      `json:"status"`
	Why        string      `json:"why,omitempty"` // why a rule does not apply, or failed
	Items      int         `json:"items"`         // items that were tested
	Bad        int         `json:"bad"`           // items that break the rule
	BadItems   []string    `json:"bad_items,omitempty"`
	Violations []Violation `json:"violations,omitempty"` // of the first items
	Seconds    float64     `json:"seconds"`
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

// MaxViolations is the number of violations of a rule that are kept with their calls.
const MaxViolations = 3

// Initialization is the item of a violation before the first item of a rule. What a library may break does not cover it.
const Initialization = "the initialization"

// Add adds a violation.
func (r *Result) Add(v Violation) {
	if r.Allowed != "" && v.Item != Initialization {
		r.Status = Unchecked
	} else if v.Status == Crashed || v.Status == Hung || r.Status != Crashed && r.Status != Hung {
		r.Status = v.Status
	}
	if len(r.BadItems) == 0 || !slices.Contains(r.BadItems, v.Item) {
		r.BadItems = append(r.BadItems, v.Item)
		r.Bad++
		r.Items = max(r.Items, r.Bad) // a crash may precede the first item
	}
	if len(r.Violations) < MaxViolations {
		r.Violations = append(r.Violations, v)
	}
}

// Repeat keeps the violations that another test of the same rule also found. If there are none, it keeps all and returns false.
func (r *Result) Repeat(again *Result) bool {
	var twice []Violation
	for _, v := range r.Violations {
		if slices.Contains(again.BadItems, v.Item) {
			twice = append(twice, v)
		}
	}
	for _, v := range again.Violations {
		if slices.Contains(r.BadItems, v.Item) && !slices.ContainsFunc(twice, func(one Violation) bool { return one.Item == v.Item }) {
			twice = append(twice, v)
		}
	}
	if len(twice) == 0 {
		return false
	}
	r.Violations = twice
	r.BadItems = slices.DeleteFunc(r.BadItems, func(item string) bool { return !slices.Contains(again.BadItems, item) })
	r.Bad = len(r.BadItems)
	return true
}

// Steady drops items that neither the baseline nor another test of the rule has.
func (r *Result) Steady(old, again *Result) {
	chance := func(item string) bool {
		return !slices.Contains(old.BadItems, item) && !slices.Contains(again.BadItems, item)
	}
	r.BadItems = slices.DeleteFunc(r.BadItems, chance)
	r.Violations = slices.DeleteFunc(r.Violations, func(v Violation) bool { return chance(v.Item) })
	r.Bad = len(r.BadItems)
}

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

// ReadBaseline reads a report that mpitx check -o json wrote.
func ReadBaseline(raw []byte) (*Report, error) {
	r := &Report{}
	err := json.Unmarshal(raw, r)
	wrong := (*json.SyntaxError)(nil)
	switch {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("it is damaged or cut off at byte %d of %d: %w", wrong.Offset, len(raw), err)
	case r.Schema != Schema:
		return nil, errors.New("it is not a report of mpitx check")
	case r.Version > Version:
		return nil, fmt.Errorf("it has version %d of the format, and this mpitx reads version %d", r.Version, Version)
	case err != nil:
		return nil, fmt.Errorf("it is damaged: %w", err)
	case len(r.Results) == 0 || r.Library == "":
		return nil, errors.New("it has no results of a library")
	}
	for _, one := range r.Results {
		if one == nil || one.Name == "" || one.Status == "" {
			return nil, errors.New("it is damaged: a result has no rule or no status")
		}
	}
	return r, nil
}

// SameProduct reports whether two libraries differ at most in their version. The name of a library ends with its first digit.
func SameProduct(a, b string) bool {
	name := func(s string) string {
		if k := strings.IndexAny(s, "0123456789"); k >= 0 {
			s = s[:k]
		}
		return strings.TrimSpace(s)
	}
	return name(a) == name(b)
}

// Subtract removes the violations that another report of the same library has, so that what is new is left.
func (r *Report) Subtract(base *Report) {
	r.Baseline = base.Library
	for _, one := range r.Results {
		old := base.Result(one.Name)
		if old == nil || old.Status == Failed {
			r.Untested = append(r.Untested, one.Name)
		}
		if old == nil {
			continue
		}
		for _, item := range old.BadItems {
			if old.Status.Bad() && one.Status != Failed && !slices.Contains(one.BadItems, item) {
				r.Gone = append(r.Gone, one.Name+" "+item)
			}
		}
		if !one.Status.Bad() {
			continue
		}
		known := func(item string) bool { return slices.Contains(old.BadItems, item) }
		for _, item := range one.BadItems {
			if known(item) {
				r.Known = append(r.Known, one.Name+" "+item)
			}
		}
		one.BadItems = slices.DeleteFunc(one.BadItems, known)
		one.Violations = slices.DeleteFunc(one.Violations, func(v Violation) bool { return known(v.Item) })
		if one.Bad = len(one.BadItems); one.Bad == 0 {
			one.Status, one.Why = Known, "nothing new: the baseline has its violations"
		}
	}
}

// Some shortens a list of items.
func Some(items []string, most int) string {
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}
