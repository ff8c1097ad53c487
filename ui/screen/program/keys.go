package program

import (
	"unicode"

	tea "charm.land/bubbletea/v2"
)

type shell struct{ model tea.Model }

func (s *shell) Init() tea.Cmd  { return s.model.Init() }
func (s *shell) View() tea.View { return s.model.View() }

func (s *shell) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	msgs := []tea.Msg{msg}
	switch msg := msg.(type) {
	case Crash:
		panic(msg)
	case tea.RawMsg: // the pacer's
		return s, nil
	case tea.KeyPressMsg:
		msgs = msgs[:0]
		for _, k := range presses(msg) {
			msgs = append(msgs, k)
		}
	}
	cmds := make([]tea.Cmd, len(msgs))
	for i, msg := range msgs {
		s.model, cmds[i] = s.model.Update(msg)
	}
	return s, tea.Batch(cmds...)
}

// presses splits a key with Alt into Esc and the key: terminals send the same bytes for both, and nothing is bound to Alt.
// Otherwise a key pressed right after Esc is lost, together with the Esc.
func presses(msg tea.KeyPressMsg) []tea.KeyPressMsg {
	if !msg.Mod.Contains(tea.ModAlt) || msg.Code == tea.KeyEscape {
		return []tea.KeyPressMsg{msg}
	}
	key := msg
	key.Mod &^= tea.ModAlt
	if key.Text == "" && unicode.IsPrint(key.Code) && key.Mod&^tea.ModShift == 0 {
		if key.Mod == tea.ModShift {
			key.Code = unicode.ToUpper(key.Code)
		}
		key.Text = string(key.Code)
	}
	return []tea.KeyPressMsg{{Code: tea.KeyEscape}, key}
}
