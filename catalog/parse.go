package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ParseError means that a text is not a value of a type.
type ParseError struct {
	Text string
	Type Datatype
	Want string // what is accepted
}

func (e *ParseError) Error() string {
	if items, ok := strings.CutPrefix(e.Want, "one of "); ok {
		return fmt.Sprintf("%q is not one of its values: %s", clip(e.Text), items)
	}
	return fmt.Sprintf("%q is not a value of type %s: %s", clip(e.Text), e.Type, e.Want)
}

// ParseValue parses a value to be written to a variable: as many elements as the handle has (count), separated by commas. Whole
// numbers are decimal, hexadecimal (0x), octal (0 or 0o) or binary (0b), and may end in k, m, g or t for 1024 and its powers, as in
// Open MPI's settings. Booleans are true, false, yes, no, on, off, 1 or 0.
// Elements of an enumeration (e, which may be nil) are an item's name, ignoring case, or a number; those of a flag enumeration
// may be several items joined by "|". MPI_CHAR takes the text, which must be shorter than count.
//
// The error is a *ParseError that says what is accepted.
func ParseValue(v *Variable, e *Enum, count int, text string) (Value, error) {
	t := v.Type
	switch t.Form() {
	case FormUnknown:
		return Value{}, &ParseError{Text: text, Type: t, Want: "values of this type cannot be written"}
	case FormText:
		return parseText(t, count, text)
	}
	var parts []string
	if count != 0 || text != "" {
		parts = strings.Split(text, ",")
	}
	if len(parts) != count {
		return Value{}, &ParseError{Text: text, Type: t, Want: fmt.Sprintf("expected %s, separated by commas, not %d", elements(count), len(parts))}
	}
	raw := make([]byte, 0, count*t.Size())
	for _, p := range parts {
		bits, err := parseElement(t, e, strings.TrimSpace(p))
		if err != nil {
			return Value{}, err
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], bits)
		raw = append(raw, b[:t.Size()]...)
	}
	return Value{t, string(raw)}, nil
}

func elements(n int) string {
	if n == 1 {
		return "1 element"
	}
	return strconv.Itoa(n) + " elements"
}

func parseText(t Datatype, count int, text string) (Value, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return Value{}, &ParseError{Text: text, Type: t, Want: "text without null characters"}
	}
	if len(text) >= count {
		return Value{}, &ParseError{Text: text, Type: t, Want: fmt.Sprintf("expected at most %d bytes, not %d", max(count-1, 0), len(text))}
	}
	return Value{t, text}, nil
}

func parseElement(t Datatype, e *Enum, text string) (uint64, error) {
	if t.Form() == FormFloat {
		return parseFloat(t, text)
	}
	if e != nil {
		if n, ok := e.Lookup(text); ok {
			return fitItem(t, text, n)
		}
	}
	var bits uint64
	var err error
	if t.Form() == FormBool {
		bits, err = parseBool(t, text)
	} else {
		bits, err = parseSized(t, text)
	}
	var pe *ParseError
	if e != nil && errors.As(err, &pe) {
		pe.Want = e.accepts() + "; or " + pe.Want + e.didYouMean(text)
	}
	return bits, err
}

// fitItem converts an item's value to an element. Flags of an unsigned type may use the sign bit of the item's int.
func fitItem(t Datatype, text string, n int64) (uint64, error) {
	if n < 0 && t.Form() == FormUnsigned && n >= math.MinInt32 {
		n = int64(uint32(n))
	}
	if lo, hi := t.bounds(); n < lo || n > 0 && uint64(n) > hi {
		return 0, &ParseError{Text: text, Type: t, Want: fmt.Sprintf("its value %d is out of range: %d to %d", n, lo, hi)}
	}
	return uint64(n), nil
}

// Lookup returns the value of the item with a name, ignoring case; for a flag enumeration also of several joined by "|".
func (e *Enum) Lookup(text string) (int64, bool) {
	if n, ok := e.item(text); ok {
		return n, true
	}
	if !e.Flags {
		return 0, false
	}
	var sum uint32
	for p := range strings.SplitSeq(text, "|") {
		p = strings.TrimSpace(p)
		n, ok := e.item(p)
		if !ok {
			u, err := strconv.ParseUint(p, 0, 32)
			if err != nil {
				return 0, false
			}
			n = int64(u)
		}
		sum |= uint32(n)
	}
	return int64(int32(sum)), true // items are C ints, and the sign bit may be a flag
}

