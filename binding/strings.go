package binding

// #include <stdlib.h>
// #include "shim/mpitx.h"
import "C"

import (
	"bytes"
	"unsafe"
)

// stringBuffer is C memory for a string returned by the convention of section 14.3.3. It grows to the string's size.
type stringBuffer struct {
	p    *C.char
	size C.int
	used int // bytes of the last string, cleared before the next, which may lack a terminator
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

// grow enlarges the buffer and drops its contents.
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

// measure terminates the string at the buffer's end and reports whether it was terminated before.
func (b *stringBuffer) measure() bool {
	all := b.bytes()
	all[len(all)-1] = 0
	b.used = bytes.IndexByte(all, 0)
	return b.used < len(all)-1
}

// String returns a copy of the string.
func (b *stringBuffer) String() string { return string(b.bytes()[:b.used]) }

// stringCall calls a routine with buffers and in-out lengths. With null buffers it gets the lengths.
type stringCall func(p [2]*C.char, n *[2]C.int) C.int

// wholeStrings repeats a call until its strings are complete. For a truncated string some libraries return the buffer's length and
// some the string's. So after a full buffer it calls again without buffers to get the length. Some libraries return the length 0 for
// an empty string, where the standard says 1.
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
