//go:build cgo && linux

package rules

import (
	"bytes"
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
func changeable(v variable) bool { return !fixed(v) && cTypes[v.typ] != "" && !v.hasEnum() }

// writeOther writes another value to a variable: each number with another first bit, or the text with another last character. Only text
// that could be written as it was is changed. The result is what was read before, and what was written; nil if it was refused.
func (o *opened) writeOther() (old, buf *buffer) {
	m := o.mpi
	if old = o.read(); !old.ok() {
		return nil, nil
	}
	buf = o.buffer()
	copy(buf.b, old.b)
	m.line("memcpy(%s, %s, sizeof %s);", buf.c, old.c, buf.c)
	if isText(o.variable) {
		end := bytes.IndexByte(buf.b[:o.count.v], 0)
		if end < 0 || o.count.v < 2 || !o.write(old).ok() {
			return nil, nil
		}
		at, letter := max(0, end-1), byte('x')
		if buf.b[at] == letter {
			letter = 'y'
		}
		buf.b[at] = letter
		m.line("%s[%d] = '%c';", buf.c, at, letter)
	} else {
		size := o.typ.Size()
		for k := range int(o.count.v) {
			buf.b[k*size] ^= 1
		}
		m.line("for (int i = 0; i < %d; i++) %s[i * %d] ^= 1;", o.count.v, buf.c, size)
	}
	if !o.write(buf).ok() {
		return nil, nil // it may be out of range
	}
	return old, buf
}

// stillHas expects that a variable has a value.
func (o *opened) stillHas(buf *buffer) {
	back := o.readInto(o.buffer())
	if isText(o.variable) {
		o.expect(back.is(0), back.equals(buf))
	} else {
		o.expect(back.is(0), back.same(buf, o.size()))
	}
}

func writeArrives(o *opened) {
	if old, buf := o.writeOther(); buf != nil {
		o.stillHas(buf)
		o.write(old)
	}
}

// initTwice initializes MPI_T again, after another value was written to a control variable.
func initTwice(o *opened) {
	old, buf := o.writeOther()
	if buf == nil {
		return
	}
	// write-arrives is about a write that does not arrive
	if now := o.read(); now.ok() && o.succeeds(o.startTool()) {
		o.stillHas(now)
		o.finalizeTool()
	}
	o.write(old)
}

const earlyHandles = 20

// cvarHandleKept compares handles from before MPI_Init with new ones: a variable may have become inactive.
func cvarHandleKept(m *mpi) {
	var all []*opened
	for _, v := range spread(m.openableCvars(), earlyHandles, anyVariable) {
		all = append(all, m.open(v))
	}
	m.initMPI()
	for _, old := range all {
		if !old.ok() || !m.item("%s", old.name) {
			continue
		}
		if o := m.open(old.variable); o.ok() && o.counts() {
			now, was := o.read(), old.readInto(o.buffer())
			m.expect(either(now.fails(), was.is(0).as("MPI_SUCCESS, as with a new handle")))
		}
	}
}

// reading is a variable that was read, with the calls that did it.
type reading struct {
	*opened
	buf *buffer
	earlier
}

// read opens a control variable and reads it.
func (m *mpi) read(v variable) reading {
	if o := m.open(v); o.ok() {
		return reading{opened: o, buf: o.read()}
	}
	return reading{buf: unreadable}
}

// readings reads control variables before the first item.
func (m *mpi) readings(which func(variable) bool) (all []reading) {
	for _, v := range m.openableCvars() {
		if which(v) {
			var one reading
			before := m.early(func() { one = m.read(v) })
			if one.earlier = before; one.buf.ok() {
				all = append(all, one)
			}
		}
	}
	return all
}

// readAgain reads them again, each in an item. find returns the variable, if it is there.
func (m *mpi) readAgain(all []reading, find func(was variable) (variable, bool), same func(now, was reading) cond) {
	for _, was := range all {
		if !m.item("%s", was.name) {
			continue
		}
		m.after(was.earlier, func() {
			if v, ok := find(was.variable); ok {
				if now := m.read(v); now.buf.ok() {
					m.expect(same(now, was))
				}
			}
		})
	}
}

// cvarConstant reads constants before MPI_Init and after MPI_Finalize.
func cvarConstant(m *mpi) {
	all := m.readings(func(v variable) bool { return v.value("scope") == int32(catalog.ScopeConstant) })
	m.initMPI()
	m.finalizeMPI()
	m.readAgain(all, func(was variable) (variable, bool) { return was, true }, func(now, was reading) cond {
		same := now.buf.same(was.buf, min(now.size(), was.size()))
		return same.as("%s, as before MPI_Init", same.want)
	})
}

func stringsKept(m *mpi) {
	all := m.readings(isText)
	m.finalizeTool()
	m.startTool()
	m.sameTexts(all)
}

func stringsKeptAfterMPI(m *mpi) {
	all := m.readings(isText)
	m.finalizeMPI()
	m.sameTexts(all)
}

// sameTexts reads control variables again, by name, as indices may move.
func (m *mpi) sameTexts(all []reading) {
	m.readAgain(all, func(was variable) (variable, bool) {
		index := m.indexOf(cvars(m), was.name, nil)
		return variable{entry: &entry{list: was.list, index: int(index.v)}, typ: was.typ}, index.ok()
	}, func(now, was reading) cond {
		return now.buf.equals(was.buf).as("the text as before").but("%s, and %s before", excerpt(now.buf.String(), 60), excerpt(was.buf.String(), 60))
	})
}
