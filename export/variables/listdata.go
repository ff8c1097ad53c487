package variables

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/text"
)

// ListSchema identifies the document that List writes with --fields. Without --fields, the document is a catalog.
const (
	ListSchema        = "mpitx.list"
	ListSchemaVersion = 1
)

// csvFields are the columns of CSV. New columns are added at the end.
var csvFields = mustFields("kind,name,value,type,class,scope,verbosity,bind,stage,category,enum,count,flags," +
	"before,after,status,reason,writable,set,differs,conflicts,description,elements,order,ticks_per_second,max_ticks," +
	"interface,section,support,queue_scope,item")

// only returns the catalog reduced to some kinds.
func only(c *catalog.Catalog, k catalog.Kind) *catalog.Catalog {
	part := *c
	part.Lists = c.Only(k)
	return &part
}

// readable returns the catalog reduced to some kinds and the enumerations that its variables and events use, so that a reader can name the
// values, and with the items that a library only describes.
func readable(c *catalog.Catalog, k catalog.Kind) *catalog.Catalog {
	part := only(c, k)
	part.Cvars = slices.Clone(part.Cvars)
	for i := range part.Cvars {
		part.Cvars[i] = *c.WithItems(&part.Cvars[i])
	}
	if k.Has(catalog.Enums) {
		return part
	}
	used := map[string]bool{}
	for v := range part.Variables() {
		used[v.Enum] = true
	}
	for i := range part.Events {
		used[part.Events[i].Enum] = true
	}
	part.Enums = c.Enums
	part.Keep(catalog.Enums, func(e catalog.Entry) bool { return used[e.ID()] })
	return part
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
	out := export.LineWriter{W: w, Buf: fmt.Appendf(nil, "{\n  \"schema\": %q,\n  \"version\": %d", ListSchema, ListSchemaVersion)}
	for k := range opts.Kinds.Table() {
		if k.Optional && c.Count(k.Kind) == 0 {
			continue
		}
		out.Buf = fmt.Appendf(out.Buf, ",\n  %q: [", k.Word)
		sep := "\n    "
		for _, e := range c.Entries(k.Kind) {
			out.Buf = append(out.Buf, sep...)
			sep = ",\n    "
			var err error
			if out.Buf, err = export.AppendObject(out.Buf, names, func(i int) any { return opts.Fields[i].valueOf(c, k, e) }); err != nil {
				return err
			}
			if err := out.Flush(1 << 16); err != nil {
				return err
			}
		}
		if c.Count(k.Kind) > 0 {
			out.Buf = append(out.Buf, "\n  "...)
		}
		out.Buf = append(out.Buf, ']')
	}
	out.Buf = append(out.Buf, "\n}\n"...)
	return out.Flush(0)
}

func listNDJSON(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	if opts.Fields == nil {
		return documentLines(w, c, opts.Kinds)
	}
	fields := opts.Fields
	if kind := FindField("kind"); !slices.Contains(fields, kind) {
		fields = append([]*Field{kind}, fields...)
	}
	names := fieldNames(fields)
	out := export.LineWriter{W: w}
	for k, e := range c.Entries(opts.Kinds) {
		var err error
		if out.Buf, err = export.AppendObject(out.Buf, names, func(i int) any { return fields[i].valueOf(c, k, e) }); err != nil {
			return err
		}
		out.Buf = append(out.Buf, '\n')
		if err := out.Flush(1 << 16); err != nil {
			return err
		}
	}
	return out.Flush(0)
}

// documentLines writes the entries as in a catalog's document, one on a line, each with its kind.
func documentLines(w io.Writer, c *catalog.Catalog, kinds catalog.Kind) (err error) {
	out := export.LineWriter{W: w}
	for k, e := range c.Entries(kinds) {
		if v, ok := e.(*catalog.Variable); ok {
			e = c.WithItems(v)
		}
		if out.Buf, err = appendKind(out.Buf, k.One, e); err != nil {
			return err
		}
		out.Buf = append(out.Buf, '\n')
		if err := out.Flush(1 << 16); err != nil {
			return err
		}
	}
	return out.Flush(0)
}

// listCSV writes one table of all kinds, with the kind as the first column.
func listCSV(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	fields := opts.Fields
	if fields == nil {
		fields = csvFields
	} else if kind := FindField("kind"); !slices.Contains(fields, kind) {
		fields = append([]*Field{kind}, fields...)
	}
	out := csv.NewWriter(w)
	if err := out.Write(fieldNames(fields)); err != nil {
		return err
	}
	row := make([]string, len(fields))
	for k, e := range c.Entries(opts.Kinds) {
		for i, f := range fields {
			row[i] = opts.Terminal.CSV(f.textOf(c, k, e))
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// listNames writes one name on each line. A performance variable's name includes the class if the name is ambiguous. Names are
// escaped, so that each takes one line.
func listNames(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	times := map[string]int{}
	for i := range c.Pvars {
		times[c.Pvars[i].Name]++
	}
	escape := text.Safe
	if opts.Terminal.IsTTY {
		escape = opts.Terminal.Safe
	}
	name, id := FindField("name"), FindField("id")
	out := bufio.NewWriter(w)
	for k, e := range c.Entries(opts.Kinds) {
		f := name
		if k.Kind == catalog.Pvars && times[e.(*catalog.Variable).Name] > 1 {
			f = id
		}
		out.WriteString(escape(f.textOf(c, k, e)) + "\n")
	}
	return out.Flush()
}
