package binding

// #include <stdlib.h>
// #include <string.h>
// #include "shim/mpitx.h"
import "C"

import "unsafe"

// stringBuffer is C memory for one string that a routine returns by the convention of section 14.3.3. It grows until
// the string is whole.
type stringBuffer struct {
	p    *C.char
	size C.int
	used C.size_t // bytes of the last string: cleared before the next, which may come without its end
}

const (
	firstStringSize = 4096
	maxStringSize   = 16 << 20
)

func newStringBuffer() *stringBuffer {
	return &stringBuffer{p: (*C.char)(C.calloc(1, firstStringSize)), size: firstStringSize}
}

func (b *stringBuffer) free() { C.free(unsafe.Pointer(b.p)) }

func (b *stringBuffer) grow(size C.int) {
	b.p = (*C.char)(C.realloc(unsafe.Pointer(b.p), C.size_t(size)))
	b.size = size
}

// String is what stands in the buffer, copied.
func (b *stringBuffer) String() string {
	return C.GoStringN(b.p, C.int(C.strnlen(b.p, C.size_t(b.size))))
}

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
			*b.p = 0
			p[i], n[i] = b.p, b.size
		}
		if err := check(call(p, &n)); err != nil {
			return err
		}
		whole := true
		for i, b := range bufs {
			*(*C.char)(unsafe.Add(unsafe.Pointer(b.p), b.size-1)) = 0
			if n[i] > b.size || C.strnlen(b.p, C.size_t(b.size)) == C.size_t(b.size-1) {
				whole = false
			}
		}
		if whole {
			return nil
		}
		n = [2]C.int{}
		if err := check(call([2]*C.char{}, &n)); err != nil {
			return err
		}
		for i, b := range bufs {
			if n[i] > maxStringSize {
				return ErrBadString
			}
			if n[i] >= b.size {
				b.grow(n[i] + 1)
			}
		}
	}
	return ErrBadString
}
