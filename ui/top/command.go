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
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// commands is filled in by init, since the help is one of the actions.
var commands prompt.Commands[*Model]

func init() {
	quiet := func(do func(m *Model, args string)) func(*Model, string) tea.Cmd {
		return func(m *Model, args string) tea.Cmd { do(m, args); return nil }
	}
	pane := func(p pane) func(*Model, string) tea.Cmd {
		return quiet(func(m *Model, _ string) { m.pane, m.zoom = p, false; m.clampTop() })
	}
	export := func(name string) func(*Model, string) tea.Cmd {
		return func(m *Model, path string) tea.Cmd { return m.cmdExport(name, path) }
	}
	add := commands.Add
	add("show", "NAME", "select a variable or a function", (*Model).cmdShow)
	add("ranks", "[NAME]", "show a variable or a function on each rank", (*Model).cmdRanks)
	add("variables", "", "show all variables", func(m *Model, _ string) tea.Cmd { return m.goTo(viewVariables) })
	add("functions", "", "show the functions of the run's profile", func(m *Model, _ string) tea.Cmd { return m.goTo(viewFunctions) })
	add("matrix", "", "show the matrix of messages between ranks", func(m *Model, _ string) tea.Cmd { return m.goTo(viewMatrix) })
	add("filter", "[WORDS]", "show only lines with these words; without words: all lines", quiet((*Model).setFilter))
	add("sort", "[-]COLUMN", "sort by a column, with - in reverse order; without a column: as recorded", quiet((*Model).cmdSort))
	add("values", "class|raw|delta|rate|time|calls|bytes|total", "choose how values are shown; of functions over time: time, calls or bytes; of the matrix: total or rate", (*Model).cmdValues)
	add("map", "", "show the heat map below the table", pane(paneHeat))
	add("chart", "", "show the chart below the table", pane(paneChart))
	add("export", "FILE.csv|json|ndjson", "write what is shown to a file: the table, or the history that a zoomed map or chart shows", export("export"))
	add("export!", "FILE.csv|json|ndjson", "the same; replaces a file that exists", export("export!"))
	add("theme", "[NAME]", "choose the colours: "+strings.Join(term.Themes, ", "), (*Model).cmdTheme)
	add("pause", "", "pause or resume", func(m *Model, _ string) tea.Cmd { return m.pause() })
	add("restart", "", "open the run again, or wait for it", func(m *Model, _ string) tea.Cmd { return m.restart() })
	add("messages", "", "show all messages and what is wrong with the run, in full", func(m *Model, _ string) tea.Cmd { return m.showText(m.messageLines) })
	add("help", "", "show keys and commands", func(m *Model, _ string) tea.Cmd { return m.showText(m.helpLines) })
	add("quit", "", "quit", func(*Model, string) tea.Cmd { return tea.Quit })
}

// begin opens the command line.
func (m *Model) begin(text string) tea.Cmd {
	m.mode, m.line = modeCommand, prompt.New(text)
	return nil
}

func (m *Model) keyCommand(name, text string) tea.Cmd {
	ended, run := m.line.Command(name, text, m.words)
	if ended {
		m.mode = modeKeys
	}
	if run {
		return m.command(m.line.String())
	}
	return nil
}

// words are what Tab completes: the names of commands, after a command those of what can be selected.
func (m *Model) words() []string {
	if m.frame != nil && strings.Contains(m.line.String(), " ") {
		return m.names()
	}
	return commands.Names()
}

// command runs a line of the command line.
func (m *Model) command(line string) tea.Cmd {
	command, args, err := commands.Parse(line)
	if err != nil {
		m.say("%v", err)
	}
	if command == nil {
		return nil
	}
	m.text = nil
	return command.Do(m, args)
}

// names are those of what can be selected.
func (m *Model) names() (names []string) {
	if m.home == viewFunctions {
		for i := range m.frame.Functions {
			names = append(names, m.frame.Functions[i].Variable)
		}
		return names
	}
	for i := range m.frame.Rows {
		names = append(names, m.frame.Rows[i].Variable)
	}
	return names
}

// goTo shows a view.
func (m *Model) goTo(v view) tea.Cmd {
	switch {
	case m.view == v || m.frame == nil:
		return nil
	case v == viewRanks || v == m.home:
		return m.toggleView()
	case v != viewVariables && !m.frame.HasProfile:
		m.say("the run has no profile; mpitx profile records one")
		return nil
	}
	m.goHome(v)
	m.visited = true
	return m.read(false)
}

// goHome shows variables, functions or the matrix, with what was selected there.
func (m *Model) goHome(v view) {
	if m.home < viewMatrix {
		m.chosen[m.home] = m.selected
	}
	m.view, m.home, m.zoom, m.inPane = v, v, false, false
	if m.selected = (Key{}); v < viewMatrix {
		m.selected = m.chosen[v]
	}
	m.cursor, m.top = 0, 0
	m.arrange()
}

