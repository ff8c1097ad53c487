package symbols

// entry holds the attributes of a debugging information entry that matter here.
type entry struct {
	tag                               uint64
	children                          bool
	sibling                           value
	name, linkage                     value
	low, high, ranges                 value
	origin, specification             value
	callFile, callLine                value
	lines, directory                  value
	textBase, addressBase, rangesBase value
	split                             bool // the name of a .dwo file
}

func (u *unit) entry(c *cursor, a *abbreviation) entry {
	e := entry{tag: a.tag, children: a.children}
	for _, at := range a.attrs {
		x := u.read(c, at)
		switch at.name {
		case atSibling:
			e.sibling = x
		case atName:
			e.name = x
		case atLinkage, atLinkageMIPS:
			e.linkage = x
		case atLow:
			e.low = x
		case atHigh:
			e.high = x
		case atRanges:
			e.ranges = x
		case atOrigin:
			e.origin = x
		case atSpecification:
			e.specification = x
		case atCallFile:
			e.callFile = x
		case atCallLine:
			e.callLine = x
		case atLines:
			e.lines = x
		case atDirectory:
			e.directory = x
		case atTextBase:
			e.textBase = x
		case atAddressBase, atAddrBaseGNU:
			e.addressBase = x
		case atRangesBase, atRangesBaseGNU:
			e.rangesBase = x
		case atSplit, atSplitGNU:
			e.split = true
		}
	}
	return e
}

// skip skips an entry's attributes; it returns the offset of the next entry on the same level, 0 if that is not known.
func (u *unit) skip(c *cursor, a *abbreviation) (sibling uint64) {
	if a.fixed >= 0 && !(a.children && len(a.attrs) > 0 && a.attrs[0].name == atSibling) {
		c.skip(uint64(a.fixed))
		return 0
	}
	for _, at := range a.attrs {
		if x := u.read(c, at); at.name == atSibling && x.form != formRefAddr {
			sibling = x.v
		}
	}
	return sibling
}

// address returns the value of an attribute that is an address.
func (u *unit) address(x value) (uint64, bool) {
	switch x.form {
	case formAddr:
		return x.v, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formAddrGNU:
		return u.indexed(x.v)
	}
	return 0, false
}

// indexed returns an address from .debug_addr.
func (u *unit) indexed(i uint64) (uint64, bool) {
	b := u.d.o.section(".debug_addr").data
	if i > uint64(len(b)) || u.addressBase > uint64(len(b)) {
		return 0, false
	}
	c := cursor{b: b, big: u.d.o.big()}
	c.seek(u.addressBase + i*uint64(u.addressSize))
	address := c.uint(u.addressSize)
	return address, !c.bad
}

// text returns the value of an attribute that is a string; b is what the cursor read it from.
func (u *unit) text(x value, b []byte) string {
	o := u.d.o
	switch x.form {
	case formString:
		c := cursor{b: b}
		c.seek(x.v)
		return string(cut(c.text()))
	case formStrp:
		return o.section(".debug_str").text(x.v)
	case formLineStrp:
		return o.section(".debug_line_str").text(x.v)
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formStrGNU:
		if x.v > 1<<32 {
			return ""
		}
		size := u.offsetSize()
		c := cursor{b: o.section(".debug_str_offsets").part(u.textBase+x.v*uint64(size), uint64(size)), big: o.big()}
		if at := c.uint(size); !c.bad {
			return o.section(".debug_str").text(at)
		}
	case formStrpSup, formStrpAlt:
		if alt := u.d.alt(); alt != nil {
			return alt.o.section(".debug_str").text(x.v)
		}
	}
	return ""
}

// cut limits a name.
func cut(b []byte) []byte { return b[:min(len(b), maxName)] }

// reference returns where a reference leads: an offset in .debug_info of d.
func (u *unit) reference(x value) (d *dwarf, at uint64, ok bool) {
	switch x.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		return u.d, u.at + x.v, x.v < u.end-u.at
	case formRefAddr:
		return u.d, x.v, true
	case formRefAlt, formRefSup4, formRefSup8:
		d = u.d.alt()
		return d, x.v, d != nil
	}
	return nil, 0, false
}

// eachSpan calls add with the addresses of an entry: those that are in sections with code.
func (u *unit) eachSpan(e *entry, add func(span)) {
	code := func(low, high uint64) {
		if low < high && u.d.o.isCode(low) {
			add(span{low, high})
		}
	}
	if e.ranges.form != 0 {
		u.eachRange(e.ranges, code)
		return
	}
	low, ok := u.address(e.low)
	if !ok || e.high.form == 0 {
		return
	}
	if high, ok := u.address(e.high); ok {
		code(low, high)
	} else {
		code(low, low+e.high.v)
	}
}

func (u *unit) eachRange(x value, add func(low, high uint64)) {
	if u.version >= 5 {
		u.rangeList(x, add)
		return
	}
	c := cursor{b: u.d.o.section(".debug_ranges").data, big: u.d.o.big()}
	c.seek(x.v)
	base, top := u.low, ^uint64(0)>>(64-8*u.addressSize)
	for u.d.spend(2 * u.addressSize) {
		low, high := c.uint(u.addressSize), c.uint(u.addressSize)
		switch {
		case c.bad, low == 0 && high == 0:
			return
		case low == top:
			base = high
		default:
			add(base+low, base+high)
		}
	}
}

// rangeList reads a list of .debug_rnglists (DWARF 5, section 7.25).
func (u *unit) rangeList(x value, add func(low, high uint64)) {
	c := cursor{b: u.d.o.section(".debug_rnglists").data, big: u.d.o.big()}
	at := x.v
	if x.form == formRnglistx {
		if at > uint64(len(c.b)) {
			return
		}
		c.seek(u.rangesBase + at*uint64(u.offsetSize()))
		at = u.rangesBase + c.offset(u.wide)
	}
	c.seek(at)
	base := u.low
	for start := c.at; u.d.spend(c.at - start + 1); start = c.at {
		var low, high uint64
		switch kind := c.u8(); kind {
		case 1: // base_addressx
			base, _ = u.indexed(c.uleb())
			continue
		case 2: // startx_endx
			low, _ = u.indexed(c.uleb())
			high, _ = u.indexed(c.uleb())
		case 3: // startx_length
			low, _ = u.indexed(c.uleb())
			high = low + c.uleb()
		case 4: // offset_pair
			low = base + c.uleb()
			high = base + c.uleb()
		case 5: // base_address
			base = c.uint(u.addressSize)
			continue
		case 6: // start_end
			low, high = c.uint(u.addressSize), c.uint(u.addressSize)
		case 7: // start_length
			low = c.uint(u.addressSize)
			high = low + c.uleb()
		default: // 0 ends the list
			return
		}
		if c.bad {
			return
		}
		add(low, high)
	}
}
