// Package tuning knows what MPI_T does not say about control variables (MPI-3.1, section 14.3.6): which of them people who tune
// really set, when a library reads them, and what their effect depends on. The knowledge is in two readable files, which users can
// add to, and in the descriptions of the variables themselves. The package uses no MPI library.
package tuning

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mpitx/catalog"
)

//go:embed essentials.txt
var ownEssentials string

//go:embed rules.txt
var ownRules string

// Families are the families of MPI libraries that the files may name.
var Families = []string{"openmpi", "mpich"}

// Knowledge is what is known about the control variables of all families. It is not changed after it was read, so that goroutines
// may share it.
type Knowledge struct {
	purposes []Purpose
	rules    []rule
	own      int // the number of rules that mpitx comes with, which are the first
}

// Purpose is a group of essential variables.
type Purpose struct {
	Family     string
	Title      string // "Which transport"
	Essentials []Essential
}

// Essential is a variable, or a pattern of them, that users commonly tune.
type Essential struct {
	Use         string             // what it is for
	names       []*catalog.Matcher // of the same variable
	environment string             // or of an environment variable
}

// Own returns the knowledge that mpitx comes with.
func Own() *Knowledge {
	k := &Knowledge{}
	if err := errors.Join(k.AddEssentials("mpitx", ownEssentials), k.AddRules("mpitx", ownRules)); err != nil {
		panic(err) // a test reads both
	}
	k.own = len(k.rules)
	return k
}

// lazy compiles an expression when it is needed: few commands do, and all would wait for it.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var heading = lazy(`^\[(\S+)\s+(.+)\]$`)

// AddEssentials adds the text of a file of essentials; the error names the line that is wrong.
func (k *Knowledge) AddEssentials(file, text string) error {
	var at *Purpose
	return lines(file, text, func(_, line string) error {
		if h := heading().FindStringSubmatch(line); h != nil {
			if err := checkFamily(h[1]); err != nil {
				return err
			}
			same := func(p Purpose) bool { return p.Family == h[1] && p.Title == h[2] }
			n := slices.IndexFunc(k.purposes, same)
			if n < 0 {
				n = len(k.purposes)
				k.purposes = append(k.purposes, Purpose{Family: h[1], Title: h[2]})
			}
			at = &k.purposes[n]
			return nil
		}
		if at == nil {
			return fmt.Errorf("a line [FAMILY PURPOSE] must come first")
		}
		names, use, _ := strings.Cut(line, " ")
		e := Essential{Use: strings.TrimSpace(use)}
		if name, is := strings.CutPrefix(names, "$"); is {
			e.environment, names = name, ""
		}
		for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == '|' }) {
			m, err := compile(name)
			if err != nil {
				return err
			}
			e.names = append(e.names, m)
		}
		at.Essentials = append(at.Essentials, e)
		return nil
	})
}

// lines calls f with the place FILE:LINE and the text of each line that is not empty or a comment, without the space around it. Errors
// name the place.
func lines(file, text string, f func(at, line string) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		at := fmt.Sprintf("%s:%d", file, n)
		if err := f(at, line); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return nil
}

func checkFamily(word string) error {
	if slices.Contains(Families, word) {
		return nil
	}
	return fmt.Errorf("%q is not a family of MPI libraries; use %s", word, strings.Join(Families, " or "))
}

// compile parses names and patterns separated by commas.
func compile(names string) (*catalog.Matcher, error) {
	m, err := (&catalog.Filter{Names: strings.Split(names, ",")}).Compile()
	if err != nil {
		return nil, fmt.Errorf("%q: %w", names, err)
	}
	return m, nil
}

// Group is what a library has of a purpose: its variables, and what each is for.
type Group struct {
	Title       string
	Cvars       []*catalog.Variable
	Uses        []string // of each variable
	Environment []EnvironmentVariable
}

// EnvironmentVariable is one of a library that MPI builds on.
type EnvironmentVariable struct{ Name, Use string }

// Essentials returns the essential control variables that a library has, by purpose, without those of devices that it was not built for,
// unless they are set. A variable is once in a group.
func (k *Knowledge) Essentials(c *catalog.Catalog) []Group {
	return k.groups(c, func(v *catalog.Variable) bool { return v.IsSet() || !k.actsElsewhere(c, v) })
}

// Elsewhere are the essential control variables that Essentials leaves out.
func (k *Knowledge) Elsewhere(c *catalog.Catalog) []Group {
	return k.groups(c, func(v *catalog.Variable) bool { return !v.IsSet() && k.actsElsewhere(c, v) })
}

func (k *Knowledge) groups(c *catalog.Catalog, takes func(v *catalog.Variable) bool) []Group {
	family, _ := Library(c)
	var out []Group
	for _, p := range k.purposes {
		if p.Family != family {
			continue
		}
		g, seen := Group{Title: p.Title}, map[string]bool{}
		for _, e := range p.Essentials {
			if e.environment != "" && k.Reads(c, e.environment) {
				g.Environment = append(g.Environment, EnvironmentVariable{e.environment, e.Use})
			}
			for _, v := range e.of(c) {
				if !seen[v.Name] && takes(v) {
					seen[v.Name] = true
					g.Cvars, g.Uses = append(g.Cvars, v), append(g.Uses, e.Use)
				}
			}
		}
		if g.Cvars != nil || g.Environment != nil {
			out = append(out, g)
		}
	}
	return out
}

// Reads reports whether something in the library reads an environment variable, as far as the rules about it say.
func (k *Knowledge) Reads(c *catalog.Catalog, name string) bool {
	v := &catalog.Variable{Name: name}
	for r := range k.rulesOf(c, v) {
		for _, component := range r.selected {
			if selection(c, component, "").Met != Yes {
				return false
			}
		}
	}
	return !k.actsElsewhere(c, v)
}

// of returns the variables of a library: those that the user set by another of the names, or those of the first that it has.
func (e *Essential) of(c *catalog.Catalog) (out []*catalog.Variable) {
	set := func(v *catalog.Variable) bool { return v.IsSet() }
	for _, name := range e.names {
		var found []*catalog.Variable
		for n := range c.Cvars {
			if v := &c.Cvars[n]; name.MatchName(v.Name) {
				found = append(found, v)
			}
		}
		if out == nil || slices.ContainsFunc(found, set) && !slices.ContainsFunc(out, set) {
			out = found
		}
	}
	return out
}

var versions = []struct {
	family string
	text   *regexp.Regexp
}{
	{"openmpi", regexp.MustCompile(`Open MPI v?(\d+(?:\.\d+)*)`)},
	{"mpich", regexp.MustCompile(`MPICH\s+Version:\s*(\d+(?:\.\d+)*)`)},
}

// Library returns the family and the version of a catalog's library ("openmpi", "4.1.4"), also behind the standard ABI. The version
// is empty if the library does not say it.
func Library(c *catalog.Catalog) (family, version string) {
	for _, v := range versions {
		if found := v.text.FindStringSubmatch(c.Library.Text); found != nil {
			return v.family, found[1]
		}
	}
	return c.Library.Family, ""
}
