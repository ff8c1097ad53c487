package catalog

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"reflect"
	"slices"
)

// Messages between ranks are binary: a byte for the kind of message, the version of the format, the length of the rest, and the
// fields in the order of the methods below, which code both directions. All ranks run the same mpitx, so the format may change
// with every version.
const wireVersion = 3

const (
	wireRoot byte = 0xd0 + iota
	wireProcess
	wireDelta
)

// ErrDamaged means that a message from another rank is damaged.
var ErrDamaged = errors.New("damaged message from another rank")

// coder reads fields from in if reading is set, computes their size if measuring is set, and else writes them to out. After a
// failure it stays failed.
type coder struct {
	out       []byte
	in        string
	measuring bool
	size      int
	reading   bool
	failed    bool
}

// encode appends a whole message. It measures first, because growing into untouched memory costs more than the coding.
func encode(b []byte, kind byte, fields func(*coder)) []byte {
	m := coder{measuring: true}
	fields(&m)
	b = slices.Grow(b, 2+binary.MaxVarintLen64+m.size)
	b = append(b, kind, wireVersion)
	c := coder{out: binary.AppendUvarint(b, uint64(m.size))}
	fields(&c)
	return c.out
}

// decodeMessage decodes one message at the start of b and returns the rest.
func decodeMessage(b string, kind byte, fields func(*coder)) (rest string, err error) {
	if len(b) < 3 || b[0] != kind || b[1] != wireVersion {
		return "", ErrDamaged
	}
	c := coder{in: b[2:], reading: true}
	n := c.length(1)
	if c.failed {
		return "", ErrDamaged
	}
	rest = c.in[n:]
	c.in = c.in[:n]
	fields(&c)
	if c.failed || c.in != "" {
		return "", ErrDamaged
	}
	return rest, nil
}

func (c *coder) fail() {
	c.failed = true
	c.in = ""
}

func (c *coder) uvarint(n uint64) uint64 {
	switch {
	case c.measuring:
		c.size += (bits.Len64(n|1) + 6) / 7
		return n
	case !c.reading:
		c.out = binary.AppendUvarint(c.out, n)
		return n
	}
	n = 0
	for shift := 0; shift < 64; shift += 7 {
		if c.in == "" {
			break
		}
		b := c.in[0]
		c.in = c.in[1:]
		if b < 0x80 {
			return n | uint64(b)<<shift
		}
		n |= uint64(b&0x7f) << shift
	}
	c.fail()
	return 0
}

// length reads a number of elements with at least size bytes each. It fails if the input is too short for them.
func (c *coder) length(size int) int {
	n := c.uvarint(0)
	if n > uint64(len(c.in)/size) {
		c.fail()
		return 0
	}
	return int(n)
}

func (c *coder) int64(n int64) int64 {
	u := c.uvarint(uint64(n)<<1 ^ uint64(n>>63))
	return int64(u>>1) ^ -int64(u&1)
}

func (c *coder) int(p *int) { *p = int(c.int64(int64(*p))) }

func (c *coder) float(p *float64) {
	*p = math.Float64frombits(c.uvarint(math.Float64bits(*p)))
}

func (c *coder) bool(flags ...*bool) {
	var bits uint64
	for i, f := range flags {
		if *f {
			bits |= 1 << i
		}
	}
	bits = c.uvarint(bits)
	for i, f := range flags {
		*f = bits>>i&1 != 0
	}
}

// text reads a string that shares the message's memory.
func (c *coder) text(s string) string {
	if !c.reading {
		c.uvarint(uint64(len(s)))
		c.raw(s)
		return s
	}
	n := c.length(1)
	s = c.in[:n]
	c.in = c.in[n:]
	return s
}

// raw writes bytes.
func (c *coder) raw(s string) {
	if c.measuring {
		c.size += len(s)
	} else {
		c.out = append(c.out, s...)
	}
}

func (c *coder) string(p *string) { *p = c.text(*p) }

func code32[E ~int32](c *coder, p *E) { *p = E(c.int64(int64(*p))) }

// codeWord codes a string that is usually one of a few.
func codeWord[S ~string](c *coder, p *S, words ...S) {
	if c.reading {
		n := c.uvarint(0)
		switch {
		case n == 0:
			*p = S(c.text(""))
		case n <= uint64(len(words)):
			*p = words[n-1]
		default:
			c.fail()
		}
		return
	}
	for i, w := range words {
		if *p == w {
			c.uvarint(uint64(i + 1))
			return
		}
	}
	c.uvarint(0)
	c.text(string(*p))
}

