package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"mpitx/recording"
)

const maxParents = 64 // a damaged run may say that an object is its own ancestor

// matching finds the objects of one process among those of all.
type matching struct {
	*builder
	rows  map[uint64]*row
	found map[uint64]*Object
	seen  map[string]int // how many objects of the process have equal properties

	process *process
	shared  map[madeAt]string // where many objects were made and freed, which are one, and their name; "": none, or several
	freed   map[*Object]bool  // of this process
}

// readObjects returns the objects of a process by the process's identifiers. 0 is the place of calls without an object.
func (b *builder) readObjects(pr *process) map[uint64]*Object {
	m := matching{b, map[uint64]*row{}, map[uint64]*Object{}, map[string]int{}, pr, map[madeAt]string{}, map[*Object]bool{}}
	m.found[0] = b.object("", &Object{Kind: Unknown})
	for _, row := range pr.declared {
		m.rows[row.count("id")] = row
		if row.count("made") > 1 {
			m.shared[pr.madeAt(row)] = row.text("name")
		}
	}
	for _, row := range pr.declared {
		if at := pr.madeAt(row); m.shared[at] != row.text("name") && m.shares(row) {
			m.shared[at] = ""
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.rows)) {
		if o := m.match(id, 0); o != nil {
			b.objectNames[o.Text()] = true
		}
	}
	return m.found
}

// match finds or makes the object of a row. Objects of different ranks are the same if they were made by the same function from the
// same parent, have the same name, and are the first (second …) such object of their rank.
func (m *matching) match(id uint64, depth int) *Object {
	row := m.rows[id]
	if row == nil || depth > maxParents || m.found[id] != nil {
		return m.found[id]
	}
	o := &Object{Kind: min(ObjectKind(row.count("kind")), Unknown), Name: row.text("name"), MadeBy: row.text("made_by"), Known: true, groups: map[uint64]bool{}}
	if parent := row.count("parent"); parent != 0 {
		o.Parent = m.match(parent, depth+1)
	}
	if m.shares(row) {
		o.Name = m.shared[m.process.madeAt(row)]
	}
	key := fmt.Sprintf("%d %s\x00%s", o.Kind, o.Name, o.MadeBy)
	if o.Parent != nil {
		key += fmt.Sprintf("\x00%d", o.Parent.number)
	}
	if m.shares(row) {
		key += fmt.Sprintf("\x00%v", m.process.madeAt(row).site)
	} else {
		m.seen[key]++
		key += fmt.Sprintf("\x00%d", m.seen[key])
	}
	o = m.object(key, o)
	o.Size = max(o.Size, row.number("size"))
	o.Made += max(row.count("made"), 1)
	if row.count("freed") == 0 {
		o.Alive++
	} else if !m.freed[o] {
		m.freed[o] = true
		o.Freed++
	}
	if group := row.count("group"); group != 0 {
		o.groups[group] = true
	}
	m.found[id] = o
	return o
}

// shares reports whether the object of a row is one with others of its line.
func (m *matching) shares(row *row) bool {
	_, shared := m.shared[m.process.madeAt(row)]
	return shared && (row.count("freed") != 0 || row.count("made") > 1)
}

// object returns the object with a key; a new one if there is none.
func (b *builder) object(key string, fresh *Object) *Object {
	if b.objects[key] == nil {
		fresh.number = len(b.objects)
		b.objects[key] = fresh
	}
	return b.objects[key]
}

// finishObjects lists the objects with calls.
func (b *builder) finishObjects() {
	for _, o := range b.objects {
		if o.Groups = max(len(o.groups), 1); o.Calls > 0 {
			b.p.Objects = append(b.p.Objects, o)
		}
	}
	slices.SortFunc(b.p.Objects, func(x, y *Object) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.number, y.number))
	})
}

// Text is the object's name; if it has none, how it was made. It is empty for nil.
func (o *Object) Text() string {
	if o == nil {
		return ""
	}
	if !o.Known {
		return "(none, or unknown)"
	}
	parent := ""
	if o.Parent != nil {
		parent = o.Parent.Name
	}
	return cmp.Or(recording.ObjectName(o.Name, o.MadeBy, parent), "unnamed "+o.Kind.String())
}
