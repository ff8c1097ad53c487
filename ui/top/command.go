package top

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/ui/prompt"
	"mpitx/ui/term"
)

// command is a command of the command line.
type command struct {
	name, args, help string
	do               func(m *Model, args string) tea.Cmd
}

// commands is filled in by init, since the help is one of the actions.
var commands []command

var commandNames []string

func init() {
	quiet := func(do func(m *Model, args string)) func(*Model, string) tea.Cmd {
		return func(m *Model, args string) tea.Cmd { do(m, args); return nil }
	}
	pane := func(p pane) func(*Model, string) tea.Cmd {
		return quiet(func(m *Model, _ string) { m.pane, m.zoom = p, false; m.clampTop() })
	}
	commands = []command{
		{"show", "NAME", "select a variable", (*Model).cmdShow},
		{"ranks", "[NAME]", "show a variable on each rank", (*Model).cmdRanks},
		{"variables", "", "show all variables", func(m *Model, _ string) tea.Cmd { return m.goTo(viewVariables) }},
		{"filter", "[WORDS]", "show only lines with these words; without words: all lines", quiet((*Model).setFilter)},
		{"sort", "[-]COLUMN", "sort by a column, with - in reverse order; without a column: as recorded", quiet((*Model).cmdSort)},
		{"values", "class|raw|delta|rate", "choose how values are shown", (*Model).cmdValues},
		{"map", "", "show the heat map below the table", pane(paneHeat)},
		{"chart", "", "show the chart below the table", pane(paneChart)},
		{"export", "FILE.csv|json|ndjson", "write what is shown to a file: the table, or the history that a zoomed map or chart shows", (*Model).cmdExport},
		{"theme", "[NAME]", "choose the colours: " + strings.Join(term.Themes, ", "), (*Model).cmdTheme},
		{"pause", "", "pause or resume", func(m *Model, _ string) tea.Cmd { return m.pause() }},
		{"restart", "", "open the run again, or wait for it", func(m *Model, _ string) tea.Cmd { return m.restart() }},
		{"messages", "", "show all messages and what is wrong with the run, in full", func(m *Model, _ string) tea.Cmd { return m.showText(m.messageLines) }},
		{"help", "", "show keys and commands", func(m *Model, _ string) tea.Cmd { return m.showText(m.helpLines) }},
		{"quit", "", "quit", func(*Model, string) tea.Cmd { return tea.Quit }},
	}
	for i := range commands {
		commandNames = append(commandNames, commands[i].name)
	}
}

// begin opens the command line.
func (m *Model) begin(text string) tea.Cmd {
	m.mode, m.line = modeCommand, prompt.New(text)
	return nil
}

func (m *Model) keyCommand(name, text string) tea.Cmd {
	line := m.line.String()
	switch name {
	case "enter":
		m.mode = modeKeys
		return m.command(line)
	case "esc":
		m.mode = modeKeys
	case "backspace":
		if line == "" {
			m.mode = modeKeys
		}
		m.line.Key(name, text)
	case "tab":
		names := commandNames
		if strings.Contains(line, " ") && m.frame != nil {
			names = nil
			for i := range m.frame.Rows {
				names = append(names, m.frame.Rows[i].Variable)
			}
		}
		m.line = prompt.New(prompt.Complete(line, names))
	default:
		m.line.Key(name, text)
	}
	return nil
}

// command runs a line of the command line.
func (m *Model) command(line string) tea.Cmd {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	if name == "" {
		return nil
	}
	k, err := prompt.Find(commandNames, name)
	if err != nil {
		m.say("%v", err)
		return nil
	}
	m.text = nil
	return commands[k].do(m, strings.TrimSpace(args))
}

// goTo shows a view.
func (m *Model) goTo(v view) tea.Cmd {
	if m.view == v {
		return nil
	}
	return m.toggleView()
}

