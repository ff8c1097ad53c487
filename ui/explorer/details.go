package explorer

import (
	"fmt"
	"strings"

	"mpitx/catalog"
	"mpitx/export/variables"
	"mpitx/text"
	"mpitx/ui/chart"
	"mpitx/ui/term"
)

// details caches the lines of the pane for one variable until something changes.
type details struct {
	e          *entry
	link       int // the chosen one; -1: none
	width      int
	generation int
	lines      []string
}

// detailView draws the name, which stays in place, and the lines that scroll below it.
func (m *Model) detailView(width, height int) []string {
	if c := m.category(); c != nil {
		return m.below("category "+c.Name, m.categoryLines(c, width), width, height)
	}
	e := m.current()
	if e == nil {
		return m.below("no variable", nil, width, height)
	}
	if at := m.chosenLink(); m.cache.e != e || m.cache.link != at || m.cache.width != width || m.cache.generation != m.generation {
		m.cache = details{e, at, width, m.generation, m.detailLines(e, width)}
	}
	return m.below(e.v.Name, m.cache.lines, width, height)
}

// category is the one that the details describe; nil: they describe the variable under the list's cursor.
func (m *Model) category() *catalog.Category {
	if m.query == "" && (m.focus == paneTree || m.current() == nil) {
		return m.branch.category
	}
	return nil
}

// below draws lines below a name. The name shows whether the pane has the focus.
func (m *Model) below(name string, lines []string, width, height int) []string {
	style := term.Subject
	if m.focus == paneDetails {
		style = term.Cursor
	}
	height--
	m.detail.at = max(0, min(m.detail.at, len(lines)-height))
	out := m.block(lines[m.detail.at:], width, height)
	if left := len(lines) - m.detail.at - height; left > 0 && height > 2 {
		keys := "Tab, then j"
		if m.focus == paneDetails {
			keys = "j"
		}
		out[height-1] = m.Terminal.Paint(term.Label, m.Terminal.Fit(fmt.Sprintf("   %d more lines: %s", left+1, keys), width))
	}
	return append([]string{m.Terminal.Paint(style, " "+m.Terminal.FitMiddle(m.Terminal.SafeLine(name, 4*width), width-1))}, out...)
}

func (m *Model) categoryLines(c *catalog.Category, width int) []string {
	has := "many variables"
	if m.branch.count >= 0 {
		has = m.x.countWords(m.branch.below(m.x))
	}
	if len(c.Categories) > 0 {
		has += ", here and in " + strings.Join(c.Categories, ", ")
	}
	lines := m.wrapped(has, width, term.Label)
	if n := len(c.Added) + len(c.Removed); n > 0 {
		lines = append(lines, m.wrapped(fmt.Sprintf("MPI_Init adds %d and removes %d of its members", len(c.Added), len(c.Removed)), width, term.Label)...)
	}
	if c.Description != "" {
		lines = append(append(lines, ""), m.wrapped(c.Description, width, term.Plain)...)
	}
	return lines
}

// wrapped breaks foreign text into lines of a width.
func (m *Model) wrapped(s string, width int, style term.Style) []string {
	return m.inLines(m.Terminal.SafeText(s), width, style)
}

func (m *Model) inLines(safe string, width int, style term.Style) []string {
	lines := []string{}
	for _, l := range term.Wrap(safe, max(width-2, 1)) {
		lines = append(lines, " "+m.Terminal.Paint(style, strings.TrimRight(l, " ")))
	}
	return lines
}

func (m *Model) labelled(label, words string, width int, style term.Style) (lines []string) {
	for _, l := range m.wrapped(words, width-10, style) {
		lines = append(lines, " "+m.Terminal.Paint(term.Label, m.Terminal.Fit(label, 9))+l)
		label = ""
	}
	return lines
}

func conflictText(c catalog.Conflict) string {
	return fmt.Sprintf("%s is %s on rank %d and %s on rank 0", c.Field, c.Here, c.Rank, c.Root)
}

