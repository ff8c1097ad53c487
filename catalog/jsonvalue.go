package catalog

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// readValue reads a value of type t, as appendJSON writes it.
func (r *reader) readValue(t Datatype) Value {
	r.peek()
	start := r.pos
	switch t.Form() {
	case FormText:
		s := r.text()
		if strings.IndexByte(s, 0) >= 0 {
			r.failf(start, "a null character in a char value")
		}
		return Value{t, s}
	case FormUnknown:
		if t == 0 {
			r.failf(start, "a value of a variable that has no type")
			return Value{}
		}
		return Value{t, r.hexBytes(t)}
	}
	r.scratch = r.scratch[:0]
	if r.peek() != '[' {
		r.element(t)
		return Value{t, string(r.scratch)}
	}
	first := true
	r.open('[', "a list")
	for i := 0; r.more(&first, ']'); i++ {
		r.push("", i)
		r.element(t)
		r.spend(r.pos, t.Size())
		r.pop()
	}
	return Value{t, string(r.scratch)}
}

func (r *reader) hexBytes(t Datatype) string {
	r.peek()
	start := r.pos
	digits, ok := strings.CutPrefix(r.quoted(), "0x")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil {
		r.failf(start, `a value of type %s should be its bytes, "0x…" in hexadecimal`, t)
	}
	return string(raw)
}

// element reads one element and appends its bytes to the scratch buffer.
func (r *reader) element(t Datatype) {
	r.peek()
	start := r.pos
	var bits uint64
	var err error
	switch form := t.Form(); {
	case form == FormFloat:
		bits, err = r.floatBits(t)
	case form == FormBool && r.pos < len(r.s) && (r.s[r.pos] == 't' || r.s[r.pos] == 'f'):
		if r.boolean() {
			bits = 1
		}
	default:
		text := r.number()
		if r.err != nil {
			return
		}
		bits, err = parseInteger(t, text, 10)
	}
	if err != nil {
		r.fail(start, err)
		return
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	r.scratch = append(r.scratch, b[:t.Size()]...)
}

func (r *reader) floatBits(t Datatype) (uint64, error) {
	var text string
	if r.peek() == '"' {
		text = r.quoted()
		switch text {
		case "NaN":
			return quietNaN(t.Size()), nil
		case "+Inf", "-Inf":
		default:
			return parseNaN(t, text)
		}
	} else {
		text = r.number()
	}
	if r.err != nil {
		return 0, nil
	}
	return parseFloat(t, text)
}

// parseNaN reads "NaN(0x7ff8000000000001)": a NaN with other bits than C's NAN.
func parseNaN(t Datatype, text string) (uint64, error) {
	if digits, ok := strings.CutPrefix(text, "NaN(0x"); ok {
		if digits, ok = strings.CutSuffix(digits, ")"); ok {
			bits, err := strconv.ParseUint(digits, 16, 8*t.Size())
			nan := math.IsNaN(math.Float64frombits(bits))
			if t.Size() == 4 {
				f := math.Float32frombits(uint32(bits))
				nan = f != f
			}
			if err == nil && nan {
				return bits, nil
			}
		}
	}
	return 0, &ParseError{Text: text, Type: t, Want: `a number, "NaN", "+Inf" or "-Inf"`}
}
