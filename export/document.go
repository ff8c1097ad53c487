package export

import "mpitx/catalog"

// Document writes the members of a document, each element of a list on a line of its own.
type Document struct {
	B   []byte
	Err error
}

func (d *Document) Value(x any) {
	if d.Err == nil {
		d.B, d.Err = catalog.AppendJSON(d.B, x)
	}
}

func (d *Document) Member(name string, x any) {
	d.B = append(d.B, ",\n  \""+name+"\": "...)
	d.Value(x)
}

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

func Mapped[T, U any](all []T, f func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = f(x)
	}
	return list
}
