//go:build cgo && linux

package rules

import (
	"cmp"
	"fmt"
	"slices"

	"mpitx/binding"
)

var stringRules = section{subject: "strings", rules: []rule{
	{Rule: promise("strings-length", "MPI-3.1, 14.3.3", "With a null buffer or the length 0, a routine returns only the length of the string plus one."), run: eachWhole(stringsLength)},
	{Rule: promise("strings-exact", "MPI-3.1, 14.3.3", "A buffer of the string's length plus one receives the whole string with its null character, and not more."), run: eachWhole(stringsCut(0))},
	{Rule: promise("strings-truncated", "MPI-3.1, 14.3.3", "A buffer of n characters that is too short receives n-1 characters and a null character."), run: eachWhole(stringsCut(1))},
	{Rule: promise("strings-truncated-length", "MPI-3.1, 14.3.3", "For a string that was truncated, the length of the whole string plus one is returned."), run: eachWhole(stringsTruncatedLength)},
	{Rule: promise("strings-no-length", "MPI-3.1, 14.3.3", "With a null pointer for the length, the buffer is ignored and nothing is returned."), run: eachString(stringsNoLength)},
	{Rule: promise("strings-no-description", "MPI-3.1, 14.3.6 to 14.3.8", "A missing description is the null character alone, with the length 1."), run: noDescription},
}}

// stringCall is a routine that returns a string, for one thing: with a buffer (or nil) and a length (or nil).
type stringCall struct {
	*mpi
	what string
	call func(buf *buffer, length *num) code
}

// stringCalls calls f for every string that the library returns: the names and descriptions of variables, categories, event types and
// sources, the names of enumerations and their items. Each is an item.
func stringCalls(m *mpi, f func(s stringCall)) {
	for _, l := range append(lists(m), eventLists(m)...) {
		for k := range m.quietCount(l) {
			for _, field := range []string{"name", "desc"} {
				if !m.item("%s %d (%s)", l.what, k, field) {
					continue
				}
				e := m.peek(l, k)
				if !e.ok() {
					m.absent()
					continue
				}
				m.rename(e.item() + " (" + field + ")")
				f(stringCall{m, field, func(buf *buffer, length *num) code { return m.entryWith(l, k, alone(field, buf, length)).code }})
			}
		}
	}
	for _, e := range m.enumerations() {
		if m.item("enumeration of %s", e.name) {
			e.again()
			f(stringCall{m, "name", func(buf *buffer, length *num) code { return e.getInfo(buf, length).code }})
		}
		for _, k := range m.someItems(e) {
			if m.item("%s (item %d)", e.name, k) {
				e.again()
				f(stringCall{m, "item", func(buf *buffer, length *num) code { return e.getItem(k, buf, length).code }})
			}
		}
	}
}

// someItems returns the first and the last item of an enumeration, and the one with the longest name.
func (m *mpi) someItems(e *enumeration) (some []int) {
	m.quietly(func() {
		e.again()
		n := int(e.getInfo(nil, m.num("len", 0)).v)
		longest, most := 0, 0
		for k := range min(n, 4096) {
			name := m.text("name", wholeName)
			e.getItem(k, name, m.num("len", wholeName))
			if size := len(name.String()); size > most {
				longest, most = k, size
			}
		}
		if n > 0 {
			some = []int{0, longest, n - 1}
		}
	})
	slices.Sort(some)
	return slices.Compact(some)
}

// alone are the arguments of a get_info that asks for the name or the description alone.
func alone(field string, buf *buffer, length *num) *nameAndDescription {
	if field == "desc" {
		return &nameAndDescription{desc: buf, descLen: length}
	}
	return &nameAndDescription{name: buf, nameLen: length}
}

// eachString is a rule about every string, and eachWhole one that needs the string itself, by a call with a large buffer.
func eachString(f func(s stringCall)) func(*mpi) { return func(m *mpi) { stringCalls(m, f) } }

func eachWhole(f func(s stringCall, whole *buffer)) func(*mpi) {
	return eachString(func(s stringCall) {
		buf, length := s.text(s.what, wholeDesc), s.num("len", wholeDesc)
		c := s.call(buf, length)
		if c.ok() && length.v > wholeDesc { // what follows is about a string that is whole
			s.absent()
		} else if s.expect(c.is(0), buf.ended(wholeDesc).but("none")) {
			f(s, buf)
		}
	})
}

// isLength expects the length of a string plus one.
func isLength(n *num, b *buffer) cond {
	size := int32(len(b.String()) + 1)
	return n.is(named("(int)strlen("+b.c+") + 1", size)).as("the length %d", size)
}

