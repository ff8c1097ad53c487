package config

import (
	"fmt"
	"strings"

	"mpitx/ui/term"
)

// Themes chooses the colours of a screen that keeps nothing else.
type Themes struct {
	File *File // nil: the choice is not kept
	turn int
}

// Choose gives a terminal the colours of a theme. It returns what the user must know, and what keeps the choice for later sessions; nil:
// nothing is to be kept.
func (c *Themes) Choose(t *term.Term, name string) (note string, save func() error) {
	theme, err := term.ParseTheme(name)
	switch {
	case err != nil:
		return fmt.Sprintf("theme: %v", err), nil
	case name == "":
		return fmt.Sprintf("theme %s; the themes are %s", t.Theme, strings.Join(term.Themes, ", ")), nil
	}
	t.Theme = theme
	note = "theme " + name
	if c.File == nil {
		return note, nil
	}
	c.turn++
	now, turn := c.File.Clone(), c.turn
	now.Theme = name
	return note, func() error { return c.File.Save(now, turn) }
}