func (m *Model) detailLines(e *entry, width int) []string {
	if e.change != nil {
		return m.diffLines(e.change, width)
	}
	for i := range m.links() {
		m.related.links[i].line = 0
	}
	v := e.v
	lines := []string{}
	if term.Width(m.Terminal.SafeLine(v.Name, 4*width)) > width-1 {
		lines = m.wrapped(v.Name, width, term.Plain)
	}
	if e.variable() {
		lines = append(lines, m.noEffectLines(e, width)...)
		lines = append(lines, m.wrapped(what(v), width, term.Label)...)
		lines = append(lines, m.readings(v, width)...)
		lines = append(lines, m.nextLines(e, width)...)
		lines = append(lines, m.tuningLines(e, width)...)
	} else {
		lines = append(lines, m.wrapped(whatEvent(e), width, term.Label)...)
		lines = append(lines, m.eventLines(e, width)...)
	}
	if s := m.series(v.ID()); s != nil && len(s.rows) > 1 {
		curve := s.total(m.showing(s))
		label := " " + m.Terminal.Paint(term.Label, "history  ") + " "
		lines = append(lines, label+chart.Sparkline(curve, min(len(curve), width-26, 60), false, m.Terminal)+" "+m.last(s))
	}
	if v.Description != "" {
		lines = append(lines, "")
		lines = append(lines, m.described(v.Description, width, len(lines))...)
	}
	if e.event != nil {
		lines = append(lines, m.elementLines(e.event, width)...)
	}
	lines = append(lines, m.items(v, width)...)
	how := m.howToSet(v, present(v))
	if e.next {
		how = m.howToSetAll()
	}
	if len(how) > 0 {
		does := " (S copies the first)"
		switch {
		case e.next:
			does = ", all that is set (S copies the first)"
		case len(m.staging.own) > 0:
			does = ""
		case present(v).IsZero():
			does = " (S asks for a value and copies the first)"
		}
		lines = append(lines, "", " "+m.Terminal.Paint(term.Heading, "for the next run")+does)
		for _, h := range how {
			lines = append(lines, m.inLines(m.Terminal.SafeCommand(h), width, term.Plain)...)
		}
	}
	lines = m.relatedLines(lines, width)
	if len(v.Categories) > 0 {
		lines = append(append(lines, ""), m.wrapped("in "+strings.Join(v.Categories, ", "), width, term.Label)...)
	}
	return lines
}

// described breaks a description into lines of a width, and marks the words of the search and the names of variables. first is the
// number of its first line in the details.
func (m *Model) described(s string, width, first int) []string {
	words := strings.Fields(lower(m.query))
	lines := []string{}
	for _, l := range term.Wrap(m.Terminal.SafeText(s), max(width-2, 1)) {
		l = strings.TrimRight(l, " ")
		low := lower(l)
		marks := make([]bool, len(l))
		for _, w := range words {
			for at := 0; ; at += len(w) {
				i := strings.Index(low[at:], w)
				if i < 0 {
					break
				}
				at += i
				for k := range len(w) {
					marks[at+k] = true
				}
			}
		}
		lines = append(lines, " "+m.paintLinks(l, marks, first+len(lines)))
	}
	return lines
}

