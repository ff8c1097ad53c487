package program

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// typedModel notes the keys that reach it.
type typedModel struct{ keys []string }

func (m *typedModel) Init() tea.Cmd  { return nil }
func (m *typedModel) View() tea.View { return tea.View{} }
func (m *typedModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		m.keys = append(m.keys, key.String()+"|"+key.Text)
	}
	return m, nil
}

// A key that follows Esc at once comes as one key with Alt: both reach the model.
func TestEscThenKey(t *testing.T) {
	for _, c := range []struct {
		msg  tea.KeyPressMsg
		want []string
	}{
		{tea.KeyPressMsg{Code: 'r', Text: "r"}, []string{"r|r"}},
		{tea.KeyPressMsg{Code: tea.KeyEscape}, []string{"esc|"}},
		{tea.KeyPressMsg{Code: 'r', Mod: tea.ModAlt}, []string{"esc|", "r|r"}},
		{tea.KeyPressMsg{Code: 'r', Mod: tea.ModAlt | tea.ModShift}, []string{"esc|", "R|R"}},
		{tea.KeyPressMsg{Code: '/', Mod: tea.ModAlt}, []string{"esc|", "/|/"}},
		{tea.KeyPressMsg{Code: 'd', Mod: tea.ModAlt | tea.ModCtrl}, []string{"esc|", "ctrl+d|"}},
		{tea.KeyPressMsg{Code: tea.KeyDown, Mod: tea.ModAlt}, []string{"esc|", "down|"}},
	} {
		m := &typedModel{}
		(&shell{m}).Update(c.msg)
		if len(m.keys) != len(c.want) || m.keys[0] != c.want[0] || m.keys[len(m.keys)-1] != c.want[len(c.want)-1] {
			t.Errorf("%v: %q, want %q", c.msg, m.keys, c.want)
		}
	}
}
