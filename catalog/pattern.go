package catalog

import (
	"errors"
	"strings"
)

// A Pattern names performance variables to read in an application: GLOB[:CLASS][@world|@self|@all]. agent/pvar/pattern.c reads the
// same; fixtures/patterns.txt is tested with both.
type Pattern struct {
	Glob    string // with the class
	Objects string // the communicators that a variable that needs one is read for: world, self or all
	name    namePattern
}

// ParsePattern reads a pattern.
func ParsePattern(s string) (*Pattern, error) {
	p := &Pattern{Glob: s, Objects: "world"}
	if k := strings.LastIndexByte(s, '@'); k >= 0 {
		p.Glob, p.Objects = s[:k], s[k+1:]
	}
	if p.Objects != "world" && p.Objects != "self" && p.Objects != "all" {
		return nil, errors.New("after @ must come world, self or all")
	}
	if p.Glob == "" || strings.ContainsAny(s, "\n\x00") {
		return nil, errors.New("must be GLOB[:CLASS][@world|@self|@all]")
	}
	var err error
	p.name, err = compileName(p.Glob)
	return p, err
}

// Match reports whether a variable of this name and class is meant.
func (p *Pattern) Match(name string, class Class) bool { return p.name.match(name, class) }
