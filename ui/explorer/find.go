package explorer

import (
	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/term"
)

// Search is what the explorer's / finds: the variables, events and event sources whose names or descriptions match all words of a query, best first.
func Search(c *catalog.Catalog, query string) []catalog.Entry {
	x := newIndex(c, term.Term{Terminal: export.Terminal{UTF8: true}})
	s := searcher{x: x}
	return x.items(s.find(x.all, query))
}
