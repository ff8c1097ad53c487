package export

import "mpitx/catalog"

// Document writes the members of a document, each element of a list on a line of its own.
type Document struct {
	B   []byte // so far
	Err error  // of a value that JSON cannot hold
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

// AddList appends a member that is a list, each element on a line of its own.
func AddList[T any](d *Document, name string, all []T) {
	d.B = append(d.B, ",\n  \""+name+"\": ["...)
	for i, x := range all {
		if i > 0 {
			d.B = append(d.B, ',')
		}
		d.B = append(d.B, "\n    "...)
		d.Value(x)
	}
	if len(all) > 0 {
		d.B = append(d.B, "\n  "...)
	}
	d.B = append(d.B, ']')
}

// Mapped applies a function to each element. The result is never nil: JSON writes an empty list, not null.
func Mapped[T, U any](all []T, f func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = f(x)
	}
	return list
}
