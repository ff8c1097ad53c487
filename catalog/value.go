package catalog

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Value is what a variable holds: its elements' bytes, little-endian, with their type. Values are comparable with ==.
// The zero Value is no value.
type Value struct {
	typ Datatype
	raw string // MPI_CHAR: up to the terminating null
}

// NewValue makes a value of elements of type t from their bytes in little-endian order. Of MPI_CHAR, what follows a
// null character is dropped; of other types, what does not fill an element.
func NewValue(t Datatype, raw []byte) Value {
	if t.Form() == FormText {
		if i := strings.IndexByte(string(raw), 0); i >= 0 {
			raw = raw[:i]
		}
		return Value{t, string(raw)}
	}
	if t == 0 {
		return Value{}
	}
	if n := t.Size(); n > 1 {
		raw = raw[:len(raw)/n*n]
	}
	return Value{t, string(raw)}
}

// NewText makes an MPI_CHAR value.
func NewText(s string) Value {
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return Value{TypeChar, s}
}

// IsZero reports whether there is no value.
func (v Value) IsZero() bool { return v.typ == 0 }

// valid reports whether NewValue could have made it.
func (v Value) valid() bool {
	switch n := v.typ.Size(); {
	case v.typ == 0:
		return v.raw == ""
	case v.typ.Form() == FormText:
		return strings.IndexByte(v.raw, 0) < 0
	default:
		return n == 0 || len(v.raw)%n == 0
	}
}

// Type is the type of the elements.
func (v Value) Type() Datatype { return v.typ }

// Bytes are the elements in little-endian order; of MPI_CHAR without the terminating null.
func (v Value) Bytes() []byte { return []byte(v.raw) }

// Len is the number of elements: of MPI_CHAR 1, as the characters are one string.
func (v Value) Len() int {
	switch n := v.typ.Size(); {
	case v.typ.Form() == FormText:
		return 1
	case n == 0:
		return 0
	default:
		return len(v.raw) / n
	}
}

// Text is the string of an MPI_CHAR value.
func (v Value) Text() string { return v.raw }

func (v Value) bits(i int) uint64 {
	n := v.typ.Size()
	var b [8]byte
	copy(b[:], v.raw[i*n:i*n+n])
	return binary.LittleEndian.Uint64(b[:])
}

// Int is element i of a signed type, sign-extended; of an unsigned or boolean type its bits.
func (v Value) Int(i int) int64 {
	b := v.bits(i)
	if v.typ.Form() == FormSigned {
		shift := 64 - 8*v.typ.Size()
		return int64(b<<shift) >> shift
	}
	return int64(b)
}

// Uint is element i of an unsigned or boolean type.
func (v Value) Uint(i int) uint64 { return v.bits(i) }

// Float is element i of a numeric type as a floating-point number.
func (v Value) Float(i int) float64 {
	switch v.typ.Form() {
	case FormFloat:
		if v.typ.Size() == 4 {
			return float64(math.Float32frombits(uint32(v.bits(i))))
		}
		return math.Float64frombits(v.bits(i))
	case FormSigned:
		return float64(v.Int(i))
	default:
		return float64(v.Uint(i))
	}
}

// Element is element i as text, exact.
func (v Value) Element(i int) string {
	switch v.typ.Form() {
	case FormSigned:
		return strconv.FormatInt(v.Int(i), 10)
	case FormUnsigned:
		return strconv.FormatUint(v.Uint(i), 10)
	case FormFloat:
		return strconv.FormatFloat(v.Float(i), 'g', -1, 8*v.typ.Size())
	case FormBool:
		switch v.Uint(i) {
		case 0:
			return "false"
		case 1:
			return "true"
		}
		return strconv.FormatUint(v.Uint(i), 10)
	case FormText:
		return v.raw
	}
	return ""
}

// String is the value as text: elements separated by commas, bytes of an unknown type in hexadecimal.
func (v Value) String() string {
	switch {
	case v.typ == 0:
		return ""
	case v.typ.Form() == FormText:
		return v.raw
	case v.typ.Form() == FormUnknown:
		return "0x" + hex.EncodeToString([]byte(v.raw))
	case v.Len() == 1:
		return v.Element(0)
	}
	var b strings.Builder
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v.Element(i))
	}
	return b.String()
}

// Format is the value as text with the items of its enumeration by name, where it has one: a value that matches no item
// stays a number, a flag set is written a|b with what no flag covers as a hexadecimal rest.
func (v Value) Format(e *Enum) string {
	if e == nil || v.typ.Form() == FormText || v.typ.Form() == FormFloat || v.typ.Form() == FormUnknown {
		return v.String()
	}
	parts := make([]string, v.Len())
	for i := range parts {
		name, ok := e.NameOf(v.Int(i))
		if !ok {
			name = v.Element(i)
		}
		parts[i] = name
	}
	return strings.Join(parts, ",")
}

// NameOf is the name of the item with this value; for a flag enumeration the names of its items joined by "|".
func (e *Enum) NameOf(n int64) (string, bool) {
	for _, it := range e.Items {
		if int64(it.Value) == n {
			return it.Name, true
		}
	}
	if !e.Flags || n <= 0 {
		return "", false
	}
	var parts []string
	rest := uint64(n)
	for _, it := range e.Items {
		if f := uint64(uint32(it.Value)); f != 0 && uint64(n)&f == f && rest&f != 0 {
			parts = append(parts, it.Name)
			rest &^= f
		}
	}
	if len(parts) == 0 {
		return "", false
	}
	if rest != 0 {
		parts = append(parts, fmt.Sprintf("%#x", rest))
	}
	return strings.Join(parts, "|"), true
}
