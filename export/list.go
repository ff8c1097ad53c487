package export

import (
	"fmt"
	"io"

	"mpitx/catalog"
)

// ListOptions say what List writes, and how.
type ListOptions struct {
	Format   Format       // "" is the table
	Kinds    catalog.Kind // 0: all
	Fields   []*Field     // --fields; nil: those that suit the format
	Terminal Terminal
	Tree     bool // the category tree instead of the table
	Filtered bool // the catalog is what a filter left, and headings say so
}

// List writes what a catalog holds. The catalog is already filtered; its order is kept.
func List(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	if opts.Tree && (opts.Format == FormatTable || opts.Format == FormatWide || opts.Format == "") {
		return Tree(w, c, opts.Terminal, opts.Kinds)
	}
	if opts.Format == "" {
		opts.Format = FormatTable
	}
	write, ok := listWriters[opts.Format]
	if !ok {
		return fmt.Errorf("lists have no format %q", opts.Format)
	}
	return write(w, c, opts)
}

var listWriters = map[Format]func(io.Writer, *catalog.Catalog, ListOptions) error{
	FormatTable:  listTable,
	FormatWide:   listTable,
	FormatJSON:   listJSON,
	FormatNDJSON: listNDJSON,
	FormatCSV:    listCSV,
	FormatNames:  listNames,
}

// EmptyMessage says why a listing of some kinds is empty: whether there is nothing of them in all, the catalog before
// filtering, or nothing that matched. It ends without a newline.
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
		return "no " + what + ": " + library + " offers none"
	case n == 1:
		return "nothing matched: there is 1 of the " + what + ", and the filters leave it out"
	}
	return fmt.Sprintf("nothing matched: none of the %d %s is left by the filters", n, what)
}
