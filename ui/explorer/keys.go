package explorer

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen"
	"mpitx/ui/screen/keys"
)

// views are the parts of the explorer where a key has its effect.
type views uint8

const (
	inTree views = 1 << iota
	inList
	inDetails
	inWatch
	inChanges
	inFilter
	inLine // a line is being typed

	inPanes = inTree | inList | inDetails
	inAll   = inPanes | inWatch | inChanges
)

// The helps that differ without a back end or in a difference.
const (
	openHelp         = "go to the details; in the details: to the chosen related variable"
	settingHelp      = "copy the line that sets the variable, or all variables that are set, for the next run"
	valueHelp        = "copy the value"
	nextHelp         = "choose the next related variable"
	previousHelp     = "choose the previous related variable"
	starHelp         = "show the variables that users commonly tune, or everything again"
	categoryHelp     = "go to the variable's category"
	messagesHelp     = "show all messages, and the output of the library and the launcher"
	exportHelp       = "save the list, the samples while watching, or my changes, to a file"
	restartHelp      = "restart the back end: with what is set for the next run, or after a failure"
	filterHelp       = "set the filter, for example kind=pvar class=counter writable=yes; without arguments: open the filter bar"
	showHelp         = "go to a variable"
	snapshotHelp     = "save everything, for --from and mpitx show"
	saveHelp         = "save what the list shows; while watching: the samples; of my changes: FILE.sh or FILE.conf"
	snapshotOverHelp = "save everything; replaces a file that exists"
)

// section is the part of the key map that belongs to some views.
type section struct {
	in views
	screen.Section
}

