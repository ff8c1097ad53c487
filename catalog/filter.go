package catalog

import (
	"fmt"
	"regexp"
	"slices"

	"mpitx/text"
)

// StageFilter is the stage in which a variable has to exist.
type StageFilter string

// The stage filters.
const (
	StageAny    StageFilter = ""       // any stage
	StageBefore StageFilter = "before" // before MPI_Init, and maybe after it
	StageAfter  StageFilter = "after"  // after MPI_Init, and maybe before it
	StageBoth   StageFilter = "both"   // before and after MPI_Init
)

// ParseStageFilter parses before, after or both.
func ParseStageFilter(s string) (StageFilter, error) {
	switch f := StageFilter(text.Lower(s)); f {
	case StageBefore, StageAfter, StageBoth:
		return f, nil
	}
	return "", fmt.Errorf("%q is not a stage; use before, after or both", s)
}

// Filter selects variables, events and event sources. An entry has to match every criterion that is set; of a list of alternatives
// it has to match one. An entry without a property, such as the scope of an event, does not match a criterion for it. The zero Filter selects everything.
type Filter struct {
	Names      []string    // globs that match whole names, ignoring case; NAME:class selects one class of a performance variable
	Regexps    []string    // regular expressions (RE2) that match a part of the name, ignoring case
	Categories []string    // globs of categories that list the entry, directly or through a nested category
	Verbosity  Verbosity   // up to this level; 0 is any
	Scopes     []Scope     // control variables
	Classes    []Class     // performance variables
	Types      []Datatype  // of the elements; of an event, of one of them
	Binds      []Bind      // the object that it is bound to
	Stage      StageFilter // the stage in which it exists
	Writable   bool        // a trial write succeeded, in the selected stage or else the current one
	Set        bool        // the user set it
	Differing  bool        // the reading or the metadata differ on another rank or node
}

// IsZero reports whether the filter selects everything.
func (f *Filter) IsZero() bool {
	return len(f.Names)+len(f.Regexps)+len(f.Categories)+len(f.Scopes)+len(f.Classes)+len(f.Types)+len(f.Binds) == 0 &&
		f.Verbosity == 0 && f.Stage == StageAny && !f.Writable && !f.Set && !f.Differing
}

// Matcher is a compiled Filter. It may be used concurrently.
type Matcher struct {
	filter     Filter
	names      []namePattern
	regexps    []*regexp.Regexp
	categories []text.Glob
}

type namePattern struct {
	whole, name text.Glob
	class       Class // 0: any
}

// Compile checks the patterns. The error names the wrong one.
func (f *Filter) Compile() (*Matcher, error) {
	m := &Matcher{filter: *f}
	for _, s := range f.Names {
		p, err := compileName(s)
		if err != nil {
			return nil, err
		}
		m.names = append(m.names, p)
	}
	for _, s := range f.Regexps {
		if _, err := regexp.Compile(s); err != nil { // compiled alone for an error with the expression as given
			return nil, fmt.Errorf("regular expression %q: %w", s, err)
		}
		m.regexps = append(m.regexps, regexp.MustCompile("(?i:"+s+")"))
	}
	for _, s := range f.Categories {
		g, err := text.CompileGlob(s)
		if err != nil {
			return nil, err
		}
		m.categories = append(m.categories, g)
	}
	return m, nil
}

// Variables returns the variables that match: control variables by name, then performance variables, then virtual ones.
func (m *Matcher) Variables(c *Catalog) []*Variable {
	inside := m.insideCategories(c)
	var some []*Variable
	for v := range c.Variables() {
		if m.match(v, inside) {
			some = append(some, v)
		}
	}
	return some
}

// Apply returns the catalog reduced to the variables, events and sources that match, the categories that contain one, directly or nested, and the
// enumerations in use. It shares everything with c, and returns c for a filter that selects everything.
func (m *Matcher) Apply(c *Catalog) *Catalog {
	if m.filter.IsZero() {
		return c
	}
	inside := m.insideCategories(c)
	vars := m.Variables(c)
	out := c.With(vars)
	out.Keep(Events, func(e Entry) bool { return m.matchEvent(e.(*Event), inside) })
	out.Keep(Sources, func(s Entry) bool { return m.matchSource(s.(*Source)) })
	held, used := map[string]bool{}, map[string]bool{}
	for i := range out.Events {
		e := &out.Events[i]
		used[e.Enum] = true
		for _, k := range e.Categories {
			held[k] = true
		}
	}
	for _, v := range vars {
		used[v.Enum] = true
		for _, k := range v.Categories {
			held[k] = true
		}
	}
	spread(held, parents(c))
	out.Keep(Categories, func(k Entry) bool { return held[k.ID()] })
	out.Keep(Enums, func(e Entry) bool { return used[e.ID()] })
	return out
}

