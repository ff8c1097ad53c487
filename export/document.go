package export

import (
	"io"
	"iter"
	"slices"

	"mpitx/catalog"
)

// Document writes the members of a document, each element of a list on a line of its own.
type Document struct {
	W   io.Writer // lists are written as they grow, everything else by End
	B   []byte    // not written yet
	Err error     // of the writer, or of a value that JSON cannot hold
}

// Value appends a value. The first error stays in d.
func (d *Document) Value(x any) {
	if d.Err == nil {
		d.B, d.Err = catalog.AppendJSON(d.B, x)
	}
}

// Member appends a member of the outermost object.
func (d *Document) Member(name string, x any) {
	d.B = append(d.B, ",\n  \""+name+"\": "...)
	d.Value(x)
}

// Flush writes what was collected if it is longer than limit bytes.
func (d *Document) Flush(limit int) {
	if d.Err == nil && len(d.B) > limit {
		_, d.Err = d.W.Write(d.B)
		d.B = d.B[:0]
	}
}

// End ends the document, and returns the first error.
func (d *Document) End() error {
	d.B = append(d.B, "\n}\n"...)
	d.Flush(0)
	return d.Err
}

// AddList appends a member that is a list, each element on a line of its own.
func AddList[T any](d *Document, name string, all []T) {
	AddEach(d, name, slices.Values(all))
}

// AddEach is AddList for elements that are made one by one.
func AddEach[T any](d *Document, name string, all iter.Seq[T]) {
	d.B = append(d.B, ",\n  \""+name+"\": ["...)
	separator, end := "\n    ", "]"
	for x := range all {
		d.B = append(d.B, separator...)
		d.Value(x)
		d.Flush(1 << 16)
		separator, end = ",\n    ", "\n  ]"
	}
	d.B = append(d.B, end...)
}

// Mapped applies a function to each element. The result is never nil: JSON writes an empty list, not null.
func Mapped[T, U any](all []T, f func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = f(x)
	}
	return list
}
