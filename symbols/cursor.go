package symbols

import (
	"bytes"
	"encoding/binary"
)

// cursor reads numbers from bytes that nobody has checked. Reading past the end yields zeros and sets bad.
type cursor struct {
	b   []byte
	at  int
	big bool // big-endian
	bad bool
}

// take returns the next n bytes; nil if there are fewer.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b)-c.at {
		c.at, c.bad = len(c.b), true
		return nil
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *cursor) skip(n uint64) {
	if n > uint64(len(c.b)-c.at) {
		c.at, c.bad = len(c.b), true
		return
	}
	c.at += int(n)
}

func (c *cursor) seek(at uint64) {
	c.at = 0
	c.skip(at)
}

func (c *cursor) more() bool { return c.at < len(c.b) }

func (c *cursor) u8() uint8 {
	if c.at >= len(c.b) {
		c.bad = true
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

// uint reads an unsigned number of 1 to 8 bytes.
func (c *cursor) uint(size int) uint64 {
	b := c.take(size)
	switch {
	case len(b) == 8 && !c.big:
		return binary.LittleEndian.Uint64(b)
	case len(b) == 4 && !c.big:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	var v uint64
	for i := range b {
		if c.big {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}

func (c *cursor) u16() uint16 { return uint16(c.uint(2)) }
func (c *cursor) u32() uint32 { return uint32(c.uint(4)) }

// offset reads an offset into a section: 8 bytes in 64-bit DWARF, else 4.
func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.uint(8)
	}
	return c.uint(4)
}

// length reads the length at the beginning of a unit, and whether the unit is 64-bit DWARF.
func (c *cursor) length() (n uint64, wide bool) {
	n = c.uint(4)
	if n == 0xffffffff {
		return c.uint(8), true
	}
	c.bad = c.bad || n >= 0xfffffff0
	return n, false
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := 0; c.at < len(c.b); shift += 7 {
		b := c.b[c.at]
		c.at++
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
	c.bad = true
	return 0
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := 0; c.at < len(c.b); {
		b := c.b[c.at]
		c.at++
		if shift < 64 {
			v |= int64(b&0x7f) << shift
			shift += 7
		}
		if b < 0x80 {
			if shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
	}
	c.bad = true
	return 0
}

// text reads a string that ends with a zero byte.
func (c *cursor) text() []byte {
	n := bytes.IndexByte(c.b[c.at:], 0)
	if n < 0 {
		c.at, c.bad = len(c.b), true
		return nil
	}
	c.at += n + 1
	return c.b[c.at-n-1 : c.at-1]
}
