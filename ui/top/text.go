package top

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen/pager"
)

// showText shows lines instead of everything else.
func (m *Model) showText(lines func() []string) tea.Cmd {
	m.text, m.pager = lines, pager.New()
	return nil
}

// helpLines are the keys, first those of the part of the screen that has the focus, and the commands.
func (m *Model) helpLines() []string {
	var lines []string
	sections, _ := m.sections()
	for _, s := range sections {
		lines = append(append(lines, s.shown().Lines(m.terminal, m.width)...), "")
	}
	lines = append(append(lines, commands.Section().Lines(m.terminal, m.width)...), "")
	return append(lines, pager.Wrap(m.terminal, m.width, "The value of a rank is a sum if its variable has several elements, or is bound to several objects with the same name. "+
		"For high watermarks and percentages it is the greatest, for low watermarks the least. A rank is silent if it runs but has recorded nothing for 5 s or more. "+
		"The mouse selects lines, sorts by a heading, and sets the cursor of the map and the chart.")...)
}

// messageLines are everything that is wrong with the run, and the outcomes of the last keys and commands.
func (m *Model) messageLines() []string {
	var troubles []string
	if m.frame != nil {
		troubles = m.frame.Troubles()
	}
	wrong := pager.Section(m.terminal, m.width, "What is wrong with the run", troubles, "Nothing.")
	return append(wrong, pager.Section(m.terminal, m.width, "Messages", m.notes, "None.")...)
}
