package symbols

import "slices"

// scope is a range of code of a function, or of a function inlined into the enclosing scope.
type scope struct {
	span
	at       uint32 // of its entry in the unit
	inlined  bool
	callFile uint32 // for an inlined one: where the enclosing function calls it
	callLine uint32
}

// loaded is a unit whose functions and lines are read when they are needed.
type loaded struct {
	*unit
	shapes *abbreviations
	scopes []scope // in the order of the file: a function comes before those that are inlined into it
	lines  *lineTable
}

const keepBytes = 64 << 20 // of loaded units: neighbouring addresses are often in one unit

// load returns a unit, with its functions and lines if it was asked for lately.
func (d *dwarf) load(u *unit) *loaded {
	room := keepBytes
	for i, l := range d.loaded {
		if l.unit == u {
			copy(d.loaded[1:i+1], d.loaded[:i])
			d.loaded[0] = l
			return l
		}
		if room -= l.bytes(); room < 0 {
			d.loaded = d.loaded[:i]
			break
		}
	}
	l := &loaded{unit: u, shapes: u.table()}
	d.loaded = slices.Insert(d.loaded, 0, l)
	return l
}

func (l *loaded) bytes() int {
	n := 4096 + 32*len(l.shapes.attrs) + 32*len(l.scopes)
	if l.lines != nil {
		n += 16*len(l.lines.rows) + 64*len(l.lines.files)
	}
	return n
}

// entryAt reads one entry at an offset in the unit; text reads its strings from b.
func (l *loaded) entryAt(at uint64) (e entry, b []byte, ok bool) {
	for n := uint64(256); n <= 1<<20; n *= 16 {
		b = l.d.o.section(".debug_info").part(l.at+at, min(n, l.end-l.at-min(at, l.end-l.at)))
		c := cursor{b: b, big: l.d.o.big()}
		a := l.shapes.get(c.uleb())
		if a == nil {
			return e, nil, false
		}
		if e = l.entry(&c, a); !c.bad {
			return e, b, true
		}
	}
	return e, nil, false
}

// readScopes reads the functions of a unit.
func (l *loaded) readScopes() {
	if l.scopes != nil {
		return
	}
	l.scopes = []scope{}
	c := cursor{b: l.d.o.section(".debug_info").part(l.at, l.end-l.at), big: l.d.o.big()}
	c.seek(l.dies)
	depth, hidden := 0, 1<<30 // entries deeper than hidden are skipped
	for c.more() && !c.bad {
		at := uint32(c.at)
		code := c.uleb()
		if code == 0 {
			if depth--; depth <= 0 {
				return
			}
			if depth <= hidden {
				hidden = 1 << 30
			}
			continue
		}
		a := l.shapes.get(code)
		if a == nil {
			return
		}
		wanted := depth <= hidden && holdsCode(a.tag)
		switch {
		case wanted && (a.tag == tagSubprogram || a.tag == tagInlined):
			l.addScope(&c, a, at)
		default:
			sibling := l.skip(&c, a)
			if !wanted && a.children && sibling > uint64(c.at) {
				c.seek(sibling)
				continue
			}
		}
		if a.children {
			if !wanted && hidden > depth {
				hidden = depth
			}
			depth++
		}
	}
}

// holdsCode reports whether entries of functions can be below entries with the tag.
func holdsCode(tag uint64) bool {
	switch tag {
	case tagCompileUnit, tagPartialUnit, tagSkeletonUnit, tagNamespace, tagModule, tagSubprogram, tagInlined, tagLexicalBlock, tagTryBlock, tagCatchBlock,
		tagWithStatement:
		return true
	}
	return false
}

func (l *loaded) addScope(c *cursor, a *abbreviation, at uint32) {
	e := l.entry(c, a)
	l.eachSpan(&e, func(s span) {
		if len(l.scopes) < maxRanges {
			l.scopes = append(l.scopes, scope{span: s, at: at, inlined: a.tag == tagInlined, callFile: uint32(e.callFile.v), callLine: uint32(e.callLine.v)})
		}
	})
}

// chain returns the scopes at an address: the function, then what is inlined, from the outside in.
func (l *loaded) chain(pc uint64) []scope {
	var found []scope
	for _, s := range l.scopes {
		if pc < s.low || pc >= s.high {
			continue
		}
		if !s.inlined {
			found = found[:0]
		}
		if len(found) < maxChain {
			found = append(found, s)
		}
	}
	return found
}

const maxChain = 256

// names are a function's names: in the source, and for the linker.
type names struct{ source, linkage string }

// names returns the names of the function whose entry is at an offset in the unit.
func (l *loaded) names(at uint64) (n names) {
	for range 8 {
		e, b, ok := l.entryAt(at)
		if !ok {
			return n
		}
		if n.source == "" {
			n.source = l.text(e.name, b)
		}
		if n.linkage == "" {
			n.linkage = l.text(e.linkage, b)
		}
		if n.linkage != "" && n.source != "" {
			return n
		}
		from := e.origin
		if from.form == 0 {
			from = e.specification
		}
		d, to, ok := l.reference(from)
		if !ok {
			return n
		}
		u := d.unitAt(to)
		if u == nil {
			return n
		}
		l, at = d.load(u), to-u.at
	}
	return n
}
