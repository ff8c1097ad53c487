package recording

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"strconv"

	"mpitx/catalog"
)

// Kind is the type of a value.
type Kind uint8

// The kinds of values.
const (
	None    Kind = iota // there is no value
	Integer             // 64 bits and a sign
	Float
	Float32
	Bool
	Text
)

// Value is an element's value, exact. Its text is valid as long as the instant it came with; see [Value.Clone].
type Value struct {
	Kind     Kind
	negative bool
	bits     uint64 // an integer's magnitude, a float's bits
	text     []byte
	enum     *catalog.Enum
}

// IntegerValue makes a signed value.
func IntegerValue(v int64) Value {
	if v < 0 {
		return Value{Kind: Integer, negative: true, bits: -uint64(v)}
	}
	return Value{Kind: Integer, bits: uint64(v)}
}

// UnsignedValue makes an unsigned value.
func UnsignedValue(v uint64) Value { return Value{Kind: Integer, bits: v} }

// FloatValue makes a floating-point value.
func FloatValue(v float64) Value { return Value{Kind: Float, bits: math.Float64bits(v)} }

// Float64 returns the value as a floating-point number, rounded if necessary; NaN if it is not a number.
func (v Value) Float64() float64 {
	switch v.Kind {
	case Integer, Bool:
		if v.negative {
			return -float64(v.bits)
		}
		return float64(v.bits)
	case Float:
		return math.Float64frombits(v.bits)
	case Float32:
		return float64(math.Float32frombits(uint32(v.bits)))
	}
	return math.NaN()
}

// Int64 returns the value as an integer, and whether it is an integer that fits.
func (v Value) Int64() (int64, bool) {
	switch {
	case v.Kind != Integer && v.Kind != Bool:
		return 0, false
	case v.negative:
		return -int64(v.bits), v.bits <= 1<<63
	}
	return int64(v.bits), v.bits < 1<<63
}

// Uint64 returns the value as an unsigned integer, and whether it is one.
func (v Value) Uint64() (uint64, bool) {
	return v.bits, (v.Kind == Integer || v.Kind == Bool) && !v.negative
}

// Item returns the name of the value in its enumeration.
func (v Value) Item() (string, bool) {
	if v.enum == nil || v.Kind != Integer && v.Kind != Bool {
		return "", false
	}
	n, ok := v.Int64()
	if !ok {
		return "", false
	}
	return v.enum.NameOf(n)
}

// AppendText appends the value as text: exact, enumeration items by name, None as nothing.
func (v Value) AppendText(b []byte) []byte {
	if v.enum != nil {
		if name, ok := v.Item(); ok {
			return append(b, name...)
		}
	}
	switch v.Kind {
	case Integer:
		if v.negative {
			b = append(b, '-')
		}
		return strconv.AppendUint(b, v.bits, 10)
	case Float:
		return strconv.AppendFloat(b, math.Float64frombits(v.bits), 'g', -1, 64)
	case Float32:
		return strconv.AppendFloat(b, v.Float64(), 'g', -1, 32)
	case Bool:
		switch v.bits {
		case 0:
			return append(b, "false"...)
		case 1:
			return append(b, "true"...)
		}
		return strconv.AppendUint(b, v.bits, 10)
	case Text:
		return append(b, v.text...)
	}
	return b
}

func (v Value) String() string { return string(v.AppendText(nil)) }

// Clone returns the value with its own copy of the text.
func (v Value) Clone() Value {
	v.text = bytes.Clone(v.text)
	return v
}

// Bytes returns the text of a Text value.
func (v Value) Bytes() []byte { return v.text }

// Compare orders values of one variable: integers exactly, NaN before all other numbers.
func (v Value) Compare(o Value) int {
	if v.Kind != Integer || o.Kind != Integer {
		return cmp.Compare(v.Float64(), o.Float64())
	}
	switch {
	case v.negative != o.negative:
		if v.negative {
			return -1
		}
		return 1
	case v.negative:
		return cmp.Compare(o.bits, v.bits)
	}
	return cmp.Compare(v.bits, o.bits)
}

// element is the encoding of a column's elements.
type element struct {
	form catalog.Form
	size int
	enum *catalog.Enum
}

func elementOf(c *Column) element {
	form := c.Type.Form()
	if form == catalog.FormUnknown {
		form = catalog.FormUnsigned
	}
	return element{form, c.size, c.Enum}
}

// raw returns an element's bits, sign-extended if it is signed.
func (e *element) raw(b []byte) uint64 {
	switch e.size {
	case 8:
		return le.Uint64(b)
	case 4:
		if e.form == catalog.FormSigned {
			return uint64(int64(int32(le.Uint32(b))))
		}
		return uint64(le.Uint32(b))
	case 2:
		if e.form == catalog.FormSigned {
			return uint64(int64(int16(le.Uint16(b))))
		}
		return uint64(le.Uint16(b))
	}
	if e.form == catalog.FormSigned {
		return uint64(int64(int8(b[0])))
	}
	return uint64(b[0])
}

// value decodes an element's bits.
func (e *element) value(x uint64) Value {
	switch e.form {
	case catalog.FormSigned:
		v := IntegerValue(int64(x))
		v.enum = e.enum
		return v
	case catalog.FormFloat:
		if e.size == 4 {
			return Value{Kind: Float32, bits: x}
		}
		return Value{Kind: Float, bits: x}
	case catalog.FormBool:
		return Value{Kind: Bool, bits: x, enum: e.enum}
	}
	return Value{Kind: Integer, bits: x, enum: e.enum}
}

// float decodes an element's bits as a floating-point number.
func (e *element) float(x uint64) float64 { return e.value(x).Float64() }

// mask has the bits of an element set.
func (e *element) mask() uint64 { return math.MaxUint64 >> (64 - 8*e.size) }

// plus is the sum of two numbers; None counts as 0. Sums of integers are exact up to the greatest magnitude.
func (v Value) plus(o Value) Value {
	switch {
	case v.Kind == None:
		return o
	case v.Kind != Integer || o.Kind != Integer:
		return FloatValue(v.Float64() + o.Float64())
	case v.negative == o.negative:
		addMagnitude(&v, o.bits)
		return v
	case v.bits >= o.bits:
		return Value{Kind: Integer, negative: v.negative && v.bits > o.bits, bits: v.bits - o.bits}
	}
	return Value{Kind: Integer, negative: o.negative, bits: o.bits - v.bits}
}

// addMagnitude adds to a magnitude and saturates.
func addMagnitude(v *Value, more uint64) {
	sum, carry := bits.Add64(v.bits, more, 0)
	if carry != 0 {
		sum = math.MaxUint64
	}
	v.bits = sum
}
