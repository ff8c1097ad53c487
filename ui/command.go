package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/ui/pager"
	"mpitx/ui/prompt"
)

// command is one of the command line's: the CLI's verbs, as far as they make sense on a screen.
type command struct {
	name, args, help string
	live             bool
	do               func(m *Model, args string) tea.Cmd
}

var commands []command

func init() {
	quiet := func(do func(m *Model, args string)) func(*Model, string) tea.Cmd {
		return func(m *Model, args string) tea.Cmd { do(m, args); return nil }
	}
	commands = []command{
		{"list", "WORDS", "search; without words: everything", false, quiet((*Model).cmdList)},
		{"show", "NAME", "go to a variable", false, quiet((*Model).cmdShow)},
		{"filter", "FIELD=VALUE...", "set the filter: kind=pvar class=counter writable=yes", false, quiet((*Model).cmdFilter)},
		{"read", "[NAME]", "read again: a variable, or what is on the screen", true, (*Model).cmdRead},
		{"write", "NAME=VALUE", "write a control variable", true, quiet((*Model).cmdWrite)},
		{"watch", "[NAME...]", "pin variables and watch them", true, (*Model).cmdWatch},
		{"workload", "[NAME]", "run a workload: pingpong, alltoall, unexpected, halo, idle; without a name: stop it", true, (*Model).cmdWorkload},
		{"snapshot", "FILE", "save everything, for --from and mpitx show", false, (*Model).cmdSnapshot},
		{"export", "FILE.csv|json", "save what the list shows, or the samples while watching", false, (*Model).cmdExport},
		{"restart", "", "start the back end again", true, func(m *Model, _ string) tea.Cmd { return m.restart() }},
		{"help", "", "keys and commands", false, quiet(func(m *Model, _ string) { m.mode, m.help = modeHelp, pager.New() })},
		{"quit", "", "end", false, func(*Model, string) tea.Cmd { return tea.Quit }},
	}
}

func (m *Model) keyCommand(key, text string) tea.Cmd {
	back := m.ground()
	switch key {
	case "esc":
		m.mode = back
	case "backspace":
		if m.line.String() == "" {
			m.mode = back
		}
		m.line.Key(key, text)
	case "tab":
		m.complete()
	case "enter":
		m.mode = back
		return m.run(m.line.String())
	default:
		m.line.Key(key, text)
	}
	return nil
}

// run does a line of the command line. A command may be shortened as long as it is the only one that begins so.
func (m *Model) run(line string) tea.Cmd {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	if name == "" {
		return nil
	}
	names := make([]string, len(commands))
	for k, c := range commands {
		names[k] = c.name
	}
	k, err := prompt.Find(names, name)
	switch {
	case err != nil:
		m.complain("%v", err)
	case commands[k].live && m.o.Start == nil:
		m.complain("%s: needs a live MPI, and this is a snapshot: start mpitx tui without --from", commands[k].name)
	default:
		return commands[k].do(m, strings.TrimSpace(args))
	}
	return nil
}

// complete finishes the name of a command, or of a variable behind it.
func (m *Model) complete() {
	line := m.line.String()
	names := []string{}
	if !strings.Contains(line, " ") {
		for _, c := range commands {
			names = append(names, c.name)
		}
	} else {
		for k := range m.x.entries {
			names = append(names, m.x.entries[k].v.ID())
		}
	}
	m.line = prompt.New(prompt.Complete(line, names))
}

func (m *Model) cmdList(args string) {
	m.leave()
	m.query = args
	if args == "" {
		m.enter(m.x.root)
	}
	m.list = scroll{}
	m.refill()
}

func (m *Model) cmdShow(name string) {
	e := m.named(name)
	if e == nil {
		return
	}
	m.leave()
	m.query = ""
	m.enter(m.x.root)
	if !m.point(e.v.ID()) {
		m.complain("the filter hides %s: F ends it", name)
	}
	m.focus = paneList
}

// named finds a variable by its ID or name, and complains where there is none.
func (m *Model) named(name string) *entry {
	if k, ok := m.x.byID[name]; ok {
		return &m.x.entries[k]
	}
	if vars := m.x.cat.Lookup(name); len(vars) > 0 {
		return &m.x.entries[m.x.byID[vars[0].ID()]]
	}
	if name == "" {
		m.complain("a variable's name is missing")
		return nil
	}
	names := make([]string, 0, len(m.x.entries))
	for i := range m.x.entries {
		names = append(names, m.x.entries[i].v.Name)
	}
	m.complain("no variable %q%s", name, catalog.DidYouMean(names, name))
	return nil
}

func (m *Model) cmdFilter(args string) {
	m.focus = paneList
	if args == "" {
		m.mode = modeFilter
		return
	}
	for _, f := range strings.Fields(args) {
		if err := setCriterion(m.criteria, f); err != nil {
			m.complain("%v", err)
			break
		}
	}
	m.list = scroll{}
	m.refill()
}
