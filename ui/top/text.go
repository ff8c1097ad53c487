package top

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/ui/keys"
	"mpitx/ui/pager"
	"mpitx/ui/term"
)

// showText shows lines instead of everything else.
func (m *Model) showText(lines func() []string) tea.Cmd {
	m.text, m.pager = lines, pager.New()
	return nil
}

// textScreen is the text, as far as it fits, and its keys.
func (m *Model) textScreen(height int) []string {
	lines := m.pager.Lines(m.text(), m.width, height-1)
	hints := []keys.Key{keys.Of(keys.Back)}
	if !m.pager.AtBottom() {
		hints = append(hints, keys.Key{Names: []string{"space"}, Hint: "more"})
	}
	return append(lines, keys.Footer(m.terminal, m.width, hints...))
}

// helpLines are the keys, first those of the part of the screen that has the focus, and the commands.
func (m *Model) helpLines() []string {
	var lines []string
	sections, _ := m.sections()
	for _, s := range sections {
		lines = append(append(lines, s.shown().Lines(m.terminal, m.width)...), "")
	}
	lines = append(append(lines, commandSection().Lines(m.terminal, m.width)...), "")
	for _, l := range term.Wrap("The value of a rank is a sum if its variable has several elements, or is bound to several objects with the same name. "+
		"For high watermarks and percentages it is the greatest, for low watermarks the least. A rank is silent if it runs but has recorded nothing for 5 s or more. "+
		"The mouse selects lines, sorts by a heading, and sets the cursor of the map and the chart.", max(m.width-2, 10)) {
		lines = append(lines, " "+l)
	}
	return lines
}

// messageLines are everything that is wrong with the run, and the outcomes of the last keys and commands.
func (m *Model) messageLines() []string {
	var lines []string
	section := func(title string, texts []string, none string) {
		lines = append(lines, " "+m.terminal.Paint(term.Heading, title), "")
		if len(texts) == 0 {
			texts = []string{none}
		}
		for _, text := range texts {
			for _, l := range term.Wrap(m.terminal.SafeText(text), max(m.width-2, 10)) {
				lines = append(lines, "  "+l)
			}
		}
		lines = append(lines, "")
	}
	var troubles []string
	if m.frame != nil {
		troubles = m.frame.Troubles()
	}
	section("What is wrong with the run", troubles, "Nothing.")
	section("Messages", m.notes, "None.")
	return lines
}
