// Package wrapgen writes the agent's wrappers: one for every function of an MPI family, from the table of prototypes
// (agent/prototypes.txt) and an installed mpi.h. It has no dependencies, so that `mpitx setup` can carry it.
package wrapgen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Function is one MPI function as it will be wrapped.
type Function struct {
	Name       string
	Kind       string // a word of the table
	Parameters []Parameter
}

// Parameter is one parameter of a function: Before and After surround its name ("const int ", "[]").
type Parameter struct{ Name, Before, After string }

func (p Parameter) String() string { return p.Before + p.Name + p.After }

// Table is what prototypes.txt says.
type Table struct {
	Functions []Function
	Types     map[string]string // what to do for types that mpi.h lacks
}

// ParseTable reads prototypes.txt.
func ParseTable(text string) (*Table, error) {
	t := &Table{Types: map[string]string{}}
	seen := map[string]bool{}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.SplitN(line, " ", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("prototypes line %d: want three words: %s", n+1, line)
		}
		if words[0] == "type" {
			t.Types[words[1]] = words[2]
			continue
		}
		list, ok := strings.CutPrefix(words[2], "(")
		list, closed := strings.CutSuffix(list, ")")
		if !ok || !closed || seen[words[0]] {
			return nil, fmt.Errorf("prototypes line %d: not a new function: %s", n+1, line)
		}
		if _, ok := lookKind(words[1]); !ok {
			return nil, fmt.Errorf("prototypes line %d: unknown kind %s", n+1, words[1])
		}
		seen[words[0]] = true
		t.Functions = append(t.Functions, Function{Name: words[0], Kind: words[1], Parameters: parseParameters(list)})
	}
	return t, nil
}

// lazily compiles an expression when it is first used: this is linked into mpitx, whose commands hardly ever use it.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var (
	spaces      = lazily(`\s+`)
	identifier  = lazily(`[A-Za-z_]\w*`)
	mpiName     = lazily(`\bMPIX?_\w+`)
	prototype   = lazily(`\b(\w+(?: \w+)*?[ *]+)(MPIX?_\w+) ?\(`)
	suffix      = lazily(`(\[[^\]]*\])+$`)
	objectMacro = lazily(`(?m)^#define (\w+) `)
	trailing    = lazily(`[A-Za-z_]\w*$`)
)

// Words that end a type, so that "unsigned int" is not taken for a parameter named int.
var typeWords = []string{"int", "char", "void", "double", "float", "long", "short", "unsigned", "signed", "const"}

// parseParameters splits a list as mpi.h or the table has it. Unnamed parameters get no name.
func parseParameters(list string) []Parameter {
	list = strings.TrimSpace(spaces().ReplaceAllString(list, " "))
	if list == "" || list == "void" {
		return nil
	}
	var parameters []Parameter
	for _, text := range splitTop(list) {
		var p Parameter
		text = strings.TrimSpace(text)
		p.After = suffix().FindString(text)
		text = strings.TrimSpace(strings.TrimSuffix(text, p.After))
		p.Name = trailing().FindString(text)
		p.Before = strings.TrimSuffix(text, p.Name)
		if p.Before == "" || slices.Contains(typeWords, p.Name) || strings.TrimSpace(p.Before) == "const" {
			p.Before, p.Name = text+" ", ""
		}
		parameters = append(parameters, p)
	}
	return parameters
}

// splitTop splits at commas outside of brackets.
func splitTop(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range s {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, s[start:])
}

// dropAttributes removes __attribute__((…)), brackets balanced.
func dropAttributes(s string) string {
	const word = "__attribute__"
	var b strings.Builder
	for {
		i := strings.Index(s, word)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+len(word):]
		open := strings.IndexByte(s, '(')
		if open < 0 {
			return b.String()
		}
		s = s[open+len(balanced(s[open:])):]
	}
}

// balanced is the prefix of s, which begins with a bracket, up to the bracket that closes it.
func balanced(s string) string {
	depth := 0
	for i, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[:i+1]
			}
		}
	}
	return s
}

