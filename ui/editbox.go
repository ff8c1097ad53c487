package ui

import (
	"fmt"
	"slices"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/link"
	"mpitx/ui/term"
)

// box is what is shown over the screen; nil: nothing.
func (m *Model) box() []string {
	bold := term.Style{Bold: true}
	width := min(m.w-8, 76)
	switch m.mode {
	case modeWork:
		lines := []string{m.t.Paint(bold, "Workload on all ranks"), "", "0  none"}
		for i, w := range link.Workloads {
			lines = append(lines, fmt.Sprintf("%d  %s", i+1, w))
		}
		return append(lines, "", "esc closes")
	case modeEdit, modePick, modeConfirm, modeRanks, modeOutcome:
	default:
		return nil
	}
	v := m.edit.e.v
	lines := []string{m.t.Paint(bold, m.t.SafeLine(v.Name, width)), "now  " + m.t.SafeLine(m.x.value(m.edit.e), width)}
	words := "scope " + v.Scope.String()
	if s := scopeWords[v.Scope]; s != "" {
		words += ": " + s
	}
	lines = append(lines, term.Wrap(words, width)...)
	if (v.Scope == catalog.ScopeGroup || v.Scope == catalog.ScopeGroupEq) && m.mode != modeOutcome {
		about := term.Wrap(m.t.SafeText(v.Description), width)
		lines = append(append(lines, ""), about[:min(len(about), max(2, m.h-18))]...)
	}
	lines = append(lines, "")
	switch m.mode {
	case modeEdit:
		lines = append(lines, "new  "+m.line.Render(m.t, width-5), "")
		if m.edit.problem != "" {
			lines = append(lines, term.Wrap(m.t.SafeText(m.edit.problem), width)...)
		} else {
			lines = append(lines, "enter writes it, esc leaves it")
		}
	case modePick:
		items := m.x.cat.Enum(v.Enum).Items
		height := min(len(items), max(3, m.h-14))
		m.edit.pick.view(len(items), height)
		for i := m.edit.pick.top; i < m.edit.pick.top+height; i++ {
			s, sign := term.Style{}, "  "
			if i == m.edit.pick.at {
				s, sign = term.Style{Reverse: true}, "> "
			}
			lines = append(lines, m.t.Paint(s, sign+m.t.Cut(m.t.SafeLine(fmt.Sprintf("%d  %s", items[i].Value, items[i].Name), width), width-2)))
		}
		lines = append(lines, "", "enter chooses, = types a value, esc leaves it")
	case modeConfirm:
		lines = append(append(lines, "new  "+m.t.SafeLine(m.edit.text, width), ""), m.question(width)...)
	case modeRanks:
		lines = append(lines, "new  "+m.t.SafeLine(m.edit.text, width), "", "on ranks (like 0,2-3; nothing: all)  "+m.line.Render(m.t, width-37), "")
		if m.edit.problem != "" {
			lines = append(lines, term.Wrap(m.t.SafeText(m.edit.problem), width)...)
		} else {
			lines = append(lines, "enter takes them, esc leaves it")
		}
	case modeOutcome:
		lines = append(lines, m.outcomeLines(width)...)
	}
	return lines
}

// question is what is asked before a write.
func (m *Model) question(width int) []string {
	size := m.x.cat.Job.Size
	if m.edit.ranks != nil {
		lines := []string{}
		switch m.edit.e.v.Scope {
		case catalog.ScopeAll, catalog.ScopeAllEq:
			lines = term.Wrap("Its scope concerns all ranks: the library may hang or compute nonsense when some have another value than the rest.", width)
		case catalog.ScopeGroup, catalog.ScopeGroupEq:
			lines = term.Wrap("These ranks should be a group as the description tells.", width)
		}
		return append(lines, fmt.Sprintf("Write this on rank %s only?  y yes   r other ranks   n no", export.RankList(m.edit.ranks)))
	}
	if size == 1 {
		return []string{"Write this on the one rank?  y yes   n no"}
	}
	return []string{fmt.Sprintf("Write this on all %d ranks?  y yes   r on some   n no", size)}
}

// outcomeLines tell what came of a write, ranks with the same outcome together.
func (m *Model) outcomeLines(width int) []string {
	if m.edit.waits {
		return []string{"writing " + m.t.SafeLine(m.edit.text, width) + " ..."}
	}
	type same struct{ result, detail, old, back string }
	ranks := map[same][]int{}
	order := []same{}
	enum := m.x.cat.Enum(m.edit.e.v.Enum)
	for _, o := range m.edit.outcomes {
		k := same{o.Result, o.Detail, o.Old.Format(enum), o.Back.Format(enum)}
		if ranks[k] == nil {
			order = append(order, k)
		}
		ranks[k] = append(ranks[k], o.Rank)
	}
	lines := []string{}
	for _, k := range order {
		slices.Sort(ranks[k])
		text := "rank " + export.RankList(ranks[k]) + ": " + k.result
		if k.old != "" || k.back != "" {
			text += ": was " + k.old + ", reads back " + k.back
		}
		if k.detail != "" {
			text += " (" + k.detail + ")"
		}
		lines = append(lines, term.Wrap(m.t.SafeText(text), width)...)
	}
	if m.edit.err != nil {
		lines = append(lines, term.Wrap(m.t.SafeText("failed: "+m.edit.err.Error()), width)...)
	}
	lines = append(lines, "")
	if len(m.edit.undo) > 0 {
		return append(lines, "esc closes; then u undoes it")
	}
	return append(lines, "esc closes")
}
