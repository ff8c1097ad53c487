package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Quote is a text as one word of the shell, in single quotes if it needs any. What a terminal does not show is written as $'\x1b'.
func Quote(s string) string { return quote(s, false) }

// QuoteASCII is Quote for an ASCII terminal: the bytes of all other characters are written so, as bytes mean the same in every locale.
func QuoteASCII(s string) string { return quote(s, true) }

// Charset is what a terminal shows: all of UTF-8, or ASCII only.
type Charset bool

// The character sets.
const (
	ASCII Charset = false
	UTF8  Charset = true
)

// Quote is [Quote] or [QuoteASCII].
func (c Charset) Quote(s string) string { return quote(s, c == ASCII) }

// Safe is [Safe] or [SafeASCII].
func (c Charset) Safe(s string) string { return Escape(s, c == ASCII) }

func quote(s string, ascii bool) string {
	switch {
	case s != "" && strings.IndexFunc(s, func(r rune) bool { return !bare(r) }) < 0:
		return s
	case !Shows(s, ascii):
		return "$'" + ansiC(s, ascii) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// QuotePOSIX is a text as one word of any POSIX shell, which need not know $'…'. Lines stay lines.
func QuotePOSIX(s string) string {
	lines := strings.TrimRight(s, "\n")
	if Shows(strings.ReplaceAll(lines, "\n", ""), false) {
		if lines == s && !strings.Contains(s, "\n") {
			return Quote(s)
		}
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for k := 0; k < len(lines); k++ {
		switch c := lines[k]; {
		case c == '%':
			b.WriteString("%%")
		case c != '\n' && (c < ' ' || c > '~' || strings.IndexByte("\\'\"$`", c) >= 0):
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	word := `"$(printf '` + b.String() + `')"`
	if lines != s { // the shell cuts them off
		word += "'" + s[len(lines):] + "'"
	}
	return word
}

// bare reports whether a character needs no quotes anywhere in a word.
func bare(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.,:/@%+=", r)
}

// ansiC is what stands in the shell's $'…'.
func ansiC(s string, ascii bool) string {
	short := map[rune]string{'\\': `\\`, '\'': `\'`, '\n': `\n`, '\t': `\t`, '\r': `\r`}
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case short[r] != "":
			b.WriteString(short[r])
		case Shows(s[:n], ascii):
			b.WriteString(s[:n])
		default:
			for _, c := range []byte(s[:n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		}
		s = s[n:]
	}
	return b.String()
}
