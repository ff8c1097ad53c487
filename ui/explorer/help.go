package explorer

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/pager"
	"mpitx/ui/term"
)

// offlineHelp and diffHelp are other helps of keys and commands: without a back end, and in a difference. Those with "" do not exist there.
var (
	offlineHelp = map[string]string{
		exportHelp:   "save the list to a CSV or JSON file",
		saveHelp:     "save what the list shows",
		messagesHelp: "show all messages",
	}
	diffHelp = map[string]string{
		openHelp:         "go to the details",
		settingHelp:      "",
		valueHelp:        "copy the values of both sides",
		nextHelp:         "",
		previousHelp:     "",
		starHelp:         "show the differences of the variables that users commonly tune, or everything again",
		categoryHelp:     "go to the category of the difference",
		messagesHelp:     "show what else differs, what cannot be compared, and all messages",
		filterHelp:       "set the filter, for example change=default kind=cvar; without arguments: open the filter bar",
		showHelp:         "go to a difference",
		snapshotHelp:     "",
		snapshotOverHelp: "",
		exportHelp:       "save the listed differences to a CSV or JSON file",
	}
)

// helpHere is the help of a key or a command in what the explorer shows; "": it does not exist there.
func (m *Model) helpHere(help string) string {
	if own, other := diffHelp[help]; other && m.o.Diff != nil {
		return own
	}
	if own, other := offlineHelp[help]; other && m.o.Start == nil {
		return own
	}
	return help
}

// keySections are the sections of the key map, those of a view first. live includes what needs a back end.
func (m *Model) keySections(first views, live bool) []keys.Section {
	var here, elsewhere []keys.Section
	for _, s := range m.sections {
		t := s.Shown(live)
		t.Dialog = s.in&(inFilter|inLine) != 0
		switch {
		case len(t.Keys) == 0:
		case s.in&first != 0:
			here = append(here, t)
		default:
			elsewhere = append(elsewhere, t)
		}
	}
	return append(here, elsewhere...)
}

const helpName, logName = "help", "messages and output"

func (m *Model) showHelp() tea.Cmd { m.text = helpName; return m.Show(m.helpLines) }
func (m *Model) showLog() tea.Cmd  { m.text = logName; return m.Show(m.logLines) }

func (m *Model) keyText(key string) tea.Cmd {
	switch {
	case m.Pager.Key(key):
	case key == "?" && m.text != helpName:
		return m.showHelp()
	case key == "L" && m.text != logName:
		return m.showLog()
	default:
		m.Text = nil
	}
	return nil
}

func (m *Model) helpLines() (lines []string) {
	if m.o.Warning != "" {
		lines = pager.Section(m.Terminal, m.Width, "Warning", []string{m.o.Warning}, "")
	}
	return append(lines, m.HelpLines()...)
}

