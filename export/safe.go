package export

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe escapes foreign text (a name, a value) for a terminal: control characters and invalid bytes as \x1b; C1 controls, format
// characters (bidirectional overrides, zero width), line separators, blanks other than the space and other invisible characters as
// \u202e or \u{e0001}. Different texts stay different: a backslash is doubled if it could be read as the start of an escape.
func Safe(s string) string { return escape(s, false) }

// SafeASCII is Safe for an ASCII terminal: all other characters become \u{e9}.
func SafeASCII(s string) string { return escape(s, true) }

// Safe applies Safe or SafeASCII, as the terminal requires.
func (t Terminal) Safe(s string) string { return escape(s, !t.UTF8) }

// Shows reports whether the terminal can show every character of a text.
func (t Terminal) Shows(s string) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unprintable(r, n, !t.UTF8) {
			return false
		}
		i += n
	}
	return true
}

// SafeCommand returns a shell command unchanged if the terminal can show all of it, as an added backslash would change it. Otherwise
// it applies Safe.
func (t Terminal) SafeCommand(s string) string {
	if t.Shows(s) {
		return s
	}
	return t.Safe(s)
}

// CSV escapes foreign text for a field of CSV: on a terminal all of it; in a file newlines and tabs stay, and so do characters that only an
// ASCII terminal lacks.
func (t Terminal) CSV(s string) string {
	switch {
	case t.IsTTY:
		return t.Safe(s)
	case plain(s):
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(s, "\n\t")
		if i < 0 {
			return b.String() + Safe(s)
		}
		b.WriteString(Safe(s[:i]) + s[i:i+1])
		s = s[i+1:]
	}
}

// SafeText escapes a description. Unlike Safe, it keeps newlines and turns tabs and blanks into spaces.
func (t Terminal) SafeText(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		if r == '\t' || unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = t.Safe(l)
	}
	return strings.Join(lines, "\n")
}

// plain reports whether s is printable ASCII without backslashes, as nearly all texts of MPI libraries are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

func escape(s string, ascii bool) string {
	if plain(s) {
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
