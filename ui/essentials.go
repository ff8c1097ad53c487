package ui

import (
	"mpitx/catalog"
	"mpitx/ui/term"
)

// markEssentials marks the variables that people who tune set.
func (m *Model) markEssentials() {
	if m.o.Essentials == nil {
		return
	}
	uses := m.o.Essentials(m.x.cat)
	for i := range m.x.entries {
		if e := &m.x.entries[i]; e.v.Kind == catalog.Cvars {
			e.essential = uses[e.v.Name]
		}
	}
}

// showEssentials lists the variables that people who tune set, or everything again.
func (m *Model) showEssentials() {
	m.showOnly("essential", func(e entry) bool { return e.essential != "" }, "mpitx knows no essential variables of this library")
}

// tuningLines say what a variable is set for, when the library reads it, and what its effect depends on.
func (m *Model) tuningLines(e *entry, width int) (lines []string) {
	if e.essential != "" {
		lines = m.wrapped("essential: "+e.essential, width, term.Label)
	}
	if m.o.Effect != nil && e.v.Kind == catalog.Cvars {
		for _, text := range m.o.Effect(m.x.cat, e.v) {
			lines = append(lines, m.wrapped(text, width, term.Plain)...)
		}
	}
	return lines
}
