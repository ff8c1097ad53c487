package export

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"mpitx/catalog"
)

// document is what catalog.Write wrote, element by element, so that every JSON form of a variable is the same.
type document struct {
	Cvars      []json.RawMessage `json:"cvars"`
	Pvars      []json.RawMessage `json:"pvars"`
	Virtual    []json.RawMessage `json:"virtual"`
	Categories []json.RawMessage `json:"categories"`
	Enums      []json.RawMessage `json:"enums"`
}

// elements encodes a catalog's elements, in the catalog's order.
func elements(c *catalog.Catalog) (*document, error) {
	var b bytes.Buffer
	if err := catalog.Write(&b, c); err != nil {
		return nil, err
	}
	d := new(document)
	if err := json.Unmarshal(b.Bytes(), d); err != nil {
		return nil, err
	}
	return d, nil
}

// appendKind writes an encoded object on one line, with its kind as the first member.
func appendKind(b *bytes.Buffer, kind string, object json.RawMessage) error {
	start := b.Len()
	if err := json.Compact(b, object); err != nil {
		return err
	}
	rest := bytes.Clone(b.Bytes()[start+1:])
	b.Truncate(start)
	fmt.Fprintf(b, `{"kind":%q`, kind)
	if len(rest) > 1 {
		b.WriteByte(',')
	}
	b.Write(rest)
	return nil
}

// appendJSON encodes any value as catalog.Write would: text that is not UTF-8 as {"bytes":"6869ff"}, and characters that
// could act on a terminal as escapes.
func appendJSON(b []byte, x any) ([]byte, error) {
	switch x := x.(type) {
	case nil:
		return append(b, "null"...), nil
	case int:
		return strconv.AppendInt(b, int64(x), 10), nil
	case string:
		if plain(x) && !bytes.ContainsAny([]byte(x), `"`) {
			b = append(b, '"')
			b = append(b, x...)
			return append(b, '"'), nil
		}
		if !utf8.ValidString(x) {
			b = append(b, `{"bytes":"`...)
			b = hex.AppendEncode(b, []byte(x))
			return append(b, `"}`...), nil
		}
	case catalog.Value:
		v, err := x.MarshalJSON()
		return append(b, v...), err
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return b, err
	}
	return escapeJSON(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// escapeJSON copies JSON, with the characters in it that do not print written as \u202e.
func escapeJSON(b, from []byte) []byte {
	for i := 0; i < len(from); {
		r, n := utf8.DecodeRune(from[i:])
		switch {
		case r != 0x7f && (r < utf8.RuneSelf || unicode.IsPrint(r)):
			b = append(b, from[i:i+n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		i += n
	}
	return b
}

// appendObject encodes members in the order given.
func appendObject(b []byte, names []string, value func(i int) any) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, `":`...)
		if b, err = appendJSON(b, value(i)); err != nil {
			return b, fmt.Errorf("%s: %w", name, err)
		}
	}
	return append(b, '}'), nil
}

// lines writes JSON lines, or the elements of a document, in large pieces.
type lines struct {
	w   io.Writer
	buf []byte
	err error
}

func (l *lines) flush(limit int) error {
	if l.err == nil && len(l.buf) > limit {
		_, l.err = l.w.Write(l.buf)
		l.buf = l.buf[:0]
	}
	return l.err
}
