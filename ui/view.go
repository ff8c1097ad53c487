package ui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"mpitx/ui/keys"
	"mpitx/ui/program"
	"mpitx/ui/term"
)

// The smallest usable terminal.
const minWidth, minHeight = 40, 10

// layout holds the places of the panes. The body is between the head and the footer.
type layout struct {
	alone               bool // the pane that has the focus has all of the body
	top                 int  // the body's first line on the screen
	body                int  // height
	treeW               int
	listX, listW, listH int
	detailX, detailY    int
	detailW, detailH    int
	right               bool // the details are right of the list, else below it
}

const (
	narrowDiff  = 100 // the width up to which the tree of a difference is narrow
	narrowTree  = 17
	withPanes   = 60 // the width from which there is more than one pane
	withBoth    = 10 // the height of the body from which list and details are below each other
	detailWidth = 44 // of details to the right of the list, at least
)

func (m *Model) layout() layout {
	l := layout{top: m.head()}
	l.body = m.h - l.top - 1
	if m.zoom || m.w < withPanes {
		l.alone = true
		l.treeW, l.listW, l.detailW = m.w, m.w, m.w
		l.listH, l.detailH, l.detailY = l.body, l.body, l.top
		return l
	}
	l.treeW = min(max(m.w*22/100, 20), 36)
	if m.o.Diff != nil && m.w <= narrowDiff { // names are more important
		l.treeW = narrowTree
	}
	l.listX = l.treeW + 1
	if full := fullWidth(m.x); m.w-l.listX-full-1 >= detailWidth { // the details do not take the list's columns
		l.right = true
		l.detailW = min(m.w-l.listX-full-1, max(m.w*32/100, detailWidth), 84)
		l.listW = m.w - l.listX - l.detailW - 1
		l.listH, l.detailH = l.body, l.body
		l.detailX, l.detailY = l.listX+l.listW+1, l.top
		return l
	}
	l.listW, l.detailW = m.w-l.listX, m.w-l.listX
	l.detailX = l.listX
	switch {
	case l.body >= withBoth:
		l.detailH = min(max(l.body*2/5, 4), 16)
		l.listH = l.body - l.detailH - 1
		l.detailY = l.top + l.listH + 1
	case m.focus == paneDetails:
		l.detailH, l.detailY = l.body, l.top
	default:
		l.listH = l.body
	}
	return l
}

// pane finds the pane at a place on the screen.
func (m *Model) pane(l *layout, x, y int) pane {
	switch {
	case l.alone:
		return m.focus
	case x < l.treeW:
		return paneTree
	case x < l.listX+l.listW && y-l.top < l.listH:
		return paneList
	}
	return paneDetails
}

// View draws the screen.
func (m *Model) View() tea.View {
	return program.View(m.t, strings.Join(m.frame(), "\n"), "mpitx "+m.source(80))
}

// frame draws the screen, in exactly m.h lines.
func (m *Model) frame() []string {
	if m.w < minWidth || m.h < minHeight {
		return m.small()
	}
	lines := make([]string, 0, m.h)
	lines = append(append(append(lines, m.title()), m.banner()...), m.second())
	height := m.h - len(lines) - 1
	switch {
	case m.mode == modeHelp:
		lines = append(lines, m.text.Lines(m.helpLines(), m.w, height)...)
	case m.mode == modeLog:
		lines = append(lines, m.text.Lines(m.logLines(), m.w, height)...)
	case m.x == nil:
		lines = append(lines, m.waiting(height)...)
	case m.watchOpen:
		lines = append(lines, m.watchView(m.w, height)...)
	case m.changes.open:
		lines = append(lines, m.changesFrame(m.w, height)...)
	default:
		lines = append(lines, m.body()...)
	}
	if box := m.box(); box != nil {
		lines = m.overlay(lines, box)
	}
	bottom := m.bottom()
	return append(lines[:m.h-len(bottom)], bottom...)
}

// head is the number of lines above the body.
func (m *Model) head() int { return 2 + len(m.banner()) }

