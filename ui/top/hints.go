package top

import (
	"slices"
	"strconv"

	"mpitx/ui/screen/keys"
)

func (m *Model) hints() []keys.Key {
	help, quit := keys.Of(keys.Help), keys.Of(keys.Quit)
	if m.frame == nil {
		return []keys.Key{quit, help}
	}
	if m.view == viewRanks || m.zoom || m.view == viewMatrix && m.grid.zoomed() {
		quit.Hint = "back"
	}
	pause := keys.Of(keys.Pause)
	if m.Paused {
		pause.Hint = "resume"
	}
	if m.frame.Over { // there is nothing to pause
		pause.Hint = ""
	}
	if m.view == viewMatrix {
		return m.matrixHints(help, quit, pause)
	}
	next := keys.Key{Names: []string{"m"}, Hint: [...]string{"chart", "table only", "map"}[m.pane]}
	if m.focused() {
		list := []keys.Key{help, quit}
		for _, b := range m.paneKeys.Bindings[:2] {
			list = append(list, b.Key)
		}
		return append(list, keys.Key{Names: []string{"+"}, Hint: "shorter"}, keys.Key{Names: []string{"-"}, Hint: "longer"}, keys.Of(keys.Back), next, keys.Of(keys.LogScale), pause)
	}
	open := keys.Of(keys.Open).With("", "ranks")
	if m.view == viewRanks {
		open.Hint = [...]string{"variables", "functions"}[m.home]
	}
	list := append([]keys.Key{help, quit, open}, m.viewHints()...)
	if m.home == viewVariables || m.frame.Watched {
		list = append(list, next, keys.Of(keys.Values))
	}
	list = append(list, keys.Of(keys.Search).With("", "filter"), pause, keys.Of(keys.SortRight))
	if m.paneHeight() > 0 {
		list = append(list, keys.Of(keys.NextPane).With("", "cursor"))
	}
	if m.filters[m.list()] != "" {
		list = slices.Insert(list, 2, keys.Of(keys.ClearFilter))
	}
	return append(list, keys.Of(keys.Export), keys.Of(keys.Messages))
}

func (m *Model) viewHints() (list []keys.Key) {
	for v, name := range viewNames {
		if m.frame.HasProfile && view(v) != m.home {
			list = append(list, keys.Key{Names: []string{strconv.Itoa(v + 1)}, Hint: name})
		}
	}
	return list
}

func (m *Model) matrixHints(help, quit, pause keys.Key) []keys.Key {
	list := append([]keys.Key{help, quit}, m.viewHints()...)
	if m.groupSize() > 1 {
		list = append(list, keys.Of(keys.Open).With("", "these ranks"))
	} else if m.grid.zoomed() {
		list = append(list, keys.Of(keys.Open).With("", "all ranks"))
	}
	values := keys.Of(keys.Values).With("", "per second")
	if m.grid.rate {
		values.Hint = "totals"
	}
	return append(list, keys.Key{Names: []string{"m"}, Hint: m.grid.of.next(m.frame.Matrix != nil && len(m.frame.Matrix.OneSided) > 0)}, values, keys.Of(keys.LogScale), pause, keys.Of(keys.Export), keys.Of(keys.Messages))
}
