package timeline

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/prompt"
)

// binding is a line of the key map.
type binding struct {
	keys.Key
	do func(*Model) tea.Cmd
}

// section is a part of the key map.
type section struct {
	title    string
	bindings []binding
}

// The key map. The help, the footer and the manual page use it. init fills it in, since the help is one of the actions.
var rowKeys, timeKeys, commonKeys section

func init() {
	quiet := func(do func(m *Model)) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { do(m); return nil } }
	row := func(by func(m *Model) int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.moveRow(by(m)) }
	}
	fixed := func(by int) func(*Model) tea.Cmd { return row(func(*Model) int { return by }) }
	page := func(by int) func(*Model) tea.Cmd {
		return row(func(m *Model) int { rows, _ := m.room(); return by * max(rows-1, 1) })
	}
	own := func(help, hint string, names ...string) keys.Key {
		return keys.Key{Names: names, Help: help, Hint: hint}
	}
	step := func(by int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.act(Action{Step: by, Words: m.words}) }
	}
	timeKeys = section{"Keys in the rows", []binding{
		{own("show a shorter time; the call under the cursor stays in view", "zoom in", "+", "="), func(m *Model) tea.Cmd { return m.zoomTime(0.5) }},
		{own("show a longer time", "zoom out", "-"), func(m *Model) tea.Cmd { return m.zoomTime(2) }},
		{own("show an earlier time", "", "["), func(m *Model) tea.Cmd { return m.shiftTime(-0.5) }},
		{own("show a later time", "", "]"), func(m *Model) tea.Cmd { return m.shiftTime(0.5) }},
		{own("show the call under the cursor alone", "", "c"), (*Model).fitCall},
		{own("show the whole time", "", "0"), (*Model).all},
		{keys.Of(keys.Left).With("move the cursor to an earlier time", ""), func(m *Model) tea.Cmd { return m.moveTime(-1) }},
		{keys.Of(keys.Right).With("move the cursor to a later time", ""), func(m *Model) tea.Cmd { return m.moveTime(1) }},
		{own("next call of the thread; after a search: the next one that matches", "next call", "n"), step(1)},
		{own("previous call of the thread, or the previous one that matches", "", "N"), step(-1)},
		{keys.Of(keys.Open).With("go to the other side of the message: from a send to its receive, and back", "other side"), (*Model).jump},
		{keys.Of(keys.NextPane).With("go to the list of messages, or back to the rows", "messages"), quiet((*Model).switchPane)},
		{keys.Of(keys.PreviousPane).With("the same", ""), quiet((*Model).switchPane)},
	}}
	rowKeys = section{"Keys for rows and messages", []binding{
		{keys.Of(keys.Down).With("next row; in the list of messages: next message", ""), fixed(1)},
		{keys.Of(keys.Up).With("previous row or message", ""), fixed(-1)},
		{keys.Of(keys.PageDown), page(1)},
		{keys.Of(keys.PageUp), page(-1)},
		{keys.Of(keys.First).With("first row or message", ""), fixed(-1 << 30)},
		{keys.Of(keys.Last).With("last row or message", ""), fixed(1 << 30)},
		{keys.Of(keys.SortRight).With("sort rows by rank, by time in MPI calls, or by calls in the time that is shown", ""), func(m *Model) tea.Cmd { return m.sortBy(1) }},
		{keys.Of(keys.SortLeft).With("the same, backwards", ""), func(m *Model) tea.Cmd { return m.sortBy(int(orders) - 1) }},
		{keys.Of(keys.SortReverse), func(m *Model) tea.Cmd { m.reverse = !m.reverse; return m.read(false) }},
		{keys.Of(keys.Values).With("letters stand for kinds of functions, or for functions", "functions"), quiet(func(m *Model) { m.byFunction = !m.byFunction })},
		{keys.Of(keys.Zoom).With("zoom: show the rows alone, or with the call under the cursor", ""), func(m *Model) tea.Cmd { m.zoom = !m.zoom; return m.read(false) }},
	}}
	commonKeys = section{"Keys everywhere", []binding{
		{keys.Of(keys.Search).With("search calls by words of the function's and the communicator's name", "search"), quiet(func(m *Model) { m.mode, m.line = modeSearch, prompt.New(m.words) })},
		{keys.Of(keys.ClearFilter).With("end the search: n and N go to any call", ""), quiet(func(m *Model) { m.words = "" })},
		{keys.Of(keys.Pause).With("of a run that is being written: pause or resume", "pause"), (*Model).pause},
		{keys.Of(keys.Read), func(m *Model) tea.Cmd { return m.read(true) }},
		{keys.Of(keys.Export).With("export the calls of the time and the rows that are shown", "export"), func(m *Model) tea.Cmd { return m.begin("export ") }},
		{keys.Of(keys.Messages).With("show all messages and what is wrong with the run, in full", ""), func(m *Model) tea.Cmd { return m.showText(m.messageLines) }},
		{keys.Of(keys.Command), func(m *Model) tea.Cmd { return m.begin("") }},
		{keys.Of(keys.Help), func(m *Model) tea.Cmd { return m.showText(m.helpLines) }},
		{keys.Of(keys.Back).With("back: to the rows, from the search, to the whole time", ""), (*Model).back},
		{keys.Of(keys.Suspend), func(*Model) tea.Cmd { return tea.Suspend }},
		{keys.Of(keys.Quit).With("quit", ""), func(*Model) tea.Cmd { return tea.Quit }},
		{keys.Of(keys.Interrupt), func(*Model) tea.Cmd { return tea.Quit }},
	}}
}

