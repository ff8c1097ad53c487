package export

import "strings"

// Wrap breaks lines that are wider than width.
func Wrap(s string, width int) string {
	lines := strings.Split(s, "\n")
	for k, line := range lines {
		lines[k] = WrapLine(line, width, line[:len(line)-len(strings.TrimLeft(line, " "))])
	}
	return strings.Join(lines, "\n")
}

// WrapLine breaks a line between words if it is wider than width; following lines start with indent. A command in `…`
// stays on one line, so that it can be pasted. Width 0 means no breaks.
func WrapLine(line string, width int, indent string) string {
	if width <= 0 || Width(line) <= width {
		return line
	}
	var b strings.Builder
	rest := strings.TrimLeft(line, " ")
	b.WriteString(line[:len(line)-len(rest)])
	at, quoted, first := b.Len(), false, true
	word := func(text string) {
		n := Width(text)
		switch {
		case first:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(text)
		at, first = at+n, false
	}
	for rest != "" {
		end := strings.IndexFunc(rest, func(r rune) bool {
			if r == '`' {
				quoted = !quoted
			}
			return r == ' ' && !quoted
		})
		if end < 0 {
			end = len(rest)
		}
		word(rest[:end])
		rest = strings.TrimPrefix(rest[end:], " ")
	}
	return b.String()
}
