package symbols

import (
	"path"
	"sort"
)

const (
	maxRows  = 1 << 23 // of a unit's line table
	maxFiles = 1 << 20
)

// lineTable is the line number information of a unit.
type lineTable struct {
	directories []string
	files       []lineFile
	sequences   []sequence
	rows        []row
}

type lineFile struct {
	name      string
	directory uint64
}

// sequence is a range of code whose rows are in order of their addresses.
type sequence struct {
	span
	first, last int // rows
}

type row struct {
	address    uint64
	file, line uint32
}

// at returns the row for an address; nil if there is none.
func (t *lineTable) at(pc uint64) *row {
	var found *row
	for _, s := range t.sequences {
		if pc < s.low || pc >= s.high {
			continue
		}
		rows := t.rows[s.first:s.last]
		if i := sort.Search(len(rows), func(i int) bool { return rows[i].address > pc }); i > 0 {
			found = &rows[i-1]
		}
	}
	return found
}

// file returns the path of a file as the compiler saw it.
func (t *lineTable) file(i uint64) string {
	if i >= uint64(len(t.files)) {
		return ""
	}
	f := t.files[i]
	if f.name == "" || path.IsAbs(f.name) || f.directory >= uint64(len(t.directories)) {
		return f.name
	}
	dir := t.directories[f.directory]
	if dir != "" && !path.IsAbs(dir) && f.directory > 0 {
		dir = path.Join(t.directories[0], dir)
	}
	return path.Join(dir, f.name)
}

// readLines reads the unit's line table.
func (l *loaded) readLines() {
	if l.lines != nil {
		return
	}
	l.lines = &lineTable{}
	e, b, ok := l.entryAt(l.dies)
	if !ok || e.lines.form == 0 {
		return
	}
	directory := l.text(e.directory, b)
	section := l.d.o.section(".debug_line")
	c := cursor{b: section.part(e.lines.v, 12), big: l.d.o.big()}
	n, _ := c.length()
	if c.bad || n > section.length() {
		return
	}
	c = cursor{b: section.part(e.lines.v, n+uint64(c.at)), big: c.big}
	p := lineProgram{c: &c, unit: l.unit, t: l.lines}
	if p.header(directory) {
		p.run()
	}
}

// lineProgram runs a line number program (DWARF 5, section 6.2).
type lineProgram struct {
	c    *cursor
	unit *unit
	t    *lineTable

	wide        bool
	version     uint16
	step        uint64 // the least length of an instruction
	operations  uint64 // in an instruction, at most
	base        int64
	span        uint64
	opcodes     uint8
	lengths     []byte
	addressSize int
}

func (p *lineProgram) header(directory string) bool {
	c := p.c
	_, p.wide = c.length()
	p.version, p.addressSize = c.u16(), p.unit.addressSize
	if p.version < 2 || p.version > 5 {
		return false
	}
	if p.version == 5 {
		p.addressSize = int(c.u8())
		c.skip(1)
	}
	length := c.offset(p.wide)
	program := uint64(c.at) + length
	if program < length || program > uint64(len(c.b)) {
		return false
	}
	p.step, p.operations = uint64(c.u8()), 1
	if p.version >= 4 {
		p.operations = uint64(c.u8())
	}
	c.skip(1)
	p.base, p.span, p.opcodes = int64(int8(c.u8())), uint64(c.u8()), c.u8()
	if p.operations == 0 || p.span == 0 || p.opcodes == 0 {
		return false
	}
	p.lengths = c.take(int(p.opcodes) - 1)
	if p.version == 5 {
		p.tables()
	} else {
		p.oldTables(directory)
	}
	if c.bad {
		return false
	}
	c.seek(program)
	return true
}

