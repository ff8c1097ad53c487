package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"mpitx/ui/pager"
	"mpitx/ui/prompt"
	"mpitx/ui/term"
)

// binding is a key and what it does; the help is made from it.
type binding struct {
	keys []string
	help string
	live bool // of use with a back end only
	do   func(m *Model) tea.Cmd
}

// bindings are the keys of the explorer while nothing is being typed, in the order of the help.
var bindings []binding

func init() {
	quiet := func(do func(m *Model)) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { do(m); return nil } }
	move := func(by int) func(*Model) tea.Cmd { return quiet(func(m *Model) { m.move(by) }) }
	bindings = []binding{
		{[]string{"j", "down"}, "down", false, move(1)},
		{[]string{"k", "up"}, "up", false, move(-1)},
		{[]string{"ctrl+d", "pgdown", "space"}, "a page down", false, quiet(func(m *Model) { m.move(m.page()) })},
		{[]string{"ctrl+u", "pgup"}, "a page up", false, quiet(func(m *Model) { m.move(-m.page()) })},
		{[]string{"g", "home"}, "to the top", false, move(-1 << 30)},
		{[]string{"G", "end"}, "to the bottom", false, move(1 << 30)},
		{[]string{"tab"}, "next pane", false, quiet(func(m *Model) { m.focus = (m.focus + 1) % panes })},
		{[]string{"shift+tab"}, "previous pane", false, quiet(func(m *Model) { m.focus = (m.focus + panes - 1) % panes })},
		{[]string{"z"}, "zoom: this pane alone, or all", false, quiet(func(m *Model) { m.zoom = !m.zoom })},
		{[]string{"l", "right", "enter"}, "unfold a branch, go to its variables, to the details", false, quiet((*Model).right)},
		{[]string{"h", "left"}, "fold a branch, go back to the tree", false, quiet((*Model).left)},
		{[]string{"/"}, "search names and descriptions", false, quiet((*Model).startSearch)},
		{[]string{"f"}, "filter bar", false, quiet(func(m *Model) { m.mode, m.focus = modeFilter, paneList })},
		{[]string{"F"}, "no filter", false, quiet((*Model).noFilter)},
		{[]string{"esc"}, "end the search", false, quiet((*Model).endSearch)},
		{[]string{"c"}, "to the variable's category; [ goes back", false, quiet((*Model).toCategory)},
		{[]string{"[", "ctrl+o"}, "back to where you were", false, quiet(func(m *Model) { m.travel(-1) })},
		{[]string{"]"}, "forward again", false, quiet(func(m *Model) { m.travel(1) })},
		{[]string{"y"}, "copy the name", false, func(m *Model) tea.Cmd { return m.copy("name") }},
		{[]string{"Y"}, "copy the value", false, func(m *Model) tea.Cmd { return m.copy("value") }},
		{[]string{"S"}, "copy the line that sets it for the next run", false, func(m *Model) tea.Cmd { return m.copy("set") }},
		{[]string{"r"}, "read again what is on the screen", true, (*Model).readShown},
		{[]string{"e"}, "edit the control variable", true, quiet((*Model).startEdit)},
		{[]string{"u"}, "undo the last write", true, (*Model).undo},
		{[]string{"p"}, "pin or unpin, to watch it", true, (*Model).togglePin},
		{[]string{"w"}, "watch what is pinned", true, (*Model).startWatch},
		{[]string{"W"}, "run a workload", true, quiet(func(m *Model) { m.mode = modeWork })},
		{[]string{"L"}, "what the library and the launcher printed", true, quiet(func(m *Model) { m.mode, m.help = modeLog, pager.New() })},
		{[]string{"R"}, "restart the back end that was lost", true, (*Model).restart},
		{[]string{":"}, "command line (:help lists the commands)", false, quiet(func(m *Model) { m.mode, m.line = modeCommand, prompt.Line{} })},
		{[]string{"?"}, "this help", false, quiet(func(m *Model) { m.mode, m.help = modeHelp, pager.New() })},
		{[]string{"ctrl+z"}, "suspend; the shell's fg resumes", false, func(*Model) tea.Cmd { return tea.Suspend }},
		{[]string{"q", "ctrl+c"}, "quit", false, func(*Model) tea.Cmd { return tea.Quit }},
	}
}

func (m *Model) typing() bool {
	return m.mode == modeSearch || m.mode == modeCommand || m.mode == modeEdit || m.mode == modeRanks
}

// key handles a key press: text is what it types, where it does.
func (m *Model) key(key, text string) tea.Cmd {
	switch key { // whatever is being done
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "R": // over any dialog: the line at the foot says that it restarts
		if m.broken() && m.o.Start != nil && !m.typing() {
			m.status = ""
			return m.restart()
		}
	}
	if m.x == nil && m.mode == modeNormal && !slices.Contains([]string{"q", "?", "R", "L"}, key) {
		return nil
	}
	m.status = ""
	switch m.mode {
	case modeSearch:
		return m.keySearch(key, text)
	case modeCommand:
		return m.keyCommand(key, text)
	case modeFilter:
		m.keyFilter(key)
		return nil
	case modeHelp, modeLog:
		if !m.help.Key(key) {
			m.mode = m.ground()
		}
		return nil
	case modeEdit, modePick, modeConfirm, modeRanks, modeOutcome:
		return m.keyEdit(key, text)
	case modeWatch:
		return m.keyWatch(key)
	case modeWork:
		return m.keyWork(key)
	}
	for i := range bindings {
		b := &bindings[i]
		if !slices.Contains(b.keys, key) {
			continue
		}
		if b.live && m.o.Start == nil {
			m.complain("%s: needs a live MPI, and this is a snapshot: start mpitx tui without --from", b.help)
			return nil
		}
		return b.do(m)
	}
	return nil
}

