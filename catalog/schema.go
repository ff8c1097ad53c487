package catalog

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// A schema is the JSON form of a struct, for both directions: one line per field, in the order they are written. The names
// are those of the struct's tags, and a test compares both.
type schema[T any] []field[T]

// field is one member of a JSON object.
type field[T any] struct {
	name     string
	optional bool // left out where empty
	required bool // reading fails without it
	empty    func(*writer, *T) bool
	put      func(*writer, *T)
	get      func(*reader, *T)
	late     func(*reader) bool // it has to wait until the rest of the object was read
}

func optional[T any](f field[T]) field[T] { f.optional = true; return f }
func required[T any](f field[T]) field[T] { f.required = true; return f }

func (s schema[T]) write(w *writer, v *T) {
	w.buf = append(w.buf, '{')
	w.depth++
	first := true
	for i := range s {
		f := &s[i]
		if f.optional && f.empty(w, v) {
			continue
		}
		w.comma(&first)
		w.buf = append(w.buf, '"')
		w.buf = append(w.buf, f.name...)
		w.buf = append(w.buf, '"', ':', ' ')
		f.put(w, v)
	}
	w.depth--
	if !first {
		w.newline()
	}
	w.buf = append(w.buf, '}')
}

// read reads an object. Members it does not know are skipped: later versions may have added them.
func (s schema[T]) read(r *reader, v *T) {
	type waiting struct{ field, pos int }
	var seen uint64
	var later []waiting
	r.peek()
	start := r.pos
	r.open('{', "an object")
	first, next := true, 0
	for r.more(&first, '}') {
		r.peek()
		pos := r.pos
		name := r.key()
		i := s.find(name, next)
		if i < 0 {
			r.skip()
			continue
		}
		next = i + 1
		f := &s[i]
		r.push(f.name, 0)
		switch {
		case seen&(1<<i) != 0:
			r.failf(pos, "given twice")
		case r.null():
		case f.late != nil && f.late(r):
			seen |= 1 << i
			later = append(later, waiting{i, r.pos})
			r.skip()
		default:
			seen |= 1 << i
			f.get(r, v)
		}
		r.pop()
	}
	for i := range s {
		if s[i].required && seen&(1<<i) == 0 {
			r.failf(start, "%q is missing", s[i].name)
		}
	}
	end := r.pos
	for _, l := range later {
		if r.err != nil {
			return
		}
		r.push(s[l.field].name, 0)
		r.pos = l.pos
		s[l.field].get(r, v)
		r.pop()
		r.pos = end
	}
}

// find is the field of this name. They mostly come in order, so next is tried first.
func (s schema[T]) find(name string, next int) int {
	for i := next; i < len(s); i++ {
		if s[i].name == name {
			return i
		}
	}
	for i := range min(next, len(s)) {
		if s[i].name == name {
			return i
		}
	}
	return -1
}

// writeInline writes an object on one line.
func (s schema[T]) writeInline(w *writer, v *T) {
	w.inline++
	s.write(w, v)
	w.inline--
}

func text[T any](name string, at func(*T) *string) field[T] {
	return field[T]{
		name:  name,
		empty: func(_ *writer, v *T) bool { return *at(v) == "" },
		put:   func(w *writer, v *T) { w.buf = appendText(w.buf, *at(v)) },
		get:   func(r *reader, v *T) { *at(v) = r.text() },
	}
}

// word is a text of which only some are allowed.
func word[T any, S ~string](name string, at func(*T) *S, allowed ...S) field[T] {
	list := make([]string, len(allowed))
	for i, a := range allowed {
		list[i] = `"` + string(a) + `"`
	}
	return field[T]{
		name:  name,
		empty: func(_ *writer, v *T) bool { return *at(v) == "" },
		put:   func(w *writer, v *T) { w.buf = appendText(w.buf, string(*at(v))) },
		get: func(r *reader, v *T) {
			r.peek()
			start := r.pos
			s := r.quoted()
			for _, a := range allowed {
				if string(a) == s {
					*at(v) = a
					return
				}
			}
			r.failf(start, "%q is not one of %s", clip(s), strings.Join(list, ", "))
		},
	}
}

func boolean[T any](name string, at func(*T) *bool) field[T] {
	return field[T]{
		name:  name,
		empty: func(_ *writer, v *T) bool { return !*at(v) },
		put: func(w *writer, v *T) {
			if *at(v) {
				w.buf = append(w.buf, "true"...)
			} else {
				w.buf = append(w.buf, "false"...)
			}
		},
		get: func(r *reader, v *T) { *at(v) = r.boolean() },
	}
}

func integer[T any](name string, lo, hi int64, at func(*T) *int) field[T] {
	return field[T]{
		name:  name,
		empty: func(_ *writer, v *T) bool { return *at(v) == 0 },
		put:   func(w *writer, v *T) { w.buf = strconv.AppendInt(w.buf, int64(*at(v)), 10) },
		get:   func(r *reader, v *T) { *at(v) = int(r.integer(lo, hi)) },
	}
}

