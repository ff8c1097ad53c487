package export

import "charm.land/lipgloss/v2"

// The styles use the sixteen colours of the user's palette. They only repeat the text's meaning.
var (
	headingStyle = lipgloss.NewStyle().Bold(true)
	headerStyle  = lipgloss.NewStyle().Faint(true)
	setStyle     = lipgloss.NewStyle().Foreground(lipgloss.Green)
	differsStyle = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	faultyStyle  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	goneStyle    = lipgloss.NewStyle().Faint(true)
	labelStyle   = lipgloss.NewStyle().Faint(true)
)

// paint applies a style to safe text if colours are on.
func (t Terminal) paint(s lipgloss.Style, text string) string {
	if !t.Color || text == "" {
		return text
	}
	return s.Render(text)
}

// Heading is the title of a part of a list.
func (t Terminal) Heading(text string) string { return t.paint(headingStyle, text) }
