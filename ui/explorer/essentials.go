package explorer

import (
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/ui/term"
)

// Essential says what users commonly tune a control variable for.
type Essential struct {
	Place   int // in the list of essentials, by purpose
	Purpose string
	Use     string

	Elsewhere bool // the library has the variable, but cannot use it
}

func (m *Model) markEssentials() {
	if m.o.Essentials == nil {
		return
	}
	if m.o.Diff != nil {
		m.markDifferent()
		return
	}
	m.x.markEssentials(m.o.Essentials(m.x.cat))
}

func (x *index) markEssentials(uses map[string]Essential) {
	for name, use := range uses {
		if e := x.entry(name); e != nil && e.v.Kind == catalog.Cvars {
			e.purpose, e.text = lower(use.Use), e.text+"\n"+lower(use.Purpose)
			x.sieves[x.byID[name]] = newSieve(e.low, e.text, e.purpose)
			if !use.Elsewhere {
				e.essential = &use
			}
		}
	}
}

func (m *Model) markDifferent() {
	var uses [2]map[string]Essential
	for s := range uses {
		uses[s] = m.o.Essentials(m.o.Diff.Sides[s].Catalog)
	}
	for i := range m.x.entries {
		it := m.x.entries[i].change
		for s, e := range []catalog.Entry{it.A, it.B} {
			if e == nil || it.Kind != catalog.Cvars || m.x.entries[i].essential != nil {
				continue
			}
			if use, ok := uses[s][e.ID()]; ok && !use.Elsewhere {
				m.x.entries[i].essential = &use
			}
		}
	}
}

func (m *Model) showEssentials() {
	none := "mpitx knows no essential variables of this library"
	if m.o.Diff != nil {
		none = "no essential variable differs"
	}
	m.showOnly("essential", none)
}

func (m *Model) byPurpose() bool {
	return m.o.Diff == nil && m.query == "" && slices.Contains(strings.Fields(filterText(m.criteria)), "essential=yes")
}

func (m *Model) inOrder(shown []int32) []int32 {
	if m.byPurpose() {
		slices.SortStableFunc(shown, func(a, b int32) int { return m.x.entries[a].essential.Place - m.x.entries[b].essential.Place })
	}
	return shown
}

// tuningLines say what a variable is set for, when the library reads it, and what its effect depends on.
func (m *Model) tuningLines(e *entry, width int) (lines []string) {
	if e.essential != nil {
		lines = m.wrapped("purpose: "+e.essential.Purpose+": "+e.essential.Use, width, term.Label)
	}
	for _, text := range m.effects(e) {
		if !warns(text) {
			lines = append(lines, m.wrapped(text, width, term.Plain)...)
		}
	}
	return lines
}

// warns reports whether a text says that a setting has no effect, or is wrong.
func warns(text string) bool {
	return strings.HasPrefix(text, "NO EFFECT NOW") || strings.HasPrefix(text, "WRONG VALUE")
}

func (m *Model) effects(e *entry) []string {
	if m.o.Effect == nil || e.v.Kind != catalog.Cvars || !e.variable() {
		return nil
	}
	return m.o.Effect(m.x.cat, e.v)
}

// warnings say which conditions of a variable's effect do not hold.
func (m *Model) warnings(e *entry) []string {
	return slices.DeleteFunc(m.effects(e), func(text string) bool { return !warns(text) })
}

func (m *Model) noEffectLines(e *entry, width int) (lines []string) {
	for _, text := range m.warnings(e) {
		lines = append(lines, m.wrapped(text, width, term.Attention)...)
	}
	return lines
}

func (m *Model) warningLines(e *entry, width int) (lines []string) {
	for _, text := range m.warnings(e) {
		for _, l := range term.Wrap(m.Terminal.SafeText(text), width) {
			lines = append(lines, m.Terminal.Paint(term.Attention, l))
		}
	}
	return lines
}
