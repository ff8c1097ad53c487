package symbols

import (
	"debug/elf"
	"sort"
	"strings"
)

// symbol is a function of a symbol table.
type symbol struct {
	span
	name uint32 // in the table of names
	rank uint8  // the greatest is preferred among those at one address
}

type symbolTable struct {
	symbols []symbol // by address
	names   *section
}

const maxSymbols = 1 << 22

// symbolsOf reads a table of symbols: .symtab or .dynsym. debug/elf is not used: it copies every name, and the names of a damaged
// file can overlap.
func symbolsOf(o *object, kind elf.SectionType) *symbolTable {
	t := &symbolTable{}
	for _, s := range o.elf.Sections {
		if s.Type != kind || uint64(s.Link) >= uint64(len(o.elf.Sections)) {
			continue
		}
		t.names = o.open(o.elf.Sections[s.Link])
		b, _ := o.open(s).all()
		t.read(o, b)
		break
	}
	sort.SliceStable(t.symbols, func(i, j int) bool {
		a, b := t.symbols[i], t.symbols[j]
		return a.low < b.low || a.low == b.low && a.rank < b.rank
	})
	return t
}

func (t *symbolTable) read(o *object, b []byte) {
	c := cursor{b: b, big: o.big()}
	for c.more() && len(t.symbols) < maxSymbols {
		var s symbol
		var info uint8
		var section uint16
		s.name = c.u32()
		if o.elf.Class == elf.ELFCLASS64 {
			info = c.u8()
			c.skip(1)
			section = c.u16()
			s.low = c.uint(8)
			s.high = s.low + c.uint(8)
		} else {
			s.low = c.uint(4)
			s.high = s.low + c.uint(4)
			info = c.u8()
			c.skip(1)
			section = c.u16()
		}
		kind := elf.ST_TYPE(info)
		if kind != elf.STT_FUNC && kind != elf.STT_NOTYPE && kind != elf.STT_GNU_IFUNC {
			continue
		}
		if c.bad || section == 0 || s.name == 0 || s.high < s.low || !o.isCode(s.low) {
			continue
		}
		switch elf.ST_BIND(info) {
		case elf.STB_GLOBAL:
			s.rank = 2
		case elf.STB_WEAK:
			s.rank = 1
		}
		if kind != elf.STT_NOTYPE {
			s.rank += 3
		}
		t.symbols = append(t.symbols, s)
	}
}

// at returns the name of the function with the code at an address, and its start.
func (t *symbolTable) at(o *object, pc uint64) (name string, low uint64) {
	next := sort.Search(len(t.symbols), func(i int) bool { return t.symbols[i].low > pc })
	for i := next - 1; i >= 0 && next-i < 64; i-- { // a label can be inside of a function
		s := t.symbols[i]
		high := s.high
		if high == s.low && s.low == t.symbols[next-1].low { // assembly does not always say; up to the next symbol
			high = o.codeEnd(s.low)
		}
		if pc >= high {
			continue
		}
		name := t.names.text(uint64(s.name))
		if name == "" || strings.HasPrefix(name, "$") || strings.HasPrefix(name, ".L") {
			continue
		}
		return name, s.low
	}
	return "", 0
}
