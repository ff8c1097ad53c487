package explorer

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/text"
	"mpitx/ui/term"
)

// box is the open dialog; nil: none.
func (m *Model) box() []string {
	width := min(m.Width-8, 76)
	if m.mode == modeWork {
		return m.workBox(width)
	}
	if !m.editing() {
		return nil
	}
	v := m.edit.e.v
	about := []string{m.Terminal.Paint(term.Heading, m.Terminal.SafeLine(v.Name, width)), "now  " + m.shownValue(m.edit.e, width-5)}
	words := "scope " + v.Scope.String()
	if s := scopeWords[v.Scope]; s != "" && m.mode != modeSet && !m.edit.next {
		words += ": " + s
	}
	about = append(about, m.warningLines(m.edit.e, width)...)
	if m.edit.next && m.edit.why != "" {
		about = append(about, term.Wrap(m.edit.why, width)...)
	}
	if v.Kind == catalog.Pvars {
		words = "performance variable of class " + v.Class.String() + "; the next reading counts from the new value"
	}
	about = append(about, term.Wrap(words, width)...)
	if (v.Scope == catalog.ScopeGroup || v.Scope == catalog.ScopeGroupEq) && m.mode != modeOutcome && m.mode != modeSet && !m.edit.next {
		text := term.Wrap(m.Terminal.SafeText(v.Description), width)
		about = append(append(about, ""), text[:min(len(text), max(2, m.Height-18))]...)
	}
	var lines []string
	hint := func(s string) { // or what is wrong with what is typed
		if m.edit.problem != "" {
			s = m.Terminal.SafeText(m.edit.problem)
		}
		lines = append(lines, term.Wrap(s, width)...)
	}
	switch m.mode {
	case modeSet:
		lines = append(lines, "value for the next run  "+m.Line.Render(m.Terminal, width-24), "")
		hint("Enter copies the line that sets it, Esc cancels")
	case modeEdit:
		if m.edit.next {
			lines = append(lines, "next run  "+m.Line.Render(m.Terminal, width-10), "")
			hint(m.nextHint("Enter"))
			break
		}
		lines = append(lines, "new  "+m.Line.Render(m.Terminal, width-5), "")
		hint("Enter writes it, Esc cancels")
	case modePick:
		items := m.enum(v).Items
		height := min(len(items), max(3, m.Height-14))
		m.edit.pick.view(len(items), height)
		for i := m.edit.pick.top; i < m.edit.pick.top+height; i++ {
			sign, style := m.edit.pick.chosen(i)
			lines = append(lines, m.Terminal.Paint(style, sign+m.Terminal.Cut(m.Terminal.SafeLine(fmt.Sprintf("%d  %s", items[i].Value, items[i].Name), width), width-2)))
		}
		foot := "Enter selects, = types a value, Esc cancels"
		if m.edit.next {
			foot = m.nextHint("Enter") + ", = types a value"
		}
		lines = append(append(lines, ""), term.Wrap(foot, width)...)
	case modeConfirm:
		about = append(about, m.effectLines(width)...)
		lines = append(append(lines, "new  "+m.Terminal.SafeLine(m.edit.text, width), ""), m.question(width)...)
	case modeRanks:
		lines = append(lines, "new  "+m.Terminal.SafeLine(m.edit.text, width), "", "on ranks  "+m.Line.Render(m.Terminal, width-10), "")
		hint("for example 0,2-3; nothing means all; Enter takes them, Esc cancels")
	case modeOutcome:
		lines = append(lines, m.outcomeLines(width)...)
	}
	return m.compact(about, lines)
}

// compact drops lines that do not fit a low screen: first blank lines, then the lines about the variable, except its name.
func (m *Model) compact(about, lines []string) []string {
	room := m.Height - 4 // the title, the footer and the frame of the box
	all := func() []string { return append(append(slices.Clone(about), ""), lines...) }
	if len(all()) <= room {
		return all()
	}
	lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	if len(all()) > room {
		about = about[:max(1, len(about)-(len(all())-1-room))]
		return append(slices.Clone(about), lines[max(0, len(about)+len(lines)-room):]...)
	}
	return all()
}

func (m *Model) effectLines(width int) []string {
	if m.edit.ranks == nil {
		return nil
	}
	switch m.edit.e.v.Scope {
	case catalog.ScopeAll, catalog.ScopeAllEq:
		return term.Wrap("If only some ranks have another value, the library may hang or compute wrong results.", width)
	case catalog.ScopeGroup, catalog.ScopeGroupEq:
		return term.Wrap("These ranks should be a group as the description says.", width)
	}
	return nil
}

// nextHint says what a key does with the value for the next run.
func (m *Model) nextHint(key string) string {
	what := "it"
	if len(m.edit.needs) > 0 {
		what = m.both()
	}
	return key + " sets " + what + " for the next run" + m.needsText() + ", Esc cancels"
}

