package catalog

import (
	"errors"
	"strings"
)

// A Pattern selects performance variables to read in an application: GLOB[:CLASS][@world|@self|@all]. agent/pvar/pattern.c
// implements the same; both are tested with fixtures/patterns.txt.
type Pattern struct {
	Glob    string // including the class
	Objects string // the communicators to bind variables to that need one: world, self or all
	name    namePattern
}

// ParsePattern parses GLOB[:CLASS][@world|@self|@all]. It refuses an empty glob, another object, and newlines.
func ParsePattern(s string) (*Pattern, error) {
	p := &Pattern{Glob: s, Objects: "world"}
	if k := strings.LastIndexByte(s, '@'); k >= 0 {
		p.Glob, p.Objects = s[:k], s[k+1:]
	}
	if p.Objects != "world" && p.Objects != "self" && p.Objects != "all" {
		return nil, errors.New("unknown object after @; use world, self or all")
	}
	if p.Glob == "" || strings.ContainsAny(s, "\n\x00") {
		return nil, errors.New("must be GLOB[:CLASS][@world|@self|@all]")
	}
	var err error
	p.name, err = compileName(p.Glob)
	return p, err
}

// Match reports whether the pattern selects a variable with a name and class.
func (p *Pattern) Match(name string, class Class) bool { return p.name.match(name, class) }
