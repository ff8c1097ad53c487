package explorer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/text"
	"mpitx/ui/term"
)

// Setting is a control variable's value for the next run.
type Setting struct {
	V        *catalog.Variable
	Value    catalog.Value
	NeededBy []string // the variables whose settings need it; nil: the user wants it
	Notes    []string // what a reader should know
	Doubts   []string // why it has no effect as things are
}

// staging is what the next run is to get.
type staging struct {
	own     []staged  // what the user set for it, in this order
	plan    []Setting // that and what the user has written, with what they need
	left    []string  // what the library does not take of own, with the reason
	marked  []*entry  // of plan
	set     []string  // what the back end was started with, as NAME=VALUE
	environ []string  // of the next back end
	was     map[string]catalog.Variable
	library string           // the library that was read when was was filled
	base    *catalog.Catalog // the library as it was before R set something
}

// staged is a value for the next run, as the user typed it.
type staged struct{ name, text string }

// restoreStaged sets for the next run what an earlier session with an MPI of this family has set.
func (m *Model) restoreStaged() {
	if m.o.Start == nil {
		return
	}
	var words []string
	for _, s := range m.user.Staged {
		if setting, ours := strings.CutPrefix(s, m.x.cat.Library.Family+" "); ours {
			name, text, _ := strings.Cut(setting, "=")
			m.staging.own = append(m.staging.own, staged{name, text})
			words = append(words, setting)
		}
	}
	if words != nil && m.Note == "" {
		m.say("for the next run, from an earlier session: %s; C shows all", m.Terminal.SafeLine(strings.Join(words, ", "), maxMessage))
	}
}

// keepStaged keeps what is set for the next run for later sessions.
func (m *Model) keepStaged() {
	if m.o.Start == nil || !m.user.restored {
		return
	}
	family := m.x.cat.Library.Family + " "
	m.user.Staged = slices.DeleteFunc(m.user.Staged, func(s string) bool { return strings.HasPrefix(s, family) })
	for _, s := range m.staging.own {
		m.user.Staged = append(m.user.Staged, family+s.name+"="+s.text)
	}
}

// onlyNext says why a variable can be set for the next run only; "": it can be written, or not even be set for a run.
func (m *Model) onlyNext(e *entry) string {
	v := e.v
	r := v.Current()
	if r == nil || v.After != nil && r.Status != catalog.StatusOK || len(m.howToSet(v, catalog.Value{})) == 0 {
		return ""
	}
	why := ""
	if m.o.AtStart != nil {
		why = m.o.AtStart(m.x.cat, v)
	}
	switch {
	case why != "":
	case v.After == nil:
		why = "it exists only before MPI_Init"
	case r.Writable == catalog.WritableNever, r.Writable == catalog.WritableNotNow:
		why = "the library refuses to write it now"
	case m.o.ReadOnly:
		why = "nothing is written: started with --read-only"
	}
	return why
}

// openNext opens the editor for the value of the next run.
func (m *Model) openNext(e *entry, text, why string) {
	m.edit = editing{e: e, undo: m.edit.undo, next: true, why: why, needs: m.needs(e)}
	picks := text == ""
	if at := slices.IndexFunc(m.staging.plan, func(s Setting) bool { return s.V.Name == e.v.Name }); at >= 0 && picks {
		text = m.staging.plan[at].Value.Format(m.enum(e.v))
	}
	m.beginEdit(text, picks)
}

// needs is what a setting of a variable needs, besides what the next run gets already.
func (m *Model) needs(e *entry) []Setting {
	all := slices.DeleteFunc(slices.Clone(m.staging.plan), func(s Setting) bool { return s.V.Name == e.v.Name || s.NeededBy != nil })
	all = m.complete(append(all, Setting{V: e.v, Value: present(e.v)}))
	return slices.DeleteFunc(all, func(s Setting) bool { return !slices.Contains(s.NeededBy, e.v.Name) })
}

func (m *Model) complete(all []Setting) []Setting {
	if m.o.Complete == nil || len(all) == 0 {
		return all
	}
	return m.o.Complete(m.staging.base, all)
}

