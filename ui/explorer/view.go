package explorer

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/program"
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
	l.body = m.Height - l.top - 1
	if m.zoom || m.Width < withPanes {
		l.alone = true
		l.treeW, l.listW, l.detailW = m.Width, m.Width, m.Width
		l.listH, l.detailH, l.detailY = l.body, l.body, l.top
		return l
	}
	l.treeW = min(max(m.Width*22/100, 20), 36)
	if m.o.Diff != nil && m.Width <= narrowDiff { // names are more important
		l.treeW = narrowTree
	}
	l.listX = l.treeW + 1
	if full := fullWidth(m.x); m.Width-l.listX-full-1 >= detailWidth { // the details do not take the list's columns
		l.right = true
		l.detailW = min(m.Width-l.listX-full-1, max(m.Width*32/100, detailWidth), 84)
		l.listW = m.Width - l.listX - l.detailW - 1
		l.listH, l.detailH = l.body, l.body
		l.detailX, l.detailY = l.listX+l.listW+1, l.top
		return l
	}
	l.listW, l.detailW = m.Width-l.listX, m.Width-l.listX
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

// View draws the screen.
func (m *Model) View() tea.View {
	return program.View(m.Terminal, strings.Join(m.frame(), "\n"), "mpitx "+m.source(80))
}

// frame draws the screen, in exactly m.Height lines.
func (m *Model) frame() []string {
	if m.Width < minWidth || m.Height < minHeight {
		return m.small()
	}
	lines := make([]string, 0, m.Height)
	lines = append(append(append(lines, m.title()), m.banner()...), m.second())
	height := m.Height - len(lines) - 1
	switch {
	case m.Text != nil:
		lines = append(lines, m.Pager.Lines(m.Text(), m.Width, height)...)
	case m.x == nil:
		lines = append(lines, m.waiting(height)...)
	case m.watchOpen:
		lines = append(lines, m.watchView(m.Width, height)...)
	case m.changes.open:
		lines = append(lines, m.changesFrame(m.Width, height)...)
	default:
		lines = append(lines, m.body()...)
	}
	if box := m.box(); box != nil && m.Text == nil {
		lines = m.overlay(lines, box)
	}
	bottom := m.bottom()
	return append(lines[:m.Height-len(bottom)], bottom...)
}

func (m *Model) small() []string {
	if m.Width == 0 {
		return nil // the size is not known yet
	}
	note := fmt.Sprintf("mpitx needs %dx%d cells; these are %dx%d. q quits.", minWidth, minHeight, m.Width, m.Height)
	lines := term.Wrap(note, max(m.Width, 1))
	lines = lines[:min(len(lines), max(m.Height, 1))]
	for i := range lines {
		lines[i] = m.Terminal.Cut(lines[i], m.Width)
	}
	return lines
}

func (m *Model) waiting(height int) []string {
	lines := []string{"", "  " + m.Terminal.SafeLine(m.phase, m.Width) + " ..."}
	if m.failed != "" {
		lines = append([]string{""}, term.Wrap(m.Terminal.SafeText(m.failed), m.Width-4)...)
		lines = append(lines, term.Wrap(m.Terminal.SafeText(m.heldBack()), m.Width-4)...)
		for i := range lines {
			lines[i] = "  " + lines[i]
		}
	}
	return m.block(lines, m.Width, height)
}

func (m *Model) block(lines []string, width, height int) []string {
	out := make([]string, height)
	for i := range out {
		if i < len(lines) {
			out[i] = m.Terminal.Fit(lines[i], width)
		} else {
			out[i] = strings.Repeat(" ", width)
		}
	}
	return out
}

func (m *Model) body() []string {
	l, g := m.layout(), m.Terminal.Glyphs()
	if l.alone {
		return [...]func(int, int) []string{m.treeView, m.listView, m.detailView}[m.focus](m.Width, l.body)
	}
	var right []string
	list, detail := []string{}, []string{}
	if l.listH > 0 {
		list = m.listView(l.listW, l.listH)
	}
	if l.detailH > 0 {
		detail = m.detailView(l.detailW, l.detailH)
	}
	muted := func(s string) string { return m.Terminal.Paint(term.Label, s) }
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
	g := m.Terminal.Glyphs()
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
		line := m.Terminal.Fit(indent+sign+" "+m.Terminal.SafeLine(b.label, width), max(width-len(count), 0)) + count
		s := term.Plain
		if i == m.tree.at && (m.query == "" || m.focus == paneTree) { // a search covers all branches
			s = term.Chosen(m.focus == paneTree)
		} else if b.category == nil || n == 0 {
			s = term.Label
		}
		lines = append(lines, m.Terminal.Paint(s, line))
	}
	return m.block(lines, width, height)
}

func (m *Model) overlay(lines, box []string) []string {
	width := 0
	for _, s := range box {
		width = max(width, term.Width(s))
	}
	width = min(width, m.Width-6)
	border := lipgloss.ASCIIBorder()
	if m.Terminal.UTF8 {
		border = lipgloss.NormalBorder()
	}
	inside := strings.Join(m.block(box, width, min(len(box), max(len(lines)-3, 1))), "\n")
	drawn := strings.Split(lipgloss.NewStyle().Border(border).Padding(0, 1).Render(inside), "\n")
	top := max(1, (len(lines)-len(drawn)+1)/2)
	left := max(0, (m.Width-width-4)/2)
	for i, s := range drawn {
		if top+i < len(lines) {
			under := lines[top+i]
			lines[top+i] = term.Pad(ansi.Truncate(under, left, ""), left) + s + ansi.TruncateLeft(under, left+width+4, "")
		}
	}
	return lines
}

// scroll is a cursor in a list that is partly shown.
type scroll struct{ at, top int }

func (s *scroll) clamp(n int) { s.at = max(0, min(s.at, n-1)) }

func (s *scroll) move(by, n int) {
	s.at += by
	s.clamp(n)
}

// key moves in a list of n items, if that is what a key does.
func (s *scroll) key(key string, n int) {
	for id, by := range map[keys.ID]int{keys.Down: 1, keys.Up: -1, keys.First: -n, keys.Last: n} {
		if keys.Of(id).Has(key) {
			s.move(by, n)
		}
	}
}

// chosen is the sign and the style of an item.
func (s *scroll) chosen(i int) (sign string, style term.Style) {
	if i == s.at {
		return "> ", term.Cursor
	}
	return "  ", term.Plain
}

// click puts the cursor on the item in a line of the rows on the screen, and says whether there is one.
func (s *scroll) click(line, rows, n int) bool {
	i := s.top + line
	if line < 0 || line >= rows || i >= n {
		return false
	}
	s.at = i
	return true
}

func (s *scroll) position(n int) string { return fmt.Sprintf("%d of %d ", min(s.at+1, n), n) }

// view scrolls so that the cursor is in the height rows on the screen.
func (s *scroll) view(n, height int) {
	s.clamp(n)
	s.top = max(0, min(s.top, s.at, n-height))
	if s.at >= s.top+height {
		s.top = s.at - height + 1
	}
}
