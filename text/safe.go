package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe escapes foreign text (a name, a value) for a terminal: control characters and invalid bytes as \x1b; C1 controls, format
// characters (bidirectional overrides, zero width), line separators, blanks other than the space and other invisible characters as
// \u202e or \u{e0001}. Different texts stay different: a backslash is doubled if it could be read as the start of an escape.
func Safe(s string) string { return Escape(s, false) }

// SafeASCII is Safe for an ASCII terminal: all other characters become \u{e9}.
func SafeASCII(s string) string { return Escape(s, true) }

// Shows reports whether a terminal can show every character of a text as it is.
func Shows(s string, ascii bool) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unprintable(r, n, ascii) {
			return false
		}
		i += n
	}
	return true
}

// Plain reports whether a text is printable ASCII without backslashes, as nearly all texts of MPI libraries are.
func Plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// Escape is Safe, or SafeASCII.
func Escape(s string, ascii bool) string {
	if Plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch bad := unprintable(r, n, ascii); {
		case r == '\\':
			b.WriteByte('\\')
			if ambiguous(s[i+1:], ascii) {
				b.WriteByte('\\')
			}
		case !bad:
			b.WriteString(s[i : i+n])
		case n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case ascii || r > 0xffff:
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

// unprintable reports whether a rune of n bytes needs escaping.
func unprintable(r rune, n int, ascii bool) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == utf8.RuneError && n == 1:
		return true
	}
	return ascii || !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// ambiguous reports whether a backslash before rest could be read as the start of an escape.
func ambiguous(rest string, ascii bool) bool {
	switch {
	case rest == "":
		return false
	case rest[0] == '\\':
		return true
	case rest[0] == 'x':
		return hexDigits(rest[1:], 2)
	case rest[0] == 'u':
		return strings.HasPrefix(rest, "u{") || hexDigits(rest[1:], 4)
	}
	r, n := utf8.DecodeRuneInString(rest)
	return unprintable(r, n, ascii)
}

func hexDigits(s string, n int) bool {
	if len(s) < n {
		return false
	}
	for _, c := range s[:n] {
		if !strings.ContainsRune("0123456789abcdef", c) {
			return false
		}
	}
	return true
}