// codeList codes a list of elements with at least size bytes each. An empty list becomes nil.
func codeList[E any](c *coder, p *[]E, size int, each func(*coder, *E)) {
	if !c.reading {
		c.uvarint(uint64(len(*p)))
		for i := range *p {
			each(c, &(*p)[i])
		}
		return
	}
	n := c.length(size)
	if n == 0 {
		*p = nil
		return
	}
	// The length is only a claim: allocate at most 1 MiB in advance.
	list := make([]E, 0, min(n, 1+1<<20/int(reflect.TypeFor[E]().Size())))
	for range n {
		list = append(list, *new(E))
		each(c, &list[len(list)-1])
		if c.failed {
			return
		}
	}
	*p = list
}

func (c *coder) strings(p *[]string) { codeList(c, p, 1, (*coder).string) }

func (c *coder) value(v *Value) {
	code32(c, &v.typ)
	v.raw = c.text(v.raw)
	if c.reading && !v.valid() {
		c.fail()
	}
}

func (c *coder) outcome(g *Reading) {
	c.status(&g.Status)
	c.string(&g.Reason)
	c.value(&g.Value)
	c.int(&g.Count)
	codeWord(c, &g.Writable, WritableUnknown, WritableYes, WritableNotNow, WritableNever)
}

func (c *coder) status(s *Status) {
	codeWord(c, s, StatusOK, StatusFaulty, StatusError, StatusUnbound, StatusMissing)
}

func (c *coder) library(l *Library) {
	c.string(&l.Family)
	c.string(&l.Text)
	c.string(&l.Standard)
	c.string(&l.Path)
	c.string(&l.BuildID)
	c.bool(&l.Events, &l.PERUSE, &l.QMPI)
}

func (c *coder) stage(s *Stage) {
	c.bool(&s.Read)
	c.string(&s.Error)
	code32(c, &s.Thread)
	for _, n := range []*int{&s.Cvars, &s.Pvars, &s.Categories, &s.DeadCvars, &s.DeadPvars, &s.DeadCats, &s.Events, &s.Sources, &s.DeadEvents, &s.Stamp} {
		c.int(n)
	}
	c.strings(&s.Environment)
	c.float(&s.Seconds)
}

func (v *Variable) code(c *coder) {
	c.string(&v.Name)
	code32(c, &v.Class)
	code32(c, &v.Scope)
	code32(c, &v.Verbosity)
	code32(c, &v.Type)
	code32(c, &v.Bind)
	c.string(&v.Enum)
	c.bool(&v.Readonly, &v.Continuous, &v.Atomic)
	c.string(&v.Description)
}

func (k *Category) code(c *coder) {
	c.string(&k.Name)
	c.string(&k.Description)
	c.strings(&k.Cvars)
	c.strings(&k.Pvars)
	c.strings(&k.Categories)
	c.int(&k.Events)
	c.strings(&k.EventTypes)
}

func (e *Enum) code(c *coder) {
	c.string(&e.Name)
	c.bool(&e.Flags)
	codeList(c, &e.Items, 2, (*coder).item)
}

func (c *coder) item(it *Item) {
	c.int(&it.Value)
	c.string(&it.Name)
}

// meta codes everything but the library, whose path may differ between nodes.
func (c *coder) meta(m *Meta) {
	for k := range (AllKinds &^ agentKinds).Table() {
		k.list.code(c, &m.Lists)
	}
	if c.reading {
		m.setKinds()
	}
}

func (c *coder) process(p *Process) {
	c.int(&p.Rank)
	c.string(&p.Host)
	c.string(&p.Error)
	c.stage(&p.Stage)
	c.library(&p.Meta.Library)
	c.meta(&p.Meta)
	codeList(c, &p.Readings, 6, (*coder).outcome)
	if c.reading && len(p.Readings) != len(p.Meta.Cvars)+len(p.Meta.Pvars) {
		c.fail()
	}
}

func (c *coder) root(r *Root) {
	c.bool(&r.Read)
	if !c.reading {
		c.raw(string(r.Digest[:]))
	} else if n := copy(r.Digest[:], c.in); n < len(r.Digest) {
		c.fail()
	} else {
		c.in = c.in[n:]
	}
	c.library(&r.Library)
	codeList(c, &r.Readings, 6, (*coder).outcome)
}

func (c *coder) change(k *Change) {
	c.int(&k.Index)
	c.outcome(&k.Reading)
}

func (c *coder) delta(d *Delta) {
	whole := d.Whole != nil
	c.bool(&whole)
	if whole {
		if c.reading {
			d.Whole = new(Process)
		}
		c.process(d.Whole)
		d.Rank = d.Whole.Rank
		return
	}
	c.int(&d.Rank)
	c.string(&d.Host)
	c.string(&d.Error)
	c.stage(&d.Stage)
	other := d.Library != nil
	c.bool(&other)
	if other {
		if c.reading {
			d.Library = new(Library)
		}
		c.library(d.Library)
	}
	codeList(c, &d.Changes, 7, (*coder).change)
}
