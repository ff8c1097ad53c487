package explorer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/text"
	"mpitx/ui/link"
)

// read requests readings; watch says that they are for the pins.
func (m *Model) read(ids []string, watch bool) tea.Cmd {
	b, serial := m.backend, m.serial
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), readLimit)
		defer cancel()
		s, err := b.Read(ctx, ids)
		return sampleMsg{ids, s, err, watch, serial}
	}
}

func (m *Model) readShown() tea.Cmd {
	if !m.alive() {
		return nil
	}
	if m.stale {
		return m.refresh()
	}
	ids := []string{}
	for _, k := range m.shown[m.list.top:min(len(m.shown), m.list.top+max(m.layout().listH-1, 1))] {
		if v := m.x.entries[k].v; v.After != nil || len(v.Ranks) > 0 {
			ids = append(ids, v.ID())
		}
	}
	if len(ids) == 0 {
		m.note("read: no variable on the screen exists after MPI_Init")
		return nil
	}
	return m.read(ids, false)
}

func (m *Model) cmdRead(name string) tea.Cmd {
	if name == "" {
		return m.readShown()
	}
	e := m.named(name)
	if e == nil || !m.alive() || !m.readable(e) {
		return nil
	}
	return m.read([]string{e.v.ID()}, false)
}

func (m *Model) sampled(msg sampleMsg) tea.Cmd {
	if msg.serial != m.serial || m.x == nil {
		return nil
	}
	if msg.err != nil {
		switch {
		case errors.Is(msg.err, link.ErrEnded): // EventEnded reports it
		case errors.Is(msg.err, context.DeadlineExceeded):
			m.showError("read: no answer within %s: the ranks are busy", readLimit)
			m.late = msg.watch
		default:
			m.showError("read: %v", msg.err)
		}
		if msg.watch {
			m.asked = false
			return m.tick()
		}
		return nil
	}
	for i, id := range msg.ids {
		if e := m.x.entry(id); e != nil {
			m.take(e, i, msg.sample)
		}
	}
	for _, r := range msg.sample.Silent {
		if _, known := m.quiet[r]; !known {
			m.quiet[r] = ""
		}
	}
	m.generation++
	m.record(msg.ids, msg.sample)
	if msg.watch {
		if m.late {
			m.late, m.Note = false, ""
		}
		m.asked = false
		return m.tick()
	}
	if len(msg.sample.Silent) > 0 {
		m.showError("read %s; no answer from %s", text.Count(len(msg.ids), "variable"), text.Ranks(msg.sample.Silent))
		return nil
	}
	m.say("read %s on %s", text.Count(len(msg.ids), "variable"), text.Count(len(msg.sample.Ranks), "rank"))
	return nil
}

func (m *Model) take(e *entry, i int, s *link.Sample) {
	if len(s.Ranks) == 0 {
		return
	}
	var now []catalog.RankReading
	for _, r := range s.Ranks {
		if i < len(r.Readings) {
			now = append(now, catalog.RankReading{Rank: r.Rank, Reading: r.Readings[i]})
		}
	}
	for rank := 0; len(s.Ranks) < m.x.cat.Job.Size && rank < m.x.cat.Job.Size; rank++ { // other ranks keep their last reading
		if was := known(e.v, rank); was != nil && !slices.ContainsFunc(s.Ranks, func(r link.RankSample) bool { return r.Rank == rank }) {
			now = append(now, catalog.RankReading{Rank: rank, Reading: *was})
		}
	}
	before := m.x.value(e)
	e.v.Update(now)
	if now := m.x.value(e); e.first == "" && now != before {
		e.first = before
	}
	e.updated = e.first != "" && m.x.value(e) != e.first
}

const refreshLimit = time.Minute

type refreshedMsg struct {
	loadedMsg
	serial int
}

// refresh collects the catalog again, since libraries add variables as they load components.
func (m *Model) refresh() tea.Cmd {
	b, serial, t, own := m.backend, m.serial, m.Terminal, m.o.Virtual
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
		m.showError("collect again: %v", msg.err)
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
	changed := ""
	if n := catalog.OtherCategories(old.cat, m.x.cat); n > 0 {
		changed = fmt.Sprintf("; %d other %s", n, text.Plural(n, "category"))
	}
	m.say("%s, %d of them new%s", m.x.countWords(m.x.all), added, changed)
}
