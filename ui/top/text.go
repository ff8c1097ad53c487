package top

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/ui/pager"
	"mpitx/ui/term"
)

// showText shows lines in the place of all else.
func (m *Model) showText(lines func() []string) tea.Cmd {
	m.text, m.pager = lines, pager.New()
	return nil
}

// textScreen is the text, as far as it fits, and the keys for it.
func (m *Model) textScreen(height int) []string {
	lines := m.pager.Lines(m.text(), m.width, height-1)
	hints := []string{"Esc back"}
	if !m.pager.AtBottom() {
		hints = append(hints, "Space more")
	}
	return append(lines, m.hints(hints...))
}

// explained is a key or a command with what it does, on as many lines as that takes.
func (m *Model) explained(what string, indent int, help string) []string {
	indent = min(indent, m.width/2)
	lines := term.Wrap(help, max(m.width-indent-3, 10))
	if term.Width(what) > indent {
		lines = append([]string{""}, lines...)
	}
	for i := range lines {
		lines[i] = "  " + term.Pad(what, indent) + " " + lines[i]
		what = ""
	}
	return lines
}

// helpLines are the key map, and the commands.
func (m *Model) helpLines() []string {
	bold := term.Style{Bold: true}
	lines := []string{m.terminal.Paint(bold, "mpitx top: keys"), ""}
	for i := range keyMap {
		show := keyMap[i].show
		if !m.terminal.UTF8 {
			show = strings.NewReplacer("↓", "Down", "↑", "Up", "→", "Right", "←", "Left").Replace(show)
		}
		lines = append(lines, m.explained(show, 12, keyMap[i].help)...)
	}
	lines = append(lines, "", m.terminal.Paint(bold, "Commands"), "")
	for i := range commands {
		lines = append(lines, m.explained(strings.TrimSpace(":"+commands[i].name+" "+commands[i].args), 26, commands[i].help)...)
	}
	lines = append(lines, "")
	return append(lines, term.Wrap("If a variable has several elements, or is bound to several objects of one name, a rank's value is their sum. "+
		"High watermarks and percentages show the greatest, low watermarks the least. A silent rank runs, but has recorded nothing for 5 s or more.",
		max(m.width, 10))...)
}

// troubleLines is all that must be known of the run.
func (m *Model) troubleLines() []string {
	lines := []string{m.terminal.Paint(term.Style{Bold: true}, "mpitx top: what is wrong with the run"), ""}
	if m.frame != nil {
		for _, text := range m.frame.Troubles() {
			for _, l := range term.Wrap(m.terminal.SafeText(text), max(m.width-2, 10)) {
				lines = append(lines, "  "+l)
			}
		}
	}
	if len(lines) == 2 {
		lines = append(lines, "  Nothing.")
	}
	return lines
}
