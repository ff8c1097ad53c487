package link

import "mpitx/catalog"

// Numbers identify variables in requests: the places in the first catalog, control variables first, from 0, followed by the variables
// that later catalogs add, in their order. Both sides count in the same way. The zero value is empty.
type Numbers struct {
	ids []string
	of  map[string]int
}

// Add numbers the variables of a catalog that have no number yet.
func (n *Numbers) Add(c *catalog.Catalog) {
	if n.of == nil {
		n.of = make(map[string]int, len(c.Cvars)+len(c.Pvars))
	}
	for _, v := range c.Entries(catalog.Cvars | catalog.Pvars) {
		id := v.ID()
		if _, ok := n.of[id]; !ok {
			n.of[id] = len(n.ids)
			n.ids = append(n.ids, id)
		}
	}
}

// Of is the number of a variable.
func (n *Numbers) Of(id string) (number int, ok bool) {
	number, ok = n.of[id]
	return number, ok
}

// ID is the variable of a number.
func (n *Numbers) ID(number int) (id string, ok bool) {
	if number < 0 || number >= len(n.ids) {
		return "", false
	}
	return n.ids[number], true
}
