package prompt

import "slices"

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