func (m *Model) stagedAt(name string) int {
	return slices.IndexFunc(m.staging.own, func(s staged) bool { return s.name == name })
}

// stage sets a variable for the next run; an empty text takes that back.
func (m *Model) stage(e *entry, text string) {
	m.unstage(e.v.Name)
	if text == "" {
		m.say("%s is not set for the next run", e.name)
		return
	}
	m.staging.own = append(m.staging.own, staged{e.v.Name, text})
	m.replan()
	words := e.v.Name + "=" + text
	for _, s := range m.staging.plan {
		if slices.Contains(s.NeededBy, e.v.Name) {
			words += " and, which it needs, " + m.settingText(&s)
		}
	}
	m.say("for the next run: %s; C shows all, R restarts with them", words)
}

func (m *Model) unstage(name string) {
	m.staging.own = slices.DeleteFunc(m.staging.own, func(s staged) bool { return s.name == name })
	m.replan()
}

// settingText is a setting as NAME=VALUE.
func (m *Model) settingText(s *Setting) string { return s.V.Name + "=" + s.Value.Format(m.enum(s.V)) }

// replan finds out what the next run gets.
func (m *Model) replan() {
	s := &m.staging
	s.plan, s.left = nil, nil
	for _, e := range s.marked {
		e.next = false
	}
	s.marked = nil
	m.generation++
	if m.x == nil {
		return
	}
	m.keepStaged()
	s.base = m.unset()
	for _, o := range s.own {
		v := s.base.Cvar(o.name)
		if v == nil {
			s.left = append(s.left, o.name+": this library has no such control variable")
			continue
		}
		value, err := m.parse(v, o.text)
		if err != nil {
			s.left = append(s.left, fmt.Sprintf("%s: %v", o.name, err))
			continue
		}
		s.plan = append(s.plan, Setting{V: v, Value: value})
	}
	for _, d := range m.edits() {
		if m.stagedAt(d.e.v.Name) < 0 {
			s.plan = append(s.plan, m.written(&d))
		}
	}
	s.plan = m.complete(s.plan)
	for _, p := range s.plan {
		wanted := m.stagedAt(p.V.Name) >= 0 || slices.ContainsFunc(p.NeededBy, func(by string) bool { return m.stagedAt(by) >= 0 })
		if e := m.x.entry(p.V.Name); e != nil && wanted {
			e.next, s.marked = true, append(s.marked, e)
		}
	}
}

// written is what sets the value that the user has written for the next run as well.
func (m *Model) written(d *edited) Setting {
	s := Setting{V: m.staging.base.Cvar(d.e.v.Name)}
	if s.V == nil {
		s.V = d.e.v
	}
	if r := known(d.e.v, d.ranks[0]); r != nil {
		s.Value = r.Value
	}
	if len(d.ranks) < m.x.cat.Job.Size {
		s.Notes = append(s.Notes, fmt.Sprintf("%s was written on %s only; this sets it on all ranks", d.e.v.Name, text.Ranks(d.ranks)))
	}
	if m.o.Complete == nil {
		for _, words := range m.warnings(d.e) {
			s.Doubts = append(s.Doubts, d.e.v.Name+": "+words)
		}
	}
	return s
}

// unset is the library as it was before R set something.
func (m *Model) unset() *catalog.Catalog {
	s := &m.staging
	if len(s.was) == 0 {
		return m.x.cat
	}
	c := *m.x.cat
	c.Cvars = slices.Clone(c.Cvars)
	for name, old := range s.was {
		if v := c.Cvar(name); v != nil {
			*v = old
		} else {
			c.Cvars = append(c.Cvars, old)
		}
	}
	return &c
}

// setByR reports whether the back end was started with a setting of a variable.
func (m *Model) setByR(v *catalog.Variable) bool {
	_, was := m.staging.was[v.Name]
	return was && len(m.staging.set) > 0
}

// pending reports whether R would start the back end with other settings than it has.
func (m *Model) pending() bool {
	return m.x != nil && len(m.staging.own)+len(m.staging.set) > 0 && !slices.Equal(m.planned(), m.staging.set)
}

