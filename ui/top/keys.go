package top

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/recording"
	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/prompt"
)

// binding is a line of the key map.
type binding struct {
	keys.Key
	do func(*Model) tea.Cmd
}

// section is the part of the key map for one part of the screen.
type section struct {
	title    string
	bindings []binding
}

// The key map: the keys of the table, of the map and the chart, of both, of the matrix, and of all. The help, the footer and the manual page
// use it. init fills it in, since the help is one of the actions.
var tableKeys, paneKeys, timeKeys, matrixKeys, commonKeys section

var viewNames = [...]string{"variables", "functions", "matrix"}

func init() {
	quiet := func(do func(m *Model)) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { do(m); return nil } }
	move := func(by func(m *Model) int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.move(by(m)) }
	}
	page := func(by int) func(*Model) tea.Cmd {
		return move(func(m *Model) int {
			if m.focused() {
				return by * max(m.paneHeight()-besideDrawing-2, 1)
			}
			return by * max(m.rows()-1, 1)
		})
	}
	lines := func(what string) []binding {
		return []binding{
			{keys.Of(keys.Down).With("next "+what, ""), move(func(*Model) int { return 1 })},
			{keys.Of(keys.Up).With("previous "+what, ""), move(func(*Model) int { return -1 })},
			{keys.Of(keys.PageDown), page(1)},
			{keys.Of(keys.PageUp), page(-1)},
			{keys.Of(keys.First).With("first "+what, ""), move(func(*Model) int { return -1 << 30 })},
			{keys.Of(keys.Last).With("last "+what, ""), move(func(*Model) int { return 1 << 30 })},
		}
	}
	toRanks := func(m *Model) tea.Cmd { return m.goTo(viewRanks) }
	tableKeys = section{"Keys in the table", append([]binding{
		{keys.Of(keys.Open).With("show the selected variable or function on each rank, or all again", "ranks"), (*Model).toggleView},
		{keys.Of(keys.Right).With("show the selected variable or function on each rank", ""), toRanks},
		{keys.Of(keys.Left).With("show all variables or functions again", ""), func(m *Model) tea.Cmd { return m.goTo(m.home) }},
		{keys.Of(keys.Search).With("filter by words: of a name, an object or a class; of ranks: a host or a state", "filter"), quiet((*Model).startFilter)},
		{keys.Of(keys.ClearFilter), quiet(func(m *Model) { m.setFilter("") })},
		{keys.Of(keys.SortRight).With("sort by the next column; a click on a heading sorts, too", ""), quiet(func(m *Model) { m.sortBy(1) })},
		{keys.Of(keys.SortLeft), quiet(func(m *Model) { m.sortBy(-1) })},
		{keys.Of(keys.SortReverse), quiet((*Model).reverse)},
	}, lines("line")...)}
	paneKeys = section{"Keys in the map and the chart", append([]binding{
		{keys.Of(keys.Left).With("move the cursor to an earlier time", "earlier"), func(m *Model) tea.Cmd { return m.moveTime(-1) }},
		{keys.Of(keys.Right).With("move the cursor to a later time", "later"), func(m *Model) tea.Cmd { return m.moveTime(1) }},
	}, lines("rank")...)}
	timeKeys = section{"Keys for the map and the chart", []binding{
		{keys.Key{Names: []string{"m"}, Help: "show a heat map below the table, a chart, or nothing", Hint: "map"}, quiet((*Model).nextPane)},
		{keys.Of(keys.NextPane).With("go to the map or the chart, or back to the table", "cursor"), quiet(func(m *Model) { m.inPane = !m.inPane })},
		{keys.Of(keys.PreviousPane).With("the same", ""), quiet(func(m *Model) { m.inPane = !m.inPane })},
		{keys.Of(keys.Zoom).With("zoom: show the map or the chart alone, or with the table", ""), quiet(func(m *Model) { m.zoom = !m.zoom && m.pane != paneNone; m.clampTop() })},
		{keys.Key{Names: []string{"+", "="}, Help: "show a shorter time in the map and the chart", Hint: "zoom time"}, func(m *Model) tea.Cmd { return m.zoomTime(0.5) }},
		{keys.Key{Names: []string{"-"}, Help: "show a longer time"}, func(m *Model) tea.Cmd { return m.zoomTime(2) }},
		{keys.Key{Names: []string{"["}, Help: "show an earlier time"}, func(m *Model) tea.Cmd { return m.shiftTime(-1) }},
		{keys.Key{Names: []string{"]"}, Help: "show a later time"}, func(m *Model) tea.Cmd { return m.shiftTime(1) }},
		{keys.Of(keys.Values).With("show values by class, raw, since the start (delta), or per second (rate); of functions over time: their time, calls or bytes", ""), (*Model).nextValues},
	}}
	matrixKeys = section{"Keys in the matrix", []binding{
		{keys.Of(keys.Down).With("next sender", ""), move(func(*Model) int { return 1 })},
		{keys.Of(keys.Up).With("previous sender", ""), move(func(*Model) int { return -1 })},
		{keys.Of(keys.Right).With("next receiver", ""), func(m *Model) tea.Cmd { return m.moveDestination(1) }},
		{keys.Of(keys.Left).With("previous receiver", ""), func(m *Model) tea.Cmd { return m.moveDestination(-1) }},
		{keys.Of(keys.PageDown).With("ten senders further", ""), move(func(*Model) int { return 10 })},
		{keys.Of(keys.PageUp).With("ten senders back", ""), move(func(*Model) int { return -10 })},
		{keys.Of(keys.First).With("first sender", ""), move(func(*Model) int { return -1 << 30 })},
		{keys.Of(keys.Last).With("last sender", ""), move(func(*Model) int { return 1 << 30 })},
		{keys.Of(keys.Open).With("if several ranks share a line: show those at the cursor alone, or all ranks again", ""), (*Model).openGroup},
		{keys.Key{Names: []string{"m"}, Help: "show bytes or messages, or one-sided operations"}, quiet((*Model).nextQuantity)},
		{keys.Of(keys.Values).With("show totals since the start, or per second", ""), quiet(func(m *Model) { m.grid.rate = !m.grid.rate })},
	}}
	goTo := func(v view) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.goTo(v) } }
	commonKeys = section{"Keys everywhere", []binding{
		{keys.Key{Names: []string{"1"}, Help: "show variables", Hint: viewNames[viewVariables]}, goTo(viewVariables)},
		{keys.Key{Names: []string{"2"}, Help: "show the functions of the run's profile", Hint: viewNames[viewFunctions]}, goTo(viewFunctions)},
		{keys.Key{Names: []string{"3"}, Help: "show the matrix of messages between ranks", Hint: viewNames[viewMatrix]}, goTo(viewMatrix)},
		{keys.Of(keys.LogScale).With("logarithmic or linear scale of the map, the chart and the matrix", ""), quiet(func(m *Model) { m.log = !m.log })},
		{keys.Of(keys.Pause), (*Model).pause},
		{keys.Of(keys.Read).With("read again now, also a run that has ended", ""), func(m *Model) tea.Cmd { return m.read(true) }},
		{keys.Of(keys.Restart).With("open the run again, or wait for it", ""), (*Model).restart},
		{keys.Of(keys.Export), func(m *Model) tea.Cmd { return m.begin("export ") }},
		{keys.Of(keys.Messages).With("show all messages and what is wrong with the run, in full", ""), func(m *Model) tea.Cmd { return m.showText(m.messageLines) }},
		{keys.Of(keys.Command), func(m *Model) tea.Cmd { return m.begin("") }},
		{keys.Of(keys.Help), func(m *Model) tea.Cmd { return m.showText(m.helpLines) }},
		{keys.Of(keys.Back).With("back: to the newest values, to the table, to all lines, to all variables", ""), (*Model).back},
		{keys.Of(keys.Suspend), func(*Model) tea.Cmd { return tea.Suspend }},
		{keys.Of(keys.Quit).With("quit; from a zoomed map or chart, or the ranks of a variable: back", ""), (*Model).quit},
		{keys.Of(keys.Interrupt), func(*Model) tea.Cmd { return tea.Quit }},
	}}
}