// page is the height of the pane that has the focus, less a line that stays.
func (m *Model) page() int {
	l := m.layout()
	switch m.focus {
	case paneTree:
		return max(l.body-1, 1)
	case paneDetails:
		return max(l.detailH-1, 1)
	}
	return max(l.listH-1, 1)
}

func (m *Model) move(by int) {
	switch m.focus {
	case paneTree:
		m.tree.at += by
		m.tree.clamp(len(m.rows))
		m.query = ""
		m.branch = m.rows[m.tree.at]
		m.list = scroll{}
		m.refill()
	case paneDetails:
		m.detail.at = max(0, m.detail.at+by)
	default:
		m.list.at += by
		m.list.clamp(len(m.shown))
		m.detail = scroll{}
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
		m.rows = m.x.root.visible(m.rows[:0])
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
		m.rows = m.x.root.visible(m.rows[:0])
	case b.parent != nil:
		m.enter(b.parent)
	}
}

func (m *Model) toCategory() {
	e := m.current()
	if e == nil {
		return
	}
	b := m.x.root.holder(m.x.byID[e.v.ID()])
	if b == nil {
		m.complain("%s is in no category", e.name)
		return
	}
	id := e.v.ID()
	m.leave()
	m.query = ""
	m.enter(b)
	if !m.point(id) {
		m.complain("the filter hides %s here: F ends it", e.name)
	}
}

// ---- search and filter ----

func (m *Model) startSearch() {
	m.mode, m.before, m.line, m.focus = modeSearch, m.query, prompt.New(m.query), paneList
	m.leave()
}

func (m *Model) endSearch() {
	if m.query == "" {
		return
	}
	id := m.here().id
	m.query = ""
	m.list = scroll{}
	m.refill()
	m.point(id)
}

func (m *Model) keySearch(key, text string) tea.Cmd {
	switch key {
	case "enter":
		m.mode = modeNormal
	case "esc":
		m.mode, m.query = modeNormal, m.before
		m.list = scroll{}
		m.refill()
	case "down", "ctrl+n":
		m.move(1)
	case "up", "ctrl+p":
		m.move(-1)
	default:
		if m.line.Key(key, text) {
			m.typed()
		}
	}
	return nil
}

// typed follows what was typed, or pasted, into the line.
func (m *Model) typed() {
	switch m.mode {
	case modeSearch:
		if q := m.line.String(); q != m.query {
			m.query = q
			m.list = scroll{}
			m.refill()
		}
	case modeEdit:
		m.validate()
	case modeRanks:
		m.validRanks()
	}
}

func (m *Model) noFilter() {
	for i := range m.criteria {
		m.criteria[i].now = 0
	}
	m.refill()
}

func (m *Model) keyFilter(key string) {
	c := &m.criteria[m.field]
	n := len(c.values)
	switch key {
	case "left", "h", "shift+tab":
		m.field = (m.field + len(m.criteria) - 1) % len(m.criteria)
	case "right", "l", "tab":
		m.field = (m.field + 1) % len(m.criteria)
	case "down", "j", "space":
		c.now = (c.now + 1) % n
	case "up", "k":
		c.now = (c.now + n - 1) % n
	case "x", "backspace", "delete":
		c.now = 0
	case "F":
		m.noFilter()
	case "esc", "enter", "q", "f":
		m.mode = modeNormal
	}
	m.list = scroll{}
	m.refill()
}

// ground is the mode to come back to from what is opened over it.
func (m *Model) ground() mode {
	if m.watchOpen {
		return modeWatch
	}
	return modeNormal
}

// helpLines are made from the key map, for the width of the screen.
func (m *Model) helpLines() []string {
	live := m.o.Start != nil
	bold := term.Style{Bold: true}
	lines := []string{}
	section := func(title string) {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, " "+m.t.Paint(bold, title), "")
	}
	warning := []string{}
	if m.o.Warning != "" {
		section("Warning")
		warning, lines = append(append(lines, m.wrapped(m.o.Warning, m.w, term.Style{})...), ""), nil
	}
	if live {
		section("Keys while watching (w)")
		for _, k := range watchKeys {
			lines = append(lines, m.explained(k[0], k[1])...)
		}
	}
	keys := []string{}
	for _, b := range bindings {
		if !b.live || live {
			keys = append(keys, m.explained(strings.Join(b.keys, "  "), b.help)...)
		}
	}
	if watching := lines; m.watchOpen { // what is of use now comes first
		section("Keys elsewhere")
		lines = append(lines, keys...)
	} else {
		lines = nil
		section("Keys")
		if lines = append(lines, keys...); len(watching) > 0 {
			lines = append(append(lines, ""), watching...)
		}
	}
	section("Marks")
	for _, mark := range markHelp {
		sign := mark[1]
		if m.t.UTF8 {
			sign = mark[0]
		}
		lines = append(lines, m.explained(sign, mark[2])...)
	}
	section("Commands")
	for _, c := range commands {
		if !c.live || live {
			lines = append(lines, m.explained(strings.TrimSpace(":"+c.name+" "+c.args), c.help)...)
		}
	}
	lines = append(append(warning, lines...), "")
	return append(lines, m.inLines("The mouse chooses rows and turns pages. Keys that do not scroll close this help.", m.w, term.Style{})...)
}

// explained is a key or a command with what it does, on as many lines as that takes.
func (m *Model) explained(what, help string) []string {
	indent := min(24, m.w/2-2)
	lines := term.Wrap(help, max(m.w-indent-3, 10))
	if term.Width(what)+2 > indent {
		lines = append([]string{""}, lines...)
	}
	for i := range lines {
		lines[i] = "  " + term.Pad(what, indent) + lines[i]
		what = ""
	}
	return lines
}