// bindKeys makes the key map, in the order of the help. The help, the key tables of the manual page, and the lookup use it.
func (m *Model) bindKeys() {
	move := func(by int) func() tea.Cmd { return screen.Quiet(func() { m.move(by) }) }
	copies := func(what string) func() tea.Cmd { return func() tea.Cmd { return m.copy(what) } }
	own := func(help string, names ...string) keys.Key { return keys.Key{Names: names, Help: help} }
	as := func(id keys.ID, help string) keys.Key { return keys.Of(id).With(help, "") }
	right, left := screen.Quiet(m.right), screen.Quiet(m.left)
	m.sections = []section{
		{inTree, screen.Section{Title: "Keys in the tree", Bindings: []screen.Binding{
			screen.On(own("open the branch, or go to its variables", "l", "right", "enter"), right),
			screen.On(own("close the branch, or go to the one above it", "h", "left"), left),
		}}},
		{inList | inDetails, screen.Section{Title: "Keys in the list and the details", Bindings: []screen.Binding{
			screen.On(own("go to the details", "l", "right"), right),
			screen.On(own(openHelp, "enter"), screen.Quiet(m.open)),
			screen.On(own("go back to the list, then to the tree", "h", "left"), left),
			screen.Live(keys.Of(keys.Edit), screen.Quiet(m.startEdit)),
			screen.On(own(settingHelp, "S"), copies("set")),
			screen.On(own("copy the name", "y"), copies("name")),
			screen.On(own(valueHelp, "Y"), copies("value")),
			screen.Live(own("pin the variable to watch it, or unpin it", "p"), m.togglePin),
			screen.On(own("set a bookmark, or remove it", "b"), m.toggleBookmark),
			screen.On(own(categoryHelp, "c"), screen.Quiet(m.toCategory)),
		}}},
		{inDetails, screen.Section{Title: "Keys in the details", Bindings: []screen.Binding{
			screen.On(own(nextHelp, "n"), screen.Quiet(func() { m.chooseLink(1) })),
			screen.On(own(previousHelp, "N"), screen.Quiet(func() { m.chooseLink(-1) })),
		}}},
		{inWatch, screen.Section{Title: "Keys while watching", Bindings: []screen.Binding{
			screen.Live(keys.Of(keys.Values), screen.Quiet(func() { m.show = (m.show + 1) % 4 })),
			screen.Live(own("show the sum of all ranks, or each rank", "s"), screen.Quiet(func() { m.ranks = !m.ranks })),
			screen.Live(keys.Of(keys.LogScale), screen.Quiet(func() { m.log10 = !m.log10 })),
			screen.Live(keys.Of(keys.Pause), m.pauseWatch),
			screen.Live(own("read more often", "+"), screen.Quiet(func() { m.pace(0.5) })),
			screen.Live(own("read less often", "-"), screen.Quiet(func() { m.pace(2) })),
			screen.Live(own("unpin the variable", "p", "P", "x"), screen.Quiet(m.unpinWatched)),
			screen.Live(own("back to the list", "esc", "q", "w", "h", "left"), screen.Quiet(m.endWatch)),
		}}},
		{inChanges, screen.Section{Title: "Keys in my changes", Bindings: []screen.Binding{
			screen.Live(own("undo the change, or do not set the variable for the next run", "u"), m.undoChange),
			screen.Live(own("go to the variable", "enter"), screen.Quiet(m.toChange)),
			screen.Live(own("show launcher options, an environment script or a parameter file", "tab"), screen.Quiet(func() { m.turnForm(1) })),
			screen.Live(own("show the previous form", "shift+tab"), screen.Quiet(func() { m.turnForm(-1) })),
			screen.Live(own("copy what is shown for the next run", "y"), m.copyChanges),
			screen.Live(own("back to the list", "esc", "q", "C", "h", "left"), screen.Quiet(m.closeChanges)),
		}}},
		{inPanes, screen.Section{Title: "Keys in all panes", Bindings: []screen.Binding{
			screen.On(keys.Of(keys.NextPane), screen.Quiet(func() { m.focus = (m.focus + 1) % panes })),
			screen.On(keys.Of(keys.PreviousPane), screen.Quiet(func() { m.focus = (m.focus + panes - 1) % panes })),
			screen.On(keys.Of(keys.Zoom), screen.Quiet(func() { m.zoom = !m.zoom })),
			screen.On(as(keys.Search, "search names, descriptions and purposes, also by words near in meaning"), screen.Quiet(m.startSearch)),
			screen.On(as(keys.Back, "end the search"), screen.Quiet(m.endSearch)),
			screen.On(own("open the filter bar", "f"), screen.Quiet(func() { m.mode, m.focus = modeFilter, paneList })),
			screen.On(keys.Of(keys.ClearFilter), screen.Quiet(m.noFilter)),
			screen.On(own("back to the previous place", "[", "ctrl+o"), screen.Quiet(func() { m.travel(-1) })),
			screen.On(own("forward to the next place", "]"), screen.Quiet(func() { m.travel(1) })),
			screen.Live(as(keys.Read, "read the variables on the screen again"), m.readShown),
			screen.On(own("show the bookmarks, or everything again", "B"), screen.Quiet(m.showBookmarks)),
			screen.On(own(starHelp, "*"), screen.Quiet(m.showEssentials)),
			screen.Live(own("undo the last write", "u"), m.undo),
			screen.Live(own("show my changes and what is set for the next run: undo or export them", "C"), screen.Quiet(m.openChanges)),
			screen.Live(own("watch the pinned variables", "w"), m.startWatch),
			screen.On(as(keys.Quit, "quit"), screen.Quit),
		}}},
		{inAll, screen.Section{Title: "Keys everywhere", Bindings: []screen.Binding{
			screen.On(keys.Of(keys.Down), move(1)),
			screen.On(keys.Of(keys.Up), move(-1)),
			screen.On(keys.Of(keys.PageDown), screen.Quiet(func() { m.move(m.page()) })),
			screen.On(keys.Of(keys.PageUp), screen.Quiet(func() { m.move(-m.page()) })),
			screen.On(keys.Of(keys.First), move(-1<<30)),
			screen.On(keys.Of(keys.Last), move(1<<30)),
			screen.Live(own("run a workload", "W"), screen.Quiet(m.openWork)),
			screen.On(as(keys.Export, exportHelp), screen.Quiet(m.beginExport)),
			screen.On(as(keys.Messages, messagesHelp), m.showLog),
			screen.Live(as(keys.Restart, restartHelp), m.restart),
			screen.On(keys.Of(keys.Command), m.Begin("")),
			screen.On(keys.Of(keys.Help), m.showHelp),
			screen.On(keys.Of(keys.Suspend), screen.Suspend),
			screen.On(keys.Of(keys.Interrupt), screen.Quit),
		}}},
		{inFilter, screen.Section{Title: "Keys in the filter bar", Bindings: []screen.Binding{
			screen.On(own("previous field", "left", "h", "shift+tab"), screen.Quiet(func() { m.chooseField(-1) })),
			screen.On(own("next field", "right", "l", "tab"), screen.Quiet(func() { m.chooseField(1) })),
			screen.On(own("next value", "down", "j", "space"), screen.Quiet(func() { m.turnField(1) })),
			screen.On(own("previous value", "up", "k"), screen.Quiet(func() { m.turnField(-1) })),
			screen.On(own("any value", "x", "backspace", "delete"), screen.Quiet(m.clearField)),
			screen.On(own("an earlier filter", "r"), screen.Quiet(m.recentFilter)),
			screen.On(as(keys.ClearFilter, "any value of all fields"), screen.Quiet(m.noFilter)),
			screen.On(keys.Of(keys.Help), m.showHelp),
			screen.On(own("close the filter bar and keep the filter", "esc", "enter", "q", "f"), screen.Quiet(m.closeFilter)),
		}}},
		{inLine, screen.Section{Title: "Keys in the search and the command line", Bindings: []screen.Binding{
			screen.On(own("take the line", "enter"), nil),
			screen.On(own("leave; a search ends, and the list is as before", "esc"), nil),
			screen.On(own("move in the list; in the command line: earlier commands", "up", "down"), nil),
			screen.On(own("earlier and later searches or commands", "ctrl+p", "ctrl+n"), nil),
			screen.On(own("complete a command, a variable, a field or a value", "tab"), nil),
			screen.On(own("to the beginning, to the end", "ctrl+a", "ctrl+e"), nil),
			screen.On(own("delete to the beginning, to the end, the last word", "ctrl+u", "ctrl+k", "ctrl+w"), nil),
		}}},
	}
}

