//go:build cgo && linux

package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"mpitx/binding"
)

var stringRules = section{"strings", []rule{
	{Rule: promise("strings-length", "MPI-3.1, 14.3.3", "With a null buffer or the length 0, a routine returns only the length of the string plus one."),
		stage: after, run: stringsLength},
	{Rule: promise("strings-exact", "MPI-3.1, 14.3.3", "A buffer of the string's length plus one receives the whole string with its null character, and not more."),
		stage: after, run: func(m *mpi) { stringsCut(m, 0) }},
	{Rule: promise("strings-truncated", "MPI-3.1, 14.3.3", "A buffer of n characters that is too short receives n-1 characters and a null character."),
		stage: after, run: func(m *mpi) { stringsCut(m, 1) }},
	{Rule: promise("strings-truncated-length", "MPI-3.1, 14.3.3", "For a string that was truncated, the length of the whole string plus one is returned."),
		stage: after, run: stringsTruncatedLength},
	{Rule: promise("strings-no-length", "MPI-3.1, 14.3.3", "With a null pointer for the length, the buffer is ignored and nothing is returned."),
		stage: after, run: stringsNoLength},
	{Rule: promise("strings-no-description", "MPI-3.1, 14.3.6 to 14.3.8", "A missing description is the null character alone, with the length 1."),
		stage: after, run: noDescription},
}}

// stringCall is a routine that returns a string, for one thing: with a buffer (or nil) and a length (or nil).
type stringCall struct {
	what string
	call func(m *mpi, buf *text, length *num) code
}

// stringCalls calls f for every string that the library returns: the names and descriptions of variables, categories, event types and
// sources, the names of enumerations and their items. Each is an item.
func stringCalls(m *mpi, f func(s stringCall)) {
	for _, l := range lists(m) {
		c, n := m.count(l)
		if !c.ok() {
			continue
		}
		for k := range int(n.v) {
			for _, field := range []string{"name", "desc"} {
				if !m.item("%s %d (%s)", l.what, k, field) {
					continue
				}
				e := m.quietly(func() *entry { return m.entry(l, k) })
				if !e.ok() {
					m.absent()
					continue
				}
				m.rename(l.item(e) + " (" + field + ")")
				f(stringCall{field, func(m *mpi, buf *text, length *num) code { return m.entryWith(l, k, only(field, buf, length)).code }})
			}
		}
	}
	if m.lib.Has("MPI_T_event_get_num") {
		eventStrings(m, f)
	}
	for _, e := range m.enumerations() {
		if m.item("enumeration of %s", e.name) {
			m.again(e)
			f(stringCall{"name", func(m *mpi, buf *text, length *num) code {
				c, _ := m.enumInfo(e, buf, length)
				return c
			}})
		}
		for _, k := range m.someItems(e) {
			if m.item("%s (item %d)", e.name, k) {
				m.again(e)
				f(stringCall{"item", func(m *mpi, buf *text, length *num) code {
					c, _ := m.enumItem(e, k, buf, length)
					return c
				}})
			}
		}
	}
}

// someItems returns the first and the last item of an enumeration, and the one with the longest name.
func (m *mpi) someItems(e *enumeration) (some []int) {
	m.quietly(func() *entry {
		m.again(e)
		_, n := m.enumInfo(e, nil, m.num("len", 0))
		longest, most := 0, 0
		for k := range min(int(n.v), 4096) {
			name := m.text("name", wholeName)
			m.enumItem(e, k, name, m.num("len", wholeName))
			if size := len(name.String()); size > most {
				longest, most = k, size
			}
		}
		if n.v > 0 {
			some = []int{0, longest, int(n.v) - 1}
		}
		return nil
	})
	slices.Sort(some)
	return slices.Compact(some)
}

// only are the arguments of a get_info that asks for the name or the description alone.
func only(field string, buf *text, length *num) *nameAndDescription {
	if field == "desc" {
		return &nameAndDescription{desc: buf, descLen: length}
	}
	return &nameAndDescription{name: buf, nameLen: length}
}

