package symbols

import (
	"errors"
	"slices"
	"sort"
)

const (
	maxUnits  = 1 << 20
	maxRanges = 1 << 22
)

// unit is a compilation unit of .debug_info.
type unit struct {
	d           *dwarf
	at, end     uint64 // in .debug_info, from its header on
	dies        uint64 // offset of its first entry, from at
	abbrevs     uint64 // in .debug_abbrev
	version     uint16
	wide        bool // 64-bit DWARF
	addressSize int

	// From its first entry.
	textBase, addressBase, rangesBase uint64
	low                               uint64
	split                             bool // its functions are in a .dwo file
}

func (u *unit) offsetSize() int {
	if u.wide {
		return 8
	}
	return 4
}

// dwarf is the debug information of an object.
type dwarf struct {
	o      *object
	find   finder
	other  *dwarf // that several files share: see alt
	looked bool
	units  []*unit // by at
	ranges []unitRange
	work   int64 // bytes that may still be read for this question; parts of a damaged file can refer to the same bytes again and again
	loaded []*loaded
}

type unitRange struct {
	span
	unit *unit
	top  uint64 // the greatest high so far
}

// openDWARF finds the units and their addresses. If the information is damaged, what comes before the damage is used.
func openDWARF(o *object, find finder) (*dwarf, error) {
	d := &dwarf{o: o, find: find}
	for _, name := range []string{".debug_abbrev", ".debug_ranges", ".debug_rnglists", ".debug_addr"} {
		if _, err := o.section(name).all(); err != nil {
			return nil, err
		}
	}
	info := o.section(".debug_info")
	info.length() // expands it
	d.allow()
	var err error
	for at := uint64(0); at < info.length() && len(d.units) < maxUnits && err == nil; {
		var u *unit
		if u, at, err = d.readUnit(info, at); u != nil {
			d.units = append(d.units, u)
		}
	}
	slices.SortStableFunc(d.ranges, func(a, b unitRange) int { return compare(a.low, b.low) })
	top := uint64(0)
	for i := range d.ranges {
		top = max(top, d.ranges[i].high)
		d.ranges[i].top = top
	}
	return d, err
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// allow sets the work for a question: eight times the debug information.
func (d *dwarf) allow() {
	d.work = 1 << 20
	for _, s := range d.o.sections {
		d.work += 8 * int64(s.size)
	}
}

func (d *dwarf) spend(n int) bool {
	d.work -= int64(n)
	return d.work > 0
}

var errDamaged = errors.New("damaged debug information")

// readUnit reads the header and the first entry of the unit at an offset, and returns the offset of the next unit. Units without code
// of their own, such as those of types, are nil.
func (d *dwarf) readUnit(info *section, at uint64) (*unit, uint64, error) {
	const ahead = 1 << 10 // of a unit's bytes, for its first entry
	for n := uint64(ahead); ; n *= 16 {
		b := info.part(at, n)
		c := cursor{b: b, big: d.o.big()}
		size, wide := c.length()
		next := at + uint64(c.at) + size
		if c.bad || next < at || next > info.length() || !d.spend(len(b)) {
			return nil, 0, errDamaged
		}
		if size == 0 {
			return nil, next, nil
		}
		c.b = c.b[:min(uint64(len(b)), next-at)]
		u := &unit{d: d, at: at, end: next, wide: wide}
		c.big = d.o.big()
		if !u.header(&c) {
			return nil, next, nil
		}
		table := cursor{b: d.o.section(".debug_abbrev").data, big: c.big}
		table.seek(u.abbrevs)
		code := c.uleb()
		a, found := u.first(&table, code)
		if !found {
			return nil, next, errDamaged
		}
		e := u.entry(&c, &a)
		if c.bad && n < next-at && n < 1<<20 {
			continue // a long first entry
		}
		if c.bad {
			return nil, next, errDamaged
		}
		u.bases(&e)
		u.eachSpan(&e, func(s span) {
			if len(d.ranges) < maxRanges {
				d.ranges = append(d.ranges, unitRange{span: s, unit: u})
			}
		})
		return u, next, nil
	}
}

// header reads what follows the length; it reports whether the unit can have code.
func (u *unit) header(c *cursor) bool {
	u.version = c.u16()
	kind := uint8(1)
	switch {
	case u.version >= 2 && u.version <= 4:
		u.abbrevs, u.addressSize = c.offset(u.wide), int(c.u8())
	case u.version == 5:
		kind, u.addressSize = c.u8(), int(c.u8())
		u.abbrevs = c.offset(u.wide)
	default:
		return false
	}
	const compile, partial, skeleton, split = 1, 3, 4, 5
	switch kind {
	case skeleton, split:
		c.skip(8)
	case compile, partial:
	default:
		return false
	}
	u.dies = uint64(c.at)
	return !c.bad && (u.addressSize == 4 || u.addressSize == 8)
}

// first finds the abbreviation of the unit's first entry.
func (u *unit) first(c *cursor, want uint64) (abbreviation, bool) {
	var room []attribute
	for start := c.at; ; start = c.at {
		code, a := readAbbreviation(c, u, &room)
		if code == 0 || !u.d.spend(c.at-start) {
			return a, false
		}
		if code == want {
			return a, true
		}
	}
}

// table reads all abbreviations of the unit.
func (u *unit) table() *abbreviations {
	t := &abbreviations{}
	c := cursor{b: u.d.o.section(".debug_abbrev").data, big: u.d.o.big()}
	c.seek(u.abbrevs)
	for start := c.at; ; start = c.at {
		code, a := readAbbreviation(&c, u, &t.attrs)
		if code == 0 || !u.d.spend(c.at-start) {
			return t
		}
		t.add(code, a)
	}
}

// bases takes what other entries need from the unit's first one.
func (u *unit) bases(e *entry) {
	u.textBase, u.addressBase, u.rangesBase = e.textBase.v, e.addressBase.v, e.rangesBase.v
	if u.version >= 5 {
		if e.textBase.form == 0 {
			u.textBase = uint64(2 * u.offsetSize()) // after the header
		}
		if e.addressBase.form == 0 {
			u.addressBase = uint64(2 * u.offsetSize())
		}
	}
	u.low, _ = u.address(e.low)
	u.split = e.split
}

// unitAt returns the unit that contains an offset of .debug_info; nil if none does.
func (d *dwarf) unitAt(at uint64) *unit {
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].end > at })
	if i < len(d.units) && at >= d.units[i].at+d.units[i].dies {
		return d.units[i]
	}
	return nil
}

// unitOf returns the unit with the code at an address; nil if none has it.
func (d *dwarf) unitOf(pc uint64) *unit {
	i := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i].low > pc })
	for i--; i >= 0 && d.ranges[i].top > pc; i-- {
		if d.ranges[i].high > pc {
			return d.ranges[i].unit
		}
	}
	return nil
}
