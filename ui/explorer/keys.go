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

type binding struct {
	keys.Key
	live bool // needs a back end
	do   func(m *Model) tea.Cmd
}

// The helps that differ without a back end or in a difference.
const (
	openHelp         = "go to the details; in the details: to the chosen related variable"
	settingHelp      = "copy the line that sets the variable for the next run"
	valueHelp        = "copy the value"
	nextHelp         = "choose the next related variable"
	previousHelp     = "choose the previous related variable"
	starHelp         = "show the variables that users commonly tune, or everything again"
	categoryHelp     = "go to the variable's category"
	messagesHelp     = "show all messages, and the output of the library and the launcher"
	exportHelp       = "save the list, the samples while watching, or my changes, to a file"
	filterHelp       = "set the filter, for example kind=pvar class=counter writable=yes; without arguments: open the filter bar"
	showHelp         = "go to a variable"
	snapshotHelp     = "save everything, for --from and mpitx show"
	saveHelp         = "save what the list shows; while watching: the samples; of my changes: FILE.sh or FILE.conf"
	snapshotOverHelp = "save everything; replaces a file that exists"
)

// section is the part of the key map that belongs to some views.
type section struct {
	title string
	in    views
	list  []binding
}

// sections are the explorer's keys, in the order of the help. The help, the key tables of the manual page, and the lookup use them.
// init fills them in, since the help is one of the actions.
var sections []section