func (m *Model) both() string { return text.Verb(len(m.edit.needs), "both", "all") }

// needsText names what the edited variable needs.
func (m *Model) needsText() string {
	if len(m.edit.needs) == 0 {
		return ""
	}
	words := make([]string, len(m.edit.needs))
	for i := range words {
		words[i] = m.settingText(&m.edit.needs[i])
	}
	return ", also " + m.Terminal.SafeText(strings.Join(words, ", "))
}

func (m *Model) question(width int) []string {
	lines := m.rankQuestion(width)
	switch {
	case m.writesBoth():
		lines = append(lines, term.Wrap("b writes "+m.both()+m.needsText(), width)...)
	case len(m.edit.needs) > 0 && len(m.howToSet(m.edit.e.v, catalog.Value{})) > 0:
		return append(lines, term.Wrap("b sets "+m.both()+" for the next run"+m.needsText(), width)...)
	}
	if len(m.howToSet(m.edit.e.v, catalog.Value{})) > 0 {
		lines = append(lines, term.Wrap("s sets it for the next run instead"+m.needsText(), width)...)
	}
	return lines
}

func (m *Model) rankQuestion(width int) []string {
	size := m.x.cat.Job.Size
	switch {
	case m.edit.ranks != nil:
		return asked(fmt.Sprintf("Write this on %s only?", text.Ranks(m.edit.ranks)), "y yes   r other ranks   n no", width)
	case size == 1:
		return asked("Write this on the one rank?", "y yes   n no", width)
	}
	return asked(fmt.Sprintf("Write this on all %d ranks?", size), "y yes   r on some   n no", width)
}

// asked is a question with its answers, on one line if they fit.
func asked(question, answers string, width int) []string {
	if len(question)+2+len(answers) <= width {
		return []string{question + "  " + answers}
	}
	return append(term.Wrap(question, width), answers)
}

// outcomeLines report the outcome of a write, with equal outcomes of ranks together.
func (m *Model) outcomeLines(width int) []string {
	if m.edit.waits {
		if m.edit.text == "" {
			return []string{"resetting ..."}
		}
		return []string{"writing " + m.Terminal.SafeLine(m.edit.text, width) + " ..."}
	}
	enum := m.enum(m.edit.e.v)
	lines := []string{}
	for _, done := range m.edit.done {
		lines = append(lines, term.Wrap(m.Terminal.SafeText(done), width)...)
	}
	for _, o := range m.edit.outcomes.Same() {
		words := text.Ranks(o.Ranks) + ": " + string(o.Result)
		old, back := o.Old.Format(enum), o.Back.Format(enum)
		switch {
		case back != "":
			words += ": was " + old + ", reads back " + back
		case old != "":
			words += ": it is " + old
		}
		if o.Detail != "" {
			words += " (" + o.Detail + ")"
		}
		lines = append(lines, term.Wrap(m.Terminal.SafeText(words), width)...)
	}
	if m.edit.err != nil {
		lines = append(lines, term.Wrap(m.Terminal.SafeText("failed: "+m.edit.err.Error()), width)...)
	}
	lines = append(lines, "")
	if m.undoes() {
		return append(lines, "Esc closes; u then undoes it")
	}
	return append(lines, "Esc closes")
}

// workBox is the menu of workloads: each with a sentence, the running one marked.
func (m *Model) workBox(width int) []string {
	head := m.Terminal.Paint(term.Heading, "Run a workload on all ranks")
	var names, all []string
	at := 0
	for i, w := range workloads {
		style, sign, name := term.Plain, " ", w
		if w == "" {
			name = "none"
		}
		if i == m.work.at {
			style, sign, at = term.Cursor, ">", len(all)
		}
		mark := " "
		if w == m.workload && w != "" {
			mark = "*"
		}
		line := m.Terminal.Paint(style, fmt.Sprintf("%s%s %d  %-10s ", sign, mark, i, name))
		names = append(names, line)
		for k, l := range term.Wrap(workloadHelp[w], max(width-17, 12)) {
			if k > 0 {
				line = strings.Repeat(" ", 17)
			}
			all = append(all, line+l)
		}
	}
	foot := "0-5 or Enter runs it, Esc closes, * is running"
	if room := m.Height - m.head() - 5; len(all) <= room {
		return slices.Concat([]string{head, ""}, all, []string{"", foot})
	} else if len(names)+2 <= room { // only the sentence of the selected one
		return slices.Concat([]string{head}, names, term.Wrap(workloadHelp[workloads[m.work.at]], width))
	}
	from := max(0, min(at, len(all)-3))
	return slices.Concat([]string{head}, all[from:min(len(all), from+3)], []string{foot})
}
