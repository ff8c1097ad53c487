package top

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"mpitx/recording"
	"mpitx/ui/screen"
	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

var viewNames = [...]string{"variables", "functions", "matrix"}

// bind makes the key map and the commands.
func (m *Model) bind() {
	goTo := func(v view) func() tea.Cmd { return func() tea.Cmd { return m.goTo(v) } }
	move := func(by int) func() tea.Cmd { return func() tea.Cmd { return m.move(by) } }
	page := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			if m.focused() {
				return m.move(by * max(m.paneHeight()-besideDrawing-2, 1))
			}
			return m.move(by * max(m.rows()-1, 1))
		}
	}
	lines := func(what string) []screen.Binding {
		return []screen.Binding{
			screen.On(keys.Of(keys.Down).With("next "+what, ""), move(1)),
			screen.On(keys.Of(keys.Up).With("previous "+what, ""), move(-1)),
			screen.On(keys.Of(keys.PageDown), page(1)),
			screen.On(keys.Of(keys.PageUp), page(-1)),
			screen.On(keys.Of(keys.First).With("first "+what, ""), move(-1<<30)),
			screen.On(keys.Of(keys.Last).With("last "+what, ""), move(1<<30)),
		}
	}
	m.tableKeys = screen.Section{Title: "Keys in the table", Bindings: append([]screen.Binding{
		screen.On(keys.Of(keys.Open).With("show the selected variable or function on each rank, or all again", "ranks"), m.toggleView),
		screen.On(keys.Of(keys.Right).With("show the selected variable or function on each rank", ""), goTo(viewRanks)),
		screen.On(keys.Of(keys.Left).With("show all variables or functions again", ""), func() tea.Cmd { return m.goTo(m.home) }),
		screen.On(keys.Of(keys.Search).With("filter by words: of a name, an object or a class; of ranks: a host or a state", "filter"), screen.Quiet(m.startFilter)),
		screen.On(keys.Of(keys.ClearFilter), screen.Quiet(func() { m.setFilter("") })),
		screen.On(keys.Of(keys.SortRight).With("sort by the next column; a click on a heading sorts, too", ""), screen.Quiet(func() { m.sortBy(1) })),
		screen.On(keys.Of(keys.SortLeft), screen.Quiet(func() { m.sortBy(-1) })),
		screen.On(keys.Of(keys.SortReverse), screen.Quiet(m.reverse)),
	}, lines("line")...)}
	m.paneKeys = screen.Section{Title: "Keys in the map and the chart", Bindings: append([]screen.Binding{
		screen.On(keys.Of(keys.Left).With("move the cursor to an earlier time", "earlier"), func() tea.Cmd { return m.moveTime(-1) }),
		screen.On(keys.Of(keys.Right).With("move the cursor to a later time", "later"), func() tea.Cmd { return m.moveTime(1) }),
	}, lines("rank")...)}
	m.timeKeys = screen.Section{Title: "Keys for the map and the chart", Bindings: []screen.Binding{
		screen.On(keys.Key{Names: []string{"m"}, Help: "show a heat map below the table, a chart, or nothing", Hint: "map"}, screen.Quiet(m.nextPane)),
		screen.On(keys.Of(keys.NextPane).With("go to the map or the chart, or back to the table", "cursor"), screen.Quiet(func() { m.inPane = !m.inPane })),
		screen.On(keys.Of(keys.PreviousPane).With("the same", ""), screen.Quiet(func() { m.inPane = !m.inPane })),
		screen.On(keys.Of(keys.Zoom).With("zoom: show the map or the chart alone, or with the table", ""), screen.Quiet(func() { m.zoom = !m.zoom && m.pane != paneNone; m.clampTop() })),
		screen.On(keys.Key{Names: []string{"+", "="}, Help: "show a shorter time in the map and the chart", Hint: "zoom time"}, func() tea.Cmd { return m.zoomTime(0.5) }),
		screen.On(keys.Key{Names: []string{"-"}, Help: "show a longer time"}, func() tea.Cmd { return m.zoomTime(2) }),
		screen.On(keys.Key{Names: []string{"["}, Help: "show an earlier time"}, func() tea.Cmd { return m.shiftTime(-1) }),
		screen.On(keys.Key{Names: []string{"]"}, Help: "show a later time"}, func() tea.Cmd { return m.shiftTime(1) }),
		screen.On(keys.Of(keys.Values).With("show values by class, raw, since the start (delta), or per second (rate); of functions over time: their time, calls or bytes", ""), m.nextValues),
	}}
	m.matrixKeys = screen.Section{Title: "Keys in the matrix", Bindings: []screen.Binding{
		screen.On(keys.Of(keys.Down).With("next sender", ""), move(1)),
		screen.On(keys.Of(keys.Up).With("previous sender", ""), move(-1)),
		screen.On(keys.Of(keys.Right).With("next receiver", ""), func() tea.Cmd { return m.moveGrid(0, 1) }),
		screen.On(keys.Of(keys.Left).With("previous receiver", ""), func() tea.Cmd { return m.moveGrid(0, -1) }),
		screen.On(keys.Of(keys.PageDown).With("ten senders further", ""), move(10)),
		screen.On(keys.Of(keys.PageUp).With("ten senders back", ""), move(-10)),
		screen.On(keys.Of(keys.First).With("first sender", ""), move(-1<<30)),
		screen.On(keys.Of(keys.Last).With("last sender", ""), move(1<<30)),
		screen.On(keys.Of(keys.Open).With("if several ranks share a line: show those at the cursor alone, or all ranks again", ""), m.openGroup),
		screen.On(keys.Key{Names: []string{"m"}, Help: "show bytes or messages, or one-sided operations"}, screen.Quiet(m.nextQuantity)),
		screen.On(keys.Of(keys.Values).With("show totals since the start, or per second", ""), screen.Quiet(func() { m.grid.rate = !m.grid.rate })),
	}}
	m.commonKeys = screen.Section{Title: "Keys everywhere", Bindings: []screen.Binding{
		screen.On(keys.Key{Names: []string{"1"}, Help: "show variables", Hint: viewNames[viewVariables]}, goTo(viewVariables)),
		screen.On(keys.Key{Names: []string{"2"}, Help: "show the functions of the run's profile", Hint: viewNames[viewFunctions]}, goTo(viewFunctions)),
		screen.On(keys.Key{Names: []string{"3"}, Help: "show the matrix of messages between ranks", Hint: viewNames[viewMatrix]}, goTo(viewMatrix)),
		screen.On(keys.Of(keys.LogScale).With("logarithmic or linear scale of the map, the chart and the matrix", ""), screen.Quiet(func() { m.log = !m.log })),
		screen.On(keys.Of(keys.Pause), m.pause),
		screen.On(keys.Of(keys.Read).With("read again now, also a run that has ended", ""), func() tea.Cmd { return m.read(true) }),
		screen.On(keys.Of(keys.Restart).With("open the run again, or wait for it", ""), m.restart),
		screen.On(keys.Of(keys.Export), m.Begin("export ")),
		screen.On(keys.Of(keys.Messages).With(screen.MessagesHelp, ""), m.ShowMessages),
		screen.On(keys.Of(keys.Command), m.Begin("")),
		screen.On(keys.Of(keys.Help), m.ShowHelp),
		screen.On(keys.Of(keys.Back).With("back: to the newest values, to the table, to all lines, to all variables", ""), m.back),
		screen.On(keys.Of(keys.Suspend), screen.Suspend),
		screen.On(keys.Of(keys.Quit).With("quit; from a zoomed map or chart, or the ranks of a variable: back", ""), m.quit),
		screen.On(keys.Of(keys.Interrupt), screen.Quit),
	}}
	quiet := func(do func(args string)) func(string) tea.Cmd {
		return func(args string) tea.Cmd { do(args); return nil }
	}
	simply := func(do func() tea.Cmd) func(string) tea.Cmd { return func(string) tea.Cmd { return do() } }
	pane := func(p pane) func(string) tea.Cmd {
		return quiet(func(string) { m.pane, m.zoom = p, false; m.clampTop() })
	}
	add := m.Commands.Add
	m.Commands.AddWith("show", "NAME", "select a variable or a function", m.cmdShow, false, m.names)
	m.Commands.AddWith("ranks", "[NAME]", "show a variable or a function on each rank", m.cmdRanks, false, m.names)
	add("variables", "", "show all variables", simply(goTo(viewVariables)))
	add("functions", "", "show the functions of the run's profile", simply(goTo(viewFunctions)))
	add("matrix", "", "show the matrix of messages between ranks", simply(goTo(viewMatrix)))
	add("filter", "[WORDS]", "show only lines with these words; without words: all lines", quiet(m.setFilter))
	add("sort", "[-]COLUMN", "sort by a column, with - in reverse order; without a column: as recorded", quiet(m.cmdSort))
	add("values", "class|raw|delta|rate|time|calls|bytes|total", "choose how values are shown; of functions over time: time, calls or bytes; of the matrix: total or rate", m.cmdValues)
	add("map", "", "show the heat map below the table", pane(paneHeat))
	add("chart", "", "show the chart below the table", pane(paneChart))
	m.Commands.AddSaving("export", "FILE.csv|json|ndjson", "write what is shown to a file: the table, or the history that a zoomed map or chart shows", prompt.Over, m.cmdExport)
	add("theme", "[NAME]", screen.ThemeHelp, m.Theme)
	add("pause", "", "pause or resume", simply(m.pause))
	add("restart", "", "open the run again, or wait for it", simply(m.restart))
	add("messages", "", screen.MessagesHelp, simply(m.ShowMessages))
	add("help", "", "show keys and commands", simply(m.ShowHelp))
	add("quit", "", "quit", simply(screen.Quit))
}

