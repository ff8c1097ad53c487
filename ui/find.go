package ui

import (
	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/term"
)

// Search is what the explorer's / finds: the variables whose names or descriptions match all words of a query, best first.
func Search(c *catalog.Catalog, query string) []*catalog.Variable {
	x := newIndex(c, term.Term{Terminal: export.Terminal{UTF8: true}})
	s := searcher{x: x}
	var found []*catalog.Variable
	for _, i := range s.find(x.all, query) {
		found = append(found, x.entries[i].v)
	}
	return found
}
