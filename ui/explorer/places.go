package explorer

import "slices"

type place struct {
	branch *branch
	query  string
	id     string
}

func (m *Model) here() place {
	p := place{branch: m.branch, query: m.query}
	if e := m.current(); e != nil {
		p.id = e.v.ID()
	}
	return p
}

// leave records the present place before a jump.
func (m *Model) leave() {
	m.places = append(m.places[:min(m.placeAt, len(m.places)):min(m.placeAt, len(m.places))], m.here())
	m.placeAt = len(m.places)
}

// travel goes back (-1) or forward (+1) in the history of places.
func (m *Model) travel(by int) {
	to := m.placeAt + by
	if to < 0 || to >= len(m.places) {
		m.note("no other place visited in that direction")
		return
	}
	if m.placeAt == len(m.places) {
		m.places = append(m.places, m.here())
	}
	m.placeAt = to
	p := m.places[to]
	m.query = p.query
	m.enter(p.branch)
	m.point(p.id)
}

// kept is what a catalog's successor takes over from it.
type kept struct {
	place
	open map[string]bool // unfolded branches, by their names
}

// keep records what the user sees of a catalog that another one will replace.
func (m *Model) keep() kept {
	k := kept{m.here(), map[string]bool{}}
	for _, b := range m.x.branches {
		k.open[b.name] = k.open[b.name] || b.open
	}
	return k
}

func (m *Model) comeBack(k kept) {
	if k.branch == nil {
		return
	}
	m.query = k.query
	to := m.x.root
	for _, b := range slices.Backward(m.x.branches) { // the first of a name
		b.open = b.open || k.open[b.name]
		if b.name == k.branch.name {
			to = b
		}
	}
	m.enter(to)
	m.point(k.id)
}

// enter shows a branch in the list and unfolds the tree to it.
func (m *Model) enter(b *branch) {
	m.branch = b
	for p := b.parent; p != nil; p = p.parent {
		p.open = true
	}
	m.refill()
}

// point puts the cursor on a variable if the list shows it, and says whether it does.
func (m *Model) point(id string) bool {
	m.chosen, m.detail = id, scroll{}
	top := m.list.top
	m.seek(false)
	e := m.current()
	if e == nil || e.v.ID() != id {
		return false
	}
	if l := m.layout(); m.list.at < top || m.list.at >= top+l.listH-1 {
		top = max(0, m.list.at-l.listH/3) // with its neighbours
	}
	m.list.top = top
	return true
}

// reveal puts the cursor on a variable: in the present list, or in the list of all variables. It says whether the filter lets
// it through.
func (m *Model) reveal(id string) bool {
	if m.point(id) {
		return true
	}
	m.query = ""
	if m.refill(); m.point(id) {
		return true
	}
	m.enter(m.x.root)
	return m.point(id)
}
