package binding

// #include <stdlib.h>
// #include "shim/mpitx.h"
import "C"

import (
	"bytes"
	"unsafe"
)

// stringBuffer is C memory for one string that a routine returns by the convention of section 14.3.3. It grows until
// the string is whole.
type stringBuffer struct {
	p    *C.char
	size C.int
	used int // bytes of the last string: cleared before the next, which may come without its end
}

const (
	firstStringSize = 4096
	maxStringSize   = 16 << 20
)

func newStringBuffer() *stringBuffer {
	b := &stringBuffer{}
	if !b.grow(firstStringSize) {
		panic("out of memory")
	}
	return b
}

// grow makes room; what stood there is lost.
func (b *stringBuffer) grow(size C.int) bool {
	p := (*C.char)(C.calloc(1, C.size_t(size)))
	if p == nil {
		return false
	}
	C.free(unsafe.Pointer(b.p))
	*b = stringBuffer{p: p, size: size}
	return true
}

func (b *stringBuffer) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(b.p)), b.size) }

// measure ends the string at the buffer's end and reports whether it ends before it.
func (b *stringBuffer) measure() bool {
	all := b.bytes()
	all[len(all)-1] = 0
	b.used = bytes.IndexByte(all, 0)
	return b.used < len(all)-1
}

// String is what stands in the buffer, copied.
func (b *stringBuffer) String() string { return string(b.bytes()[:b.used]) }

// stringCall asks for strings: the buffers and in-out lengths to hand to the routine. A null buffer asks for the length.
type stringCall func(p [2]*C.char, n *[2]C.int) C.int

// wholeStrings repeats a call until its strings are whole. Libraries disagree on what they return for a string that was
// cut off (some the buffer's length, some the string's), so a full buffer is asked again with none, for the length; and
// some return a length of 0 where 1 was promised for an empty string.
func (l *Library) wholeStrings(call stringCall) error {
	bufs := [2]*stringBuffer{l.name, l.desc}
	for range 4 {
		var p [2]*C.char
		var n [2]C.int
		for i, b := range bufs {
			clear(b.bytes()[:b.used])
			p[i], n[i] = b.p, b.size
		}
		err := check(call(p, &n))
		whole := true
		for i, b := range bufs {
			if ended := b.measure(); !ended || n[i] > b.size {
				whole = false
			}
		}
		if err != nil || whole {
			return err
		}
		n = [2]C.int{}
		if err := check(call([2]*C.char{}, &n)); err != nil {
			return err
		}
		for i, b := range bufs {
			switch {
			case n[i] > maxStringSize:
				return ErrBadString
			case n[i] >= b.size && !b.grow(n[i]+1):
				return ErrMemory
			}
		}
	}
	return ErrBadString
}