// view is where a key goes now.
func (m *Model) view() views {
	switch {
	case m.mode == modeFilter:
		return inFilter
	case m.mode == modeWatch:
		return inWatch
	case m.mode == modeChanges:
		return inChanges
	}
	return [...]views{paneTree: inTree, paneList: inList, paneDetails: inDetails}[m.focus]
}

func (m *Model) typing() bool {
	return m.Mode == screen.Command || m.mode == modeSearch || m.mode == modeEdit || m.mode == modeRanks || m.mode == modeSet
}

// key handles a key press; text is what the key types, if it types something.
func (m *Model) key(key, text string) tea.Cmd {
	switch key { // in every mode
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "R": // also over a dialog: the last line of the screen offers it
		if m.broken() && m.o.Start != nil && !m.typing() {
			m.Note = ""
			return m.restart()
		}
	}
	if m.x == nil && m.mode == m.ground() && m.Text == nil {
		switch key {
		case "q":
			return tea.Quit
		case "?", "L", "R":
			return m.press(key)
		}
		if m.failed == "" && len(m.early) < maxEarly {
			m.early = append(m.early, [2]string{key, text})
		}
		return nil
	}
	if key == "enter" && m.statusCut() && !m.typing() {
		return m.showLog()
	}
	m.Note = ""
	switch {
	case m.Mode == screen.Command:
		cmd, err := m.KeyCommand(key, text)
		if err != nil {
			m.showError("%v", err)
		}
		return cmd
	case m.Text != nil:
		return m.keyText(key)
	}
	switch m.mode {
	case modeSearch:
		return m.keySearch(key, text)
	case modeEdit, modePick, modeConfirm, modeRanks, modeSet, modeOutcome:
		return m.keyEdit(key, text)
	case modeWork:
		return m.keyWork(key)
	}
	return m.press(key)
}

const maxEarly = 100 // keys

// pressEarly presses the keys of before the catalog was there.
func (m *Model) pressEarly() tea.Cmd {
	var all []tea.Cmd
	for early := m.early; m.x != nil && len(early) > 0; early = early[1:] {
		all = append(all, m.key(early[0][0], early[0][1]))
	}
	m.early = nil
	return tea.Batch(all...)
}

func (m *Model) press(key string) tea.Cmd {
	in := m.view()
	for _, s := range m.sections {
		if s.in&in == 0 {
			continue
		}
		for _, b := range s.Bindings {
			if !b.Has(key) {
				continue
			}
			if b.Live && m.o.Start == nil {
				m.note("%s: needs a live MPI, and this is %s", b.Help, m.offline())
				return nil
			}
			if s.in == inList|inDetails { // what the user acts on is chosen
				m.choose()
				m.found = ""
			}
			return b.Do()
		}
	}
	return nil
}

// page is the height of the pane that has the focus, less one line.
func (m *Model) page() int {
	l := m.layout()
	switch {
	case m.mode == modeWatch:
		return max(m.watchRows(l.body)-1, 1)
	case m.focus == paneTree:
		return max(l.body-1, 1)
	case m.focus == paneDetails:
		return max(l.detailH-1, 1)
	}
	return max(l.listH-2, 1)
}

func (m *Model) move(by int) {
	switch {
	case m.mode == modeWatch:
		m.at.move(by, len(m.watching.list))
	case m.mode == modeChanges:
		m.changes.at.move(by, len(m.changeList()))
	case m.focus == paneTree:
		m.tree.move(by, len(m.rows))
		m.query = ""
		m.branch = m.rows[m.tree.at]
		m.refill()
	case m.focus == paneDetails:
		m.detail.at = max(0, m.detail.at+by)
	default:
		m.list.move(by, len(m.shown))
		m.choose()
	}
}

func (m *Model) right() {
	if m.focus != paneTree {
		m.focus = min(m.focus+1, panes-1)
		return
	}
	b := m.rows[m.tree.at]
	switch {
	case b.ref != nil:
		m.leave()
		m.enter(b.ref)
	case len(b.kids) > 0 && !b.open:
		b.open = true
		m.listTree()
	default:
		m.focus = paneList
	}
}

func (m *Model) left() {
	if m.focus != paneTree {
		m.focus--
		return
	}
	b := m.rows[m.tree.at]
	switch {
	case b.open && len(b.kids) > 0 && b.parent != nil:
		b.open = false
		m.listTree()
	case b.parent != nil:
		m.enter(b.parent)
	}
}

func (m *Model) toCategory() {
	e := m.current()
	if e == nil {
		return
	}
	b := m.x.holder(m.x.byID[e.v.ID()])
	if b == nil {
		m.note("%s is in no category", e.name)
		return
	}
	m.leave()
	m.query = ""
	m.enter(b)
	if m.current() != e {
		m.showError("the filter hides %s here: F clears it", e.name)
	}
}

// ground is the mode under dialogs, help and typed lines.
func (m *Model) ground() mode {
	if m.watchOpen {
		return modeWatch
	}
	if m.changes.open {
		return modeChanges
	}
	return modeNormal
}