func (e *Enum) item(name string) (int64, bool) {
	for _, it := range e.Items {
		if it.Name == name {
			return int64(it.Value), true
		}
	}
	for _, it := range e.Items {
		if strings.EqualFold(it.Name, name) {
			return int64(it.Value), true
		}
	}
	return 0, false
}

// didYouMean suggests items for a text that is not an item, or for the first wrong one of several joined by "|".
func (e *Enum) didYouMean(text string) string {
	for p := range strings.SplitSeq(text, "|") {
		if _, ok := e.item(strings.TrimSpace(p)); !ok {
			return DidYouMean(e.names(), strings.TrimSpace(p))
		}
	}
	return ""
}

// accepts lists the items for an error message.
func (e *Enum) accepts() string {
	list := strings.Join(e.names(), ", ")
	if e.Flags {
		return "any of " + list + ", several joined by |"
	}
	return "one of " + list
}

func (e *Enum) names() []string {
	names := make([]string, len(e.Items))
	for i, it := range e.Items {
		names[i] = it.Name
	}
	return names
}

var boolWords = map[string]uint64{"true": 1, "yes": 1, "on": 1, "1": 1, "false": 0, "no": 0, "off": 0, "0": 0}

func parseBool(t Datatype, text string) (uint64, error) {
	if b, ok := boolWords[strings.ToLower(text)]; ok {
		return b, nil
	}
	return 0, &ParseError{Text: text, Type: t, Want: "true, false, yes, no, on, off, 1 or 0"}
}

// bounds is the range of an integer or boolean type.
func (t Datatype) bounds() (lo int64, hi uint64) {
	bits := 8 * t.Size()
	if t.Form() == FormSigned {
		return math.MinInt64 >> (64 - bits), math.MaxInt64 >> (64 - bits)
	}
	return 0, math.MaxUint64 >> (64 - bits)
}

// parseSized parses an element of an integer type, which may have a unit.
func parseSized(t Datatype, text string) (uint64, error) {
	power := 0
	if last := len(text) - 1; last > 0 {
		power = 1 + strings.IndexByte("kmgt", text[last]|0x20)
	}
	if power == 0 {
		return parseInteger(t, text, 0)
	}
	_, err := parseInteger(t, text, 0) // to be returned: it has the whole text
	n, wrong := parseInteger(t, text[:len(text)-1], 0)
	lo, hi := t.bounds()
	switch shift := 10 * power; {
	case wrong != nil:
		return 0, err
	case t.Form() == FormSigned && int64(n) < lo>>shift, (t.Form() != FormSigned || int64(n) >= 0) && n > hi>>shift:
		return 0, err
	default:
		return n << shift, nil
	}
}

// parseInteger parses an element of an integer or boolean type. Base 0 accepts Go's prefixes.
func parseInteger(t Datatype, text string, base int) (uint64, error) {
	if text == "-0" {
		return 0, nil
	}
	var bits uint64
	var err error
	if t.Form() == FormSigned {
		var n int64
		n, err = strconv.ParseInt(text, base, 8*t.Size())
		bits = uint64(n)
	} else {
		bits, err = strconv.ParseUint(strings.TrimPrefix(text, "+"), base, 8*t.Size()) // ParseInt accepts it too
	}
	if err != nil {
		lo, hi := t.bounds()
		return 0, &ParseError{Text: text, Type: t, Want: fmt.Sprintf("a whole number from %d to %d", lo, hi)}
	}
	return bits, nil
}

func parseFloat(t Datatype, text string) (uint64, error) {
	f, err := strconv.ParseFloat(text, 8*t.Size())
	if err != nil {
		want := "a number"
		if errors.Is(err, strconv.ErrRange) {
			want = "the number is too large"
		}
		return 0, &ParseError{Text: text, Type: t, Want: want}
	}
	switch {
	case math.IsNaN(f):
		return quietNaN(t.Size()), nil
	case t.Size() == 4:
		return uint64(math.Float32bits(float32(f))), nil
	}
	return math.Float64bits(f), nil
}

// Settable describes the values that a variable accepts, for help texts: the items of its enumeration, or its range.
func Settable(v *Variable, e *Enum) string {
	var parts []string
	if e != nil {
		parts = append(parts, e.accepts())
	}
	switch v.Type.Form() {
	case FormText:
		parts = append(parts, "text")
	case FormBool:
		parts = append(parts, "true or false")
	case FormFloat:
		parts = append(parts, "a number")
	case FormSigned, FormUnsigned:
		lo, hi := v.Type.bounds()
		parts = append(parts, fmt.Sprintf("a whole number from %d to %d", lo, hi))
	}
	return strings.Join(slices.Compact(parts), "; or ")
}