// insideCategories returns the categories that match, and all nested in them.
func (m *Matcher) insideCategories(c *Catalog) map[string]bool {
	if len(m.categories) == 0 {
		return nil
	}
	inside, children := map[string]bool{}, map[string][]string{}
	for i := range c.Categories {
		k := &c.Categories[i]
		children[k.Name] = k.Categories
		if matchAny(m.categories, k.Name) {
			inside[k.Name] = true
		}
	}
	spread(inside, children)
	return inside
}

// parents maps each category to the categories that contain it.
func parents(c *Catalog) map[string][]string {
	up := map[string][]string{}
	for i := range c.Categories {
		for _, child := range c.Categories[i].Categories {
			up[child] = append(up[child], c.Categories[i].Name)
		}
	}
	return up
}

// spread adds everything reachable from its members to a set.
func spread(set map[string]bool, next map[string][]string) {
	var todo []string
	for name := range set {
		todo = append(todo, name)
	}
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, n := range next[name] {
			if !set[n] {
				set[n] = true
				todo = append(todo, n)
			}
		}
	}
}

func matchAny(globs []text.Glob, name string) bool {
	return slices.ContainsFunc(globs, func(g text.Glob) bool { return g.Match(name) })
}

// MatchName reports whether the name of an entry other than a variable matches the filter's Names and Regexps.
func (m *Matcher) MatchName(name string) bool {
	if len(m.names) > 0 && !slices.ContainsFunc(m.names, func(p namePattern) bool { return p.whole.Match(name) }) {
		return false
	}
	return m.matchRegexps(name)
}

func (m *Matcher) matchRegexps(name string) bool {
	return len(m.regexps) == 0 || slices.ContainsFunc(m.regexps, func(re *regexp.Regexp) bool { return re.MatchString(name) })
}

// compileName compiles GLOB[:CLASS].
func compileName(s string) (p namePattern, err error) {
	name, class := SplitClass(s)
	if p.whole, err = text.CompileGlob(s); err == nil {
		p.class = class
		p.name, err = text.CompileGlob(name)
	}
	return p, err
}

// match also tries the pattern with its class as a plain name, because a name may end like a class.
func (p *namePattern) match(name string, class Class) bool {
	return p.whole.Match(name) || p.class != 0 && p.class == class && p.name.Match(name)
}

func (m *Matcher) match(v *Variable, inside map[string]bool) bool {
	f := &m.filter
	return oneOf(f.Scopes, v.Scope) && oneOf(f.Classes, v.Class) && oneOf(f.Types, v.Type) &&
		oneOf(f.Binds, v.Bind) && (f.Verbosity == 0 || v.Verbosity <= f.Verbosity) && f.Stage.match(v) &&
		(!f.Writable || f.Stage.writable(v)) && (!f.Set || v.IsSet()) && (!f.Differing || v.Differs()) &&
		(len(m.names) == 0 || slices.ContainsFunc(m.names, func(p namePattern) bool { return p.match(v.Name, v.Class) })) &&
		m.matchRegexps(v.Name) &&
		(len(m.categories) == 0 || slices.ContainsFunc(v.Categories, func(k string) bool { return inside[k] }))
}

func oneOf[E comparable](allowed []E, e E) bool {
	return len(allowed) == 0 || slices.Contains(allowed, e)
}

func (s StageFilter) match(v *Variable) bool {
	return s.matchStages(v.Before.exists() || len(v.Nodes) > 0, v.After.exists() || len(v.Ranks) > 0)
}

func (s StageFilter) writable(v *Variable) bool {
	yes := func(g *Reading) bool { return g != nil && g.Writable == WritableYes }
	if s == StageAny {
		return yes(v.Current()) // the same stage that all other reports use
	}
	return s != StageAfter && yes(v.Before) || s != StageBefore && yes(v.After)
}

func (g *Reading) exists() bool { return g != nil && g.Status != StatusMissing }

// Lookup finds the variables with a literal name, NAME or NAME:class: exact matches, or else matches that ignore case. A
// performance variable's name without a class may match several classes.
func (l *Lists) Lookup(name string) []*Variable {
	bare, class := SplitClass(name)
	exact := func(a, b string) bool { return a == b }
	folded := func(a, b string) bool { return text.Lower(a) == text.Lower(b) }
	for _, same := range []func(a, b string) bool{exact, folded} {
		var found []*Variable
		for v := range l.Variables() {
			if same(v.Name, name) || class != 0 && v.Class == class && same(v.Name, bare) {
				found = append(found, v)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// Cvar returns the first control variable with a literal name; nil if there is none.
func (l *Lists) Cvar(name string) *Variable {
	for _, v := range l.Lookup(name) {
		if v.Kind == Cvars {
			return v
		}
	}
	return nil
}

// Enum returns the enumeration with a name; nil if there is none.
func (l *Lists) Enum(name string) *Enum {
	if i := slices.IndexFunc(l.Enums, func(e Enum) bool { return e.Name == name }); i >= 0 && name != "" {
		return &l.Enums[i]
	}
	return nil
}