// enumerated is a field of one of the types in types.go, with the table of its names.
func enumerated[T any, E interface {
	~int32
	String() string
}](name string, at func(*T) *E, names []string, parse func(string) (E, error)) field[T] {
	return field[T]{
		name:  name,
		empty: func(_ *writer, v *T) bool { return *at(v) == 0 },
		put: func(w *writer, v *T) {
			w.buf = append(w.buf, '"')
			w.buf = append(w.buf, (*at(v)).String()...)
			w.buf = append(w.buf, '"')
		},
		get: func(r *reader, v *T) {
			r.peek()
			start := r.pos
			s := r.quoted()
			for i, n := range names {
				if n == s {
					*at(v) = E(i)
					return
				}
			}
			e, err := parse(clip(s))
			if err != nil {
				r.fail(start, err)
			}
			*at(v) = e
		},
	}
}

func instant[T any](name string, at func(*T) *time.Time) field[T] {
	return field[T]{
		name:  name,
		empty: func(_ *writer, v *T) bool { return at(v).IsZero() },
		put: func(w *writer, v *T) {
			b, err := at(v).MarshalText()
			if err != nil && w.err == nil {
				w.err = err
			}
			w.buf = appendText(w.buf, string(b))
		},
		get: func(r *reader, v *T) {
			r.peek()
			start := r.pos
			s := r.quoted()
			if err := at(v).UnmarshalText([]byte(s)); err != nil {
				r.failf(start, "%q is not a time as in RFC 3339", clip(s))
			}
		},
	}
}

func number[T any](name string, at func(*T) *float64) field[T] {
	return field[T]{
		name:  name,
		empty: func(_ *writer, v *T) bool { return *at(v) == 0 },
		put: func(w *writer, v *T) {
			if f := *at(v); math.IsNaN(f) || math.IsInf(f, 0) {
				w.buf = append(w.buf, '0')
			} else {
				w.buf = strconv.AppendFloat(w.buf, f, 'g', -1, 64)
			}
		},
		get: func(r *reader, v *T) {
			r.peek()
			start := r.pos
			f, err := strconv.ParseFloat(r.number(), 64)
			if err != nil {
				r.failf(start, "out of range")
			}
			*at(v) = f
		},
	}
}

// object is a struct in a struct.
func object[T, E any](name string, at func(*T) *E, s schema[E]) field[T] {
	return field[T]{
		name: name,
		put:  func(w *writer, v *T) { s.write(w, at(v)) },
		get:  func(r *reader, v *T) { s.read(r, at(v)) },
	}
}

// pointer is a struct that may be missing.
func pointer[T, E any](name string, at func(*T) **E, s schema[E]) field[T] {
	return field[T]{
		name:     name,
		optional: true,
		empty:    func(_ *writer, v *T) bool { return *at(v) == nil },
		put:      func(w *writer, v *T) { s.writeInline(w, *at(v)) },
		get: func(r *reader, v *T) {
			e := new(E)
			s.read(r, e)
			*at(v) = e
		},
	}
}

// items are the elements of a list: how to write and to read one.
type items[E any] struct {
	put func(*writer, *E)
	get func(*reader, *E)
}

func objects[E any](s schema[E]) items[E] { return items[E]{s.write, s.read} }

func inlines[E any](s schema[E]) items[E] { return items[E]{s.writeInline, s.read} }

var texts = items[string]{
	put: func(w *writer, s *string) { w.buf = appendText(w.buf, *s) },
	get: func(r *reader, s *string) { *s = r.text() },
}

func list[T, E any](name string, at func(*T) *[]E, it items[E]) field[T] {
	size := int(reflect.TypeFor[E]().Size())
	return field[T]{
		name:  name,
		empty: func(_ *writer, v *T) bool { return len(*at(v)) == 0 },
		put: func(w *writer, v *T) {
			w.buf = append(w.buf, '[')
			w.depth++
			first := true
			elements := *at(v)
			for i := range elements {
				w.comma(&first)
				it.put(w, &elements[i])
				w.spill()
			}
			w.depth--
			if !first {
				w.newline()
			}
			w.buf = append(w.buf, ']')
		},
		get: func(r *reader, v *T) {
			var elements []E
			first := true
			r.open('[', "a list")
			for i := 0; r.more(&first, ']'); i++ {
				r.push("", i)
				if r.spend(r.pos, size) {
					elements = append(elements, *new(E))
					it.get(r, &elements[i])
				}
				r.pop()
			}
			*at(v) = elements
		},
	}
}

// unique makes reading a list fail at the element whose key an earlier one had.
func unique[T, E any, K comparable](f field[T], at func(*T) *[]E, key func(*E) K) field[T] {
	get := f.get
	f.get = func(r *reader, v *T) {
		r.peek()
		start := r.pos
		get(r, v)
		if r.err != nil {
			return
		}
		elements := *at(v)
		seen := make(map[K]int, len(elements))
		for i := range elements {
			k := key(&elements[i])
			if first, ok := seen[k]; ok {
				r.failf(r.elementAt(start, i), "%v was given already, at [%d]", k, first)
				return
			}
			seen[k] = i
		}
	}
	return f
}

// elementAt is the position of element i of the list at start.
func (r *reader) elementAt(start, i int) int {
	scan := reader{s: r.s, pos: start}
	first := true
	scan.open('[', "a list")
	for n := 0; scan.more(&first, ']'); n++ {
		scan.peek()
		if n == i {
			break
		}
		scan.skip()
	}
	return scan.pos
}
