package export

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe makes foreign text (a name, a value) safe for a terminal. What does not print as itself is shown escaped: control
// characters and invalid bytes as \x1b, C1 controls, format characters (bidirectional overrides, zero width), line
// separators, blanks other than the space and other invisible characters as \u202e or \u{e0001}. Different texts stay
// different: a backslash is doubled where it could be taken for the beginning of an escape, and only there.
func Safe(s string) string { return escape(s, false) }

// SafeASCII is Safe for a terminal that shows ASCII only: every other character is written \u{e9}.
func SafeASCII(s string) string { return escape(s, true) }

// Safe is Safe or SafeASCII, as the terminal needs.
func (t Terminal) Safe(s string) string { return escape(s, !t.UTF8) }

// Shows reports whether every character of a text prints as itself on the terminal.
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

// SafeCommand is a command for the shell as it is where all of it shows: a backslash more would be another command. Else it is
// like Safe.
func (t Terminal) SafeCommand(s string) string {
	if t.Shows(s) {
		return s
	}
	return t.Safe(s)
}

// SafeText makes a description safe for a terminal: like Safe, but newlines stay, and tabs and blanks become spaces.
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

// plain reports whether s is printable ASCII without backslashes, which is nearly everything MPI libraries write.
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

// unprintable says whether a rune of n bytes needs escaping.
func unprintable(r rune, n int, ascii bool) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == utf8.RuneError && n == 1:
		return true
	}
	return ascii || !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// ambiguous says whether a backslash before rest would read as the beginning of an escape.
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