func sections() []section { return []section{timeKeys, rowKeys, commonKeys} }

// shown is the section as the help and the manual page show it.
func (s *section) shown() keys.Section {
	out := keys.Section{Title: s.title}
	for _, b := range s.bindings {
		out.Keys = append(out.Keys, b.Key)
	}
	return out
}

// Keys are all keys of the screen.
func Keys() (all []keys.Section) {
	for _, s := range sections() {
		all = append(all, s.shown())
	}
	return all
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if m.action != (Action{}) && name != "ctrl+c" && name != "q" { // it would not know its place
		m.kept = append(m.kept, msg)
		return nil
	}
	m.note = ""
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.mode == modeSearch:
		return m.keySearch(name, msg.Text)
	case m.mode == modeCommand:
		return m.keyCommand(name, msg.Text)
	case m.text != nil && name != "ctrl+z":
		if !m.pager.Key(name) {
			m.text = nil
		}
		return nil
	}
	for _, s := range sections() {
		for _, b := range s.bindings {
			if b.Has(name) {
				return b.do(m)
			}
		}
	}
	return nil
}

func (m *Model) keySearch(name, text string) tea.Cmd {
	switch name {
	case "enter":
		m.mode, m.words = modeKeys, m.line.String()
		if m.words != "" {
			return m.act(Action{Step: 1, Words: m.words, First: true})
		}
	case "esc":
		m.mode = modeKeys
	default:
		m.line.Key(name, text)
	}
	return nil
}

// all shows the whole time.
func (m *Model) all() tea.Cmd {
	m.whole = true
	return m.read(false)
}

// jump goes to the other side of the chosen message.
func (m *Model) jump() tea.Cmd {
	if m.frame == nil || m.frame.Detail == nil || len(m.frame.Detail.Messages) == 0 {
		m.say("the call under the cursor sent or received no message")
		return nil
	}
	return m.act(Action{Message: m.message + 1})
}

func (m *Model) switchPane() {
	if m.inMessages = !m.inMessages; m.inMessages && (m.frame == nil || m.frame.Detail == nil || len(m.frame.Detail.Messages) == 0) {
		m.inMessages = false
		m.say("the call under the cursor sent or received no message")
	}
}

func (m *Model) sortBy(step int) tea.Cmd {
	m.order, m.reverse = (m.order+Order(step))%orders, false
	m.say("rows sorted by %s", [...]string{"rank", "time in MPI calls", "calls"}[m.order])
	return m.read(false)
}

func (m *Model) back() tea.Cmd {
	switch {
	case m.inMessages:
		m.inMessages = false
	case m.words != "":
		m.words = ""
	case m.zoom:
		m.zoom = false
		return m.read(false)
	case !m.whole:
		return m.all()
	}
	return nil
}

func (m *Model) pause() tea.Cmd {
	if m.paused = !m.paused; m.paused {
		return nil
	}
	return m.read(true)
}