func eventStrings(m *mpi, f func(s stringCall)) {
	all := eventLists(m)
	events, sources := m.quietCount(all[0]), m.quietCount(all[1])
	for k := range events + sources {
		for _, field := range []string{"name", "desc"} {
			if k < events && m.item("event type %d (%s)", k, field) {
				f(stringCall{field, func(m *mpi, buf *text, length *num) code { return m.eventWith(k, only(field, buf, length)).code }})
			} else if source := k - events; source >= 0 && m.item("source %d (%s)", source, field) {
				f(stringCall{field, func(m *mpi, buf *text, length *num) code { return m.sourceWith(source, only(field, buf, length)).code }})
			}
		}
	}
}

// whole returns a string and its length by a call with a large buffer.
func (s stringCall) whole(m *mpi) (*text, *num, bool) {
	buf, length := m.text(s.what, wholeDesc), m.num("len", wholeDesc)
	c := s.call(m, buf, length)
	if c.ok() && length.v > wholeDesc { // what follows is about a string that is whole
		m.absent()
		return buf, length, false
	}
	return buf, length, m.succeeds(c) && m.expect(buf.ended(), fmt.Sprintf("memchr(%s, 0, sizeof %s) != NULL", buf.c, buf.c), "a null character after the string", "none")
}

func stringsLength(m *mpi) {
	stringCalls(m, func(s stringCall) {
		buf, _, ok := s.whole(m)
		if !ok {
			return
		}
		want := len(buf.String()) + 1
		for _, b := range []*text{nil, m.text(s.what, 8)} {
			length := m.num("len", map[bool]int{true: 8, false: 0}[b == nil])
			c := s.call(m, b, length)
			if b != nil && !m.expect(bytes.Equal(b.b, []byte("########")), fmt.Sprintf("memcmp(%s, \"########\", 8) == 0", b.c), "the buffer unchanged, as its length is 0", fmt.Sprintf("%q", b.b)) {
				return
			}
			m.expect(c.ok() && int(length.v) == want, fmt.Sprintf("%s == MPI_SUCCESS && %s == (int)strlen(%s) + 1", c.c, length.c, buf.c),
				fmt.Sprintf("MPI_SUCCESS and the length %d", want), fmt.Sprintf("%s and %d", codeName(c.rc), length.v))
		}
	})
}

// stringsCut passes a buffer of the exact size, or one that is shorter.
func stringsCut(m *mpi, short int) {
	stringCalls(m, func(s stringCall) {
		buf, _, ok := s.whole(m)
		size := len(buf.String()) + 1 - short
		if !ok || size < 1 {
			return
		}
		part, length := m.text(s.what, size+8), m.num("len", size)
		c := s.call(m, part, length)
		want := append([]byte(buf.String()[:size-1]), 0)
		m.expect(c.ok() && bytes.Equal(part.b[:size], want) && bytes.Equal(part.b[size:], []byte("########")),
			fmt.Sprintf("%s == MPI_SUCCESS && memcmp(%s, %s, %d) == 0 && %s[%d] == 0 && memcmp(%s + %d, \"########\", 8) == 0", c.c, part.c, buf.c, size-1, part.c, size-1, part.c, size),
			fmt.Sprintf("%d characters, a null character, and nothing after it", size-1), codeName(c.rc)+", "+excerpt(string(part.b), 80))
	})
}

func stringsTruncatedLength(m *mpi) {
	stringCalls(m, func(s stringCall) {
		buf, _, ok := s.whole(m)
		want := len(buf.String()) + 1
		if !ok || want < 3 {
			return
		}
		part, length := m.text(s.what, want-1), m.num("len", want-1)
		c := s.call(m, part, length)
		m.expect(c.ok() && int(length.v) == want, fmt.Sprintf("%s == MPI_SUCCESS && %s == (int)strlen(%s) + 1", c.c, length.c, buf.c),
			fmt.Sprintf("the length %d of the whole string plus one", want), fmt.Sprintf("%s and %d", codeName(c.rc), length.v))
	})
}

