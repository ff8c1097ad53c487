// Package wrapgen generates the agent's wrappers, one for every function of an MPI family, from the table of prototypes
// (agent/prototypes.txt) and an installed mpi.h. It has no dependencies, so that `mpitx setup` can include it.
package wrapgen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Function is one MPI function to be wrapped.
type Function struct {
	Name       string
	Kind       string // a word of the table
	Local      bool   // its calls are short and local
	Parameters []Parameter
}

// Returns is the type that a function returns.
func (f Function) Returns() string {
	if _, of, ok := strings.Cut(f.Kind, ":"); ok && f.isValue() {
		return of
	}
	return "int"
}

// isValue reports whether a function returns a value, not an error code.
func (f Function) isValue() bool {
	return strings.HasPrefix(f.Kind, "value:") || strings.HasPrefix(f.Kind, "conversion:")
}

// Parameter is one parameter of a function. Before and After surround its name ("const int ", "[]").
type Parameter struct{ Name, Before, After string }

func (p Parameter) String() string { return p.Before + p.Name + p.After }

// Table is the contents of prototypes.txt.
type Table struct {
	Functions []Function
	Types     map[string]string // definitions for types that mpi.h may lack
}

// ParseTable parses prototypes.txt.
func ParseTable(text string) (*Table, error) {
	t := &Table{Types: map[string]string{}}
	seen, local := map[string]bool{}, map[string]bool{}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if names, ok := strings.CutPrefix(line, "local "); ok {
			for _, name := range strings.Fields(names) {
				local[name] = true
			}
			continue
		}
		words := strings.SplitN(line, " ", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("prototypes line %d: expected three words: %s", n+1, line)
		}
		if words[0] == "type" {
			t.Types[words[1]] = words[2]
			continue
		}
		list, ok := strings.CutPrefix(words[2], "(")
		list, closed := strings.CutSuffix(list, ")")
		if !ok || !closed || seen[words[0]] {
			return nil, fmt.Errorf("prototypes line %d: duplicate or invalid function: %s", n+1, line)
		}
		if _, ok := lookKind(words[1]); !ok {
			return nil, fmt.Errorf("prototypes line %d: unknown kind %s", n+1, words[1])
		}
		seen[words[0]] = true
		t.Functions = append(t.Functions, Function{Name: words[0], Kind: words[1], Local: local[words[0]], Parameters: parseParameters(list)})
	}
	for name := range local {
		if !seen[name] {
			return nil, fmt.Errorf("prototypes: %s is local, but not a function of the table", name)
		}
	}
	return t, nil
}

// lazily compiles an expression at its first use, as it is linked into mpitx, whose commands rarely use it.
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

// Words that belong to a type, so that in "unsigned int" int is not a parameter's name.
var typeWords = []string{"int", "char", "void", "double", "float", "long", "short", "unsigned", "signed", "const"}

// parseParameters splits a parameter list of mpi.h or the table. Unnamed parameters get no name.
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

// splitTop splits at commas outside of parentheses and brackets.
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

// dropAttributes removes __attribute__((…)).
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

// balanced returns the prefix of s from its opening bracket to the matching closing one.
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

// Wrappers is the result of Merge.
type Wrappers struct {
	Functions []Function
	Known     int      // the first of them are those of the table
	Types     []string // C definitions of types that mpi.h lacks
	Left      []string // functions that cannot be wrapped, with the reason
}

// Merge combines the table, a preprocessed mpi.h and its macros.
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
	w.Known = len(w.Functions)
	var extra []string
	for name := range declared {
		extra = append(extra, name)
	}
	slices.Sort(extra)
	for _, name := range extra {
		w.Functions = append(w.Functions, Function{Name: name, Kind: "-", Parameters: declared[name]}.named())
	}
	return w
}

// typed gives a function mpi.h's types and the table's names. If they differ in the number of parameters, mpi.h is right and the kind is
// ignored.
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

// addTypes defines the types that a function needs and mpi.h lacks, or returns the name of an unknown type.
func (w *Wrappers) addTypes(table *Table, f Function, known, made map[string]bool) string {
	for _, p := range append(f.Parameters, Parameter{Before: f.Returns()}) {
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
