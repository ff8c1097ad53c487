package catalog

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted reads a JSON string.
func (r *reader) quoted() string {
	if r.err != nil {
		return ""
	}
	if r.peek() != '"' {
		r.unexpected("a string")
		return ""
	}
	start := r.pos + 1
	ascii := true
	for i := start; i < len(r.s); i++ {
		switch c := r.s[i]; {
		case c == '"':
			r.pos = i + 1
			if !ascii && !utf8.ValidString(r.s[start:i]) {
				r.failInvalid(start, i)
				return ""
			}
			return r.s[start:i]
		case c == '\\':
			return r.unescape(start, i)
		case c < ' ':
			r.failf(i, "control character 0x%02x in a string", c)
			return ""
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	r.fail(len(r.s), errTruncated)
	return ""
}

// failInvalid reports the first byte between start and end that is not UTF-8.
func (r *reader) failInvalid(start, end int) {
	for i := start; i < end; {
		c, n := utf8.DecodeRuneInString(r.s[i:end])
		if c == utf8.RuneError && n == 1 {
			r.failf(i, "byte 0x%02x is not UTF-8", r.s[i])
			return
		}
		i += n
	}
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape reads the rest of a string that starts at start and has its first escape at i.
func (r *reader) unescape(start, i int) string {
	var b strings.Builder
	b.WriteString(r.s[start:i])
	for i < len(r.s) {
		c := r.s[i]
		switch {
		case c == '"':
			r.pos = i + 1
			return b.String()
		case c < ' ':
			r.failf(i, "control character 0x%02x in a string", c)
			return ""
		case c != '\\':
			n := 1
			if c >= utf8.RuneSelf {
				var u rune
				if u, n = utf8.DecodeRuneInString(r.s[i:]); u == utf8.RuneError && n == 1 {
					r.failInvalid(i, i+1)
					return ""
				}
			}
			b.WriteString(r.s[i : i+n])
			i += n
		case i+1 < len(r.s) && r.s[i+1] == 'u':
			u, n := r.unicode(i)
			if r.err != nil {
				return ""
			}
			b.WriteRune(u)
			i += n
		case i+1 < len(r.s):
			e := escapes[r.s[i+1]]
			if e == 0 {
				r.failf(i, "unknown escape in a string")
				return ""
			}
			b.WriteByte(e)
			i += 2
		default:
			i++
		}
	}
	r.fail(len(r.s), errTruncated)
	return ""
}

// unicode reads a \uXXXX at i, or a pair of them, and returns how long it is.
func (r *reader) unicode(i int) (rune, int) {
	hi, ok := r.hex4(i)
	if !ok {
		return 0, 0
	}
	switch {
	case hi < 0xd800 || hi > 0xdfff:
		return hi, 6
	case hi < 0xdc00 && strings.HasPrefix(r.s[i+6:], `\u`):
		lo, ok := r.hex4(i + 6)
		if !ok {
			return 0, 0
		}
		if lo >= 0xdc00 && lo <= 0xdfff {
			return (hi-0xd800)<<10 | (lo - 0xdc00) + 0x10000, 12
		}
	}
	r.failf(i, "%s is half of a surrogate pair", r.s[i:i+6])
	return 0, 0
}

func (r *reader) hex4(i int) (rune, bool) {
	if i+6 > len(r.s) {
		r.fail(len(r.s), errTruncated)
		return 0, false
	}
	n, err := strconv.ParseUint(r.s[i+2:i+6], 16, 16)
	if err != nil {
		r.failf(i, "a \\u needs four hexadecimal digits")
		return 0, false
	}
	return rune(n), true
}

// text reads a string, or the object {"bytes":"6869ff"} that stands for one that is not UTF-8.
func (r *reader) text() string {
	if r.err == nil && r.peek() == '{' {
		return r.bytes()
	}
	return r.keep(r.quoted())
}

// keep copies what the catalog will hold: the whole document would stay in memory with a part of it. Copies are together
// in blocks, since there are many and most are short.
func (r *reader) keep(s string) string {
	if len(s) > r.block.Cap()-r.block.Len() {
		if len(s) > keepBlock/4 {
			return strings.Clone(s)
		}
		r.block = &strings.Builder{}
		r.block.Grow(min(keepBlock, len(r.s)-r.pos+len(s)))
	}
	at := r.block.Len()
	r.block.WriteString(s)
	return r.block.String()[at:]
}

const keepBlock = 64 << 10

func (r *reader) bytes() string {
	start := r.pos
	first, found, s := true, false, ""
	r.open('{', "a string")
	for r.more(&first, '}') {
		if r.key() != "bytes" {
			r.skip()
			continue
		}
		found = true
		at := r.pos
		raw, err := hex.DecodeString(r.quoted())
		if err != nil {
			r.failf(at, "not bytes in hexadecimal: %v", err)
		}
		s = string(raw)
	}
	if !found {
		r.failf(start, `an object where a string should be (only {"bytes":"…"} stands for one)`)
	}
	return s
}
