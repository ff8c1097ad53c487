package recording

import (
	"errors"
	"fmt"

	"mpitx/catalog"
)

// Field is a field of an event, or of a table's rows.
type Field struct {
	Name, Unit string
	Meaning    Meaning
	Merge      Merge
	Count      int // number of elements
	First      int // index of its first element among the elements of all fields

	element element
	at      int // offset in the record
}

// Offset is where the field begins in an event's body.
func (f *Field) Offset() int { return f.at }

// Size is the number of bytes of one of the field's elements.
func (f *Field) Size() int { return f.element.size }

// Values appends the values of all fields in an event's body.
func (t *EventType) Values(run *Run, body []byte, values []Value) []Value {
	if len(body) < t.bytes {
		return values
	}
	return t.read(run, body, values)
}

// Text returns the text that a field of an event's body refers to.
func (r *Rank) Text(id uint64) string { return string(r.texts[id]) }

// Meaning is what a field's values stand for.
type Meaning uint8

// The meanings.
const (
	MeansNumber  Meaning = iota
	MeansText            // values are Text
	MeansAddress         // of code: see [Rank.Module]
	MeansTime            // values are nanoseconds since the job's start
)

// Merge is how rows with the same key are combined.
type Merge uint8

// The ways to merge.
const (
	MergeSum Merge = iota
	MergeMin
	MergeMax
)

const (
	maxFields = 1024
	maxTexts  = 1 << 20
	maxTypes  = tagStatuses - tagSet
	maxTables = 4096
)

// fieldTypes are the types of fields, by their number.
var fieldTypes = []struct {
	form catalog.Form
	size int
}{
	{}, {catalog.FormUnsigned, 1}, {catalog.FormUnsigned, 2}, {catalog.FormUnsigned, 4}, {catalog.FormUnsigned, 8},
	{catalog.FormSigned, 1}, {catalog.FormSigned, 2}, {catalog.FormSigned, 4}, {catalog.FormSigned, 8},
	{catalog.FormFloat, 4}, {catalog.FormFloat, 8},
}

// layout is the fields of an event type or a table.
type layout struct {
	Rank   *Rank
	ID     int
	Name   string
	Fields []Field

	keys, bytes int
}

// fields reads a declaration of fields. The first one begins at the offset at of a record.
func (x *index) fields(r *Rank, at int, rec *body) (layout, error) {
	l := layout{Rank: r, ID: int(rec.u32())}
	n, keys, bytes := rec.u32(), rec.u32(), rec.u32()
	l.Name, l.keys, l.bytes = x.intern(rec.text()), int(keys), int(bytes)
	if n > maxFields || keys > n || bytes > maxRow || int(bytes) < at {
		return l, fmt.Errorf("%d fields with %d keys and %d bytes", n, keys, bytes)
	}
	elements := 0
	for range n {
		typ := rec.u8()
		f := Field{Meaning: Meaning(rec.u8()), Merge: Merge(rec.u8()), First: elements}
		rec.u8()
		count := rec.u32()
		f.Name, f.Unit = x.intern(rec.text()), x.intern(rec.text())
		switch {
		case rec.short:
			return l, errors.New("the declaration of fields is too short")
		case typ == 0 || int(typ) >= len(fieldTypes) || count == 0 || count > maxRow:
			return l, fmt.Errorf("field %s of type %d with %d elements", f.Name, typ, count)
		}
		f.Count, f.element = int(count), element{form: fieldTypes[typ].form, size: fieldTypes[typ].size}
		f.at = (at + f.element.size - 1) / f.element.size * f.element.size
		if at = f.at + f.Count*f.element.size; at > l.bytes {
			return l, fmt.Errorf("field %s ends at byte %d of %d", f.Name, at, l.bytes)
		}
		elements += f.Count
		l.Fields = append(l.Fields, f)
	}
	return l, nil
}

// elements is the number of values of all fields.
func (l *layout) elements() int {
	if len(l.Fields) == 0 {
		return 0
	}
	last := &l.Fields[len(l.Fields)-1]
	return last.First + last.Count
}

// read appends the values of all fields to values.
func (l *layout) read(run *Run, b []byte, values []Value) []Value {
	for i := range l.Fields {
		f := &l.Fields[i]
		for e := range f.Count {
			values = append(values, l.value(run, b, f, e))
		}
	}
	return values
}

// value is one element of a field.
func (l *layout) value(run *Run, b []byte, f *Field, e int) Value {
	x := f.element.raw(b[f.at+e*f.element.size:])
	switch f.Meaning {
	case MeansText:
		return Value{Kind: Text, text: l.Rank.texts[x]}
	case MeansTime:
		return IntegerValue(int64(run.time(l.Rank, x)))
	}
	return f.element.value(x)
}

// Module is a program or a library that is mapped into a process.
type Module struct {
	Start, End uint64
	Bias       uint64 // load address minus the address in the file
	Path       string
	BuildID    string // hexadecimal; "" if it has none
}

const maxModules = 1 << 16

func (x *index) module(r *Rank, rec *body) {
	m := Module{Start: rec.u64(), End: rec.u64(), Bias: rec.u64(), Path: x.intern(rec.text()), BuildID: fmt.Sprintf("%x", rec.text())}
	if !rec.short && len(r.Modules) < maxModules {
		r.Modules = append(r.Modules, m)
	}
}

// Module returns the module that contains an address, by the newest declaration; nil if none does.
func (r *Rank) Module(address uint64) *Module {
	for i := len(r.Modules) - 1; i >= 0; i-- {
		if m := &r.Modules[i]; address >= m.Start && address < m.End {
			return m
		}
	}
	return nil
}
