package program

import (
	"unicode"

	tea "charm.land/bubbletea/v2"
)

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