// banner reports, in every view, that MPI is not available. Otherwise it has no lines.
func (m *Model) banner() []string {
	why := m.frozen()
	if why == "" {
		return nil
	}
	if said := initReason(m.log); said != "" {
		why = said
	}
	text := "MPI is not available, read-only (R restarts, L shows more): " + why
	if m.o.Start == nil {
		text = "no values from after MPI_Init in this snapshot (L shows more): " + why
	}
	lines := term.Wrap(m.t.SafeLine(text, maxMessage), m.w-2)
	if most := max(1, min(3, m.h/8)); len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	for i := range lines {
		lines[i] = m.t.Paint(term.Banner, m.t.Fit(" "+lines[i], m.w))
	}
	return lines
}

// small is the screen of a terminal that is too small.
func (m *Model) small() []string {
	if m.w == 0 {
		return nil // the size is not known yet
	}
	note := fmt.Sprintf("mpitx needs %dx%d cells; these are %dx%d. q quits.", minWidth, minHeight, m.w, m.h)
	lines := term.Wrap(note, max(m.w, 1))
	lines = lines[:min(len(lines), max(m.h, 1))]
	for i := range lines {
		lines[i] = m.t.Cut(lines[i], m.w)
	}
	return lines
}

func (m *Model) title() string {
	left := " mpitx  "
	if m.x != nil && m.o.Diff == nil {
		lib := m.x.cat.Library
		left += m.t.SafeLine(lib.Family, 20) + "  "
	}
	room := m.w / 2
	if m.o.Diff != nil {
		room = m.w - term.Width(left+m.diffTitle(0))
	}
	left += m.source(room)
	state := m.liveState()
	if state != "" {
		state = "  " + state + " "
	}
	right := state
	if m.x != nil && m.o.Diff != nil {
		right = m.diffTitle(m.w - term.Width(left))
	} else if m.x != nil {
		c := m.x.cat
		counts := fmt.Sprintf("  %d cvars  %d pvars", len(c.Cvars), len(c.Pvars))
		if n := c.Raised(); n > 0 {
			counts += fmt.Sprintf("  %d events", n)
		}
		if n := len(c.Virtual); n > 0 {
			counts += fmt.Sprintf("  %d mpitx:*", n)
		}
		for _, counts := range []string{counts + " ", "  " + m.x.countWords(m.x.all) + " ", "  " + plural(len(c.Cvars)+len(c.Pvars)+len(c.Virtual), "variable") + " "} { // as much as fits
			if term.Width(left)+term.Width(state)+term.Width(counts) <= m.w {
				right = strings.TrimSuffix(state, " ") + counts
				break
			}
		}
	}
	return m.t.Paint(term.Title, m.spread(left, right))
}

// source is what the explorer shows: a file or a job, or both sides of a difference.
func (m *Model) source(width int) string {
	if m.o.Diff == nil {
		return m.t.SafeLine(m.o.Source, width)
	}
	names := m.sideNames((width - 3) / 2)
	return names[0] + " " + m.arrow() + " " + names[1]
}

// spread puts text at both ends of a line.
func (m *Model) spread(left, right string) string {
	right = m.t.Cut(right, max(m.w*2/3, m.w-term.Width(left)))
	return m.t.Fit(left, m.w-term.Width(right)) + right
}

// second names what is shown below it, or holds the filter bar.
func (m *Model) second() string {
	accent := func(left, right string) string {
		return m.t.Paint(term.Place, m.spread(left, right))
	}
	switch {
	case m.mode == modeHelp:
		return accent(" help", "")
	case m.mode == modeLog:
		return accent(" messages and output", "")
	case m.x == nil:
		return strings.Repeat(" ", m.w)
	case m.mode == modeFilter:
		return m.filterBar()
	case m.watchOpen:
		return accent(" watching", fmt.Sprintf("%d of %d ", m.at.at+1, len(m.watching.list)))
	}
	if m.changes.open {
		return accent(" my changes in this session", m.changesPosition())
	}
	left := " " + m.t.SafeLine(m.branch.name, m.w/2)
	if m.query != "" {
		left = " search: " + m.t.SafeLine(m.query, m.w/2)
	}
	if f := filterText(m.criteria); f != "" {
		left += "   filter: " + m.t.SafeLine(f, m.w)
	} else if m.o.Diff != nil && m.query == "" {
		left += "   " + m.libraryWords()
	}
	return accent(left, m.position())
}

// position is the place of the list's cursor.
func (m *Model) position() string {
	if len(m.shown) == 0 {
		return " 0 shown "
	}
	return fmt.Sprintf(" %d of %d ", m.list.at+1, len(m.shown))
}

