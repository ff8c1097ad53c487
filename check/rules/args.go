//go:build cgo && linux

package rules

import (
	"bytes"
	"fmt"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
)

// The arguments of calls, and what calls return: each a Go value and an expression of C.
type (
	number[T numeric] struct {
		code // of the call that returned it
		v    T
		c    string
		text string // for people; "": as Go prints v
	}
	num    = number[int32]
	buffer struct {
		code // of the call that filled it
		b    []byte
		c    string
		t    catalog.Datatype // 0: a string
	}
	array[T numeric] struct {
		code
		b []T
		c string
	}
	handle struct {
		code    // of the call that returned it
		v       binding.RawHandle
		c, null string
	}
	numeric interface {
		int | int32 | int64 | float64
	}
)

const untouched = -42 // the value of an int before a call

// named is a number that programs know by an expression.
func named[T numeric](c string, v T) *number[T] { return &number[T]{v: v, c: c} }

func (m *mpi) num(name string, v int) *num {
	n := named(m.fresh(name), int32(v))
	m.line("int %s = %d;", n.c, v)
	return n
}

func (n *number[T]) p() *T {
	if n == nil {
		return nil
	}
	return &n.v
}

func (n *number[T]) out() arg {
	if n == nil {
		return lit("NULL")
	}
	return arg{c: "&" + n.c, show: func() string { return shown(n.c, n.String()) }, print: "SHOW(" + n.c + ");"}
}

const notSet = "not set"

// String is the value, unless the call has left what was there before. The shim's own start value of a count is -1.
func (n *number[T]) String() string {
	switch {
	case n.text != "":
		return n.text
	case n.v == untouched:
		return notSet
	case n.v == -1 && label(n.c) == "count":
		return notSet + ", or to -1"
	}
	return fmt.Sprint(n.v)
}

// shown says what a C variable has after a call.
func shown(name, value string) string {
	switch {
	case strings.HasPrefix(value, notSet):
		return name + " was " + value
	case strings.HasPrefix(name, "*"): // an element of a buffer
		return value
	}
	return name + " = " + value
}

// label is the name of a C variable without the digits that make it unique.
func label(c string) string { return strings.TrimRight(c, "0123456789") }

// at is an element of an array.
func (a *array[T]) at(k int) *number[T] { return named(fmt.Sprintf("%s[%d]", a.c, k), a.b[k]) }

// text is a buffer for a string.
func (m *mpi) text(name string, size int) *buffer {
	t := &buffer{b: make([]byte, size+guard)[:size], c: m.fresh(name)}
	m.line("char %s[%d];", t.c, size)
	m.fill(t)
	return t
}

// guard is room after buffers, for libraries that write too much.
const guard = 256

// value is a buffer for a variable's value, with room for libraries that write too much.
func (m *mpi) value(t catalog.Datatype, count int) *buffer {
	v := &buffer{b: make([]byte, max(1, count)*max(8, t.Size())+4096), c: m.fresh("buf"), t: t}
	m.line("_Alignas(16) static char %s[%d];", v.c, len(v.b))
	return v
}

// fill fills a buffer with '#' to show what is written.
func (m *mpi) fill(b *buffer) {
	copy(b.b, bytes.Repeat([]byte{'#'}, len(b.b)))
	m.line("memset(%s, '#', sizeof %s);", b.c, b.c)
}

func (b *buffer) p() []byte {
	if b == nil {
		return nil
	}
	return b.b
}

// String is the string up to its null character.
func (b *buffer) String() string {
	s, _, _ := bytes.Cut(b.b, []byte{0})
	return string(s)
}

func (b *buffer) out() arg {
	if b == nil {
		return lit("NULL")
	}
	if b.t != 0 {
		return lit("%s", b.c)
	}
	return arg{c: b.c, show: func() string {
		if bytes.Count(b.b, []byte{'#'}) == len(b.b) {
			return shown(b.c, notSet)
		}
		return shown(b.c, excerpt(b.String(), 60))
	}, print: "SHOW_TEXT(" + b.c + ");"}
}

// first is the first element of a value. Its type is one of cTypes.
func (b *buffer) first() *number[float64] {
	v := catalog.NewValue(b.t, b.b[:b.t.Size()])
	return &number[float64]{v: v.Float(0), c: fmt.Sprintf("*(%s *)%s", cTypes[b.t], b.c), text: v.String()}
}

// show is the first size bytes of a value as text.
func (b *buffer) show(size int) string {
	if b.t == catalog.TypeChar {
		return excerpt(b.String(), 60)
	}
	return excerpt(catalog.NewValue(b.t, b.b[:size]).String(), 60)
}

// handle declares a handle. Its null value has the type's name in capitals.
func (m *mpi) handle(name, ctype string) *handle {
	h := &handle{c: m.fresh(name), null: strings.ToUpper(ctype) + "_NULL"}
	m.line("%s %s = %s;", ctype, h.c, h.null)
	return h
}

func (h *handle) in() arg  { return lit("%s", h.c) }
func (h *handle) out() arg { return lit("&%s", h.c) }

func cString(s string) []byte { return append([]byte(s), 0) }

// object is the C text for the address of a bound object's handle.
func (m *mpi) object(o binding.Object) arg {
	switch o {
	case binding.NoObject:
		return lit("NULL")
	case binding.Nowhere:
		return lit("(void *)8")
	}
	return lit("&(MPI_Comm){%s}", map[binding.Object]string{binding.CommWorld: "MPI_COMM_WORLD", binding.CommSelf: "MPI_COMM_SELF"}[o])
}
