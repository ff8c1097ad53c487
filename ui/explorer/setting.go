package explorer

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/ui/screen/prompt"
)

// present is a variable's present value; zero if it has none that a setting could repeat, such as an empty string.
func present(v *catalog.Variable) catalog.Value {
	if r := v.Current(); r != nil && r.Status == catalog.StatusOK && r.Value.String() != "" {
		return r.Value
	}
	return catalog.Value{}
}

// copySetting copies the line that sets a variable for the next run. It asks for a value if the variable has none.
func (m *Model) copySetting(e *entry) tea.Cmd {
	switch {
	case m.o.HowToSet == nil || e.v.Kind != catalog.Cvars || len(m.o.HowToSet(m.x.cat, e.v, present(e.v))) == 0:
		m.note("mpitx knows no way to set %s for a run", e.name)
		return nil
	case present(e.v).IsZero():
		m.edit.e, m.mode, m.line = e, modeSet, prompt.Line{}
		m.validate()
		return nil
	}
	return m.copyLine(e, present(e.v))
}

func (m *Model) copyLine(e *entry, value catalog.Value) tea.Cmd {
	how := m.o.HowToSet(m.x.cat, e.v, value)
	if len(how) == 0 {
		m.note("mpitx knows no way to set %s to %s", e.name, value)
		return nil
	}
	return m.toClipboard(how[0])
}

func (m *Model) typedValue() (catalog.Value, error) {
	v, count := m.edit.e.v, 1
	if r := v.Current(); r != nil {
		count = max(r.Count, 1)
	}
	return catalog.ParseValue(v, m.enum(v), count, m.line.String())
}
