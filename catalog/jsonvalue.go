package catalog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendText appends a string as JSON, or one that is not UTF-8 as {"bytes":"6869ff"}, so that it can be read back. Characters
// that could control a terminal are escaped.
func AppendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return fmt.Appendf(b, `{"bytes":"%x"}`, s)
	}
	quoted, _ := jsontext.AppendQuote(nil, s)
	return appendPrintable(b, quoted)
}

// appendPrintable copies JSON and escapes unprintable characters as \u202e.
func appendPrintable(b, from []byte) []byte {
	for len(from) > 0 {
		n := 0
		for n < len(from) && from[n] < 0x7f {
			n++
		}
		b = append(b, from[:n]...)
		if from = from[n:]; len(from) == 0 {
			break
		}
		u, n := utf8.DecodeRune(from)
		switch {
		case unicode.IsPrint(u):
			b = append(b, from[:n]...)
		case u > 0xffff:
			high, low := utf16.EncodeRune(u)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, u)
		}
		from = from[n:]
	}
	return b
}

// MarshalJSON writes a number, string or boolean, or an array of several elements. NaN and infinities are strings, text that is
// not UTF-8 is {"bytes":"hex"}, and bytes of an unknown type are a hexadecimal string "0x…". Everything is exact: with the
// type, parseJSON returns the same value.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case v.typ == 0:
		return []byte("null"), nil
	case v.typ.Form() == FormText:
		return AppendText(nil, v.raw), nil
	case v.typ.Form() == FormUnknown:
		return AppendText(nil, v.String()), nil
	case v.Len() == 1:
		return v.appendElement(nil, 0), nil
	}
	b := []byte{'['}
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.appendElement(b, i)
	}
	return append(b, ']'), nil
}

func (v Value) appendElement(b []byte, i int) []byte {
	if v.typ.Form() == FormFloat {
		f := v.Float(i)
		if bits := v.bits(i); math.IsNaN(f) && bits != quietNaN(v.typ.Size()) {
			return fmt.Appendf(b, `"NaN(0x%x)"`, bits)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return strconv.AppendQuote(b, v.Element(i))
		}
	}
	return append(b, v.Element(i)...)
}

// quietNaN returns the bits of C's NAN, which is written "NaN".
func quietNaN(size int) uint64 {
	if size == 4 {
		return 0x7fc00000
	}
	return 0x7ff8000000000000
}

// parseJSON decodes a value of type t.
func parseJSON(raw jsontext.Value, t Datatype) (Value, error) {
	switch t.Form() {
	case FormText:
		s, err := textOf(raw)
		if err == nil && strings.IndexByte(s, 0) >= 0 {
			err = errors.New("a char value has a null character")
		}
		return Value{t, s}, err
	case FormUnknown:
		s, _ := textOf(raw)
		digits, ok := strings.CutPrefix(s, "0x")
		b, err := hex.DecodeString(digits)
		if !ok || err != nil {
			return Value{}, fmt.Errorf(`expected the bytes of the type %s in hexadecimal, "0x…"`, t)
		}
		return Value{t, string(b)}, nil
	}
	if raw.Kind() != '[' {
		b, err := appendBits(nil, raw, t)
		return Value{t, string(b)}, err
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	var b []byte
	d.ReadToken()
	for i := 0; d.PeekKind() != ']'; i++ {
		element, err := d.ReadValue()
		if err == nil {
			b, err = appendBits(b, element, t)
		}
		if err != nil {
			return Value{}, inElement(i, "", err)
		}
	}
	return Value{t, string(b)}, nil
}

// textOf decodes a JSON string or {"bytes":"hex"}.
func textOf(raw jsontext.Value) (string, error) {
	switch raw.Kind() {
	case '"':
		b, err := jsontext.AppendUnquote(nil, raw)
		return string(b), err
	case '{':
		return bytesText(raw)
	}
	return "", fmt.Errorf("expected a string, not %s", kindName(raw.Kind()))
}

// appendBits decodes one element.
func appendBits(b []byte, raw jsontext.Value, t Datatype) ([]byte, error) {
	var bits uint64
	var err error
	switch kind := raw.Kind(); {
	case kind == '0' && t.Form() == FormFloat:
		bits, err = parseFloat(t, string(raw))
	case kind == '0':
		bits, err = parseInteger(t, string(raw), 10)
	case kind == '"' && t.Form() == FormFloat:
		bits, err = parseNotFinite(t, string(raw[1:len(raw)-1]))
	case (kind == 't' || kind == 'f') && t.Form() == FormBool:
		if kind == 't' {
			bits = 1
		}
	default:
		err = fmt.Errorf("expected a number, not %s", kindName(kind))
	}
	var little [8]byte
	binary.LittleEndian.PutUint64(little[:], bits)
	return append(b, little[:t.Size()]...), err
}

// parseNotFinite parses NaN, +Inf, -Inf, and "NaN(0x7ff8000000000001)" for a NaN with other bits than C's NAN.
func parseNotFinite(t Datatype, text string) (uint64, error) {
	switch text {
	case "NaN":
		return quietNaN(t.Size()), nil
	case "+Inf", "-Inf":
		return parseFloat(t, text)
	}
	if digits, ok := strings.CutPrefix(text, "NaN(0x"); ok {
		if digits, ok = strings.CutSuffix(digits, ")"); ok {
			bits, err := strconv.ParseUint(digits, 16, 8*t.Size())
			nan := math.IsNaN(math.Float64frombits(bits))
			if t.Size() == 4 {
				nan = math.IsNaN(float64(math.Float32frombits(uint32(bits))))
			}
			if err == nil && nan {
				return bits, nil
			}
		}
	}
	return 0, &ParseError{Text: text, Type: t, Want: `a number, "NaN", "+Inf" or "-Inf"`}
}

// clip shortens foreign text for an error message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