// what lists the properties of a variable.
func what(v *catalog.Variable) string {
	words := []string{"performance variable", "class " + v.Class.String()}
	switch v.Kind {
	case catalog.Cvars:
		words = []string{"control variable", "scope " + v.Scope.String()}
	case catalog.Virtual:
		words[0] += " of mpitx"
	}
	words = append(words, v.Type.String())
	if v.Unit != "" {
		words = append(words, "in "+v.Unit)
	}
	if r := v.Current(); r != nil && r.Count > 1 {
		words[len(words)-1] += fmt.Sprintf("[%d]", r.Count)
	}
	if v.Verbosity != 0 {
		words = append(words, v.Verbosity.String())
	}
	if v.Bind != catalog.BindNoObject && v.Bind != 0 {
		words = append(words, "bound to "+v.Bind.String())
	}
	for _, w := range []struct {
		on   bool
		word string
	}{{v.Readonly, "readonly"}, {v.Kind == catalog.Pvars && !v.Continuous, "started and stopped"}, {v.Atomic, "atomic"}} {
		if w.on {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

// readings are the values on every rank and in both stages, and their origins.
func (m *Model) readings(v *catalog.Variable, width int) []string {
	lines := []string{}
	styled := func(label, words string, style term.Style) {
		lines = append(lines, m.labelled(label, words, width, style)...)
	}
	add := func(label, words string) { styled(label, words, term.Plain) }
	read := func(label string, r *catalog.Reading, note string) {
		switch words := variables.VariableText(m.x.cat, v, r); r.Status {
		case catalog.StatusUnbound: // a normal condition
			styled(label, "("+words+")"+note, term.Label)
		case catalog.StatusOK:
			add(label, words+note)
		default: // as in the list
			styled(label, "("+words+")"+note, term.Wrong)
		}
	}
	if v.Kind == catalog.Virtual {
		add("exists", "inside applications: mpitx sample --pvar "+v.Name+" -- ./app")
		return lines
	}
	groups := m.x.cat.RankGroups(v)
	for _, g := range groups {
		label := "now"
		if m.x.cat.Job.Size > 1 {
			label = "r" + text.RankList(g.Ranks)
		}
		read(label, &g.Reading, "")
	}
	if b, a := v.Before, v.After; b != nil && (a == nil || b.Answer() != a.Answer()) {
		if b.Status == catalog.StatusUnbound {
			lines = append(lines, " "+m.Terminal.Paint(term.Label, "before MPI_Init: none"))
		} else {
			read("before", b, " (before MPI_Init)")
		}
	}
	for _, n := range v.Nodes {
		if n.Reading.Status == catalog.StatusUnbound {
			continue
		}
		read(fmt.Sprintf("before r%d", n.Rank), &n.Reading, "")
	}
	for _, r := range m.silent() {
		add(fmt.Sprintf("r%d", r), "does not answer: its values are old")
	}
	if v.Kind == catalog.Cvars {
		if words := m.mayWrite(v); words != "" {
			add("writable", words)
		}
	}
	for _, s := range m.x.cat.Settings(v) {
		if o := s.Origin; o != nil {
			words := string(o.Kind) + " " + o.Where + " = " + o.Value
			if m.setByR(v) {
				words = "R, in the environment: " + o.Where + " = " + o.Value
			}
			if len(v.Origins) > 0 {
				words += " (" + text.Ranks(s.Ranks) + ")"
			}
			add("set by", words)
		}
	}
	for _, c := range v.Conflicts {
		add("conflict", conflictText(c))
	}
	return lines
}

// mayWrite says whether a control variable can be written, or why not; "": not tried.
func (m *Model) mayWrite(v *catalog.Variable) string {
	r := v.Current()
	switch {
	case r == nil || r.Writable == "":
		return ""
	case v.After == nil && m.frozen() != "":
		return "no: MPI is not available"
	case m.o.Start == nil && r.Writable == catalog.WritableYes:
		return "yes in a live session; a snapshot cannot be written"
	case v.After == nil:
		return string(r.Writable) + ", before MPI_Init only"
	}
	return string(r.Writable)
}

func (m *Model) items(v *catalog.Variable, width int) []string {
	e := m.x.cat.EnumOf(v)
	if e == nil {
		return nil
	}
	now := map[string]bool{}
	if r := v.Current(); r != nil && r.Status == catalog.StatusOK {
		text := r.Value.Format(e)
		now[text] = true
		if e.Flags {
			for _, name := range strings.Split(text, "|") {
				now[name] = true
			}
		}
	}
	head := "one of"
	if e.Flags {
		head = "any of these, joined by |"
	}
	lines := []string{"", " " + m.Terminal.Paint(term.Heading, head)}
	for _, it := range e.Items {
		sign := "  "
		if now[it.Name] {
			sign = "> "
		}
		lines = append(lines, "  "+sign+m.Terminal.SafeLine(fmt.Sprintf("%d %s", it.Value, it.Name), width))
	}
	return lines
}
