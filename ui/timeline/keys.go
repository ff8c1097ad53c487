package timeline

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen"
	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// bind makes the key map and the commands.
func (m *Model) bind() {
	row := func(by int) func() tea.Cmd { return func() tea.Cmd { return m.moveRow(by) } }
	page := func(by int) func() tea.Cmd {
		return func() tea.Cmd { rows, _ := m.room(); return m.moveRow(by * max(rows-1, 1)) }
	}
	own := func(help, hint string, names ...string) keys.Key {
		return keys.Key{Names: names, Help: help, Hint: hint}
	}
	step := func(by int) func() tea.Cmd {
		return func() tea.Cmd { return m.act(Action{Step: by, Words: m.words}) }
	}
	m.timeKeys = screen.Section{Title: "Keys in the rows", Bindings: []screen.Binding{
		screen.On(own("show a shorter time; the call under the cursor stays in view", "zoom in", "+", "="), func() tea.Cmd { return m.zoomTime(0.5) }),
		screen.On(own("show a longer time", "zoom out", "-"), func() tea.Cmd { return m.zoomTime(2) }),
		screen.On(own("show an earlier time", "", "["), func() tea.Cmd { return m.shiftTime(-0.5) }),
		screen.On(own("show a later time", "", "]"), func() tea.Cmd { return m.shiftTime(0.5) }),
		screen.On(own("show the call under the cursor alone", "", "f"), m.fitCall),
		screen.On(own("show the whole time", "", "0"), m.all),
		screen.On(keys.Of(keys.Left).With("move the cursor to an earlier time", ""), func() tea.Cmd { return m.moveTime(-1) }),
		screen.On(keys.Of(keys.Right).With("move the cursor to a later time", ""), func() tea.Cmd { return m.moveTime(1) }),
		screen.On(own("next call of the thread; after a search: the next one that matches", "next call", "n"), step(1)),
		screen.On(own("previous call of the thread, or the previous one that matches", "", "N"), step(-1)),
		screen.On(keys.Of(keys.Open).With("go to the other side of the message: from a send to its receive, and back; while waits are shown: to the call that it waited for", "other side"), m.jump),
		screen.On(own("show waits by kind, and the critical path as a line", "waits", "w"), m.switchWaits),
		screen.On(own("go along the critical path: to the next thread on it", "", "c"), m.alongPath(1)),
		screen.On(own("the same, to the thread before", "", "C"), m.alongPath(-1)),
		screen.On(own("back to the wait from which Enter went to its cause", "", "backspace"), m.backFrom),
		screen.On(keys.Of(keys.NextPane).With("go to the list of messages, or back to the rows", "messages"), screen.Quiet(m.switchPane)),
		screen.On(keys.Of(keys.PreviousPane).With("the same", ""), screen.Quiet(m.switchPane)),
	}}
	m.rowKeys = screen.Section{Title: "Keys for rows and messages", Bindings: []screen.Binding{
		screen.On(keys.Of(keys.Down).With("next row; in the list of messages: next message", ""), row(1)),
		screen.On(keys.Of(keys.Up).With("previous row or message", ""), row(-1)),
		screen.On(keys.Of(keys.PageDown), page(1)),
		screen.On(keys.Of(keys.PageUp), page(-1)),
		screen.On(keys.Of(keys.First).With("first row or message", ""), row(-1<<30)),
		screen.On(keys.Of(keys.Last).With("last row or message", ""), row(1<<30)),
		screen.On(keys.Of(keys.SortRight).With("sort rows by rank, by time in MPI calls, or by calls in the time that is shown", ""), func() tea.Cmd { return m.sortBy(1) }),
		screen.On(keys.Of(keys.SortLeft).With("the same, backwards", ""), func() tea.Cmd { return m.sortBy(int(orders) - 1) }),
		screen.On(keys.Of(keys.SortReverse), func() tea.Cmd { m.reverse = !m.reverse; return m.read(false) }),
		screen.On(keys.Of(keys.Values).With("letters stand for kinds of functions, or for functions", "functions"), screen.Quiet(func() { m.byFunction = !m.byFunction })),
		screen.On(keys.Of(keys.Zoom).With("zoom: show the rows alone, or with the call under the cursor", ""), func() tea.Cmd { m.zoom = !m.zoom; return m.read(false) }),
	}}
	m.commonKeys = screen.Section{Title: "Keys everywhere", Bindings: []screen.Binding{
		screen.On(keys.Of(keys.Search).With("search calls by words of the function's and the communicator's name", "search"), screen.Quiet(func() { m.Mode, m.Line = screen.Words, prompt.New(m.words) })),
		screen.On(keys.Of(keys.ClearFilter).With("end the search: n and N go to any call", ""), screen.Quiet(func() { m.words = "" })),
		screen.On(keys.Of(keys.Pause).With("of a run that is being written: pause or resume", "pause"), m.pause),
		screen.On(keys.Of(keys.Read), func() tea.Cmd { return m.read(true) }),
		screen.On(keys.Of(keys.Export).With("export the calls of the time and the rows that are shown", "export"), m.Begin("export ")),
		screen.On(keys.Of(keys.Messages).With(screen.MessagesHelp, ""), m.ShowMessages),
		screen.On(keys.Of(keys.Command), m.Begin("")),
		screen.On(keys.Of(keys.Help), m.ShowHelp),
		screen.On(keys.Of(keys.Back).With("back: to the rows, from the search, to the whole time", ""), m.back),
		screen.On(keys.Of(keys.Suspend), screen.Suspend),
		screen.On(keys.Of(keys.Quit).With("quit", ""), screen.Quit),
		screen.On(keys.Of(keys.Interrupt), screen.Quit),
	}}
	simply := func(do func() tea.Cmd) func(string) tea.Cmd { return func(string) tea.Cmd { return do() } }
	add := m.Commands.Add
	add("at", "TIME", "move the cursor to a time since the start of the job, such as 1.5s", m.cmdAt)
	add("rank", "RANK", "move the cursor to a rank", m.cmdRank)
	add("search", "[WORDS]", "go to the next call whose function and communicator have these words; without words: end the search", m.cmdSearch)
	add("all", "", "show the whole time", simply(m.all))
	m.Commands.AddSaving("export", "FILE.csv|ndjson|pftrace", "write the calls and messages of the time and the ranks that are shown to a file; ui.perfetto.dev opens a .pftrace", prompt.Over, m.cmdExport)
	add("theme", "[NAME]", screen.ThemeHelp, m.Theme)
	add("pause", "", "pause or resume", simply(m.pause))
	add("messages", "", screen.MessagesHelp, simply(m.ShowMessages))
	add("help", "", "show keys and commands", simply(m.ShowHelp))
	add("quit", "", "quit", simply(screen.Quit))
}

