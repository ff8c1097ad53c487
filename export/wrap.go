package export

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

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

// Hanging writes a text below its first word.
func (t Terminal) Hanging(b *bytes.Buffer, start, text string) {
	if !t.UTF8 {
		text = plainSigns.Replace(text)
	}
	for i, l := range Lines(t.Safe(text), max(t.Width-len(start), 0)) {
		if i > 0 {
			start = strings.Repeat(" ", len(start))
		}
		b.WriteString(start + l + "\n")
	}
}

// WrapAt breaks a line between words, and words that are longer than a line.
func WrapAt(line string, width int, indent string) string {
	if width <= 0 || Width(line) <= width {
		return line
	}
	indent = indent[:min(len(indent), width/2)]
	var out []string
	rest := line
	for Width(rest) > width {
		cut := strings.LastIndexByte(rest[:min(len(rest), width+1)], ' ')
		next := cut + 1
		if cut <= len(indent) {
			cut = len(ansi.Truncate(rest, width, ""))
			next = cut
		}
		if cut <= len(indent) { // a character that is wider than the line
			break
		}
		out, rest = append(out, strings.TrimRight(rest[:cut], " ")), indent+rest[next:]
	}
	return strings.Join(append(out, rest), "\n")
}

var plainSigns = strings.NewReplacer("µ", "u", "→", "->", "…", "...", "≥", ">=", "±", "+-")
