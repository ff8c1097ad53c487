package explorer

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

func (m *Model) click(x, y int) {
	l := m.layout()
	if m.mode == modeWatch {
		y -= l.top + watchTop
		if i := m.at.top + y; y >= 0 && i < len(m.watching.list) && y < m.watchRows(l.body) {
			m.at.at = i
		}
		return
	}
	if m.mode == modeChanges {
		m.clickChange(y - l.top)
		return
	}
	if m.x == nil || m.mode != modeNormal && m.mode != modeSearch || y < l.top {
		return
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
				return
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
}

func (m *Model) wheel(x, y int, up bool) {
	by := 3
	if up {
		by = -3
	}
	switch {
	case m.mode == modeHelp || m.mode == modeLog:
		m.text.SetYOffset(m.text.YOffset() + by)
	case m.mode == modeWatch || m.mode == modeChanges:
		m.move(by / 3)
	case m.x != nil && m.mode == modeNormal:
		l, was := m.layout(), m.focus
		m.focus = m.pane(&l, x, y)
		m.move(by)
		m.focus = was
	}
}
