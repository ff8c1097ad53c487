// Package pager shows text on the whole screen, such as help: bubbles' viewport with the keys of all screens.
package pager

import (
	"strings"

	"charm.land/bubbles/v2/viewport"

	"mpitx/ui/keys"
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