// sections are the keys in the order of the help, first those that do something now: how many those are is active.
func (m *Model) sections() (all []section, active int) {
	switch {
	case m.view == viewMatrix:
		return []section{matrixKeys, commonKeys, tableKeys, paneKeys, timeKeys}, 2
	case m.focused():
		return []section{paneKeys, timeKeys, commonKeys, tableKeys, matrixKeys}, 3
	}
	return []section{tableKeys, timeKeys, commonKeys, paneKeys, matrixKeys}, 3
}

// shown is the section as the help and the manual page show it.
func (s *section) shown() keys.Section {
	out := keys.Section{Title: s.title}
	for _, b := range s.bindings {
		out.Keys = append(out.Keys, b.Key)
	}
	return out
}

// Keys are all keys of the screen.
func Keys() []keys.Section {
	return []keys.Section{tableKeys.shown(), paneKeys.shown(), timeKeys.shown(), matrixKeys.shown(), commonKeys.shown()}
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	m.note = ""
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.mode == modeFilter:
		return m.keyFilter(name, msg.Text)
	case m.mode == modeCommand:
		return m.keyCommand(name, msg.Text)
	case m.text != nil && name != "ctrl+z":
		if !m.pager.Key(name) {
			m.text = nil
		}
		return nil
	}
	sections, active := m.sections()
	for _, s := range sections[:active] {
		for _, b := range s.bindings {
			if b.Has(name) {
				return b.do(m)
			}
		}
	}
	return nil
}

func (m *Model) startFilter() { m.mode, m.line = modeFilter, prompt.New(m.filters[m.list()]) }

func (m *Model) keyFilter(name, text string) tea.Cmd {
	switch name {
	case "enter":
		m.mode = modeKeys
		return nil
	case "esc":
		m.mode, m.line = modeKeys, prompt.Line{}
	default:
		m.line.Key(name, text)
	}
	return m.typed()
}

// typed applies the filter as it is typed.
func (m *Model) typed() tea.Cmd {
	if m.mode == modeCommand {
		return nil
	}
	m.setFilter(m.line.String())
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

// nextValues shows other values of variables, or another metric of functions over time.
func (m *Model) nextValues() tea.Cmd {
	if m.home == viewFunctions {
		return m.setMetric(m.metric%OfBytes + 1)
	}
	return m.setAs((m.as + 1) % (recording.Rate + 1))
}

func (m *Model) setMetric(of Metric) tea.Cmd {
	m.metric, m.selected = of, functionKey(m.selected.Variable, of)
	m.say("over time: %s", metricWord(of))
	return m.read(false)
}

func (m *Model) setAs(as recording.Transform) tea.Cmd {
	m.as = as
	return m.read(false)
}

func (m *Model) pause() tea.Cmd {
	if m.paused = !m.paused; m.paused {
		return nil
	}
	return tea.Batch(m.read(true), m.wait())
}
