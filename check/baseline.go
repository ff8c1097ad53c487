package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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

// KnownItems returns the items that broke a rule in a baseline, also those that its own baseline had.
func (r *Report) KnownItems(rule string) map[string]bool {
	known := map[string]bool{}
	if one := r.Result(rule); one != nil {
		known = set(one.BadItems)
	}
	for _, text := range r.Known {
		if name, item, _ := strings.Cut(text, " "); name == rule {
			known[item] = true
		}
	}
	return known
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
		known, bad := base.KnownItems(one.Name), set(one.BadItems)
		if one.Status != Failed && (old.Status.Bad() || old.Status == Known) {
			for _, item := range slices.Sorted(maps.Keys(known)) {
				if !bad[item] {
					r.Gone = append(r.Gone, one.Name+" "+item)
				}
			}
		}
		if !one.Status.Bad() {
			continue
		}
		for _, item := range one.BadItems {
			if known[item] {
				r.Known = append(r.Known, one.Name+" "+item)
			}
		}
		if one.drop(func(item string) bool { return known[item] }); one.Bad == 0 {
			one.Status, one.Why = Known, "nothing new: the baseline has its violations"
		}
	}
}