func (m *Model) planned() (all []string) {
	for _, s := range m.staging.plan {
		all = append(all, m.settingText(&s))
	}
	slices.Sort(all)
	return all
}

// arm decides what the back end is started with. After a failure, what was written is lost; if it could not start, it starts without
// the settings.
func (m *Model) arm(failed bool) (environ []string) {
	s := &m.staging
	if m.x == nil || failed && len(s.set) > 0 && m.frozen() != "" {
		s.set = nil
		return nil
	}
	for _, d := range m.edits() {
		if r := known(d.e.v, d.ranks[0]); r != nil && !failed && m.stagedAt(d.e.v.Name) < 0 {
			s.own = append(s.own, staged{d.e.v.Name, r.Value.Format(m.enum(d.e.v))})
		}
	}
	m.edit.undo = nil
	m.replan()
	was := maps.Clone(s.was)
	s.was, s.library = map[string]catalog.Variable{}, m.x.cat.Library.Text
	for _, p := range s.plan {
		if old, again := was[p.V.Name]; again {
			s.was[p.V.Name] = old
		} else {
			s.was[p.V.Name] = *p.V
		}
	}
	s.set = m.planned()
	if m.o.Environ == nil {
		return nil
	}
	return m.o.Environ(s.base, s.plan)
}

// arrived looks at what was set after the catalog was read: the library may be another one now.
func (m *Model) arrived() {
	s := &m.staging
	if s.library != m.x.cat.Library.Text {
		s.was = nil
	}
	m.replan()
	if len(s.left) > 0 {
		m.showError("not for the next run: %s; C, then u takes it back", strings.Join(s.left, "; "))
	}
}

// heldBack says that R starts the back end without the settings, after it could not start with them.
func (m *Model) heldBack() string {
	if len(m.staging.set) == 0 || !m.broken() {
		return ""
	}
	return "It was started with " + strings.Join(m.staging.set, ", ") + ". R restarts it without."
}

func (m *Model) parse(v *catalog.Variable, text string) (catalog.Value, error) {
	count := 1
	if r := v.Current(); r != nil {
		count = max(r.Count, 1)
	}
	return catalog.ParseValue(v, m.enum(v), count, text)
}

// validNext checks a value that is typed for the next run.
func (m *Model) validNext(value catalog.Value) error {
	e := m.edit.e
	switch {
	case m.Line.String() == "" && m.stagedAt(e.v.Name) >= 0: // takes it back
		return nil
	case m.Line.String() == "":
		return errors.New("type the value for the next run")
	case len(m.howToSet(e.v, value)) == 0:
		return fmt.Errorf("mpitx knows no way to set %s to %s", e.name, m.Line.String())
	}
	return nil
}

// cmdStage is :stage NAME=VALUE.
func (m *Model) cmdStage(args string) {
	name, text, ok := strings.Cut(args, "=")
	if !ok {
		m.showError("stage: NAME=VALUE is missing: :stage my_variable=1")
		return
	}
	e := m.named(strings.TrimSpace(name))
	if e == nil {
		return
	}
	if !e.variable() || e.v.Kind != catalog.Cvars {
		m.note("%s is no control variable: only these are set for a run", e.name)
		return
	}
	if len(m.howToSet(e.v, catalog.Value{})) == 0 {
		m.note("mpitx knows no way to set %s for a run", e.name)
		return
	}
	m.openNext(e, strings.TrimSpace(text), "")
	if m.mode == modeEdit {
		m.keyEdit("enter", "")
	}
}

// nextLines say what the next run gets of a variable.
func (m *Model) nextLines(e *entry, width int) []string {
	at := slices.IndexFunc(m.staging.plan, func(s Setting) bool { return s.V.Name == e.v.Name })
	if !e.next || at < 0 {
		return nil
	}
	s := &m.staging.plan[at]
	words := s.Value.Format(m.enum(s.V))
	if s.NeededBy != nil {
		words += " (" + strings.Join(s.NeededBy, ", ") + " " + text.Verb(len(s.NeededBy), "needs", "need") + " it)"
	}
	return m.labelled("next run", words, width, term.Attention)
}
