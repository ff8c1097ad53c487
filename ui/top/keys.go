package top

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/recording"
	"mpitx/ui/prompt"
)

// binding is a line of the key map, from which keys are looked up and help is made.
type binding struct {
	keys []string
	show string // how help writes the keys
	help string
	do   func(*Model) tea.Cmd
}

// hints are for the last line of the screen, the most important first.
var hints = []string{"q quit", "? help", "Enter ranks", "m map", "v values", "/ filter", "Space pause", "< > sort"}

// keyMap is filled in by init, since help is made from it.
var keyMap []binding

var byKey = map[string]*binding{}

func init() {
	keyMap = []binding{
		{[]string{"q", "ctrl+c"}, "q", "quit", func(*Model) tea.Cmd { return tea.Quit }},
		{[]string{"?", "f1"}, "?", "this help", func(m *Model) tea.Cmd { return m.showText(m.helpLines) }},
		{[]string{"j", "down", "ctrl+n"}, "j ↓", "next line (also the mouse wheel; a click selects)", func(m *Model) tea.Cmd { return m.move(1) }},
		{[]string{"k", "up", "ctrl+p"}, "k ↑", "previous line", func(m *Model) tea.Cmd { return m.move(-1) }},
		{[]string{"pgdown", "ctrl+f", "ctrl+d"}, "PgDn ^F", "next page", func(m *Model) tea.Cmd { return m.move(max(m.rows()-1, 1)) }},
		{[]string{"pgup", "ctrl+b", "ctrl+u"}, "PgUp ^B", "previous page", func(m *Model) tea.Cmd { return m.move(-max(m.rows()-1, 1)) }},
		{[]string{"g", "home"}, "g Home", "first line", func(m *Model) tea.Cmd { return m.move(-len(m.entries)) }},
		{[]string{"G", "end"}, "G End", "last line", func(m *Model) tea.Cmd { return m.move(len(m.entries)) }},
		{[]string{"l", "right", ">"}, "l → >", "sort by the next column (also a click on its head)", func(m *Model) tea.Cmd { m.sortBy(1); return nil }},
		{[]string{"h", "left", "<"}, "h ← <", "sort by the previous column", func(m *Model) tea.Cmd { m.sortBy(-1); return nil }},
		{[]string{"R"}, "R", "reverse the order", func(m *Model) tea.Cmd { m.reverse(); return nil }},
		{[]string{"enter", "tab"}, "Enter Tab", "the selected variable on each rank, and back", func(m *Model) tea.Cmd { return m.toggleView() }},
		{[]string{"esc", "backspace"}, "Esc", "back; clear the filter", func(m *Model) tea.Cmd { return m.back() }},
		{[]string{"v"}, "v", "values: by class, raw, since the start (delta), per second (rate)", func(m *Model) tea.Cmd {
			return m.setAs((m.as + 1) % (recording.Rate + 1))
		}},
		{[]string{"m"}, "m", "below the table: heat map of ranks over time, chart, nothing", func(m *Model) tea.Cmd { m.pane, m.zoom = (m.pane+1)%panes, false; m.clampTop(); return nil }},
		{[]string{"z"}, "z", "the map or chart alone, or with the table", func(m *Model) tea.Cmd { m.zoom = !m.zoom && m.pane != paneNone; m.clampTop(); return nil }},
		{[]string{"/"}, "/", "filter: words of name, object or class; of ranks: host or state", func(m *Model) tea.Cmd {
			m.mode, m.line = modeFilter, prompt.New(m.filters[m.view])
			return nil
		}},
		{[]string{"space", "p"}, "Space", "pause or resume", func(m *Model) tea.Cmd { return m.pause() }},
		{[]string{"r"}, "r", "read again at once, also a run that has ended", func(m *Model) tea.Cmd { return m.read(true) }},
		{[]string{"t"}, "t", "what is wrong with the run, in full", func(m *Model) tea.Cmd { return m.showText(m.troubleLines) }},
		{[]string{"e"}, "e", "export what is shown: :export FILE.csv, .json or .ndjson", func(m *Model) tea.Cmd { return m.begin("export ") }},
		{[]string{":"}, ":", "command line", func(m *Model) tea.Cmd { return m.begin("") }},
		{[]string{"ctrl+z"}, "^Z", "suspend; the shell's fg resumes", func(*Model) tea.Cmd { return tea.Suspend }},
	}
	for i := range keyMap {
		for _, k := range keyMap[i].keys {
			byKey[k] = &keyMap[i]
		}
	}
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
	if b := byKey[name]; b != nil {
		return b.do(m)
	}
	return nil
}

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

// typed follows what was typed.
func (m *Model) typed() tea.Cmd {
	if m.mode == modeCommand {
		return nil
	}
	m.setFilter(m.line.String())
	before := m.selected
	if m.view == viewVariables {
		m.choose(m.cursor)
	}
	if m.selected != before {
		return m.read(false)
	}
	return nil
}

func (m *Model) sortBy(step int) {
	o, n := &m.orders[m.view], len(m.headings())
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
	o := &m.orders[m.view]
	o.column, o.reverse = max(o.column, 0), !o.reverse
	m.arrange()
}

// sortAt sorts by the column at a place of the screen; once more turns it round.
func (m *Model) sortAt(x int) {
	widths, _ := m.layout()
	at := 0
	for i, w := range widths {
		if w == 0 {
			continue
		}
		if x >= at && x <= at+w {
			o := &m.orders[m.view]
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

func (m *Model) toggleView() tea.Cmd {
	if m.view == viewRanks {
		m.view = viewVariables
	} else if m.selected.Variable != "" {
		m.view = viewRanks
	}
	m.cursor, m.top = 0, 0
	m.arrange()
	m.choose(m.cursor)
	return nil
}

func (m *Model) back() tea.Cmd {
	switch {
	case m.zoom:
		m.zoom = false
	case m.filters[m.view] != "":
		m.setFilter("")
	case m.view == viewRanks:
		return m.toggleView()
	}
	return nil
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