func init() {
	quiet := func(do func(m *Model)) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { do(m); return nil } }
	move := func(by int) func(*Model) tea.Cmd { return quiet(func(m *Model) { m.move(by) }) }
	copies := func(what string) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.copy(what) } }
	own := func(help string, names ...string) keys.Key { return keys.Key{Names: names, Help: help} }
	as := func(id keys.ID, help string) keys.Key { return keys.Of(id).With(help, "") }
	right, left, help := quiet((*Model).right), quiet((*Model).left), (*Model).showHelp
	sections = []section{
		{"Keys in the tree", inTree, []binding{
			{own("open the branch, or go to its variables", "l", "right", "enter"), false, right},
			{own("close the branch, or go to the one above it", "h", "left"), false, left},
		}},
		{"Keys in the list and the details", inList | inDetails, []binding{
			{own("go to the details", "l", "right"), false, right},
			{own(openHelp, "enter"), false, quiet((*Model).open)},
			{own("go back to the list, then to the tree", "h", "left"), false, left},
			{keys.Of(keys.Edit), true, quiet((*Model).startEdit)},
			{own(settingHelp, "S"), false, copies("set")},
			{own("copy the name", "y"), false, copies("name")},
			{own(valueHelp, "Y"), false, copies("value")},
			{own("pin the variable to watch it, or unpin it", "p"), true, (*Model).togglePin},
			{own("set a bookmark, or remove it", "b"), false, (*Model).toggleBookmark},
			{own(categoryHelp, "c"), false, quiet((*Model).toCategory)},
		}},
		{"Keys in the details", inDetails, []binding{
			{own(nextHelp, "n"), false, quiet(func(m *Model) { m.chooseLink(1) })},
			{own(previousHelp, "N"), false, quiet(func(m *Model) { m.chooseLink(-1) })},
		}},
		{"Keys while watching", inWatch, []binding{
			{keys.Of(keys.Values), true, quiet(func(m *Model) { m.show = (m.show + 1) % 4 })},
			{own("show the sum of all ranks, or each rank", "s"), true, quiet(func(m *Model) { m.ranks = !m.ranks })},
			{keys.Of(keys.LogScale), true, quiet(func(m *Model) { m.log10 = !m.log10 })},
			{keys.Of(keys.Pause), true, (*Model).pauseWatch},
			{own("read more often", "+"), true, quiet(func(m *Model) { m.pace(0.5) })},
			{own("read less often", "-"), true, quiet(func(m *Model) { m.pace(2) })},
			{own("unpin the variable", "p", "P", "x"), true, quiet((*Model).unpinWatched)},
			{own("back to the list", "esc", "q", "w", "h", "left"), true, quiet((*Model).endWatch)},
		}},
		{"Keys in my changes", inChanges, []binding{
			{own("undo the change", "u"), true, (*Model).undoChange},
			{own("go to the variable", "enter"), true, quiet((*Model).toChange)},
			{own("show launcher options, an environment script or a parameter file", "tab"), true, quiet(func(m *Model) { m.turnForm(1) })},
			{own("show the previous form", "shift+tab"), true, quiet(func(m *Model) { m.turnForm(-1) })},
			{own("copy what is shown for the next run", "y"), true, (*Model).copyChanges},
			{own("back to the list", "esc", "q", "C", "h", "left"), true, quiet((*Model).closeChanges)},
		}},
		{"Keys in all panes", inPanes, []binding{
			{keys.Of(keys.NextPane), false, quiet(func(m *Model) { m.focus = (m.focus + 1) % panes })},
			{keys.Of(keys.PreviousPane), false, quiet(func(m *Model) { m.focus = (m.focus + panes - 1) % panes })},
			{keys.Of(keys.Zoom), false, quiet(func(m *Model) { m.zoom = !m.zoom })},
			{as(keys.Search, "search names and descriptions"), false, quiet((*Model).startSearch)},
			{as(keys.Back, "end the search"), false, quiet((*Model).endSearch)},
			{own("open the filter bar", "f"), false, quiet(func(m *Model) { m.mode, m.focus = modeFilter, paneList })},
			{keys.Of(keys.ClearFilter), false, quiet((*Model).noFilter)},
			{own("back to the previous place", "[", "ctrl+o"), false, quiet(func(m *Model) { m.travel(-1) })},
			{own("forward to the next place", "]"), false, quiet(func(m *Model) { m.travel(1) })},
			{as(keys.Read, "read the variables on the screen again"), true, (*Model).readShown},
			{own("show the bookmarks, or everything again", "B"), false, quiet((*Model).showBookmarks)},
			{own(starHelp, "*"), false, quiet((*Model).showEssentials)},
			{own("undo the last write", "u"), true, (*Model).undo},
			{own("show my changes: undo or export them", "C"), true, quiet((*Model).openChanges)},
			{own("watch the pinned variables", "w"), true, (*Model).startWatch},
			{as(keys.Quit, "quit"), false, func(*Model) tea.Cmd { return tea.Quit }},
		}},
		{"Keys everywhere", inAll, []binding{
			{keys.Of(keys.Down), false, move(1)},
			{keys.Of(keys.Up), false, move(-1)},
			{keys.Of(keys.PageDown), false, quiet(func(m *Model) { m.move(m.page()) })},
			{keys.Of(keys.PageUp), false, quiet(func(m *Model) { m.move(-m.page()) })},
			{keys.Of(keys.First), false, move(-1 << 30)},
			{keys.Of(keys.Last), false, move(1 << 30)},
			{own("run a workload", "W"), true, quiet((*Model).openWork)},
			{as(keys.Export, exportHelp), false, quiet((*Model).beginExport)},
			{as(keys.Messages, messagesHelp), false, (*Model).showLog},
			{as(keys.Restart, "restart the back end after a failure"), true, (*Model).restart},
			{keys.Of(keys.Command), false, func(m *Model) tea.Cmd { return m.Begin("")() }},
			{keys.Of(keys.Help), false, help},
			{keys.Of(keys.Suspend), false, func(*Model) tea.Cmd { return tea.Suspend }},
			{keys.Of(keys.Interrupt), false, func(*Model) tea.Cmd { return tea.Quit }},
		}},
		{"Keys in the filter bar", inFilter, []binding{
			{own("previous field", "left", "h", "shift+tab"), false, quiet(func(m *Model) { m.chooseField(-1) })},
			{own("next field", "right", "l", "tab"), false, quiet(func(m *Model) { m.chooseField(1) })},
			{own("next value", "down", "j", "space"), false, quiet(func(m *Model) { m.turnField(1) })},
			{own("previous value", "up", "k"), false, quiet(func(m *Model) { m.turnField(-1) })},
			{own("any value", "x", "backspace", "delete"), false, quiet((*Model).clearField)},
			{own("an earlier filter", "r"), false, quiet((*Model).recentFilter)},
			{as(keys.ClearFilter, "any value of all fields"), false, quiet((*Model).noFilter)},
			{keys.Of(keys.Help), false, help},
			{own("close the filter bar and keep the filter", "esc", "enter", "q", "f"), false, quiet((*Model).closeFilter)},
		}},
		{"Keys in the search and the command line", inLine, []binding{
			{Key: own("take the line", "enter")},
			{Key: own("leave; a search ends, and the list is as before", "esc")},
			{Key: own("move in the list; in the command line: earlier commands", "up", "down")},
			{Key: own("earlier and later searches or commands", "ctrl+p", "ctrl+n")},
			{Key: own("complete a command, a variable, a field or a value", "tab")},
			{Key: own("to the beginning, to the end", "ctrl+a", "ctrl+e")},
			{Key: own("delete to the beginning, to the end, the last word", "ctrl+u", "ctrl+k", "ctrl+w")},
		}},
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
	for i := range sections {
		if sections[i].in&in == 0 {
			continue
		}
		for k := range sections[i].list {
			b := &sections[i].list[k]
			if !b.Has(key) {
				continue
			}
			if b.live && m.o.Start == nil {
				m.note("%s: needs a live MPI, and this is %s", b.Help, m.offline())
				return nil
			}
			if sections[i].in == inList|inDetails { // what the user acts on is chosen
				m.choose()
				m.found = ""
			}
			return b.do(m)
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
		m.changes.at.move(by, len(m.edits()))
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
