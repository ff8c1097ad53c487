//go:build cgo && linux

package rules

import (
	"bytes"
	"fmt"
	"slices"

	"mpitx/catalog"
)

// earlier are calls that are part of an item's program, and were made before the first item.
type earlier struct {
	lines, called    []string
	atLine, atCalled int // where they belong among the calls before the first item
}

// early makes such calls.
func (m *mpi) early(f func()) earlier {
	lines, called := m.lines, m.called
	m.lines, m.called, m.quiet = nil, nil, true
	f()
	was := earlier{m.lines, m.called, len(lines), len(called)}
	m.lines, m.called, m.quiet = lines, called, false
	return was
}

// after tests with such calls in the item's program.
func (m *mpi) after(was earlier, f func()) {
	preamble, setup := m.preamble, m.setup
	m.preamble = slices.Concat(preamble[:was.atLine], was.lines, preamble[was.atLine:])
	m.setup = slices.Concat(setup[:was.atCalled], was.called, setup[was.atCalled:])
	f()
	m.preamble, m.setup = preamble, setup
}

// changeable are control variables whose value another one of can be made up: numbers and text.
func changeable(v variable) bool { return !fixed(v) && cTypes[v.typ] != "" && v.enum == 0 }

// writeOther writes another value to a variable: each number with another first bit, or the text with another last character. Only text
// that could be written as it was is changed. The result is what was read before, and what was written; nil if it was refused.
func (m *mpi) writeOther(v variable, h *handle, count *num) (old, buf *value) {
	if count.v < 1 || count.v > 1<<20 {
		return nil, nil
	}
	old = m.value(int32(v.typ), int(count.v))
	if !m.readCvar(h, old).ok() {
		return nil, nil
	}
	buf = m.value(int32(v.typ), int(count.v))
	copy(buf.b, old.b)
	m.line("memcpy(%s, %s, sizeof %s);", buf.c, old.c, buf.c)
	if v.typ == catalog.TypeChar {
		end := bytes.IndexByte(buf.b[:count.v], 0)
		if end < 0 || count.v < 2 || !m.writeCvar(h, old).ok() {
			return nil, nil
		}
		at, letter := max(0, end-1), byte('x')
		if buf.b[at] == letter {
			letter = 'y'
		}
		buf.b[at] = letter
		m.line("%s[%d] = '%c';", buf.c, at, letter)
	} else {
		size := v.typ.Size()
		for k := range int(count.v) {
			buf.b[k*size] ^= 1
		}
		m.line("for (int i = 0; i < %d; i++) %s[i * %d] ^= 1;", count.v, buf.c, size)
	}
	if !m.writeCvar(h, buf).ok() {
		return nil, nil // it may be out of range
	}
	return old, buf
}

// stillHas expects that a variable has a value.
func (m *mpi) stillHas(v variable, h *handle, buf *value, count *num) {
	back := m.value(int32(v.typ), int(count.v))
	c := m.readCvar(h, back)
	size := int(count.v) * v.typ.Size()
	kept := fmt.Sprintf("memcmp(%s, %s, %d) == 0", back.c, buf.c, size)
	if v.typ == catalog.TypeChar {
		size, kept = bytes.IndexByte(buf.b, 0)+1, fmt.Sprintf("strcmp(%s, %s) == 0", back.c, buf.c)
	}
	m.expect(c.ok() && bytes.Equal(back.b[:size], buf.b[:size]), fmt.Sprintf("%s == MPI_SUCCESS && %s", c.c, kept), buf.show(size), codeName(c.rc)+", "+back.show(size))
}

// show is the value's first bytes as text.
func (v *value) show(size int) string {
	if catalog.Datatype(v.t) == catalog.TypeChar {
		return excerpt((&text{b: v.b}).String(), 60)
	}
	return excerpt(catalog.NewValue(catalog.Datatype(v.t), v.b[:size]).String(), 60)
}

func writeArrives(m *mpi) {
	m.eachCvar(changeable, func(v variable, h *handle, count *num) {
		if old, buf := m.writeOther(v, h, count); buf != nil {
			m.stillHas(v, h, buf, count)
			m.writeCvar(h, old)
		}
	})
}

// initTwice initializes MPI_T again, after another value was written to a control variable.
func initTwice(m *mpi) {
	m.eachCvar(changeable, func(v variable, h *handle, count *num) {
		old, buf := m.writeOther(v, h, count)
		if buf == nil {
			return
		}
		// write-arrives is about a write that does not arrive
		if now := m.value(int32(v.typ), int(count.v)); m.readCvar(h, now).ok() {
			if c, _ := m.initTool(catalog.ThreadSingle); m.succeeds(c) {
				m.stillHas(v, h, now, count)
				m.finalizeTool()
			}
		}
		m.writeCvar(h, old)
	})
}

const earlyHandles = 20

// cvarHandleKept compares handles from before MPI_Init with new ones: a variable may have become inactive.
func cvarHandleKept(m *mpi) {
	type handles struct {
		variable
		h *handle
		code
	}
	var all []handles
	for _, v := range spread(m.openableCvars(), earlyHandles, anyCvar) {
		h, _, c := m.allocCvar(v.index, v.object)
		all = append(all, handles{v, h, c})
	}
	m.initMPI()
	for _, v := range all {
		if !v.ok() || !m.item("%s", v.name) {
			continue
		}
		h, count, c := m.allocCvar(v.index, v.object)
		if !c.ok() || count.v < 1 || count.v > 1<<20 {
			continue
		}
		now := m.readCvar(h, m.value(int32(v.typ), int(count.v)))
		was := m.readCvar(v.h, m.value(int32(v.typ), int(count.v)))
		m.expect(was.ok() || !now.ok(), was.c+" == MPI_SUCCESS || "+now.c+" != MPI_SUCCESS", "MPI_SUCCESS, as with a new handle", codeName(was.rc))
	}
	if len(all) == 0 {
		m.notApplicable("no control variable can be read before MPI_Init")
	}
}

// cvarConstant reads constants before MPI_Init and after MPI_Finalize.
func cvarConstant(m *mpi) {
	type sized struct {
		*value
		size int
	}
	type reading struct {
		variable
		buf *sized
		earlier
	}
	var all []reading
	read := func(v variable) *sized {
		if h, count, c := m.allocCvar(v.index, v.object); c.ok() && count.v >= 1 && count.v < 1<<20 {
			if b := m.value(int32(v.typ), int(count.v)); m.readCvar(h, b).ok() {
				return &sized{b, int(count.v) * v.typ.Size()}
			}
		}
		return nil
	}
	for _, v := range m.openableCvars() {
		if v.cvar.Scope == int32(catalog.ScopeConstant) {
			one := reading{variable: v}
			one.earlier = m.early(func() { one.buf = read(v) })
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		m.notApplicable("no control variable that can be read before MPI_Init is constant")
	}
	m.initMPI()
	m.finalizeMPI()
	for _, was := range all {
		if was.buf != nil && m.item("%s", was.name) {
			m.after(was.earlier, func() {
				if now := read(was.variable); now != nil {
					size := min(now.size, was.buf.size)
					m.expect(bytes.Equal(now.b[:size], was.buf.b[:size]), fmt.Sprintf("memcmp(%s, %s, %d) == 0", now.c, was.buf.c, size), was.buf.show(size)+", as before MPI_Init", now.show(size))
				}
			})
		}
	}
}
