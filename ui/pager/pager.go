// Package pager is text in the place of all else on a full screen, such as help: bubbles' viewport with the keys of all screens.
package pager

import (
	"strings"

	"charm.land/bubbles/v2/viewport"
)

// Pager is where somebody reads a text.
type Pager struct{ viewport.Model }

// New is a pager at the beginning of its text.
func New() Pager { return Pager{viewport.New()} }

// Key handles a key and says whether it scrolls.
func (p *Pager) Key(key string) bool {
	switch page := max(p.Height()-1, 1); key { // a line stays
	case "j", "down", "ctrl+n":
		p.ScrollDown(1)
	case "k", "up", "ctrl+p":
		p.ScrollUp(1)
	case "space", "pgdown", "ctrl+f", "ctrl+d":
		p.ScrollDown(page)
	case "pgup", "ctrl+b", "ctrl+u":
		p.ScrollUp(page)
	case "g", "home":
		p.GotoTop()
	case "G", "end":
		p.GotoBottom()
	default:
		return false
	}
	return true
}

// Lines are what is seen of a text: exactly height lines of width cells.
func (p *Pager) Lines(text []string, width, height int) []string {
	p.SetWidth(width)
	p.SetHeight(height)
	p.SetContentLines(text)
	return strings.Split(p.View(), "\n")
}
