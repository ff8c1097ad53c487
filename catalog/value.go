package catalog

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Value is a variable's value: the bytes of its elements, little-endian, and their type. Values are comparable with ==. The zero
// Value means that there is no value.
type Value struct {
	typ Datatype
	raw string // MPI_CHAR: up to the terminating null
}

// NewValue makes a value of elements of type t from their bytes in little-endian order. MPI_CHAR ends at the first null
// character; for other types, bytes that do not fill an element are dropped.
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

// valid reports whether NewValue could have returned it.
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

// Type returns the type of the elements.
func (v Value) Type() Datatype { return v.typ }

// Bytes returns the elements in little-endian order, for MPI_CHAR without the terminating null.
func (v Value) Bytes() []byte { return []byte(v.raw) }

// Len returns the number of elements; 1 for MPI_CHAR, whose characters are one string.
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

// Text returns the string of an MPI_CHAR value.
func (v Value) Text() string { return v.raw }

func (v Value) bits(i int) uint64 {
	n := v.typ.Size()
	var b [8]byte
	copy(b[:], v.raw[i*n:i*n+n])
	return binary.LittleEndian.Uint64(b[:])
}

// Int returns element i: of a signed type sign-extended, of an unsigned or boolean type its bits.
func (v Value) Int(i int) int64 {
	b := v.bits(i)
	if v.typ.Form() == FormSigned {
		shift := 64 - 8*v.typ.Size()
		return int64(b<<shift) >> shift
	}
	return int64(b)
}

// Uint returns element i of an unsigned or boolean type.
func (v Value) Uint(i int) uint64 { return v.bits(i) }

// Float returns element i of a numeric type as a floating-point number.
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

// Element returns element i as text, exact.
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

// String returns the value as text: elements separated by commas, bytes of an unknown type in hexadecimal.
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

// Format returns the value as text, with the names of its enumeration's items if e is not nil. Values without an item stay
// numbers. Flags are written a|b, and the bits of no flag as a hexadecimal number.
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

// NameOf returns the name of the item with a value; for a flag enumeration the names of its items joined by "|".
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
