package explorer

import tea "charm.land/bubbletea/v2"

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