// ParseHeader finds the functions that a preprocessed mpi.h declares as int MPI_X(…) or int MPIX_X(…).
func ParseHeader(text string) map[string][]Parameter {
	text = spaces().ReplaceAllString(dropAttributes(text), " ")
	functions := map[string][]Parameter{}
	for _, statement := range strings.Split(text, ";") {
		match := prototype().FindStringSubmatchIndex(statement)
		if match == nil || strings.Contains(statement[:match[0]+1], "typedef") || strings.HasPrefix(strings.TrimSpace(statement), "typedef") {
			continue
		}
		returns := strings.Fields(statement[match[2]:match[3]])
		if returns[len(returns)-1] != "int" {
			continue
		}
		list := balanced(statement[match[1]-1:])
		functions[statement[match[4]:match[5]]] = parseParameters(strings.Trim(list, "()"))
	}
	return functions
}

// Wrappers is what Merge found out, ready to be written.
type Wrappers struct {
	Functions []Function
	Types     []string // C definitions of types that mpi.h lacks
	Left      []string // functions that cannot be expressed, with the reason
}

// Merge joins the table, a preprocessed mpi.h and the macros that are defined after it.
func Merge(table *Table, header, macros string) *Wrappers {
	declared := ParseHeader(header)
	known := map[string]bool{}
	for _, name := range identifier().FindAllString(header, -1) {
		known[name] = true
	}
	for _, match := range objectMacro().FindAllStringSubmatch(macros, -1) {
		known[match[1]] = true
	}
	w := &Wrappers{}
	made := map[string]bool{}
	for _, f := range table.Functions {
		if parameters, ok := declared[f.Name]; ok && f.Kind != "pcontrol" {
			delete(declared, f.Name)
			f = f.typed(parameters)
		} else {
			delete(declared, f.Name)
			if missing := w.addTypes(table, f, known, made); missing != "" {
				w.Left = append(w.Left, f.Name+": mpi.h has no "+missing)
				f.Kind = "absent"
			}
		}
		w.Functions = append(w.Functions, f)
	}
	var extra []string
	for name := range declared {
		if !conversion().MatchString(name) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	for _, name := range extra {
		w.Functions = append(w.Functions, Function{Name: name, Kind: "-", Parameters: declared[name]}.named())
	}
	return w
}

// Conversions between languages: most return a handle as an int, not an error code, and libraries' Fortran calls them for itself.
var conversion = lazily(`_(f2c|c2f|toint|fromint)$|^MPI_Status_[cf](08)?2[cf](08)?$`)

// typed gives a function mpi.h's types and the table's names. Where they disagree on the number of parameters, mpi.h is right and
// the kind is not to be trusted.
func (f Function) typed(parameters []Parameter) Function {
	if len(parameters) != len(f.Parameters) {
		return Function{Name: f.Name, Kind: "-", Parameters: parameters}.named()
	}
	merged := make([]Parameter, len(parameters))
	for i, p := range parameters {
		merged[i] = Parameter{Name: f.Parameters[i].Name, Before: p.Before, After: p.After}
	}
	f.Parameters = merged
	return f
}

func (f Function) named() Function {
	f.Parameters = slices.Clone(f.Parameters)
	for i := range f.Parameters {
		f.Parameters[i].Name = fmt.Sprintf("a%d", i+1)
	}
	return f
}

// addTypes defines what a function of the table needs and mpi.h lacks, or names a type that nothing is known of.
func (w *Wrappers) addTypes(table *Table, f Function, known, made map[string]bool) string {
	for _, p := range f.Parameters {
		for _, name := range mpiName().FindAllString(p.Before, -1) {
			if known[name] || made[name] {
				continue
			}
			definition := typeDefinition(name, table.Types[name])
			if definition == "" {
				return name
			}
			made[name] = true
			w.Types = append(w.Types, definition)
		}
	}
	return ""
}

func typeDefinition(name, class string) string {
	switch class {
	case "handle":
		return "typedef MISSING_HANDLE " + name + ";"
	case "pointer":
		return "typedef void *" + name + ";"
	case "integer":
		return "typedef int " + name + ";"
	case "function":
		return "typedef void " + name + "(void);"
	case "opaque":
		return "typedef struct missing_" + name + " " + name + ";"
	}
	return ""
}