func (m *Model) help() []keys.Section {
	return []keys.Section{m.timeKeys.Shown(true), m.rowKeys.Shown(true), m.commonKeys.Shown(true), m.Commands.Section(true)}
}

// Keys are all keys and commands of the screen.
func Keys() []keys.Section { return New(nil, term.Term{}).help() }

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if m.action != (Action{}) && name != "ctrl+c" && name != "q" { // it would not know its place
		m.kept = append(m.kept, msg)
		return nil
	}
	m.Note = ""
	if m.Mode == screen.Words && name != "ctrl+c" {
		return m.keySearch(name, msg.Text)
	}
	return m.Key(msg, m.timeKeys, m.rowKeys, m.commonKeys)
}

func (m *Model) keySearch(name, text string) tea.Cmd {
	switch name {
	case "enter":
		m.Mode, m.words = screen.Keys, m.Line.String()
		if m.words != "" {
			return m.act(Action{Step: 1, Words: m.words, First: true})
		}
	case "esc":
		m.Mode = screen.Keys
	default:
		m.Line.Key(name, text)
	}
	return nil
}

func (m *Model) all() tea.Cmd {
	m.whole = true
	return m.read(false)
}

func (m *Model) jump() tea.Cmd {
	if cmd, ok := m.toCause(); ok {
		return cmd
	}
	if !m.hasMessages() {
		return nil
	}
	return m.act(Action{Message: m.message + 1})
}

func (m *Model) switchPane() {
	m.inMessages = !m.inMessages && m.hasMessages()
}

// hasMessages says whether the call under the cursor has messages, also to the user if it has none.
func (m *Model) hasMessages() bool {
	if m.frame == nil || m.frame.Detail == nil || len(m.frame.Detail.Messages) == 0 {
		m.Say("the call under the cursor sent or received no message")
		return false
	}
	return true
}

func (m *Model) sortBy(step int) tea.Cmd {
	m.order, m.reverse = (m.order+Order(step))%orders, false
	m.Say("rows sorted by %s", [...]string{"rank", "time in MPI calls", "calls"}[m.order])
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
	if m.Paused = !m.Paused; m.Paused {
		return nil
	}
	return m.read(true)
}