func (m *Model) filterBar() string {
	parts := []string{}
	from := 0
	place := m.position()
	width := m.w - len(place)
	for i, c := range m.criteria {
		s := c.name + "=" + m.t.SafeLine(c.values[c.now], 40)
		if i == m.field {
			s = "[" + s + "]"
		}
		parts = append(parts, s)
		for i == m.field && from < i && term.Width(strings.Join(parts[from:], " "))+1 > width {
			from++
		}
	}
	line := m.t.Fit(" "+strings.Join(parts[from:], " "), width) + place
	field := "[" + m.criteria[m.field].name + "="
	if i := strings.Index(line, field); i >= 0 {
		if j := strings.IndexByte(line[i:], ']'); j > 0 {
			return line[:i] + m.t.Paint(term.Cursor, line[i:i+j+1]) + line[i+j+1:]
		}
	}
	return line
}

// bottom is the footer: the line that is typed, or a message in up to four lines, or the keys.
func (m *Model) bottom() []string {
	switch {
	case m.mode == modeSearch:
		return []string{term.Pad("/"+m.line.Render(m.t, m.w-1), m.w)}
	case m.mode == modeCommand:
		return append(m.offered(), term.Pad(":"+m.line.Render(m.t, m.w-1), m.w))
	case m.status != "":
		lines, _ := m.statusLines()
		return lines
	}
	return []string{m.t.Fit(" "+keys.Footer(m.t, m.w-1, m.hints()...), m.w)}
}

// statusLines is the last message, and whether it is cut.
func (m *Model) statusLines() (lines []string, cut bool) {
	lines = term.Wrap(m.status, m.w-2)
	most, more := max(1, min(4, m.h-m.head()-3)), ""
	if cut = len(lines) > most; cut {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
		more = " (L: all) "
	}
	for i := range lines {
		end := ""
		if i == len(lines)-1 {
			end = more
		}
		lines[i] = m.t.Paint(m.style, m.t.Fit(" "+lines[i], m.w-len(end))+end)
	}
	return lines, cut
}

// statusCut says whether the message in the footer is cut.
func (m *Model) statusCut() bool {
	if m.status == "" || m.w == 0 {
		return false
	}
	_, cut := m.statusLines()
	return cut
}

// offered lists the completions of the command line.
func (m *Model) offered() []string {
	if len(m.offers) == 0 {
		return nil
	}
	lines := term.Wrap(m.t.SafeLine(strings.Join(m.offers, "  "), maxMessage), m.w-2)
	if most := max(1, min(4, m.h/5)); len(lines) > most {
		lines = append(lines[:most-1], m.t.Cut(lines[most-1], m.w-12)+" "+m.t.Ellipsis())
	}
	for i := range lines {
		lines[i] = m.t.Paint(term.Label, m.t.Fit(" "+lines[i], m.w))
	}
	return lines
}

func (m *Model) waiting(height int) []string {
	lines := []string{"", "  " + m.t.SafeLine(m.phase, m.w) + " ..."}
	if m.failed != "" {
		lines = append([]string{""}, term.Wrap(m.t.SafeText(m.failed), m.w-4)...)
		for i := range lines {
			lines[i] = "  " + lines[i]
		}
	}
	return m.block(lines, m.w, height)
}

// block cuts and fills lines to a size.
func (m *Model) block(lines []string, width, height int) []string {
	out := make([]string, height)
	for i := range out {
		if i < len(lines) {
			out[i] = m.t.Fit(lines[i], width)
		} else {
			out[i] = strings.Repeat(" ", width)
		}
	}
	return out
}

// body draws the tree, the list and the details.
func (m *Model) body() []string {
	l, g := m.layout(), m.t.Glyphs()
	if l.alone {
		return [...]func(int, int) []string{m.treeView, m.listView, m.detailView}[m.focus](m.w, l.body)
	}
	var right []string
	list, detail := []string{}, []string{}
	if l.listH > 0 {
		list = m.listView(l.listW, l.listH)
	}
	if l.detailH > 0 {
		detail = m.detailView(l.detailW, l.detailH)
	}
	muted := func(s string) string { return m.t.Paint(term.Label, s) }
	switch {
	case l.right:
		for i := range list {
			right = append(right, list[i]+muted(g.Bar)+detail[i])
		}
	case l.listH > 0 && l.detailH > 0:
		right = append(append(list, muted(strings.Repeat(g.Line, l.listW))), detail...)
	default:
		right = append(list, detail...)
	}
	if l.treeW == 0 {
		return right
	}
	tree := m.treeView(l.treeW, l.body)
	for i := range tree {
		tree[i] += muted(g.Bar) + right[i]
	}
	return tree
}

