package top

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/ui/screen/prompt"
)

// names are those of what can be selected.
func (m *Model) names(string) (names []string) {
	switch {
	case m.frame == nil:
		return nil
	case m.home == viewFunctions:
		for i := range m.frame.Functions {
			names = append(names, m.frame.Functions[i].Variable)
		}
		return names
	}
	for i := range m.frame.Rows {
		names = append(names, m.frame.Rows[i].Variable)
	}
	return names
}

func (m *Model) goTo(v view) tea.Cmd {
	switch {
	case m.view == v || m.frame == nil:
		return nil
	case v == viewRanks || v == m.home:
		return m.toggleView()
	case v != viewVariables && !m.frame.HasProfile:
		m.Say("the run has no profile; mpitx profile records one")
		return nil
	}
	m.goHome(v)
	m.visited = true
	return m.read(false)
}

// goHome shows variables, functions or the matrix, with what was selected there.
func (m *Model) goHome(v view) {
	if m.home < viewMatrix {
		m.chosen[m.home] = m.selected
	}
	m.view, m.home, m.zoom, m.inPane = v, v, false, false
	if m.selected = (Key{}); v < viewMatrix {
		m.selected = m.chosen[v]
	}
	m.cursor, m.top = 0, 0
	m.arrange()
}

func (m *Model) cmdShow(name string) tea.Cmd {
	if m.frame == nil {
		return nil
	}
	if m.home == viewMatrix {
		m.goHome(viewVariables)
	}
	key, ok := m.keyOf(name)
	if !ok {
		m.Say("no %s %q in this run%s", strings.TrimSuffix(viewNames[m.home], "s"), name, catalog.DidYouMean(m.names(""), name))
		return nil
	}
	cmd := m.goTo(m.home)
	if at := slices.IndexFunc(m.entries, func(e entry) bool { return e.key == key }); at >= 0 {
		return tea.Batch(cmd, m.move(at-m.cursor))
	}
	m.Say("the filter hides %s: F clears it", name)
	return cmd
}

func (m *Model) keyOf(name string) (key Key, ok bool) {
	if m.home == viewFunctions {
		fn := m.frame.function(Key{Variable: name})
		if fn == nil {
			return key, false
		}
		return fn.Key, true
	}
	k := slices.IndexFunc(m.frame.Rows, func(r Row) bool { return r.Variable == name || r.Variable+":"+r.Class.String() == name })
	if k < 0 {
		return key, false
	}
	return m.frame.Rows[k].Key, true
}

func (m *Model) cmdRanks(name string) tea.Cmd {
	var cmd tea.Cmd
	if name != "" {
		if cmd = m.cmdShow(name); m.Note != "" {
			return cmd
		}
	}
	if m.view == viewMatrix {
		m.Say("ranks: name a variable or a function")
		return nil
	}
	return tea.Batch(cmd, m.goTo(viewRanks))
}

func (m *Model) cmdSort(name string) {
	name, reverse := strings.CutPrefix(name, "-")
	o := order{column: -1}
	if name != "" {
		o = order{slices.IndexFunc(m.headings(), func(h heading) bool { return strings.EqualFold(h.title, name) }), reverse}
		if o.column < 0 {
			m.Say("sort: no column %q", name)
			return
		}
	}
	m.orders[m.list()] = o
	m.arrange()
}

func (m *Model) cmdValues(name string) tea.Cmd {
	switch m.home {
	case viewFunctions:
		of := slices.Index([]string{"time", "calls", "bytes"}, name)
		if of < 0 {
			m.Say("values: %q: must be time, calls or bytes", name)
			return nil
		}
		return m.setMetric(OfTime + Metric(of))
	case viewMatrix:
		if name != "total" && name != "rate" {
			m.Say("values: %q: must be total or rate", name)
			return nil
		}
		m.grid.rate = name == "rate"
		return nil
	}
	as, ok := recording.ParseTransform(strings.TrimPrefix(name, "class"))
	if !ok {
		m.Say("values: %q: must be class, raw, delta or rate", name)
		return nil
	}
	return m.setAs(as)
}

// cmdExport writes what is shown: the lines of the table in their order, or the histories of a zoomed pane.
func (m *Model) cmdExport(command, path string) tea.Cmd {
	format, err := prompt.Format(path)
	if err != nil {
		m.Say("%v", err)
	}
	if err != nil || m.frame == nil {
		return nil
	}
	rows, what := m.shown()
	var b bytes.Buffer
	if err := rows.Write(&b, format, export.Terminal{}); err != nil {
		m.Say("export: %v", err)
		return nil
	}
	return prompt.Save(command, path, what, b.Bytes())
}

func (m *Model) shown() (rows *export.Rows, what string) {
	d := m.frame.Detail
	if d != nil && d.Key != m.selected {
		d = nil
	}
	fn := m.frame.function(m.selected)
	switch {
	case m.view == viewMatrix:
		return pairTable(m.pairs()), fmt.Sprintf("%d pairs of ranks", len(m.pairs()))
	case m.zoom && d != nil:
		return d.Histories(), "histories of " + d.Variable
	case m.view == viewRanks && m.home == viewFunctions && fn != nil:
		some := listed(m.entries, fn.Ranks, func(e *entry, x *RankFunction) bool { return x.Rank.Number == e.rank })
		return functionRankTable(m.frame, fn, some), fmt.Sprintf("%s on %d ranks", fn.Variable, len(some))
	case m.view == viewFunctions:
		some := listed(m.entries, m.frame.Functions, func(e *entry, x *Function) bool { return x.Key == e.key })
		return functionTable(some), fmt.Sprintf("%d functions", len(some))
	case m.view == viewRanks && d != nil:
		some := *d
		some.Ranks = listed(m.entries, d.Ranks, func(e *entry, x *Value) bool { return x.Rank == e.rank })
		return rankTable(m.frame, &some), fmt.Sprintf("%s on %d ranks", d.Variable, len(some.Ranks))
	}
	some := *m.frame
	some.Rows = listed(m.entries, some.Rows, func(e *entry, x *Row) bool { return x.Key == e.key })
	return some.Table(), fmt.Sprintf("%d variables", len(some.Rows))
}

func listed[T any](entries []entry, all []T, is func(*entry, *T) bool) (some []T) {
	for i := range entries {
		if k := slices.IndexFunc(all, func(x T) bool { return is(&entries[i], &x) }); k >= 0 {
			some = append(some, all[k])
		}
	}
	return some
}
