package explorer

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/ui/link"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// command is a command of the command line: mostly a verb of the CLI.
type command struct {
	name, args, help string
	live             bool
	do               func(m *Model, args string) tea.Cmd
	words            func(m *Model, word string) []string // completions of an argument; nil: none
}

var commands []command

func init() {
	quiet := func(do func(m *Model, args string)) func(*Model, string) tea.Cmd {
		return func(m *Model, args string) tea.Cmd { do(m, args); return nil }
	}
	named := func(name string, do func(m *Model, command, path string) tea.Cmd) func(*Model, string) tea.Cmd {
		return func(m *Model, path string) tea.Cmd { return do(m, name, path) }
	}
	commands = []command{
		{"list", "WORDS", "search; without words: everything", false, quiet((*Model).cmdList), nil},
		{"show", "NAME", showHelp, false, quiet((*Model).cmdShow), (*Model).variableWords},
		{"filter", "FIELD=VALUE...", filterHelp, false,
			quiet((*Model).cmdFilter), (*Model).filterWords},
		{"read", "[NAME]", "read a variable again; without a name: those on the screen", true, (*Model).cmdRead, (*Model).variableWords},
		{"write", "NAME=VALUE", "write a control variable", true, quiet((*Model).cmdWrite), (*Model).writeWords},
		{"watch", "[NAME...]", "pin variables and watch them", true, (*Model).cmdWatch, (*Model).variableWords},
		{"workload", "[NAME]", "run a workload: " + strings.Join(link.Workloads, ", ") + "; without a name: stop it", true, (*Model).cmdWorkload,
			func(*Model, string) []string { return link.Workloads }},
		{"snapshot", "FILE", snapshotHelp, false, named("snapshot", (*Model).cmdSnapshot), nil},
		{"snapshot!", "FILE", snapshotOverHelp, false, named("snapshot!", (*Model).cmdSnapshot), nil},
		{"export", "FILE.csv|json", saveHelp, false, named("export", (*Model).cmdExport), nil},
		{"export!", "FILE.csv|json", "the same; replaces a file that exists", false, named("export!", (*Model).cmdExport), nil},
		{"theme", "[NAME]", "choose the colours: " + strings.Join(term.Themes, ", "), false, (*Model).cmdTheme,
			func(*Model, string) []string { return term.Themes }},
		{"restart", "", "start the back end again after a failure", true, func(m *Model, _ string) tea.Cmd { return m.restart() }, nil},
		{"help", "", "show keys and commands", false, quiet(func(m *Model, _ string) { m.openText(modeHelp) }), nil},
		{"quit", "", "quit", false, func(*Model, string) tea.Cmd { return tea.Quit }, nil},
	}
}

func (m *Model) keyCommand(key, text string) tea.Cmd {
	if key != "tab" {
		m.offers = nil
	}
	line := m.line.String()
	switch key {
	case "up", "ctrl+p":
		m.line = prompt.New(m.history.Older(line))
	case "down", "ctrl+n":
		m.line = prompt.New(m.history.Newer(line))
	case "tab":
		m.complete()
	default:
		ended, run := m.line.Command(key, text, nil)
		if ended {
			m.mode = m.ground()
		}
		if run {
			m.history.Add(strings.TrimSpace(line))
			return m.run(line)
		}
	}
	return nil
}

func findCommand(name string) (*command, error) {
	names := make([]string, len(commands))
	for k, c := range commands {
		names[k] = c.name
	}
	k, err := prompt.Find(names, name)
	if err != nil {
		return nil, err
	}
	return &commands[k], nil
}

func (m *Model) run(line string) tea.Cmd {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	if name == "" {
		return nil
	}
	c, err := findCommand(name)
	switch {
	case err != nil:
		m.complain("%v", err)
	case c.live && m.o.Start == nil:
		m.note("%s: needs a live MPI, and this is %s", c.name, m.offline())
	default:
		return c.do(m, strings.TrimSpace(args))
	}
	return nil
}

// complete finishes the last word of the command line. If several words are possible, it lists them.
func (m *Model) complete() {
	line := m.line.String()
	name, _, args := strings.Cut(strings.TrimLeft(line, " "), " ")
	word := line[strings.LastIndexByte(line, ' ')+1:]
	var words []string
	if !args {
		for _, c := range commands {
			if !strings.HasSuffix(c.name, "!") && (!c.live || m.o.Start != nil) && m.helpHere(c.help) != "" {
				words = append(words, c.name)
			}
		}
	} else if c, err := findCommand(name); err == nil && c.words != nil {
		words = c.words(m, word)
	}
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, word) })
	full := prompt.Complete(line, words)
	switch m.offers = nil; {
	case len(words) == 1 && !strings.HasSuffix(full, "="):
		full += " "
	case full == line:
		m.offers = words
	}
	m.line = prompt.New(full)
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

func (m *Model) writeWords(word string) (words []string) {
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
		if v := m.x.entries[k].v; v.Kind == catalog.Cvars && v.After != nil {
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
		m.complain("the filter hides %s: F clears it", name)
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
		m.complain("the name of a variable is missing")
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
	m.endWatch()
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
	m.usedFilter()
	m.refill()
}
