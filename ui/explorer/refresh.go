package explorer

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

const refreshLimit = time.Minute

type refreshedMsg struct {
	loadedMsg
	serial int
}

// refresh collects the catalog again, since libraries add variables as they load components.
func (m *Model) refresh() tea.Cmd {
	b, serial, t, own := m.backend, m.serial, m.t, m.o.Virtual
	m.say("collecting all variables again ...")
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), refreshLimit)
		defer cancel()
		c, err := b.Refresh(ctx)
		if err != nil {
			return refreshedMsg{loadedMsg{err: err}, serial}
		}
		return refreshedMsg{loadedMsg{x: ready(c, own, t)}, serial}
	}
}

func (m *Model) refreshed(msg refreshedMsg) {
	if msg.serial != m.serial || m.x == nil {
		return
	}
	if msg.err != nil {
		m.complain("collect again: %v", msg.err)
		return
	}
	m.stale = false
	old, was := m.x, m.keep()
	added := 0
	for i := range msg.x.entries {
		e := &msg.x.entries[i]
		before := old.entry(e.v.ID())
		if before == nil {
			added++
			continue
		}
		if e.first = before.first; e.first == "" && old.value(before) != msg.x.value(e) {
			e.first = old.value(before)
		}
		e.updated = e.first != "" && msg.x.value(e) != e.first
	}
	mode, focus := m.mode, m.focus
	m.lastPlace = was
	m.loaded(msg.loadedMsg)
	m.mode, m.focus = mode, focus
	if e := m.edit.e; e != nil {
		if m.edit.e = m.x.entry(e.v.ID()); m.edit.e == nil && m.editing() {
			m.mode = m.ground()
		}
	}
	m.say("%s, %d of them new", m.x.countWords(m.x.all), added)
}
