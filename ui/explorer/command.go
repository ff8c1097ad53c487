package explorer

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/ui/link"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// bind makes the commands of the command line: mostly verbs of the CLI.
func (m *Model) bind() {
	quiet := func(do func(args string)) func(string) tea.Cmd {
		return func(args string) tea.Cmd { do(args); return nil }
	}
	always := func(words []string) func(string) []string { return func(string) []string { return words } }
	c := &m.Commands
	c.Add("list", "WORDS", "search; without words: everything", quiet(m.cmdList))
	c.AddWith("show", "NAME", showHelp, quiet(m.cmdShow), false, m.variableWords)
	c.AddWith("filter", "FIELD=VALUE...", filterHelp, quiet(m.cmdFilter), false, m.filterWords)
	c.AddWith("read", "[NAME]", "read a variable again; without a name: those on the screen", m.cmdRead, true, m.variableWords)
	c.AddWith("write", "NAME=VALUE", "write a variable", quiet(m.cmdWrite), true, m.writeWords)
	c.AddWith("reset", "[NAME]", "reset a performance variable", m.cmdReset(catalog.WriteReset), true, m.variableWords)
	c.AddWith("readreset", "[NAME]", "read and reset a performance variable in one step", m.cmdReset(catalog.WriteReadReset), true, m.variableWords)
	c.AddWith("stage", "NAME=VALUE", "set a control variable for the next run", quiet(m.cmdStage), true, m.stageWords)
	c.AddWith("watch", "[NAME...]", "pin variables and watch them", m.cmdWatch, true, m.variableWords)
	c.AddWith("workload", "[NAME]", "run a workload: "+strings.Join(link.Workloads, ", ")+"; without a name: stop it", m.cmdWorkload, true, always(link.Workloads))
	c.AddSaving("snapshot", "FILE", snapshotHelp, snapshotOverHelp, m.cmdSnapshot)
	c.AddSaving("export", "FILE.csv|json", saveHelp, prompt.Over, m.cmdExport)
	c.AddWith("theme", "[NAME]", "choose the colours: "+strings.Join(term.Themes, ", "), m.cmdTheme, false, always(term.Themes))
	c.AddWith("restart", "", "start the back end again: with what is set for the next run, or after a failure", func(string) tea.Cmd { return m.restart() }, true, nil)
	c.Add("help", "", "show keys and commands", func(string) tea.Cmd { return m.showHelp() })
	c.Add("quit", "", "quit", func(string) tea.Cmd { return tea.Quit })
	for i := range *c {
		if command := &(*c)[i]; command.Live && m.o.Start == nil {
			command.Do = quiet(func(string) { m.note("%s: needs a live MPI, and this is %s", command.Name, m.offline()) })
		}
	}
}

// commandNames are the commands that exist in what the explorer shows.
func (m *Model) commandNames() (names []string) {
	for _, c := range m.Commands {
		if (!c.Live || m.o.Start != nil) && m.helpHere(c.Help) != "" {
			names = append(names, c.Name)
		}
	}
	return names
}

func (m *Model) variableWords(string) []string {
	names := make([]string, len(m.x.entries))
	for k := range m.x.entries {
		names[k] = m.x.entries[k].v.ID()
	}
	return names
}

func (m *Model) filterWords(word string) (words []string) {
	field, _, hasValue := strings.Cut(word, "=")
	for _, c := range m.criteria {
		switch {
		case !hasValue:
			words = append(words, c.name+"=")
		case c.name == field:
			for _, v := range c.values {
				words = append(words, c.name+"="+v)
			}
		}
	}
	return words
}

func (m *Model) writeWords(word string) []string {
	return m.assignmentWords(word, func(v *catalog.Variable) bool { return v.After != nil })
}

func (m *Model) stageWords(word string) []string {
	return m.assignmentWords(word, func(*catalog.Variable) bool { return true })
}

// assignmentWords complete NAME=VALUE for control variables.
func (m *Model) assignmentWords(word string, has func(*catalog.Variable) bool) (words []string) {
	name, _, hasValue := strings.Cut(word, "=")
	if e := m.x.entry(name); hasValue && e != nil {
		if enum := m.enum(e.v); enum != nil {
			for _, it := range enum.Items {
				words = append(words, name+"="+it.Name)
			}
		}
		return words
	}
	for k := range m.x.entries {
		if v := m.x.entries[k].v; v.Kind == catalog.Cvars && has(v) {
			words = append(words, v.Name+"=")
		}
	}
	return words
}

func (m *Model) cmdList(args string) {
	m.endWatch()
	m.leave()
	m.query = args
	if args == "" {
		m.enter(m.x.root)
		return
	}
	m.refill()
}

func (m *Model) cmdShow(name string) {
	e := m.named(name)
	if e == nil {
		return
	}
	m.endWatch()
	m.leave()
	if !m.reveal(e.v.ID()) {
		m.showError("the filter hides %s: F clears it", name)
	}
	m.focus = paneList
}

// named finds a variable by its ID or name, and complains if there is none.
func (m *Model) named(name string) *entry {
	if e := m.x.entry(name); e != nil {
		return e
	}
	if vars := m.x.cat.Lookup(name); len(vars) > 0 {
		return m.x.entry(vars[0].ID())
	}
	if name == "" {
		m.showError("the name of a variable is missing")
		return nil
	}
	names := make([]string, 0, len(m.x.entries))
	for i := range m.x.entries {
		names = append(names, m.x.entries[i].v.Name)
	}
	m.showError("no variable %q%s", name, catalog.DidYouMean(names, name))
	return nil
}

func (m *Model) cmdFilter(args string) {
	m.endWatch()
	m.focus = paneList
	if args == "" {
		m.mode = modeFilter
		return
	}
	for _, f := range strings.Fields(args) {
		if err := setCriterion(m.criteria, f); err != nil {
			m.showError("%v", err)
			break
		}
	}
	m.usedFilter()
	m.refill()
}
