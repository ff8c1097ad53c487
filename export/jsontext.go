package export

import (
	"fmt"
	"io"
	"strconv"

	"mpitx/catalog"
)

// AppendJSON encodes a value in the form that catalog.Write uses.
func AppendJSON(b []byte, x any) ([]byte, error) {
	switch x := x.(type) {
	case int:
		return strconv.AppendInt(b, int64(x), 10), nil
	case string:
		return catalog.AppendText(b, x), nil
	}
	return catalog.AppendJSON(b, x)
}

// AppendObject encodes members in the given order.
func AppendObject(b []byte, names []string, value func(i int) any) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, `":`...)
		if b, err = AppendJSON(b, value(i)); err != nil {
			return b, fmt.Errorf("%s: %w", name, err)
		}
	}
	return append(b, '}'), nil
}

// LineWriter buffers JSON lines, or the elements of a document.
type LineWriter struct {
	W   io.Writer
	Buf []byte // lines that were not written yet
	err error
}

// Flush writes what was collected if it is longer than limit bytes. Its error is the first of the writer.
func (l *LineWriter) Flush(limit int) error {
	if l.err == nil && len(l.Buf) > limit {
		_, l.err = l.W.Write(l.Buf)
		l.Buf = l.Buf[:0]
	}
	return l.err
}
