package export

import "charm.land/lipgloss/v2"

// The styles use the sixteen colours of the user's palette. They only repeat the text's meaning.
var (
	HeadingStyle = lipgloss.NewStyle().Bold(true)
	HeaderStyle  = lipgloss.NewStyle().Faint(true)
	SetStyle     = lipgloss.NewStyle().Foreground(lipgloss.Green)
	DiffersStyle = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	FaultyStyle  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	GoneStyle    = lipgloss.NewStyle().Faint(true)
	LabelStyle   = lipgloss.NewStyle().Faint(true)
)

// Paint applies a style to safe text if colours are on.
func (t Terminal) Paint(s lipgloss.Style, text string) string {
	if !t.Color || text == "" {
		return text
	}
	return s.Render(text)
}

// Heading is the title of a part of a list.
func (t Terminal) Heading(text string) string { return t.Paint(HeadingStyle, text) }
