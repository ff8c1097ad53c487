package variables

import (
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
)

// view is the presentation of a kind. Variables have all fields; other kinds have kind, name, id, some of the others, and columns of
// their own.
type view struct {
	table, wide []tableField // of variables

	fields  map[string]func(catalog.Entry) any
	columns []viewColumn // after the name
	must    int          // number of columns that are never dropped
}

type viewColumn struct {
	export.Column
	text  func(catalog.Entry) string
	spare bool // left out if it is empty for all
}

var views = map[catalog.Kind]view{
	catalog.Cvars: {
		table: tableFields("name,value,type,scope,writable,stage,verbosity,category,set,differs,conflicts"),
		wide:  tableFields("name,value,type,scope,writable,stage,verbosity,enum,set,differs,conflicts,category,description"),
	},
	catalog.Pvars: {
		table: tableFields("name,value,class,type,stage,bind,verbosity,category,set,differs,conflicts"),
		wide:  tableFields("name,value,class,type,count,bind,flags,stage,verbosity,enum,differs,conflicts,category,description"),
	},
	catalog.Virtual: {table: tableFields("name,class,unit,description"), wide: tableFields("name,class,unit,description")},
	catalog.Events:  eventView,
	catalog.Sources: sourceView,
	catalog.Categories: {
		fields: map[string]func(catalog.Entry) any{
			"stage":       of(func(g *catalog.Category) any { return stageText(g.Before, g.After) }),
			"category":    of(func(g *catalog.Category) any { return nonNil(g.Categories) }),
			"count":       of(func(g *catalog.Category) any { return len(g.Cvars) + len(g.Pvars) }),
			"events":      of(func(g *catalog.Category) any { return nonNil(g.EventTypes) }),
			"conflicts":   of(func(g *catalog.Category) any { return nonNil(g.Conflicts) }),
			"description": of(func(g *catalog.Category) any { return g.Description }),
			"added":       of(func(g *catalog.Category) any { return nonNil(g.Added) }),
			"removed":     of(func(g *catalog.Category) any { return nonNil(g.Removed) }),
		},
		columns: []viewColumn{
			{Column: export.Column{Header: "CVARS"}, text: of(func(g *catalog.Category) string { return some(len(g.Cvars)) })},
			{Column: export.Column{Header: "PVARS"}, text: of(func(g *catalog.Category) string { return some(len(g.Pvars)) })},
			{Column: export.Column{Header: "EVENTS"}, text: of(func(g *catalog.Category) string { return some(max(g.Events, len(g.EventTypes))) }), spare: true},
			{Column: export.Column{Header: "INSIDE"}, text: of(func(g *catalog.Category) string { return some(len(g.Categories)) })},
			{Column: export.Column{Header: "STAGE"}, text: of(func(g *catalog.Category) string { return stageText(g.Before, g.After) })},
			{Column: export.Column{Header: "BY INIT"}, text: of(func(g *catalog.Category) string {
				return joinNonempty(" ", counted("+", len(g.Added)), counted("-", len(g.Removed)))
			}), spare: true},
			{Column: export.Column{Header: "DESCRIPTION", Flex: true, Floor: 16}, text: of(func(g *catalog.Category) string { return export.OneLine(g.Description) })},
		},
		must: 3,
	},
	catalog.Enums: {
		fields: map[string]func(catalog.Entry) any{
			"enum":  of(func(e *catalog.Enum) any { return e.Items }),
			"count": of(func(e *catalog.Enum) any { return len(e.Items) }),
		},
		columns: []viewColumn{
			{Column: export.Column{Header: "COUNT"}, text: of(func(e *catalog.Enum) string { return strconv.Itoa(len(e.Items)) })},
			{Column: export.Column{Header: "KIND"}, text: of(func(e *catalog.Enum) string {
				if e.Flags {
					return "flags"
				}
				return "values"
			})},
			{Column: export.Column{Header: "ITEMS", Flex: true, Floor: 16}, text: of(func(e *catalog.Enum) string { return strings.ReplaceAll(display(e.Items), ",", " ") })},
		},
		must: 2,
	},
}

// of adapts a function of one kind's entries.
func of[E catalog.Entry, T any](f func(E) T) func(catalog.Entry) T {
	return func(e catalog.Entry) T { return f(e.(E)) }
}

// valueOf returns an entry's field for JSON; nil if its kind does not have the field.
func (f *Field) valueOf(c *catalog.Catalog, k *catalog.KindInfo, e catalog.Entry) any {
	if v, ok := e.(*catalog.Variable); ok {
		return f.value(c, v)
	}
	switch f.Name {
	case "kind":
		return k.One
	case "name", "id":
		return e.ID()
	}
	if value := views[k.Kind].fields[f.Name]; value != nil {
		return value(e)
	}
	return nil
}

// textOf returns an entry's field for CSV.
func (f *Field) textOf(c *catalog.Catalog, k *catalog.KindInfo, e catalog.Entry) string {
	if v, ok := e.(*catalog.Variable); ok {
		if f.data != nil {
			return f.data(c, v)
		}
		return f.Text(c, v)
	}
	if x := f.valueOf(c, k, e); x != nil {
		return display(x)
	}
	return ""
}