// help are the keys, first those of the view that it was opened from, the marks, and the commands.
func (m *Model) help() (all []keys.Section) {
	live := m.o.Start != nil
	marks := keys.Section{Title: "Marks"}
	for _, mark := range markHelp {
		sign := mark[1]
		if m.Terminal.UTF8 {
			sign = mark[0]
		}
		means := mark[2]
		if means == "writable" && !live {
			means += " in a live session, not in a snapshot"
		}
		marks.Keys = append(marks.Keys, keys.Key{Names: []string{sign}, Help: means})
	}
	if m.o.Diff != nil {
		marks.Keys = slices.DeleteFunc(marks.Keys, func(k keys.Key) bool { return k.Help != "bookmarked" })
	}
	if m.o.Diff != nil {
		marks.Keys = append(marks.Keys, keys.Key{Names: []string{"+1"}, Help: "one more attribute differs: the details have it"})
	}
	for _, t := range append(m.keySections(m.view(), live), marks, m.Commands.Section(live)) {
		for i := range t.Keys {
			t.Keys[i].Help = m.helpHere(t.Keys[i].Help)
		}
		if t.Keys = slices.DeleteFunc(t.Keys, func(k keys.Key) bool { return k.Help == "" }); len(t.Keys) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// logLines are the notes of a difference, the messages, the newest first, and what was printed.
func (m *Model) logLines() []string {
	lines := []string{}
	title := func(s string) { lines = append(lines, " "+m.Terminal.Paint(term.Heading, s), "") }
	add := func(s string) {
		for i, w := range term.Wrap(s, max(m.Width-4, 1)) {
			lines = append(lines, map[bool]string{true: "  ", false: "    "}[i == 0]+strings.TrimRight(w, " "))
		}
	}
	if d := m.o.Diff; d != nil && len(d.Library)+len(d.Notes) > 0 {
		title("Notes on the difference")
		for _, text := range append(m.libraryChanges(), d.Notes...) {
			add(m.Terminal.SafeText(text))
		}
		lines = append(lines, "")
	}
	title("Messages, the newest first")
	for _, s := range slices.Backward(m.Notes) {
		add(m.Terminal.SafeLine(s, maxMessage))
	}
	if len(m.Notes) == 0 {
		add("none")
	}
	if m.o.Start == nil {
		return lines
	}
	lines = append(lines, "")
	title("Output of the library, the launcher and the programs they started")
	for _, s := range m.log {
		add(s)
	}
	if len(m.log) == 0 {
		add("none")
	}
	return lines
}

func (m *Model) hints() []keys.Key {
	hint := func(id keys.ID, label string) keys.Key { return keys.Of(id).With("", label) }
	own := func(name, label string) keys.Key { return keys.Key{Names: []string{name}, Hint: label} }
	var now []keys.Key
	live := m.o.Start != nil
	if live && m.broken() {
		now = append(now, hint(keys.Restart, "restart the back end"))
	}
	switch {
	case m.Text != nil:
		now = []keys.Key{hint(keys.Back, "close")}
		if !m.Pager.AtBottom() {
			now = append(now, own("space", "more"))
		}
		return now
	case m.mode == modeFilter:
		sideways, upright := "Left/Right", "Up/Down"
		if m.Terminal.UTF8 {
			sideways, upright = "←→", "↑↓"
		}
		return []keys.Key{own(sideways, "field"), own(upright, "value"), own("x", "any"), hint(keys.ClearFilter, "all any"), own("enter", "done"), keys.Of(keys.Help)}
	case m.mode == modeWatch:
		if len(m.watching.list) == 0 {
			return append(now, keys.Of(keys.Back), keys.Of(keys.Help), keys.Of(keys.Command))
		}
		return append(now, keys.Of(keys.Back), keys.Of(keys.Help), hint(keys.Values, "value/delta/rate"), own("s", "sum/ranks"), keys.Of(keys.Pause),
			own("W", "workload"), keys.Of(keys.Export), own("p", "unpin"), own("+-", "pace"), keys.Of(keys.LogScale), keys.Of(keys.Command))
	case m.mode == modeChanges:
		return append(now, keys.Of(keys.Back), own("u", "undo"), own("tab", "form"), own("y", "copy"), keys.Of(keys.Export), hint(keys.Open, "go to"), keys.Of(keys.Help))
	case m.mode != modeNormal:
		return append(now, hint(keys.Back, "close"))
	case m.x == nil && live:
		return append(now, keys.Of(keys.Quit), keys.Of(keys.Help), keys.Of(keys.Messages))
	case m.x == nil:
		return []keys.Key{keys.Of(keys.Quit), keys.Of(keys.Help)}
	}
	if m.query != "" {
		now = append(now, hint(keys.Back, "end search"))
	}
	if filterText(m.criteria) != "" {
		now = append(now, keys.Of(keys.ClearFilter))
	}
	now = append(now, keys.Of(keys.Help))
	alone := m.layout().alone
	if alone { // the only way to the others
		now = append(now, keys.Of(keys.NextPane))
	}
	now = append(now, keys.Of(keys.Quit), keys.Of(keys.Search), own("f", "filter"))
	edits := live && m.ended == "" && m.frozen() == ""
	if edits && (len(m.edit.undo) > 0 || len(m.staging.plan) > 0) {
		now = append(now, own("C", "my changes"))
	}
	if edits && m.pending() {
		now = append(now, hint(keys.Restart, "restart with them"))
	}
	switch m.focus {
	case paneTree:
		now = append(now, keys.Of(keys.Open), own("h", "close"))
	default:
		if m.focus == paneDetails && len(m.links()) > 0 {
			if m.chosenLink() >= 0 {
				now = append(now, hint(keys.Open, "follow"))
			}
			now = append(now, own("n", "next related"))
		}
		if edits && m.current() != nil {
			now = append(now, keys.Of(keys.Edit), own("p", "pin"), own("w", "watch"), keys.Of(keys.Read))
		}
		if m.current() != nil {
			if m.o.Diff == nil {
				now = append(now, own("S", "copy setting"))
			}
			now = append(now, own("b", "bookmark"))
		}
	}
	if !alone {
		now = append(now, keys.Of(keys.NextPane))
	}
	now = append(now, keys.Of(keys.Zoom), keys.Of(keys.Command))
	if edits {
		now = append(now, own("W", "workload"))
	}
	return append(now, keys.Of(keys.Export))
}

// Keys are all keys and commands of the explorer.
func Keys() []keys.Section {
	m := New(Options{})
	return append(m.keySections(0, true), m.Commands.Section(true))
}
