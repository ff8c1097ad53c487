package export

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"mpitx/catalog"
)

// ListSchema is the schema name of the document that List writes where --fields chooses what is in it; without, the
// document is a catalog.
const (
	ListSchema        = "mpitx.list"
	ListSchemaVersion = 1
)

// csvFields are the columns of CSV. New ones go to the end.
var csvFields = mustFields("kind,name,value,type,class,scope,verbosity,bind,stage,category,enum,count,flags," +
	"before,after,status,reason,writable,set,differs,conflicts,description")

// only is the catalog with some kinds, the other lists empty.
func only(c *catalog.Catalog, k Kinds) *catalog.Catalog {
	part := *c
	if !k.has(Cvars) {
		part.Cvars = nil
	}
	if !k.has(Pvars) {
		part.Pvars = nil
	}
	if !k.has(Virtual) {
		part.Virtual = nil
	}
	if !k.has(Categories) {
		part.Categories = nil
	}
	if !k.has(Enums) {
		part.Enums = nil
	}
	return &part
}

// readable is the catalog with some kinds, and with the enumerations that its variables use: without them the document, read
// again, has numbers in place of items.
func readable(c *catalog.Catalog, k Kinds) *catalog.Catalog {
	part := only(c, k)
	if k.has(Enums) {
		return part
	}
	used := map[string]bool{}
	for v := range part.Variables() {
		used[v.Enum] = true
	}
	part.Enums = slices.DeleteFunc(slices.Clone(c.Enums), func(e catalog.Enum) bool { return !used[e.Name] })
	return part
}

// entry is one thing of a catalog, whatever its kind.
type entry struct {
	c        *catalog.Catalog
	variable *catalog.Variable
	category *catalog.Category
	enum     *catalog.Enum
}

func (e entry) json(f *Field) any {
	switch {
	case e.variable != nil:
		return f.value(e.c, e.variable)
	case e.category != nil && f.Category != nil:
		return f.Category(e.category)
	case e.enum != nil && f.Enum != nil:
		return f.Enum(e.enum)
	}
	return nil
}

func (e entry) text(f *Field) string {
	switch {
	case e.variable != nil && f.data != nil:
		return f.data(e.c, e.variable)
	case e.variable != nil:
		return f.Text(e.c, e.variable)
	}
	if x := e.json(f); x != nil {
		return display(x)
	}
	return ""
}

// each calls f for everything of some kinds, kind by kind.
func each(c *catalog.Catalog, k Kinds, f func(kind Kinds, e entry) error) error {
	part := only(c, k)
	for _, vars := range []struct {
		kind Kinds
		list []catalog.Variable
	}{{Cvars, part.Cvars}, {Pvars, part.Pvars}, {Virtual, part.Virtual}} {
		for i := range vars.list {
			if err := f(vars.kind, entry{c: c, variable: &vars.list[i]}); err != nil {
				return err
			}
		}
	}
	for i := range part.Categories {
		if err := f(Categories, entry{c: c, category: &part.Categories[i]}); err != nil {
			return err
		}
	}
	for i := range part.Enums {
		if err := f(Enums, entry{c: c, enum: &part.Enums[i]}); err != nil {
			return err
		}
	}
	return nil
}

func fieldNames(fields []*Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

func listJSON(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	if opts.Fields == nil {
		return catalog.Write(w, readable(c, opts.Kinds))
	}
	names := fieldNames(opts.Fields)
	out := lines{w: w, buf: fmt.Appendf(nil, "{\n  \"schema\": %q,\n  \"version\": %d", ListSchema, ListSchemaVersion)}
	for _, k := range kindWords {
		if !opts.Kinds.has(k.kind) || k.kind == Virtual && len(c.Virtual) == 0 {
			continue
		}
		out.buf = fmt.Appendf(out.buf, ",\n  %q: [", k.word)
		sep := "\n    "
		err := each(c, k.kind, func(_ Kinds, e entry) (err error) {
			out.buf = append(out.buf, sep...)
			sep = ",\n    "
			if out.buf, err = appendObject(out.buf, names, func(i int) any { return e.json(opts.Fields[i]) }); err != nil {
				return err
			}
			return out.flush(1 << 16)
		})
		if err != nil {
			return err
		}
		if Count(c, k.kind) > 0 {
			out.buf = append(out.buf, "\n  "...)
		}
		out.buf = append(out.buf, ']')
	}
	out.buf = append(out.buf, "\n}\n"...)
	return out.flush(0)
}

func listNDJSON(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	if opts.Fields == nil {
		return documentLines(w, only(c, opts.Kinds))
	}
	fields := opts.Fields
	if kind := FindField("kind"); !contains(fields, kind) {
		fields = append([]*Field{kind}, fields...)
	}
	names := fieldNames(fields)
	out := lines{w: w}
	err := each(c, opts.Kinds, func(_ Kinds, e entry) (err error) {
		if out.buf, err = appendObject(out.buf, names, func(i int) any { return e.json(fields[i]) }); err != nil {
			return err
		}
		out.buf = append(out.buf, '\n')
		return out.flush(1 << 16)
	})
	if err != nil {
		return err
	}
	return out.flush(0)
}

func contains(fields []*Field, f *Field) bool {
	for _, x := range fields {
		if x == f {
			return true
		}
	}
	return false
}

// documentLines writes the elements of a catalog's document, each on a line with its kind.
func documentLines(w io.Writer, c *catalog.Catalog) error {
	out := lines{w: w}
	return cmp.Or(
		documentList(&out, "cvar", c.Cvars),
		documentList(&out, "pvar", c.Pvars),
		documentList(&out, "virtual", c.Virtual),
		documentList(&out, "category", c.Categories),
		documentList(&out, "enum", c.Enums),
		out.flush(0))
}

func documentList[E any](out *lines, kind string, list []E) (err error) {
	for i := range list {
		if out.buf, err = appendKind(out.buf, kind, &list[i]); err != nil {
			return err
		}
		out.buf = append(out.buf, '\n')
		if err := out.flush(1 << 16); err != nil {
			return err
		}
	}
	return nil
}

// listCSV writes one table of all kinds, with their kind as the first column. Programs get the text as it is; where
// people read it, it is made safe.
func listCSV(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	fields := opts.Fields
	if fields == nil {
		fields = csvFields
	} else if kind := FindField("kind"); !contains(fields, kind) {
		fields = append([]*Field{kind}, fields...)
	}
	out := csv.NewWriter(w)
	if err := out.Write(fieldNames(fields)); err != nil {
		return err
	}
	row := make([]string, len(fields))
	err := each(c, opts.Kinds, func(_ Kinds, e entry) error {
		for i, f := range fields {
			row[i] = e.text(f)
			if opts.Terminal.IsTTY {
				row[i] = opts.Terminal.Safe(row[i])
			}
		}
		return out.Write(row)
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// listNames writes one name on a line: the name of a performance variable with its class where the name alone is not
// enough. Names are escaped as Safe does, so that none can take two lines; ordinary ones are written as they are.
func listNames(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	times := map[string]int{}
	for i := range c.Pvars {
		times[c.Pvars[i].Name]++
	}
	escape := Safe
	if opts.Terminal.IsTTY {
		escape = opts.Terminal.Safe
	}
	name, id := FindField("name"), FindField("id")
	out := bufio.NewWriter(w)
	err := each(c, opts.Kinds, func(k Kinds, e entry) error {
		f := name
		if k == Pvars && times[e.variable.Name] > 1 {
			f = id
		}
		_, err := out.WriteString(escape(e.text(f)) + "\n")
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