// sections are the keys in the order of the help, first those that do something now: how many those are is active.
func (m *Model) sections() (all []screen.Section, active int) {
	switch {
	case m.view == viewMatrix:
		return []screen.Section{m.matrixKeys, m.commonKeys, m.tableKeys, m.paneKeys, m.timeKeys}, 2
	case m.focused():
		return []screen.Section{m.paneKeys, m.timeKeys, m.commonKeys, m.tableKeys, m.matrixKeys}, 3
	}
	return []screen.Section{m.tableKeys, m.timeKeys, m.commonKeys, m.paneKeys, m.matrixKeys}, 3
}

// help are the keys, first those of the part of the screen that has the focus, and the commands.
func (m *Model) help() (all []keys.Section) {
	sections, _ := m.sections()
	for _, s := range sections {
		all = append(all, s.Shown(true))
	}
	return append(all, m.Commands.Section(true))
}

// Keys are all keys and commands of the screen.
func Keys() []keys.Section {
	m := New(nil, term.Term{}, recording.Default)
	return []keys.Section{m.tableKeys.Shown(true), m.paneKeys.Shown(true), m.timeKeys.Shown(true), m.matrixKeys.Shown(true), m.commonKeys.Shown(true), m.Commands.Section(true)}
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	m.Note = ""
	if name := msg.String(); m.Mode == screen.Words && name != "ctrl+c" {
		return m.keyFilter(name, msg.Text)
	}
	sections, active := m.sections()
	return m.Key(msg, sections[:active]...)
}