func (m *Model) treeView(width, height int) []string {
	m.tree.view(len(m.rows), height)
	lines := make([]string, 0, height)
	g := m.t.Glyphs()
	for i := m.tree.top; i < min(len(m.rows), m.tree.top+height); i++ {
		b := m.rows[i]
		sign := g.Leaf
		switch {
		case b.ref != nil:
			sign = g.Arrow
		case len(b.kids) > 0 && b.open:
			sign = g.Open
		case len(b.kids) > 0:
			sign = g.Closed
		}
		n := m.countOf(b)
		count := " " + strconv.Itoa(n)
		if n < 0 {
			count = " many"
		}
		indent := strings.Repeat(" ", min(b.depth, width/3))
		line := m.t.Fit(indent+sign+" "+m.t.SafeLine(b.label, width), max(width-len(count), 0)) + count
		s := term.Plain
		if i == m.tree.at && (m.query == "" || m.focus == paneTree) { // a search covers all branches
			s = term.Chosen(m.focus == paneTree)
		} else if b.category == nil || n == 0 {
			s = term.Label
		}
		lines = append(lines, m.t.Paint(s, line))
	}
	return m.block(lines, width, height)
}

// overlay puts a box over the middle of the screen.
func (m *Model) overlay(lines, box []string) []string {
	width := 0
	for _, s := range box {
		width = max(width, term.Width(s))
	}
	width = min(width, m.w-6)
	border := lipgloss.ASCIIBorder()
	if m.t.UTF8 {
		border = lipgloss.NormalBorder()
	}
	inside := strings.Join(m.block(box, width, min(len(box), max(len(lines)-3, 1))), "\n")
	drawn := strings.Split(lipgloss.NewStyle().Border(border).Padding(0, 1).Render(inside), "\n")
	top := max(1, (len(lines)-len(drawn)+1)/2)
	left := max(0, (m.w-width-4)/2)
	for i, s := range drawn {
		if top+i < len(lines) {
			under := lines[top+i]
			lines[top+i] = cutLeft(under, left) + s + cutRight(under, left+width+4)
		}
	}
	return lines
}

// click moves the cursor to the mouse.
func (m *Model) click(x, y int) tea.Cmd {
	l := m.layout()
	if m.mode == modeWatch {
		y -= l.top + watchTop
		if i := m.at.top + y; y >= 0 && i < len(m.watching.list) && y < m.watchRows(l.body) {
			m.at.at = i
		}
		return nil
	}
	if m.mode == modeChanges {
		m.clickChange(y - l.top)
		return nil
	}
	if m.x == nil || m.mode != modeNormal && m.mode != modeSearch || y < l.top {
		return nil
	}
	category := m.category()
	m.focus = m.pane(&l, x, y)
	y -= l.top
	switch m.focus {
	case paneTree:
		if i := m.tree.top + y; i < len(m.rows) {
			if i == m.tree.at {
				if len(m.rows[i].kids) > 0 && m.rows[i].parent != nil {
					m.rows[i].open = !m.rows[i].open
					m.listTree()
				}
				return nil
			}
			m.tree.at = i
			m.move(0)
		}
	case paneList:
		if i := m.list.top + y - 1; y > 0 && i < len(m.shown) {
			m.list.at = i
			m.choose()
		}
	case paneDetails:
		if category == nil {
			m.clickLink(m.detail.at + y - (l.detailY - l.top) - 1)
		}
	}
	return nil
}

func (m *Model) wheel(x, y int, up bool) {
	by := 3
	if up {
		by = -3
	}
	if m.mode == modeHelp || m.mode == modeLog {
		m.text.SetYOffset(m.text.YOffset() + by)
		return
	}
	if m.mode == modeWatch {
		m.at.at += by / 3
		m.at.clamp(len(m.watching.list))
	}
	if m.mode == modeChanges {
		m.moveChange(by / 3)
	}
	if m.x == nil || m.mode != modeNormal {
		return
	}
	l, was := m.layout(), m.focus
	m.focus = m.pane(&l, x, y)
	m.move(by)
	m.focus = was
}
