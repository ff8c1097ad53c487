package export

import "mpitx/catalog"

// jsonDocument writes the members of a document, each element of a list on a line of its own.
type jsonDocument struct {
	b   []byte
	err error
}

func (d *jsonDocument) value(x any) {
	if d.err == nil {
		d.b, d.err = catalog.AppendJSON(d.b, x)
	}
}

func (d *jsonDocument) member(name string, x any) {
	d.b = append(d.b, ",\n  \""+name+"\": "...)
	d.value(x)
}

func jsonList[T any](d *jsonDocument, name string, all []T) {
	d.b = append(d.b, ",\n  \""+name+"\": ["...)
	for i, x := range all {
		if i > 0 {
			d.b = append(d.b, ',')
		}
		d.b = append(d.b, "\n    "...)
		d.value(x)
	}
	if len(all) > 0 {
		d.b = append(d.b, "\n  "...)
	}
	d.b = append(d.b, ']')
}

func mapped[T, U any](all []T, f func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = f(x)
	}
	return list
}