func (m *Model) cmdShow(name string) tea.Cmd {
	if m.frame == nil {
		return nil
	}
	if m.home == viewMatrix {
		m.goHome(viewVariables)
	}
	key, ok := m.keyOf(name)
	if !ok {
		m.say("no %s %q in this run%s", strings.TrimSuffix(viewNames[m.home], "s"), name, catalog.DidYouMean(m.names(), name))
		return nil
	}
	cmd := m.goTo(m.home)
	if at := slices.IndexFunc(m.entries, func(e entry) bool { return e.key == key }); at >= 0 {
		return tea.Batch(cmd, m.move(at-m.cursor))
	}
	m.say("the filter hides %s: F clears it", name)
	return cmd
}

// keyOf finds a variable or a function by its name.
func (m *Model) keyOf(name string) (key Key, ok bool) {
	if m.home == viewFunctions {
		fn := m.frame.function(Key{Variable: name})
		if fn == nil {
			return key, false
		}
		return fn.Key, true
	}
	k := slices.IndexFunc(m.frame.Rows, func(r Row) bool { return r.Variable == name || r.Variable+":"+r.Class.String() == name })
	if k < 0 {
		return key, false
	}
	return m.frame.Rows[k].Key, true
}

func (m *Model) cmdRanks(name string) tea.Cmd {
	var cmd tea.Cmd
	if name != "" {
		if cmd = m.cmdShow(name); m.note != "" {
			return cmd
		}
	}
	if m.view == viewMatrix {
		m.say("ranks: name a variable or a function")
		return nil
	}
	return tea.Batch(cmd, m.goTo(viewRanks))
}

// cmdTheme chooses the colours, for later sessions, too.
func (m *Model) cmdTheme(name string) tea.Cmd {
	note, save := m.themes.Choose(&m.terminal, name)
	m.say("%s", note)
	if save == nil {
		return nil
	}
	return func() tea.Msg { return keptMsg{save()} }
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
	m.orders[m.list()] = o
	m.arrange()
}

func (m *Model) cmdValues(name string) tea.Cmd {
	switch m.home {
	case viewFunctions:
		of := slices.Index([]string{"time", "calls", "bytes"}, name)
		if of < 0 {
			m.say("values: %q: must be time, calls or bytes", name)
			return nil
		}
		return m.setMetric(OfTime + Metric(of))
	case viewMatrix:
		if name != "total" && name != "rate" {
			m.say("values: %q: must be total or rate", name)
			return nil
		}
		m.grid.rate = name == "rate"
		return nil
	}
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
func (m *Model) cmdExport(command, path string) tea.Cmd {
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
	return func() tea.Msg { return savedMsg{path, what, prompt.Save(command, path, b.Bytes())} }
}

func (m *Model) shown() (rows *export.Rows, what string) {
	d := m.frame.Detail
	if d != nil && d.Key != m.selected {
		d = nil
	}
	fn := m.frame.function(m.selected)
	switch {
	case m.view == viewMatrix:
		return pairTable(m.pairs()), fmt.Sprintf("%d pairs of ranks", len(m.pairs()))
	case m.zoom && d != nil:
		return d.Histories(), "histories of " + d.Variable
	case m.view == viewRanks && m.home == viewFunctions && fn != nil:
		var some []RankFunction
		for i := range m.entries {
			if k := slices.IndexFunc(fn.Ranks, func(x RankFunction) bool { return x.Rank == m.entries[i].rank }); k >= 0 {
				some = append(some, fn.Ranks[k])
			}
		}
		return functionRankTable(m.frame, fn, some), fmt.Sprintf("%s on %d ranks", fn.Variable, len(some))
	case m.view == viewFunctions:
		var some []Function
		for i := range m.entries {
			if fn := m.frame.function(m.entries[i].key); fn != nil {
				some = append(some, *fn)
			}
		}
		return functionTable(some), fmt.Sprintf("%d functions", len(some))
	case m.view == viewRanks && d != nil:
		some := *d
		some.Ranks = nil
		for i := range m.entries {
			if k := slices.IndexFunc(d.Ranks, func(v Value) bool { return v.Rank == m.entries[i].rank }); k >= 0 {
				some.Ranks = append(some.Ranks, d.Ranks[k])
			}
		}
		return RankTable(m.frame, []*Detail{&some}), fmt.Sprintf("%s on %d ranks", d.Variable, len(some.Ranks))
	}
	some := *m.frame
	some.Rows = nil
	for i := range m.entries {
		if k := slices.IndexFunc(m.frame.Rows, func(r Row) bool { return r.Key == m.entries[i].key }); k >= 0 {
			some.Rows = append(some.Rows, m.frame.Rows[k])
		}
	}
	return some.Table(), fmt.Sprintf("%d variables", len(some.Rows))
}
