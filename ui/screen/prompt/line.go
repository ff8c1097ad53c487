// Package prompt is the input line at the foot of a full screen: editing, history, and what the command lines of all screens share.
package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mpitx/ui/term"
)

// Line is an input line. Pasted text may hold anything, so the text is made safe when it is shown.
type Line struct {
	text []rune
	at   int
}

const maxInput = 4096 // runes

// New is a line with a text, with the cursor at its end.
func New(s string) Line { r := []rune(s); return Line{r, len(r)} }

// String is the text.
func (i *Line) String() string { return string(i.text) }

// Insert inserts text at the cursor, as a paste does. Line breaks at the end are dropped, others become blanks. Text that is too long
// or is not UTF-8 is ignored.
func (i *Line) Insert(s string) {
	s = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ").Replace(strings.TrimRight(s, "\r\n"))
	r := []rune(s)
	if len(i.text)+len(r) > maxInput || !utf8.ValidString(s) {
		return
	}
	i.text = append(i.text[:i.at:i.at], append(r, i.text[i.at:]...)...)
	i.at += len(r)
}

// Key handles an editing key and says whether it was one.
func (i *Line) Key(key, text string) bool {
	switch key {
	case "left", "ctrl+b":
		i.at = max(i.at-1, 0)
	case "right", "ctrl+f":
		i.at = min(i.at+1, len(i.text))
	case "home", "ctrl+a":
		i.at = 0
	case "end", "ctrl+e":
		i.at = len(i.text)
	case "backspace", "ctrl+h":
		if i.at > 0 {
			i.text = append(i.text[:i.at-1:i.at-1], i.text[i.at:]...)
			i.at--
		}
	case "delete", "ctrl+d":
		if i.at < len(i.text) {
			i.text = append(i.text[:i.at:i.at], i.text[i.at+1:]...)
		}
	case "ctrl+u":
		i.text, i.at = i.text[i.at:], 0
	case "ctrl+k":
		i.text = i.text[:i.at]
	case "ctrl+w":
		k := i.at
		for k > 0 && i.text[k-1] == ' ' {
			k--
		}
		for k > 0 && i.text[k-1] != ' ' {
			k--
		}
		i.text, i.at = append(i.text[:k:k], i.text[i.at:]...), k
	default:
		if text == "" {
			return false
		}
		i.Insert(text)
	}
	return true
}

// Render shows the line with its cursor in at most width cells.
func (i *Line) Render(t term.Term, width int) string {
	from := 0
	for from < i.at && term.Width(t.Safe(string(i.text[from:i.at]))) >= width {
		from++
	}
	under, rest := " ", ""
	if i.at < len(i.text) {
		under, rest = t.Safe(string(i.text[i.at])), t.Safe(string(i.text[i.at+1:]))
	}
	line := t.Safe(string(i.text[from:i.at])) + t.Paint(term.Input, under) + rest
	return t.Cut(line, width)
}

const maxHistory = 200

// History holds the lines that were typed before, the newest last.
type History struct {
	Lines []string
	at    int    // the line that is shown; len(Lines): the draft
	draft string // what was typed before the user went back
}

// Add records a line. It stands once in the history.
func (h *History) Add(line string) {
	if line == "" {
		return
	}
	h.Lines = append(slices.DeleteFunc(h.Lines, func(l string) bool { return l == line }), line)
	h.Lines = h.Lines[max(0, len(h.Lines)-maxHistory):]
}

// Rewind goes to the end of the history, where a new line begins.
func (h *History) Rewind() { h.at, h.draft = len(h.Lines), "" }

// Older is the line before the present one; line is what is typed now.
func (h *History) Older(line string) string {
	if h.at >= len(h.Lines) {
		h.at, h.draft = len(h.Lines), line
	}
	if h.at == 0 {
		return line
	}
	h.at--
	return h.Lines[h.at]
}

// Newer is the line after the present one, or what was typed before the user went back.
func (h *History) Newer(line string) string {
	switch {
	case h.at >= len(h.Lines):
		return line
	case h.at == len(h.Lines)-1:
		h.at++
		return h.draft
	}
	h.at++
	return h.Lines[h.at]
}