func (m *Model) startFilter() { m.Mode, m.Line = screen.Words, prompt.New(m.filters[m.list()]) }

func (m *Model) keyFilter(name, text string) tea.Cmd {
	switch name {
	case "enter":
		m.Mode = screen.Keys
		return nil
	case "esc":
		m.Mode, m.Line = screen.Keys, prompt.Line{}
	default:
		m.Line.Key(name, text)
	}
	return m.typed()
}

func (m *Model) typed() tea.Cmd {
	m.setFilter(m.Line.String())
	before := m.selected
	if m.view != viewRanks {
		m.choose(m.cursor)
	}
	if m.selected != before {
		return m.read(false)
	}
	return nil
}

func (m *Model) sortBy(step int) {
	o, n := &m.orders[m.list()], len(m.headings())
	widths, _ := m.layout()
	for range n + 1 {
		o.column = (o.column+1+step+n+1)%(n+1) - 1
		if o.column < 0 || widths[o.column] > 0 {
			break
		}
	}
	o.reverse = o.column > 0 && !m.headings()[o.column].left // the greatest first
	m.arrange()
}

func (m *Model) reverse() {
	o := &m.orders[m.list()]
	o.column, o.reverse = max(o.column, 0), !o.reverse
	m.arrange()
}

// sortAt sorts by the column at a place of the screen; a second time reverses the order.
func (m *Model) sortAt(x int) {
	widths, _ := m.layout()
	at := 0
	for i, w := range widths {
		if w == 0 {
			continue
		}
		if x >= at && x <= at+w {
			o := &m.orders[m.list()]
			if o.column == i {
				o.reverse = !o.reverse
			} else {
				*o = order{i, !m.headings()[i].left}
			}
			m.arrange()
			return
		}
		at += w + 1
	}
}

func (m *Model) nextPane() {
	m.pane, m.zoom = (m.pane+1)%panes, false
	m.inPane = m.inPane && m.pane != paneNone
	m.clampTop()
}

func (m *Model) toggleView() tea.Cmd {
	if m.view == viewRanks {
		m.view = m.home
	} else if m.selected.Variable != "" {
		m.view, m.picked = viewRanks, m.picked || m.home == viewFunctions
	}
	m.cursor, m.top = 0, 0
	m.arrange()
	m.choose(m.cursor)
	return nil
}

func (m *Model) quit() tea.Cmd {
	switch {
	case m.zoom:
		m.zoom = false
		m.clampTop()
		return nil
	case m.view == viewRanks:
		return m.toggleView()
	case m.view == viewMatrix && m.grid.zoomed():
		m.grid.rows, m.grid.columns = span{}, span{}
		return nil
	}
	return tea.Quit
}

