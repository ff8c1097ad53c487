package catalog

import (
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// writer writes a JSON document.
type writer struct {
	to     io.Writer
	buf    []byte // what to has not got yet
	depth  int
	inline int   // more than 0: on one line
	err    error // the document cannot be read back
	lost   error // to's

	typ Datatype // of the variable being written
}

func (w *writer) newline() {
	if w.inline > 0 {
		return
	}
	w.buf = append(w.buf, '\n')
	for range w.depth {
		w.buf = append(w.buf, ' ', ' ')
	}
}

const spillSize = 1 << 16

// spill passes on what there is, once that is enough: a document needs no memory of its size.
func (w *writer) spill() {
	if len(w.buf) >= spillSize && w.err == nil {
		w.flush()
	}
}

func (w *writer) flush() {
	if w.lost == nil {
		_, w.lost = w.to.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// comma starts the next member of an object or list.
func (w *writer) comma(first *bool) {
	switch {
	case *first:
		*first = false
	case w.inline > 0:
		w.buf = append(w.buf, ',', ' ')
	default:
		w.buf = append(w.buf, ',')
	}
	w.newline()
}

// appendText writes a string as JSON; one that is not UTF-8 as {"bytes":"6869ff"}, so that it survives. Characters that
// could act on a terminal are written as escapes.
func appendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		b = append(b, `{"bytes":"`...)
		b = hex.AppendEncode(b, []byte(s))
		return append(b, `"}`...)
	}
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscape(b, rune(c))
			i++
			start = i
			continue
		}
		u, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsPrint(u) {
			b = append(b, s[start:i]...)
			b = appendEscape(b, u)
			start = i + n
		}
		i += n
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func appendEscape(b []byte, u rune) []byte {
	switch u {
	case '"', '\\':
		return append(b, '\\', byte(u))
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	case '\r':
		return append(b, '\\', 'r')
	}
	unit := func(n rune) {
		const digits = "0123456789abcdef"
		b = append(b, '\\', 'u', digits[n>>12&15], digits[n>>8&15], digits[n>>4&15], digits[n&15])
	}
	if u >= 0x10000 {
		unit(0xd800 + (u-0x10000)>>10)
		unit(0xdc00 + (u-0x10000)&0x3ff)
	} else {
		unit(u)
	}
	return b
}

// appendJSON writes a value as docs/schema.md says. It is exact: with the type known, readValue gives the same value.
func (v Value) appendJSON(b []byte) []byte {
	switch {
	case v.typ == 0:
		return append(b, "null"...)
	case v.typ.Form() == FormText:
		return appendText(b, v.raw)
	case v.typ.Form() == FormUnknown:
		return appendText(b, v.String())
	case v.Len() == 1:
		return v.appendElement(b, 0)
	}
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',', ' ')
		}
		b = v.appendElement(b, i)
	}
	return append(b, ']')
}

func (v Value) appendElement(b []byte, i int) []byte {
	switch v.typ.Form() {
	case FormSigned:
		return strconv.AppendInt(b, v.Int(i), 10)
	case FormUnsigned:
		return strconv.AppendUint(b, v.Uint(i), 10)
	case FormFloat:
		switch f := v.Float(i); {
		case math.IsNaN(f):
			if bits := v.bits(i); bits != quietNaN(v.typ.Size()) {
				b = append(b, `"NaN(0x`...)
				b = strconv.AppendUint(b, bits, 16)
				return append(b, `)"`...)
			}
			return append(b, `"NaN"`...)
		case math.IsInf(f, 0):
			return strconv.AppendQuote(b, v.Element(i))
		default:
			return strconv.AppendFloat(b, f, 'g', -1, 8*v.typ.Size())
		}
	}
	return append(b, v.Element(i)...)
}

// quietNaN are the bits of C's NAN, the one that is written "NaN".
func quietNaN(size int) uint64 {
	if size == 4 {
		return 0x7fc00000
	}
	return 0x7ff8000000000000
}
