package export

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of terminal cells that safe text takes.
func Width(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] == 0x1b {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
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

// wrap breaks safe text into lines of at most width cells, if possible at blanks; with width 0 only at newlines.
func wrap(s string, width int) []string {
	if width > 0 {
		s = ansi.Wrap(s, width, "")
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// oneLine puts a description on one line.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r\t") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}