func stringsLength(s stringCall, whole *buffer) {
	length := s.num("len", 8)
	s.expect(s.call(nil, length).is(0), isLength(length, whole))
	buf, length := s.text(s.what, 8), s.num("len", 0)
	s.expect(s.call(buf, length).is(0), isLength(length, whole), buf.intact(0, 8).as("the buffer unchanged, as its length is 0"))
}

// stringsCut passes a buffer of the exact size, or one that is shorter.
func stringsCut(short int) func(s stringCall, whole *buffer) {
	return func(s stringCall, whole *buffer) {
		size := len(whole.String()) + 1 - short
		if size < 1 {
			return
		}
		part, length := s.text(s.what, size+8), s.num("len", size)
		c := s.call(part, length)
		end := named(fmt.Sprintf("%s[%d]", part.c, size-1), int(part.b[size-1]))
		s.expect(c.is(0), every(part.same(whole, size-1), end.is(0), part.intact(size, 8)).
			as("%d characters, a null character, and nothing after it", size-1).but("%s", excerpt(string(part.b), 80)))
	}
}

func stringsTruncatedLength(s stringCall, whole *buffer) {
	if size := len(whole.String()); size >= 2 {
		part, length := s.text(s.what, size), s.num("len", size)
		s.expect(s.call(part, length).is(0), isLength(length, whole).as("the length %d of the whole string plus one", size+1))
	}
}

func stringsNoLength(s stringCall) {
	buf := s.text(s.what, 8)
	s.expect(s.call(buf, nil).is(0), buf.intact(0, 8).as("the buffer unchanged"))
}

func noDescription(m *mpi) {
	for _, l := range append(lists(m), eventLists(m)...) {
		m.entries(l, func(e *entry) {
			if e.desc.String() == "" || e.descLen.v < 1 {
				empty := named(e.desc.c+"[0]", int(e.desc.b[0]))
				m.expect(either(every(empty.isnt(0), e.descLen.above(1)), every(empty.is(0), e.descLen.is(1))).
					as("an empty string with the length 1").but("%s with the length %d", excerpt(e.desc.String(), 20), e.descLen.v))
			}
		})
	}
}

// ---- enumerations ----

// enumeration is one that a variable has.
type enumeration struct {
	*mpi
	*handle
	of   *entry // the first variable that has it
	name string // of this variable
	size int    // items
}

// again gets the enumeration's handle, for a new item.
func (e *enumeration) again() { e.handle = e.entry(e.of.list, e.of.index).enum }

func (e *enumeration) getInfo(buf *buffer, length *num) *num {
	n := e.num("num", untouched)
	n.code = e.call("MPI_T_enum_get_info", func() binding.Error { return e.raw.EnumInfo(e.v, n.p(), buf.p(), length.p()) },
		e.in(), n.out(), buf.out(), length.out())
	if n.ok() {
		few(max(0, n.v), "items of the enumeration of "+cmp.Or(e.name, "a variable")) // enum-not-empty finds what is below
	}
	return n
}

// getName is getInfo with a buffer for the name.
func (e *enumeration) getName() (*num, *buffer) {
	buf, length := e.text("name", wholeName), e.num("name_len", wholeName)
	return e.getInfo(buf, length), buf
}

// getItem returns the value of an item.
func (e *enumeration) getItem(k int, buf *buffer, length *num) *num {
	v := e.num("value", untouched)
	v.code = e.call("MPI_T_enum_get_item", func() binding.Error { return e.raw.EnumItem(e.v, int32(k), v.p(), buf.p(), length.p()) },
		e.in(), lit("%d", k), v.out(), buf.out(), length.out())
	return v
}

// enumerations returns each enumeration once.
func (m *mpi) enumerations() (all []*enumeration) {
	seen := map[binding.RawHandle]bool{}
	for _, l := range variableLists(m) {
		for e := range m.listed(l) {
			if e.hasEnum() && !seen[e.enum.v] {
				seen[e.enum.v] = true
				all = append(all, &enumeration{mpi: m, of: e, name: e.label()})
			}
		}
	}
	return all
}

// enums calls f for each enumeration, in an item of its own, with a handle that the item got.
func (m *mpi) enums(f func(*enumeration)) {
	for _, e := range m.enumerations() {
		if m.item("enumeration of %s", e.name) {
			e.again()
			if n, _ := e.getName(); m.succeeds(n.code) {
				e.size = int(n.v)
				f(e)
			}
		}
	}
}

// eachEnum is a rule about each enumeration.
func eachEnum(f func(*enumeration)) func(*mpi) { return func(m *mpi) { m.enums(f) } }
