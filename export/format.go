package export

import (
	"fmt"
	"slices"
	"strings"
)

// Format is an output format.
type Format string

// The formats of -o.
const (
	FormatTable  Format = "table"
	FormatWide   Format = "wide"
	FormatJSON   Format = "json"
	FormatNDJSON Format = "ndjson"
	FormatCSV    Format = "csv"
	FormatNames  Format = "names"
)

// Formats are all formats, for help and completion.
var Formats = []Format{FormatTable, FormatWide, FormatJSON, FormatNDJSON, FormatCSV, FormatNames}

// FormatDocs says in a few words what each format is.
var FormatDocs = map[Format]string{
	FormatTable:  "for people, fitted to the terminal",
	FormatWide:   "more columns, nothing cut",
	FormatJSON:   "one document with a schema name and version",
	FormatNDJSON: "one JSON object per line",
	FormatCSV:    "a header and one row per line",
	FormatNames:  "names only, one per line",
}

// ParseFormat reads a -o flag; "" is the table.
func ParseFormat(s string) (Format, error) {
	if s == "" {
		return FormatTable, nil
	}
	if f := Format(strings.ToLower(s)); slices.Contains(Formats, f) {
		return f, nil
	}
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = string(f)
	}
	return "", fmt.Errorf("no output format %q: one of %s", s, strings.Join(names, ", "))
}

// Kinds is a set of the kinds of thing that a catalog lists.
type Kinds uint8

// The kinds.
const (
	Cvars Kinds = 1 << iota
	Pvars
	Categories
	Enums
	Virtual

	Variables = Cvars | Pvars | Virtual
	AllKinds  = Variables | Categories | Enums
)

var kindWords = []struct {
	kind  Kinds
	word  string // as an argument of list
	one   string
	title string
}{
	{Cvars, "cvars", "cvar", "Control variables"},
	{Pvars, "pvars", "pvar", "Performance variables"},
	{Virtual, "virtual", "virtual", "Variables of mpitx, for sample and record on any MPI"},
	{Categories, "categories", "category", "Categories"},
	{Enums, "enums", "enum", "Enumerations"},
}

// Describe names the kinds for a message, "variables or categories", or of one thing "variable or category".
func (k Kinds) Describe(one bool) string {
	var names []string
	add := func(kind Kinds, many, single string) {
		if k == 0 || k&kind == kind {
			if one {
				many = single
			}
			names = append(names, many)
		}
	}
	if k == 0 || k&(Cvars|Pvars) == Cvars|Pvars {
		add(Cvars, "variables", "variable")
	} else {
		add(Cvars, "control variables", "control variable")
		add(Pvars, "performance variables", "performance variable")
		add(Virtual, "variables of mpitx", "variable of mpitx")
	}
	add(Categories, "categories", "category")
	add(Enums, "enumerations", "enumeration")
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}

// Words are the arguments of list for the kinds.
func (k Kinds) Words() []string {
	var words []string
	for _, w := range kindWords {
		if k&w.kind != 0 {
			words = append(words, w.word)
		}
	}
	return words
}

// KindWords are the kinds as the list command takes them.
func KindWords() []string {
	return AllKinds.Words()
}

// ParseKind reads the word of a kind, in any case and also in the singular; "" is all of them.
func ParseKind(s string) (Kinds, error) {
	if s == "" {
		return AllKinds, nil
	}
	for _, k := range kindWords {
		if strings.EqualFold(s, k.word) || strings.EqualFold(s, k.one) {
			return k.kind, nil
		}
	}
	return 0, fmt.Errorf("no kind %q: one of %s", s, strings.Join(KindWords(), ", "))
}

// has reports whether k holds a kind; the empty set stands for all.
func (k Kinds) has(kind Kinds) bool { return k == 0 || k&kind != 0 }