func (m *Model) cmdShow(name string) tea.Cmd {
	if m.frame == nil {
		return nil
	}
	k := slices.IndexFunc(m.frame.Rows, func(r Row) bool { return r.Variable == name || r.Variable+":"+r.Class.String() == name })
	if k < 0 {
		var names []string
		for i := range m.frame.Rows {
			names = append(names, m.frame.Rows[i].Variable)
		}
		m.say("no variable %q in this run%s", name, catalog.DidYouMean(names, name))
		return nil
	}
	key := m.frame.Rows[k].Key
	cmd := m.goTo(viewVariables)
	if at := slices.IndexFunc(m.entries, func(e entry) bool { return e.key == key }); at >= 0 {
		return tea.Batch(cmd, m.move(at-m.cursor))
	}
	m.say("the filter hides %s: F clears it", name)
	return cmd
}

func (m *Model) cmdRanks(name string) tea.Cmd {
	var cmd tea.Cmd
	if name != "" {
		if cmd = m.cmdShow(name); m.note != "" {
			return cmd
		}
	}
	return tea.Batch(cmd, m.goTo(viewRanks))
}

// cmdTheme chooses the colours, for later sessions, too.
func (m *Model) cmdTheme(name string) tea.Cmd {
	theme, err := term.ParseTheme(name)
	switch {
	case err != nil:
		m.say("theme: %v", err)
		return nil
	case name == "":
		m.say("theme %s; the themes are %s", m.terminal.Theme, strings.Join(term.Themes, ", "))
		return nil
	}
	m.terminal.Theme = theme
	m.say("theme %s", name)
	if m.config == nil {
		return nil
	}
	m.themes++
	file, now, turn := m.config, m.config.Clone(), m.themes
	now.Theme = name
	return func() tea.Msg { return keptMsg{file.Save(now, turn)} }
}

func (m *Model) cmdSort(name string) {
	name, reverse := strings.CutPrefix(name, "-")
	o := order{column: -1}
	if name != "" {
		o = order{slices.IndexFunc(m.headings(), func(h heading) bool { return strings.EqualFold(h.title, name) }), reverse}
		if o.column < 0 {
			m.say("sort: no column %q", name)
			return
		}
	}
	m.orders[m.view] = o
	m.arrange()
}

func (m *Model) cmdValues(name string) tea.Cmd {
	as, ok := recording.ParseTransform(strings.TrimPrefix(name, "class"))
	if !ok {
		m.say("values: %q: must be class, raw, delta or rate", name)
		return nil
	}
	return m.setAs(as)
}

type savedMsg struct {
	path, what string
	err        error
}

func (m *Model) saved(msg savedMsg) {
	if msg.err != nil {
		m.say("export %s: %v", msg.path, msg.err)
		return
	}
	m.say("exported %s to %s", msg.what, msg.path)
}

// cmdExport writes what is shown: the lines of the table in their order, or the histories of a zoomed pane.
func (m *Model) cmdExport(path string) tea.Cmd {
	format, err := prompt.Format(path)
	if err != nil {
		m.say("%v", err)
	}
	if err != nil || m.frame == nil {
		return nil
	}
	rows, what := m.shown()
	var b bytes.Buffer
	if err := rows.Write(&b, format, export.Terminal{}); err != nil {
		m.say("export: %v", err)
		return nil
	}
	return func() tea.Msg { return savedMsg{path, what, prompt.Save(path, b.Bytes())} }
}

func (m *Model) shown() (rows *export.Rows, what string) {
	d := m.frame.Detail
	if d != nil && d.Key != m.selected {
		d = nil
	}
	switch {
	case m.zoom && d != nil:
		return d.Histories(), "histories of " + d.Variable
	case m.view == viewRanks && d != nil:
		some := *d
		some.Ranks = nil
		for i := range m.entries {
			if k := slices.IndexFunc(d.Ranks, func(v Value) bool { return v.Rank == m.entries[i].rank }); k >= 0 {
				some.Ranks = append(some.Ranks, d.Ranks[k])
			}
		}
		return RankTable(m.frame, []*Detail{&some}, false), fmt.Sprintf("%s on %d ranks", d.Variable, len(some.Ranks))
	}
	some := *m.frame
	some.Rows = nil
	for i := range m.entries {
		if k := slices.IndexFunc(m.frame.Rows, func(r Row) bool { return r.Key == m.entries[i].key }); k >= 0 {
			some.Rows = append(some.Rows, m.frame.Rows[k])
		}
	}
	return some.Table(false), fmt.Sprintf("%d variables", len(some.Rows))
}