func (m *Model) back() tea.Cmd {
	switch {
	case m.window != (window{}):
		m.window = window{}
		return m.read(false)
	case m.zoom:
		m.zoom = false
	case m.inPane:
		m.inPane = false
	case m.filters[m.list()] != "":
		m.setFilter("")
	case m.view == viewRanks:
		return m.toggleView()
	case m.view == viewMatrix:
		m.grid.rows, m.grid.columns = span{}, span{}
	}
	return nil
}

func (m *Model) nextValues() tea.Cmd {
	if m.home == viewFunctions {
		return m.setMetric(m.metric%OfBytes + 1)
	}
	return m.setAs((m.as + 1) % (recording.Rate + 1))
}

func (m *Model) setMetric(of Metric) tea.Cmd {
	m.metric, m.selected = of, functionKey(m.selected.Variable, of)
	m.Say("over time: %s", metricWord(of))
	return m.read(false)
}

func (m *Model) setAs(as recording.Transform) tea.Cmd {
	m.as = as
	return m.read(false)
}

func (m *Model) pause() tea.Cmd {
	if m.Paused = !m.Paused; m.Paused {
		return nil
	}
	return tea.Batch(m.read(true), m.wait())
}

const about = "The value of a rank is a sum if its variable has several elements, or is bound to several objects with the same name. " +
	"For high watermarks and percentages it is the greatest, for low watermarks the least. A rank is silent if it runs but has recorded nothing for 5 s or more. " +
	"The mouse selects lines, sorts by a heading, and sets the cursor of the map and the chart."

func (m *Model) findings() screen.Findings {
	if m.frame == nil {
		return nil
	}
	return m.frame.findings()
}

func (m *Model) hints() []keys.Key {
	help, quit := keys.Of(keys.Help), keys.Of(keys.Quit)
	if m.frame == nil {
		return []keys.Key{quit, help}
	}
	if m.view == viewRanks || m.zoom || m.view == viewMatrix && m.grid.zoomed() {
		quit.Hint = "back"
	}
	pause := keys.Of(keys.Pause)
	if m.Paused {
		pause.Hint = "resume"
	}
	if m.frame.Over { // there is nothing to pause
		pause.Hint = ""
	}
	if m.view == viewMatrix {
		return m.matrixHints(help, quit, pause)
	}
	next := keys.Key{Names: []string{"m"}, Hint: [...]string{"chart", "table only", "map"}[m.pane]}
	if m.focused() {
		list := []keys.Key{help, quit}
		for _, b := range m.paneKeys.Bindings[:2] {
			list = append(list, b.Key)
		}
		return append(list, keys.Key{Names: []string{"+"}, Hint: "shorter"}, keys.Key{Names: []string{"-"}, Hint: "longer"}, keys.Of(keys.Back), next, keys.Of(keys.LogScale), pause)
	}
	open := keys.Of(keys.Open).With("", "ranks")
	if m.view == viewRanks {
		open.Hint = [...]string{"variables", "functions"}[m.home]
	}
	list := append([]keys.Key{help, quit, open}, m.viewHints()...)
	if m.home == viewVariables || m.frame.Watched {
		list = append(list, next, keys.Of(keys.Values))
	}
	list = append(list, keys.Of(keys.Search).With("", "filter"), pause, keys.Of(keys.SortRight))
	if m.paneHeight() > 0 {
		list = append(list, keys.Of(keys.NextPane).With("", "cursor"))
	}
	if m.filters[m.list()] != "" {
		list = slices.Insert(list, 2, keys.Of(keys.ClearFilter))
	}
	return append(list, keys.Of(keys.Export), keys.Of(keys.Messages))
}

func (m *Model) viewHints() (list []keys.Key) {
	for v, name := range viewNames {
		if m.frame.HasProfile && view(v) != m.home {
			list = append(list, keys.Key{Names: []string{strconv.Itoa(v + 1)}, Hint: name})
		}
	}
	return list
}

func (m *Model) matrixHints(help, quit, pause keys.Key) []keys.Key {
	list := append([]keys.Key{help, quit}, m.viewHints()...)
	if m.groupSize() > 1 {
		list = append(list, keys.Of(keys.Open).With("", "these ranks"))
	} else if m.grid.zoomed() {
		list = append(list, keys.Of(keys.Open).With("", "all ranks"))
	}
	values := keys.Of(keys.Values).With("", "per second")
	if m.grid.rate {
		values.Hint = "totals"
	}
	return append(list, keys.Key{Names: []string{"m"}, Hint: m.grid.of.next(m.frame.Matrix != nil && len(m.frame.Matrix.OneSided) > 0)}, values, keys.Of(keys.LogScale), pause, keys.Of(keys.Export), keys.Of(keys.Messages))
}
