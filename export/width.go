package export

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of terminal cells that safe text takes.
func Width(s string) int {
	width := 0
	for i := 0; i < len(s); width++ {
		if s[i] < 0x80 && s[i] != 0x1b {
			i++
			continue
		}
		size, cells := drawn(s[i:])
		if size == 0 {
			return ansi.StringWidth(s)
		}
		i += size
		width += cells - 1
	}
	return width
}

// drawn is the size in bytes of a style or of a character that frames and charts are drawn with, at the beginning of s, and its cells. It is
// a shortcut around the tables of Unicode. 0: something else is there.
func drawn(s string) (size, cells int) {
	switch {
	case strings.HasPrefix(s, "\x1b["):
		end := 2
		for end < len(s) && s[end] >= '0' && s[end] <= ';' {
			end++
		}
		if end < len(s) && s[end] == 'm' {
			return end + 1, 0
		}
	case len(s) >= 3 && s[0] == 0xe2 && s[1] >= 0x94 && s[1] <= 0x96 && s[2]&0xc0 == 0x80: // U+2500 to U+25BF: lines and blocks
		return 3, 1
	case strings.HasPrefix(s, "…"):
		return 3, 1
	case strings.HasPrefix(s, "·"):
		return 2, 1
	}
	return 0, 0
}

// Cut shortens safe text to at most width cells, ending with … or "..".
func (t Terminal) Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width || Width(s) <= width {
		return s
	}
	tail := t.Ellipsis()
	if len(tail) > width && !t.UTF8 {
		tail = tail[:width]
	}
	return ansi.Truncate(s, width, tail)
}

// Ellipsis ends a text that was cut.
func (t Terminal) Ellipsis() string {
	if t.UTF8 {
		return "…"
	}
	return ".."
}

// Lines breaks safe text into lines of at most width cells, if possible at blanks; with width 0 only at newlines.
func Lines(s string, width int) []string {
	if width > 0 {
		const dash = "\ue000" // lines are broken after hyphens, but not in --flag
		s = strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(s, "--", dash+dash), width, ""), dash, "-")
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// OneLine puts a description on one line.
func OneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r\t") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}
