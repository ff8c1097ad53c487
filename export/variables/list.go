package variables

import (
	"fmt"
	"io"

	"mpitx/catalog"
	"mpitx/export"
)

// ListOptions are the options of List.
type ListOptions struct {
	Format   export.Format // "" is the table
	Kinds    catalog.Kind  // 0: all
	Fields   []*Field      // --fields; nil: the format's default
	Terminal export.Terminal
	Tree     bool // the category tree instead of the table
	Filtered bool // the catalog is filtered, and headings say so
	Changed  bool // the list is of what was set: tables say by what before all else
}

// List writes the entries of a catalog in its order. The caller has applied any filter.
func List(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	if opts.Tree && (opts.Format == export.FormatTable || opts.Format == export.FormatWide || opts.Format == "") {
		return Tree(w, c, opts.Terminal, opts.Kinds)
	}
	if opts.Format == "" {
		opts.Format = export.FormatTable
	}
	write, ok := listWriters[opts.Format]
	if !ok {
		return fmt.Errorf("no such format for lists: %q", opts.Format)
	}
	return write(w, c, opts)
}

var listWriters = map[export.Format]func(io.Writer, *catalog.Catalog, ListOptions) error{
	export.FormatTable:  listTable,
	export.FormatWide:   listTable,
	export.FormatJSON:   listJSON,
	export.FormatNDJSON: listNDJSON,
	export.FormatCSV:    listCSV,
	export.FormatNames:  listNames,
}

// EmptyMessage says why a listing of some kinds is empty: the unfiltered catalog all has none, or none match. It ends without a
// newline.
func EmptyMessage(all *catalog.Catalog, k catalog.Kind) string {
	what, n := k.Describe(false), all.Count(k)
	library := all.Library.Family
	if library == "" {
		library = "this MPI library"
	}
	switch {
	case n == 0 && !all.Before.Read && !all.After.Read:
		return "no " + what + ": neither stage of " + library + " could be read"
	case n == 0:
		return "no " + what + ": " + library + " has none"
	case n == 1:
		return "no match: the filters exclude the only " + k.Describe(true)
	}
	return fmt.Sprintf("no match: the filters exclude all %d %s", n, what)
}
