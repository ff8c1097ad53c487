package export

import "charm.land/lipgloss/v2"

// The styles, of the sixteen colours that follow the user's palette. They only repeat what the text says.
var (
	headingStyle = lipgloss.NewStyle().Bold(true)
	headerStyle  = lipgloss.NewStyle().Faint(true)
	setStyle     = lipgloss.NewStyle().Foreground(lipgloss.Green)
	differsStyle = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	faultyStyle  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	goneStyle    = lipgloss.NewStyle().Faint(true)
	labelStyle   = lipgloss.NewStyle().Faint(true)
)

// paint applies a style to safe text where colours may be used.
func (t Terminal) paint(s lipgloss.Style, text string) string {
	if !t.Color || text == "" {
		return text
	}
	return s.Render(text)
}
