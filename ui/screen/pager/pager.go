// Package pager shows text on the whole screen, such as help: bubbles' viewport with the keys of all screens.
package pager

import (
	"strings"

	"charm.land/bubbles/v2/viewport"

	"mpitx/ui/screen/keys"
	"mpitx/ui/term"
)

// Pager is a text that scrolls.
type Pager struct{ viewport.Model }

// New is a pager at the beginning of its text.
func New() Pager { return Pager{viewport.New()} }

// Key handles a key and says whether it scrolls.
func (p *Pager) Key(key string) bool {
	is := func(id keys.ID) bool { return keys.Of(id).Has(key) }
	page := max(p.Height()-1, 1) // a line stays
	switch {
	case is(keys.Down):
		p.ScrollDown(1)
	case is(keys.Up):
		p.ScrollUp(1)
	case key == "space", is(keys.PageDown):
		p.ScrollDown(page)
	case is(keys.PageUp):
		p.ScrollUp(page)
	case is(keys.First):
		p.GotoTop()
	case is(keys.Last):
		p.GotoBottom()
	default:
		return false
	}
	return true
}

// Lines is the visible part of a text: exactly height lines of width cells.
func (p *Pager) Lines(text []string, width, height int) []string {
	p.SetWidth(width)
	p.SetHeight(height)
	p.SetContentLines(text)
	return strings.Split(p.View(), "\n")
}

// Screen is a text on the whole screen: the visible part, and the keys at the foot.
func (p *Pager) Screen(t term.Term, text []string, width, height int) []string {
	lines := p.Lines(text, width, height-1)
	hints := []keys.Key{keys.Of(keys.Back)}
	if !p.AtBottom() {
		hints = append(hints, keys.Key{Names: []string{"space"}, Hint: "more"})
	}
	return append(lines, keys.Footer(t, width, hints...))
}

// Section is a part of a text: a heading, and texts that are broken into lines; none stands for no text.
func Section(t term.Term, width int, heading string, texts []string, none string) []string {
	lines := []string{" " + t.Paint(term.Heading, heading), ""}
	if len(texts) == 0 {
		texts = []string{none}
	}
	for _, text := range texts {
		lines = append(lines, Wrap(t, width, text)...)
	}
	return append(lines, "")
}

// Wrap breaks a text into lines, with a margin.
func Wrap(t term.Term, width int, text string) (lines []string) {
	for _, l := range term.Wrap(t.SafeText(text), max(width-2, 10)) {
		lines = append(lines, " "+l)
	}
	return lines
}
