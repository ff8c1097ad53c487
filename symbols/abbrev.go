package symbols

// The parts of DWARF that lead from an address to its functions (DWARF 5, sections 7.5 and 7.7). debug/dwarf is not used: it
// makes an object of every entry, which takes seconds for a large library, and a damaged table of lines makes it allocate
// memory until the process is killed.

// Tags of entries.
const (
	tagCompileUnit   = 0x11
	tagInlined       = 0x1d
	tagLexicalBlock  = 0x0b
	tagModule        = 0x1e
	tagSubprogram    = 0x2e
	tagTryBlock      = 0x32
	tagNamespace     = 0x39
	tagPartialUnit   = 0x3c
	tagCatchBlock    = 0x25
	tagSkeletonUnit  = 0x4a
	tagWithStatement = 0x22
)

// Attributes.
const (
	atSibling       = 0x01
	atName          = 0x03
	atLines         = 0x10
	atLow           = 0x11
	atHigh          = 0x12
	atDirectory     = 0x1b
	atOrigin        = 0x31
	atSpecification = 0x47
	atRanges        = 0x55
	atCallFile      = 0x58
	atCallLine      = 0x59
	atLinkage       = 0x6e
	atTextBase      = 0x72
	atAddressBase   = 0x73
	atRangesBase    = 0x74
	atSplit         = 0x76
	atLinkageMIPS   = 0x2007
	atSplitGNU      = 0x2130
	atRangesBaseGNU = 0x2132
	atAddrBaseGNU   = 0x2133
)

// Forms.
const (
	formAddr        = 0x01
	formBlock2      = 0x03
	formBlock4      = 0x04
	formData2       = 0x05
	formData4       = 0x06
	formData8       = 0x07
	formString      = 0x08
	formBlock       = 0x09
	formBlock1      = 0x0a
	formData1       = 0x0b
	formFlag        = 0x0c
	formSdata       = 0x0d
	formStrp        = 0x0e
	formUdata       = 0x0f
	formRefAddr     = 0x10
	formRef1        = 0x11
	formRef2        = 0x12
	formRef4        = 0x13
	formRef8        = 0x14
	formRefUdata    = 0x15
	formIndirect    = 0x16
	formSecOffset   = 0x17
	formExprloc     = 0x18
	formFlagPresent = 0x19
	formStrx        = 0x1a
	formAddrx       = 0x1b
	formRefSup4     = 0x1c
	formStrpSup     = 0x1d
	formData16      = 0x1e
	formLineStrp    = 0x1f
	formRefSig8     = 0x20
	formImplicit    = 0x21
	formLoclistx    = 0x22
	formRnglistx    = 0x23
	formRefSup8     = 0x24
	formStrx1       = 0x25
	formStrx2       = 0x26
	formStrx3       = 0x27
	formStrx4       = 0x28
	formAddrx1      = 0x29
	formAddrx2      = 0x2a
	formAddrx3      = 0x2b
	formAddrx4      = 0x2c
	formAddrGNU     = 0x1f01
	formStrGNU      = 0x1f02
	formRefAlt      = 0x1f20
	formStrpAlt     = 0x1f21
)

// abbreviation is the shape of an entry.
type abbreviation struct {
	tag      uint64
	children bool
	fixed    int // bytes of an entry after its code; -1 if they depend on its contents
	attrs    []attribute
}

type attribute struct {
	name, form uint64
	implicit   int64
}

// readAbbreviation reads one declaration, and appends its attributes to all; code 0 is the end of the table.
func readAbbreviation(c *cursor, u *unit, all *[]attribute) (code uint64, a abbreviation) {
	first := len(*all)
	code = c.uleb()
	if code == 0 || c.bad {
		return 0, a
	}
	a.tag, a.children = c.uleb(), c.u8() != 0
	for !c.bad {
		at := attribute{name: c.uleb(), form: c.uleb()}
		if at.form == formImplicit {
			at.implicit = c.sleb()
		}
		if at.name == 0 && at.form == 0 {
			a.attrs = (*all)[first:]
			return code, a
		}
		*all = append(*all, at)
		if size := u.sizeOf(at.form); size < 0 || a.fixed < 0 {
			a.fixed = -1
		} else {
			a.fixed += size
		}
	}
	return 0, a
}

// abbreviations of a unit by code. Compilers number them from 1.
type abbreviations struct {
	attrs []attribute // of all
	dense []abbreviation
	rest  map[uint64]*abbreviation
}

func (t *abbreviations) add(code uint64, a abbreviation) {
	if code == uint64(len(t.dense))+1 {
		t.dense = append(t.dense, a)
		return
	}
	if t.rest == nil {
		t.rest = map[uint64]*abbreviation{}
	}
	t.rest[code] = &a
}

func (t *abbreviations) get(code uint64) *abbreviation {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return t.rest[code]
}

// sizeOf returns the bytes of an attribute with this form; -1 if they depend on its contents.
func (u *unit) sizeOf(form uint64) int {
	switch form {
	case formFlagPresent, formImplicit:
		return 0
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		return 1
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2
	case formStrx3, formAddrx3:
		return 3
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		return 4
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8
	case formData16:
		return 16
	case formAddr:
		return u.addressSize
	case formRefAddr:
		if u.version == 2 {
			return u.addressSize
		}
		return u.offsetSize()
	case formStrp, formSecOffset, formLineStrp, formStrpSup, formRefAlt, formStrpAlt:
		return u.offsetSize()
	}
	return -1
}

// value is an attribute's value as it stands in the file. The form 0 means that there is none.
type value struct {
	form uint64
	v    uint64 // a number, an index, an offset; for a string in place its offset in the unit
}

// read reads a value, or skips it if it is of no use here.
func (u *unit) read(c *cursor, a attribute) value {
	form := a.form
	if form == formIndirect {
		if form = c.uleb(); form == formIndirect || form == formImplicit {
			c.bad = true
		}
	}
	x := value{form: form}
	switch form {
	case formFlagPresent:
		x.v = 1
	case formImplicit:
		x.v = uint64(a.implicit)
	case formData16:
		c.skip(16)
	case formString:
		x.v = uint64(c.at)
		c.text()
	case formSdata:
		x.v = uint64(c.sleb())
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formAddrGNU, formStrGNU:
		x.v = c.uleb()
	case formBlock1:
		c.skip(c.uint(1))
	case formBlock2:
		c.skip(c.uint(2))
	case formBlock4:
		c.skip(c.uint(4))
	case formBlock, formExprloc:
		c.skip(c.uleb())
	default:
		size := u.sizeOf(form)
		if size < 0 {
			c.bad = true
			break
		}
		x.v = c.uint(size)
	}
	return x
}
