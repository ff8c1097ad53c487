package variables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// Field is a property of catalog entries: a column of tables and CSV, and a member of JSON objects. Its text is not escaped.
type Field struct {
	Name   string // as in --fields, JSON and CSV
	Header string // in tables
	Doc    string // one line of help

	Text func(*catalog.Catalog, *catalog.Variable) string
	JSON func(*catalog.Catalog, *catalog.Variable) any // nil: Text, null where it is ""

	data  func(*catalog.Catalog, *catalog.Variable) string // in CSV; nil: Text
	prose bool                                             // line breaks become blanks in tables
}

// byVariable adapts a function that needs no catalog.
func byVariable(f func(*catalog.Variable) string) func(*catalog.Catalog, *catalog.Variable) string {
	return func(_ *catalog.Catalog, v *catalog.Variable) string { return f(v) }
}

// none is the text of a field that variables do not have.
func none(*catalog.Catalog, *catalog.Variable) string { return "" }

// Fields are all fields, in the order of the documentation and of CSV.
var Fields = []Field{
	{Name: "kind", Header: "KIND", Doc: "kind of entry: cvar, pvar, category, …",
		Text: byVariable(func(v *catalog.Variable) string { return v.Kind.Info().One })},
	{Name: "name", Header: "NAME", Doc: "name",
		Text: byVariable(func(v *catalog.Variable) string { return v.Name })},
	{Name: "id", Header: "ID", Doc: "identifier: the name; for a performance variable name:class",
		Text: byVariable((*catalog.Variable).ID)},
	{Name: "value", Header: "VALUE", Doc: "current value on rank 0: after MPI_Init if it exists then, else before",
		Text: func(c *catalog.Catalog, v *catalog.Variable) string {
			if v.Current() == nil && len(v.Ranks) > 0 {
				return "not on rank 0"
			}
			return VariableText(c, v, v.Current())
		},
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return readingJSON(v.Current()) },
		data: func(c *catalog.Catalog, v *catalog.Variable) string { return readingData(c, v, v.Current()) }},
	{Name: "type", Header: "TYPE", Doc: "datatype of its elements",
		Text: byVariable(func(v *catalog.Variable) string { return numbered(v.Type) })},
	{Name: "class", Header: "CLASS", Doc: "class of a performance variable",
		Text: byVariable(func(v *catalog.Variable) string { return numbered(v.Class) })},
	{Name: "scope", Header: "SCOPE", Doc: "scope of a control variable: the processes that a change concerns",
		Text: byVariable(func(v *catalog.Variable) string { return numbered(v.Scope) })},
	{Name: "verbosity", Header: "VERBOSITY", Doc: "verbosity level: the intended users and the amount of detail",
		Text: byVariable(func(v *catalog.Variable) string { return numbered(v.Verbosity) })},
	{Name: "bind", Header: "BIND", Doc: "kind of MPI object it must be bound to",
		Text: byVariable(func(v *catalog.Variable) string { return numbered(v.Bind) })},
	{Name: "stage", Header: "STAGE", Doc: "stages in which it exists: before MPI_Init, after it, or both",
		Text: byVariable(func(v *catalog.Variable) string { return stageText(v.Before != nil, existsAfter(v)) })},
	{Name: "category", Header: "CATEGORY", Doc: "categories that list it",
		Text: byVariable(func(v *catalog.Variable) string { return strings.Join(v.Categories, ",") }),
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return nonNil(v.Categories) }},
	{Name: "enum", Header: "ENUM", Doc: "enumeration of its values; for an enumeration, its items",
		Text: byVariable(func(v *catalog.Variable) string { return v.Enum })},
	{Name: "item", Header: "ITEM", Doc: "name of the value's item in the enumeration, also one that MPICH only describes",
		Text: func(c *catalog.Catalog, v *catalog.Variable) string {
			if r := v.Current(); r != nil && r.Status == catalog.StatusOK {
				return c.ItemOf(v, r.Value)
			}
			return ""
		}},
	{Name: "count", Header: "COUNT", Doc: "number of elements, of a category's variables, or of an enumeration's items",
		Text: byVariable(func(v *catalog.Variable) string {
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
	{Name: "flags", Header: "FLAGS", Doc: "flags of a performance variable: readonly, continuous, atomic",
		Text: byVariable(func(v *catalog.Variable) string { return strings.Join(flags(v), ",") }),
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return nonNil(flags(v)) }},
	{Name: "before", Header: "BEFORE", Doc: "value before MPI_Init",
		Text: func(c *catalog.Catalog, v *catalog.Variable) string {
			return VariableText(c, v, v.Before)
		},
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return readingJSON(v.Before) },
		data: func(c *catalog.Catalog, v *catalog.Variable) string { return readingData(c, v, v.Before) }},
	{Name: "after", Header: "AFTER", Doc: "value after MPI_Init",
		Text: func(c *catalog.Catalog, v *catalog.Variable) string { return VariableText(c, v, v.After) },
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return readingJSON(v.After) },
		data: func(c *catalog.Catalog, v *catalog.Variable) string { return readingData(c, v, v.After) }},
	{Name: "status", Header: "STATUS", Doc: "result of reading it: ok, faulty, error, unbound, missing",
		Text: byVariable(func(v *catalog.Variable) string {
			if r := v.Current(); r != nil {
				return string(r.Status)
			}
			return ""
		})},
	{Name: "reason", Header: "REASON", Doc: "why it could not be read",
		Text: byVariable(func(v *catalog.Variable) string {
			if r := v.Current(); r != nil {
				return r.Reason
			}
			return ""
		})},
	{Name: "writable", Header: "WRITABLE", Doc: "result of a trial write: yes, not now, never",
		Text: byVariable(func(v *catalog.Variable) string {
			if r := v.Current(); r != nil {
				return string(r.Writable)
			}
			return ""
		})},
	{Name: "set", Header: "SET", Doc: "where the user set it",
		Text: OriginText,
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any {
			o := v.FirstOrigin()
			if o.Origin == nil {
				return nil
			}
			return originForm{o.Rank, *o.Origin}
		}},
	{Name: "differs", Header: "DIFFERS", Doc: "ranks that differ from rank 0, and their values",
		Text: differsText,
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return nonNil(v.Ranks) }},
	{Name: "ranks", Header: "RANKS", Doc: "value on each rank, grouped by value",
		Text: ranksText, JSON: ranksJSON},
	{Name: "conflicts", Header: "CONFLICTS", Doc: "attributes that differ between ranks although Table 14.1 of MPI-3.1 forbids it",
		Text: byVariable(func(v *catalog.Variable) string { return joinFunc(v.Conflicts, "; ", conflictText) }),
		JSON: func(_ *catalog.Catalog, v *catalog.Variable) any { return nonNil(v.Conflicts) }},
	{Name: "description", Header: "DESCRIPTION", Doc: "description", prose: true,
		Text: byVariable(func(v *catalog.Variable) string { return v.Description })},
	{Name: "unit", Header: "UNIT", Doc: "unit of a variable of mpitx: ns, B",
		Text: byVariable(func(v *catalog.Variable) string { return v.Unit })},
	{Name: "elements", Header: "ELEMENTS", Doc: "elements of an event: name, datatype, displacement in bytes", Text: none},
	{Name: "events", Header: "EVENTS", Doc: "events in a category", Text: none},
	{Name: "hints", Header: "HINTS", Doc: "info hints of an event or event source", Text: none},
	{Name: "order", Header: "ORDER", Doc: "order of an event source's events: ordered, unordered", Text: none},
	{Name: "ticks_per_second", Header: "TICKS/S", Doc: "ticks per second of an event source's clock", Text: none},
	{Name: "max_ticks", Header: "MAX_TICKS", Doc: "greatest timestamp of an event source, after which it starts again from 0", Text: none},
	{Name: "interface", Header: "INTERFACE", Doc: "interface of an event: mpi_t, peruse", Text: none},
	{Name: "section", Header: "SECTION", Doc: "section of PERUSE 2.0 that has an event", Text: none},
	{Name: "support", Header: "SUPPORT", Doc: "whether an event of PERUSE is native, derived or unavailable", Text: none},
	{Name: "queue_scope", Header: "QUEUE OF EACH", Doc: "what has a queue of its own, of events of queues: communicator, tag, source, global", Text: none},
	{Name: "readable", Header: "READABLE", Doc: "whether an event source's clock can be read at any time", Text: none},
	{Name: "handle_hints", Header: "HANDLE_HINTS", Doc: "info hints that the library uses for a handle of an event", Text: none},
	{Name: "added", Header: "ADDED", Doc: "members that a category has only after MPI_Init", Text: none},
	{Name: "removed", Header: "REMOVED", Doc: "members that a category has only before MPI_Init", Text: none},
}

// originForm is an origin for programs, with its rank if that is not rank 0.
type originForm struct {
	Rank int `json:"rank,omitzero"`
	catalog.Origin
}

// FindField returns the field with a name; nil if there is none.
func FindField(name string) *Field {
	i := slices.IndexFunc(Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &Fields[i]
}

// FieldNames returns the names of all fields.
func FieldNames() []string {
	names := make([]string, len(Fields))
	for i, f := range Fields {
		names[i] = f.Name
	}
	return names
}

// ParseFields parses a --fields flag: names separated by commas, in output order. The error for an unknown name suggests similar
// ones and lists all.
func ParseFields(s string) ([]*Field, error) {
	var fields []*Field
	for name := range strings.SplitSeq(s, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		f := FindField(name)
		if f == nil {
			return nil, fmt.Errorf("unknown field %q; use %s%s", name, strings.Join(FieldNames(), ", "), catalog.DidYouMean(FieldNames(), name))
		}
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("no fields given; use %s", strings.Join(FieldNames(), ", "))
	}
	return fields, nil
}

// mustFields parses the fields of a table in the code.
func mustFields(s string) []*Field {
	fields, err := ParseFields(s)
	if err != nil {
		panic(err)
	}
	return fields
}
