package export

import (
	"strings"
	"unicode"

	"mpitx/text"
)

// ScaleOf is [text.ScaleOf] in the characters that a terminal has.
func (t Terminal) ScaleOf(unit string, greatest float64) text.Scale {
	s := text.ScaleOf(unit, greatest)
	s.Unit = t.Units(s.Unit)
	return s
}

// Amount is [text.Amount] in the characters that a terminal has.
func (t Terminal) Amount(x float64, unit string) string { return t.Units(text.Amount(x, unit)) }

// Units writes the units in a words of mpitx's own with the characters that a terminal has.
func (t Terminal) Units(s string) string {
	if t.UTF8 {
		return s
	}
	return strings.ReplaceAll(s, "µs", "us")
}

// Safe applies Safe or SafeASCII, as the terminal requires.
func (t Terminal) Safe(s string) string { return text.Escape(s, !t.UTF8) }

// Shows reports whether the terminal can show every character of a text.
func (t Terminal) Shows(s string) bool { return text.Shows(s, !t.UTF8) }

// Quote is [text.Quote] in the characters that a terminal has.
func (t Terminal) Quote(s string) string {
	if t.UTF8 {
		return text.Quote(s)
	}
	return text.QuoteASCII(s)
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
	case text.Plain(s):
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(s, "\n\t")
		if i < 0 {
			return b.String() + text.Safe(s)
		}
		b.WriteString(text.Safe(s[:i]) + s[i:i+1])
		s = s[i+1:]
	}
}

// SafeText escapes a description. Unlike Safe, it keeps newlines and turns tabs and blanks into spaces.
func (t Terminal) SafeText(s string) string {
	if text.Plain(s) {
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