func stringsNoLength(m *mpi) {
	stringCalls(m, func(s stringCall) {
		buf := m.text(s.what, 8)
		c := s.call(m, buf, nil)
		m.expect(c.ok() && bytes.Equal(buf.b, []byte("########")), fmt.Sprintf("%s == MPI_SUCCESS && memcmp(%s, \"########\", 8) == 0", c.c, buf.c),
			"MPI_SUCCESS, the buffer unchanged", fmt.Sprintf("%s, %q", codeName(c.rc), buf.b))
	})
}

func noDescription(m *mpi) {
	described := func(s *nameAndDescription) {
		if s.desc.String() == "" || s.descLen.v < 1 {
			m.expect(s.desc.ended() && s.descLen.v == 1, fmt.Sprintf("(%s[0] != 0 && %s > 1) || (%s[0] == 0 && %s == 1)", s.desc.c, s.descLen.c, s.desc.c, s.descLen.c), "an empty string with the length 1",
				fmt.Sprintf("%s with the length %d", excerpt(s.desc.String(), 20), s.descLen.v))
		}
	}
	for _, l := range lists(m) {
		m.entries(l, func(e *entry) { described(&e.nameAndDescription) })
	}
	m.eachEvent(func(e *rawEvent, _ int) { described(&e.nameAndDescription) })
	m.eachSource(func(s *rawSource, _ int) { described(&s.nameAndDescription) })
}

// ---- enumerations ----

// enumeration is one that a variable has.
type enumeration struct {
	l     *list
	index int // of the first variable that has it
	name  string
	num   int
	typ   int32
	h     binding.RawHandle
	c     string // its C variable
}

// again gets the enumeration's handle, for a new item.
func (m *mpi) again(e *enumeration) {
	info := m.entry(e.l, e.index)
	e.h, e.c = info.enum, info.cEnum
}

func (m *mpi) enumInfo(e *enumeration, buf *text, length *num) (code, *num) {
	n := m.num("num", untouched)
	c := m.call("MPI_T_enum_get_info", func() binding.Error { return m.raw.EnumInfo(e.h, n.p(), buf.p(), length.p()) },
		lit("%s", e.c), n.out(), buf.out(), length.out())
	if c.ok() {
		few(max(0, n.v), "items of the enumeration of "+cmp.Or(e.name, "a variable")) // enum-not-empty finds what is below
	}
	return c, n
}

func (m *mpi) enumItem(e *enumeration, k int, buf *text, length *num) (code, *num) {
	v := m.num("value", untouched)
	return m.call("MPI_T_enum_get_item", func() binding.Error { return m.raw.EnumItem(e.h, int32(k), v.p(), buf.p(), length.p()) },
		lit("%s", e.c), lit("%d", k), v.out(), buf.out(), length.out()), v
}

// enumerations returns each enumeration once.
func (m *mpi) enumerations() (all []*enumeration) {
	seen := map[binding.RawHandle]bool{}
	for _, l := range []*list{cvars(m), pvars(m)} {
		_, n := m.count(l)
		for k := range int(n.v) {
			e := m.quietly(func() *entry { return m.entry(l, k) })
			if !e.ok() || e.enum == 0 || seen[e.enum] {
				continue
			}
			seen[e.enum] = true
			typ := e.cvar.Datatype
			if l.prefix == "MPI_T_pvar" {
				typ = e.pvar.Datatype
			}
			all = append(all, &enumeration{l: l, index: k, name: e.label(), typ: typ})
		}
	}
	return all
}

// enums calls f for each enumeration, in an item of its own, with a handle that the item got.
func enums(m *mpi, f func(*enumeration)) {
	all := m.enumerations()
	for _, e := range all {
		if m.item("enumeration of %s", e.name) {
			m.again(e)
			buf, length := m.text("name", wholeName), m.num("name_len", wholeName)
			c, n := m.enumInfo(e, buf, length)
			if m.succeeds(c) {
				e.num = int(n.v)
				f(e)
			}
		}
	}
	if len(all) == 0 && m.items == 0 {
		m.notApplicable("no variable has an enumeration")
	}
}
