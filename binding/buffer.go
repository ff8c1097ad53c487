package binding

// #include <stdlib.h>
// #include <string.h>
import "C"

import (
	"encoding/binary"
	"unsafe"

	"mpitx/catalog"
)

// buffer is C memory for a variable's value: count elements of one type, followed by slack for libraries that write more than
// the count says.
type buffer struct {
	typ   Datatype
	count int
	bytes int
	p     unsafe.Pointer
}

const (
	bufferSlack   = 4096
	maxValueBytes = 64 << 20
)

// init takes the count from handle_alloc. -1 means that the library did not set it, as some do for scalars.
func (b *buffer) init(t Datatype, count int) error {
	size := t.Size()
	if size == 0 {
		return ErrUnknownType
	}
	if count == -1 {
		count = 1
	}
	if count < 0 || count > maxValueBytes/size {
		return ErrBadCount
	}
	p := C.calloc(1, C.size_t(count*size+bufferSlack))
	if p == nil {
		return ErrMemory
	}
	*b = buffer{typ: t, count: count, bytes: count * size, p: p}
	return nil
}

func (b *buffer) free()  { C.free(b.p); b.p = nil }
func (b *buffer) clear() { C.memset(b.p, 0, C.size_t(b.bytes)) }

func (b *buffer) get() Value {
	raw := unsafe.Slice((*byte)(b.p), b.bytes)
	return catalog.NewValue(b.typ, littleEndian(raw, b.typ.Size()))
}

func (b *buffer) set(v Value) error {
	raw := v.Bytes()
	text := b.typ.Form() == catalog.FormText
	if v.Type() != b.typ || !text && len(raw) != b.bytes || text && len(raw) >= b.bytes {
		return ErrInvalid
	}
	b.clear()
	copy(unsafe.Slice((*byte)(b.p), b.bytes), littleEndian(raw, b.typ.Size()))
	return nil
}

// littleEndian converts elements between this machine's order and little-endian.
func littleEndian(raw []byte, size int) []byte {
	if size <= 1 || binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return raw
	}
	out := make([]byte, len(raw))
	for i := 0; i+size <= len(raw); i += size {
		for k := range size {
			out[i+k] = raw[i+size-1-k]
		}
	}
	return out
}
