package explorer

import (
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/ui/link"
	"mpitx/ui/screen"
)

// outcome shows the result of a write, and records how to undo it.
func (m *Model) outcome(msg outcomeMsg) tea.Cmd {
	m.edit.waits, m.edit.outcomes, m.edit.err = false, msg.outcomes, msg.err
	m.generation++
	if m.x == nil {
		return nil
	}
	e := m.x.entry(msg.name)
	if e == nil {
		return nil
	}
	m.edit.e = e
	m.mode, m.Mode, m.Text = modeOutcome, screen.Keys, nil
	c := m.undoable(e, msg)
	s := &link.Sample{}
	for _, o := range msg.outcomes {
		if !o.Back.IsZero() {
			s.Ranks = append(s.Ranks, link.RankSample{Rank: o.Rank, Readings: []catalog.Reading{{Status: catalog.StatusOK, Value: o.Back, Count: countOf(e.v)}}})
		}
	}
	m.take(e, 0, s)
	m.refill() // the filter may concern values
	last := len(m.edit.undo) - 1
	switch {
	case e.v.Kind == catalog.Pvars: // its values are measured: there is nothing to go back to
	case len(c.old) > 0:
		m.edit.undo = append(m.edit.undo, c)
	case msg.undoes == nil && (last < 0 || len(m.edit.undo[last].old) > 0): // undo concerns this write, not the one before it
		m.edit.undo = append(m.edit.undo, c)
	}
	m.replan()
	return m.queued(msg)
}

// queued sends the next write, unless the one before it failed.
func (m *Model) queued(msg outcomeMsg) tea.Cmd {
	queue := m.edit.queue
	m.edit.queue = nil
	if len(queue) == 0 {
		return nil
	}
	failed := msg.err != nil || slices.ContainsFunc(msg.outcomes, func(o catalog.Outcome) bool { return o.Result != catalog.WriteOK })
	if failed {
		m.edit.done = append(m.edit.done, queue[len(queue)-1].Name+" was not written, because it needs this:")
		return nil
	}
	for _, o := range msg.outcomes.Same() {
		m.edit.done = append(m.edit.done, msg.name+": "+string(o.Result)+": "+o.Back.Format(m.enum(m.edit.e.v)))
	}
	m.edit.queue = queue
	return m.writeNext()
}

func (m *Model) undoes() bool {
	n := len(m.edit.undo)
	return n > 0 && m.edit.e.v.Kind == catalog.Cvars && len(m.edit.undo[n-1].old) > 0
}

// undoable is the part of a write that can be undone: on ranks that wrote, and on ranks that did not answer. After a failed undo it is
// the part that was not restored.
func (m *Model) undoable(e *entry, msg outcomeMsg) change {
	c := change{msg.name, maps.Clone(msg.undoes)}
	if c.old == nil {
		c.old = map[int]string{}
	}
	for _, o := range msg.outcomes {
		switch {
		case msg.undoes != nil && o.Back.String() == c.old[o.Rank]:
			delete(c.old, o.Rank)
		case msg.undoes != nil:
		case o.Result == "ok" && !o.Old.IsZero() && o.Old != o.Back:
			c.old[o.Rank] = o.Old.String()
		case o.Result == catalog.WriteNoAnswer:
			if r := known(e.v, o.Rank); r != nil && r.Status == catalog.StatusOK {
				c.old[o.Rank] = r.Value.String()
			}
		}
	}
	return c
}

// known is the last known reading of a rank.
func known(v *catalog.Variable, rank int) *catalog.Reading {
	for k := range v.Ranks {
		if v.Ranks[k].Rank == rank {
			return &v.Ranks[k].Reading
		}
	}
	return v.After
}

func countOf(v *catalog.Variable) int {
	if v.After == nil {
		return 1
	}
	return v.After.Count
}

func (m *Model) undo() tea.Cmd {
	n := len(m.edit.undo)
	if n == 0 {
		m.note("nothing to undo")
		return nil
	}
	if !m.alive() {
		return nil
	}
	c := m.edit.undo[n-1]
	m.edit.undo = m.edit.undo[:n-1] // it comes back if the write fails
	if len(c.old) == 0 {
		text := "the last write, of " + c.name + ", changed nothing: nothing to undo"
		if n > 1 {
			text += "; u again undoes the one before it"
		}
		m.note("%s", text)
		return nil
	}
	return m.revert(c)
}

func (m *Model) revert(c change) tea.Cmd {
	if m.edit.e = m.x.entry(c.name); m.edit.e == nil {
		m.showError("%s does not exist any more", c.name)
		return nil
	}
	byText := map[string][]int{}
	for rank, text := range c.old {
		byText[text] = append(byText[text], rank)
	}
	var writes []catalog.WriteRequest
	for text, ranks := range byText {
		slices.Sort(ranks)
		w := catalog.WriteRequest{Name: c.name, Text: text, Ranks: ranks, Force: true}
		if len(ranks) == m.x.cat.Job.Size {
			w.Ranks, w.Force = nil, false
		}
		writes = append(writes, w)
	}
	m.edit.text = writes[0].Text
	m.mode, m.edit.waits = modeOutcome, true
	return m.send(c.old, writes...)
}
