package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// Field is a property of the things a catalog lists, as a column of tables and CSV and a member of JSON objects. Text
// is foreign text: writers to terminals make it safe.
type Field struct {
	Name   string // as in --fields, JSON and CSV
	Header string // in tables
	Doc    string // one line of help

	Text func(*catalog.Catalog, *catalog.Variable) string
	JSON func(*catalog.Catalog, *catalog.Variable) any // nil: Text, null where it is ""

	data  func(*catalog.Catalog, *catalog.Variable) string // in CSV; nil: Text
	prose bool                                             // its line breaks are no more than blanks in a table
}

// text adapts extractors that need no catalog.
func text(f func(*catalog.Variable) string) func(*catalog.Catalog, *catalog.Variable) string {
	return func(_ *catalog.Catalog, v *catalog.Variable) string { return f(v) }
}

// numbered is the text of one of the standard's enumerations, "" where it is not given.
func numbered[T interface {
	~int32
	String() string
}](n T) string {
	if n == 0 {
		return ""
	}
	return n.String()
}

// Fields are all fields, in the order of documentation and of CSV.
var Fields = []Field{
	{Name: "kind", Header: "KIND", Doc: "what it is: cvar, pvar, category, …",
		Text: text(func(v *catalog.Variable) string { return v.Kind.Info().One })},
	{Name: "name", Header: "NAME", Doc: "name",
		Text: text(func(v *catalog.Variable) string { return v.Name })},
	{Name: "id", Header: "ID", Doc: "what identifies it: the name, of a performance variable name:class",
		Text: text((*catalog.Variable).ID)},
	{Name: "value", Header: "VALUE", Doc: "value now: after MPI_Init where it exists there, else before; of rank 0",
		Text: func(c *catalog.Catalog, v *catalog.Variable) string {
			if v.Current() == nil && len(v.Ranks) > 0 {
				return "not on rank 0"
			}
			return ReadingText(v.Current(), c.Enum(v.Enum))
		},
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return readingJSON(v.Current()) },
		data: func(c *catalog.Catalog, v *catalog.Variable) string { return readingData(c, v, v.Current()) }},
	{Name: "type", Header: "TYPE", Doc: "datatype of its elements",
		Text: text(func(v *catalog.Variable) string { return numbered(v.Type) })},
	{Name: "class", Header: "CLASS", Doc: "class of a performance variable",
		Text: text(func(v *catalog.Variable) string { return numbered(v.Class) })},
	{Name: "scope", Header: "SCOPE", Doc: "scope of a control variable: which processes a change concerns",
		Text: text(func(v *catalog.Variable) string { return numbered(v.Scope) })},
	{Name: "verbosity", Header: "VERBOSITY", Doc: "verbosity level: whom it is for, and how much detail it is",
		Text: text(func(v *catalog.Variable) string { return numbered(v.Verbosity) })},
	{Name: "bind", Header: "BIND", Doc: "kind of MPI object it must be bound to",
		Text: text(func(v *catalog.Variable) string { return numbered(v.Bind) })},
	{Name: "stage", Header: "STAGE", Doc: "where it exists: before MPI_Init, after it, or both",
		Text: text(func(v *catalog.Variable) string { return stageText(v.Before != nil, existsAfter(v)) })},
	{Name: "category", Header: "CATEGORY", Doc: "categories that list it",
		Text: text(func(v *catalog.Variable) string { return strings.Join(v.Categories, ",") }),
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return list(v.Categories) }},
	{Name: "enum", Header: "ENUM", Doc: "enumeration of its values; of an enumeration, its items",
		Text: text(func(v *catalog.Variable) string { return v.Enum })},
	{Name: "count", Header: "COUNT", Doc: "number of elements; of a category, of its variables; of an enumeration, of its items",
		Text: text(func(v *catalog.Variable) string {
			if r := v.Current(); r != nil && r.Count != 0 {
				return strconv.Itoa(r.Count)
			}
			return ""
		}),
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any {
			if r := v.Current(); r != nil && r.Count != 0 {
				return r.Count
			}
			return nil
		}},
	{Name: "flags", Header: "FLAGS", Doc: "readonly, continuous, atomic: of a performance variable",
		Text: text(func(v *catalog.Variable) string { return strings.Join(flags(v), ",") }),
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return list(flags(v)) }},
	{Name: "before", Header: "BEFORE", Doc: "value before MPI_Init",
		Text: func(c *catalog.Catalog, v *catalog.Variable) string {
			return ReadingText(v.Before, c.Enum(v.Enum))
		},
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return readingJSON(v.Before) },
		data: func(c *catalog.Catalog, v *catalog.Variable) string { return readingData(c, v, v.Before) }},
	{Name: "after", Header: "AFTER", Doc: "value after MPI_Init",
		Text: func(c *catalog.Catalog, v *catalog.Variable) string { return ReadingText(v.After, c.Enum(v.Enum)) },
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return readingJSON(v.After) },
		data: func(c *catalog.Catalog, v *catalog.Variable) string { return readingData(c, v, v.After) }},
	{Name: "status", Header: "STATUS", Doc: "what became of reading it: ok, faulty, error, unbound, missing",
		Text: text(func(v *catalog.Variable) string {
			if r := v.Current(); r != nil {
				return string(r.Status)
			}
			return ""
		})},
	{Name: "reason", Header: "REASON", Doc: "why it could not be read",
		Text: text(func(v *catalog.Variable) string {
			if r := v.Current(); r != nil {
				return r.Reason
			}
			return ""
		})},
	{Name: "writable", Header: "WRITABLE", Doc: "what a trial write answered: yes, not now, never",
		Text: text(func(v *catalog.Variable) string {
			if r := v.Current(); r != nil {
				return string(r.Writable)
			}
			return ""
		})},
	{Name: "set", Header: "SET", Doc: "where the user set it",
		Text: text(func(v *catalog.Variable) string { return originText(v.Origin) }),
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any {
			if v.Origin == nil {
				return nil
			}
			return v.Origin
		}},
	{Name: "differs", Header: "DIFFERS", Doc: "ranks where it differs from rank 0, and their values",
		Text: differsText,
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return list(v.Ranks) }},
	{Name: "ranks", Header: "RANKS", Doc: "value on each rank, equal ones together",
		Text: ranksText, JSON: ranksJSON},
	{Name: "conflicts", Header: "CONFLICTS", Doc: "attributes that differ between ranks where Table 14.1 of MPI-3.1 forbids it",
		Text: text(func(v *catalog.Variable) string { return joinFunc(v.Conflicts, "; ", conflictText) }),
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return list(v.Conflicts) }},
	{Name: "description", Header: "DESCRIPTION", Doc: "description", prose: true,
		Text: text(func(v *catalog.Variable) string { return v.Description })},
	{Name: "unit", Header: "UNIT", Doc: "unit of a variable of mpitx: ns, B",
		Text: text(func(v *catalog.Variable) string { return v.Unit })},
}

// FindField is the field of that name, nil where there is none.
func FindField(name string) *Field {
	i := slices.IndexFunc(Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &Fields[i]
}

// FieldNames are the names of all fields.
func FieldNames() []string {
	names := make([]string, len(Fields))
	for i, f := range Fields {
		names[i] = f.Name
	}
	return names
}

// ParseFields reads a --fields flag: names separated by commas, in the order wanted. An unknown one is an error that
// names the nearest and all there are.
func ParseFields(s string) ([]*Field, error) {
	var fields []*Field
	for name := range strings.SplitSeq(s, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		f := FindField(name)
		if f == nil {
			return nil, fmt.Errorf("no field %q (there are %s)%s", name, strings.Join(FieldNames(), ", "), catalog.DidYouMean(FieldNames(), name))
		}
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("no fields given (there are %s)", strings.Join(FieldNames(), ", "))
	}
	return fields, nil
}

// mustFields is ParseFields for the tables in the code.
func mustFields(s string) []*Field {
	fields, err := ParseFields(s)
	if err != nil {
		panic(err)
	}
	return fields
}
