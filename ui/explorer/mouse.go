package explorer

import (
	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen"
)

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

func (m *Model) click(x, y int) tea.Cmd {
	l := m.layout()
	switch {
	case m.Mode == screen.Command:
	case m.mode == modeWatch:
		m.at.click(y-l.top-watchTop, m.watchRows(l.body), len(m.watching.list))
	case m.mode == modeChanges:
		m.changes.at.click(y-l.top-1, m.changeRows(l.body)-2, len(m.changeList()))
	case m.x != nil && (m.mode == modeNormal || m.mode == modeSearch) && y >= l.top:
		m.clickPane(&l, x, y)
	}
	return nil
}

func (m *Model) clickPane(l *layout, x, y int) {
	category := m.category()
	m.focus = m.pane(l, x, y)
	y -= l.top
	switch m.focus {
	case paneTree:
		if i := m.tree.top + y; i < len(m.rows) {
			if i == m.tree.at {
				if len(m.rows[i].kids) > 0 && m.rows[i].parent != nil {
					m.rows[i].open = !m.rows[i].open
					m.listTree()
				}
				return
			}
			m.tree.at = i
			m.move(0)
		}
	case paneList:
		if m.list.click(y-1, l.listH, len(m.shown)) {
			m.choose()
		}
	case paneDetails:
		if category == nil {
			m.clickLink(m.detail.at + y - (l.detailY - l.top) - 1)
		}
	}
}

func (m *Model) wheel(x, y, by int) tea.Cmd {
	switch {
	case m.Mode == screen.Command:
	case m.mode == modeWatch || m.mode == modeChanges:
		m.move(by)
	case m.x != nil && m.mode == modeNormal:
		l, was := m.layout(), m.focus
		m.focus = m.pane(&l, x, y)
		m.move(3 * by)
		m.focus = was
	}
	return nil
}