// oldTables reads the directories and files up to DWARF 4. Both count from 1; directory 0 is the compiler's.
func (p *lineProgram) oldTables(directory string) {
	t := p.t
	t.directories, t.files = []string{directory}, []lineFile{{}}
	for !p.c.bad && len(t.directories) < maxFiles {
		name := p.c.text()
		if len(name) == 0 {
			break
		}
		t.directories = append(t.directories, string(cut(name)))
	}
	for !p.c.bad && len(t.files) < maxFiles {
		name := p.c.text()
		if len(name) == 0 {
			break
		}
		t.files = append(t.files, oldFile(name, p.c))
	}
}

func oldFile(name []byte, c *cursor) lineFile {
	f := lineFile{name: string(cut(name)), directory: c.uleb()}
	c.uleb() // time of modification
	c.uleb() // length
	return f
}

// tables reads the directories and files of DWARF 5. Both count from 0.
func (p *lineProgram) tables() {
	p.entries(func(f lineFile) { p.t.directories = append(p.t.directories, f.name) })
	p.entries(func(f lineFile) { p.t.files = append(p.t.files, f) })
}

func (p *lineProgram) entries(add func(lineFile)) {
	const content, directory = 1, 2
	c := p.c
	u := *p.unit
	u.wide = p.wide
	formats := make([]attribute, c.u8())
	for i := range formats {
		formats[i] = attribute{name: c.uleb(), form: c.uleb()}
	}
	n := c.uleb()
	if len(formats) == 0 {
		return
	}
	for range min(n, maxFiles) {
		var f lineFile
		for _, a := range formats {
			switch x := u.read(c, a); a.name {
			case content:
				f.name = u.text(x, c.b)
			case directory:
				f.directory = x.v
			}
		}
		if c.bad {
			return
		}
		add(f)
	}
}

// run fills the table with the rows of all sequences that are code.
func (p *lineProgram) run() {
	type state struct{ address, operation, file, line uint64 }
	start := state{file: 1, line: 1}
	s, first, ordered := start, 0, true
	c, t := p.c, p.t
	advance := func(n uint64) {
		s.operation += n
		s.address += p.step * (s.operation / p.operations)
		s.operation %= p.operations
	}
	emit := func() {
		r := row{s.address, uint32(min(s.file, 1<<32-1)), uint32(s.line)}
		if n := len(t.rows); n > first && t.rows[n-1].address == s.address {
			t.rows[n-1] = r
			return
		} else if n > first && t.rows[n-1].address > s.address {
			ordered = false
		}
		t.rows = append(t.rows, r)
	}
	end := func() {
		if len(t.rows) > first && p.unit.d.o.isCode(t.rows[first].address) {
			rows := t.rows[first:]
			if !ordered {
				sort.SliceStable(rows, func(i, j int) bool { return rows[i].address < rows[j].address })
			}
			t.sequences = append(t.sequences, sequence{span{rows[0].address, s.address}, first, len(t.rows)})
		} else {
			t.rows = t.rows[:first]
		}
		s, first, ordered = start, len(t.rows), true
	}
	for c.more() && !c.bad && len(t.rows) < maxRows {
		op := c.u8()
		if op >= p.opcodes {
			n := uint64(op - p.opcodes)
			advance(n / p.span)
			s.line += uint64(p.base + int64(n%p.span))
			emit()
			continue
		}
		switch op {
		case 0:
			body := cursor{b: c.take(int(min(c.uleb(), 1<<30))), big: c.big}
			switch body.u8() {
			case 1:
				end()
			case 2:
				s.address, s.operation = body.uint(min(len(body.b)-1, 8)), 0
			case 3:
				if name := body.text(); len(t.files) < maxFiles && !body.bad {
					t.files = append(t.files, oldFile(name, &body))
				}
			}
		case 1:
			emit()
		case 2:
			advance(c.uleb())
		case 3:
			s.line += uint64(c.sleb())
		case 4:
			s.file = c.uleb()
		case 5, 12:
			c.uleb()
		case 8:
			advance(uint64(255-p.opcodes) / p.span)
		case 9:
			s.address, s.operation = s.address+uint64(c.u16()), 0
		case 6, 7, 10, 11:
		default:
			for range p.lengths[op-1] {
				c.uleb()
			}
		}
	}
}
