package check

import (
	"slices"
)

// MaxViolations is the number of violations of a rule that are kept with their calls.
const MaxViolations = 3

// Initialization is the item of a violation before the first item of a rule. What a library may break does not cover it.
const Initialization = "the initialization"

// Result is what came of a rule on a library.
type Result struct {
	Rule
	Status     Status      `json:"status"`
	Why        string      `json:"why,omitempty"` // why a rule does not apply, or failed
	Items      int         `json:"items"`         // items that were tested
	Bad        int         `json:"bad"`           // items that break the rule
	BadItems   []string    `json:"bad_items,omitempty"`
	Violations []Violation `json:"violations,omitempty"` // of the first items, with Keep of the first of these
	Seconds    float64     `json:"seconds"`

	// Keep chooses the items whose violations are kept; nil: all are the same.
	Keep func(item string) bool `json:"-"`

	worst map[string]Status // of each bad item
}

// severity orders the statuses of items.
var severity = []Status{Passed, Unchecked, Violated, Hung, Crashed}

func worse(a, b Status) Status {
	if slices.Index(severity, a) > slices.Index(severity, b) {
		return a
	}
	return b
}

// Add adds a violation.
func (r *Result) Add(v Violation) {
	status := v.Status
	if r.Allowed != "" && v.Item != Initialization {
		status = Unchecked
	}
	if r.worst == nil {
		r.worst = map[string]Status{}
	}
	before, known := r.worst[v.Item]
	r.worst[v.Item] = worse(before, status)
	r.Status = worse(r.Status, status)
	if !known {
		r.BadItems = append(r.BadItems, v.Item)
		r.Bad++
		r.Items = max(r.Items, r.Bad) // a crash may precede the first item
	}
	if len(r.Violations) < MaxViolations && (r.Keep == nil || r.Keep(v.Item)) {
		r.Violations = append(r.Violations, v)
	}
}

// drop removes bad items, and what they did to the status.
func (r *Result) drop(gone func(item string) bool) {
	r.BadItems = slices.DeleteFunc(r.BadItems, gone)
	r.Violations = slices.DeleteFunc(r.Violations, func(v Violation) bool { return gone(v.Item) })
	r.Bad, r.Status = len(r.BadItems), Passed
	for _, item := range r.BadItems {
		r.Status = worse(r.Status, r.worst[item])
	}
}

// Repeat keeps the bad items that another test of the same rule also found. If there are none, it keeps all and returns false.
func (r *Result) Repeat(again *Result) bool {
	here, there := set(r.BadItems), set(again.BadItems)
	found := slices.DeleteFunc(slices.Concat(r.Violations, again.Violations), func(v Violation) bool { return !here[v.Item] || !there[v.Item] })
	if len(found) == 0 {
		return false
	}
	r.drop(func(item string) bool { return !there[item] })
	r.Violations = nil
	for _, v := range found {
		if len(r.Violations) < MaxViolations && !slices.ContainsFunc(r.Violations, func(one Violation) bool { return one.Item == v.Item }) {
			r.Violations = append(r.Violations, v)
		}
	}
	return true
}

// Steady drops items that neither the baseline nor another test of the rule has.
func (r *Result) Steady(old map[string]bool, again *Result) {
	there := set(again.BadItems)
	r.drop(func(item string) bool { return !old[item] && !there[item] })
}

func set(items []string) map[string]bool {
	s := make(map[string]bool, len(items))
	for _, item := range items {
		s[item] = true
	}
	return s
}
