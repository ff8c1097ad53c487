package explorer

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/ui/config"
	"mpitx/ui/term"
)

// settings are what outlives the explorer: the user's configuration, as the user has changed it.
type settings struct {
	config.Config
	filter   string // what could be restored of the filter: this library may lack a class
	restored bool
	told     bool // that nothing is kept
}

func (m *Model) loadSettings() {
	if m.Config != nil {
		m.user.Config = m.Config.Clone()
	}
	m.History.Lines = slices.Clone(m.user.Commands)
	m.searches.Lines = slices.Clone(m.user.Searches)
}

// restore marks what is bookmarked in a catalog. In the first one it sets the filter and the pins of the last session.
func (m *Model) restore() {
	for _, id := range m.user.Bookmarks {
		if e := m.x.entry(id); e != nil {
			e.bookmarked = true
		}
	}
	if m.user.restored {
		return
	}
	m.user.restored = true
	m.restoreFilter()
	m.restoreStaged()
	for _, id := range m.user.Pins {
		switch e := m.x.entry(id); {
		case e == nil:
		case m.o.Start == nil:
			e.pinned = true // a mark
		case watchable(e):
			m.pin(e)
		}
	}
}

// restoreFilter sets the filter of the last session, unless that was of another library, or it would hide everything.
func (m *Model) restoreFilter() {
	last, of, why := m.user.Filter, m.user.FilterOf, ""
	if of != "" && of != m.x.cat.Library.Family {
		why = "it was set on " + of
	} else {
		for _, f := range strings.Fields(last) {
			_ = setCriterion(m.criteria, f) // this library may lack it
		}
		if len(m.x.all) > 0 && len(filtered(m.x, m.criteria, m.x.all)) == 0 {
			why = "it would hide everything"
			passAll(m.criteria)
		}
	}
	m.user.filter = filterText(m.criteria)
	switch {
	case m.Note != "":
	case last != "" && why != "":
		m.say("filter of the last session: %s is not used: %s; :filter %s sets it", m.Terminal.SafeLine(last, 200), m.Terminal.SafeLine(why, 80), m.Terminal.SafeLine(last, 200))
	case m.user.filter != "":
		m.say("filter of the last session: %s; F clears it", m.user.filter)
	}
}

func (m *Model) now() config.Config {
	c := m.user.Config.Clone()
	c.Commands, c.Searches = m.History.Lines, m.searches.Lines
	if f := filterText(m.criteria); m.user.restored && f != m.user.filter {
		parts := strings.Fields(f)
		c.Filter = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "bookmarked=yes" }), " ") // a view, which B opens
		if c.FilterOf = ""; c.Filter != "" {
			c.FilterOf = m.x.cat.Library.Family
		}
	}
	return c.Clone()
}

func (m *Model) save() tea.Cmd { return m.Keep(m.now()) }

func (m *Model) finish() {
	if save := m.save(); save != nil {
		save()
	}
}

// kept says once why the configuration is not kept: it is no failure of what the user did.
func (m *Model) kept(err error) {
	if err != nil && !m.user.told {
		m.user.told = true
		m.say("kept for this session only: %v", err)
	}
}

func (m *Model) keepPin(id string, on bool) { m.user.Pins = with(m.user.Pins, id, on) }

func with(list []string, item string, on bool) []string {
	switch has := slices.Contains(list, item); {
	case on && !has:
		return append(list, item)
	case !on && has:
		return slices.DeleteFunc(list, func(s string) bool { return s == item })
	}
	return list
}

func watchable(e *entry) bool {
	r := e.v.After
	return e.v.Kind != catalog.Virtual && r != nil && r.Status == catalog.StatusOK
}

func (m *Model) toggleBookmark() tea.Cmd {
	e := m.current()
	if e == nil {
		m.note("nothing is chosen")
		return nil
	}
	e.bookmarked = !e.bookmarked
	m.user.Bookmarks = with(m.user.Bookmarks, e.v.ID(), e.bookmarked)
	if e.bookmarked {
		m.say("bookmarked %s: B shows the bookmarks", e.name)
	} else {
		m.say("removed the bookmark of %s", e.name)
	}
	m.refill()
	return m.save()
}

func (m *Model) showBookmarks() {
	m.showOnly("bookmarked", "no bookmarks here; b sets one")
}

// showOnly lists what a field of the filter lets through, or everything again; none is said if that is nothing.
func (m *Model) showOnly(field, none string) {
	c := &m.criteria[slices.IndexFunc(m.criteria, func(c criterion) bool { return c.name == field })]
	switch {
	case c.is("yes"):
		c.now = 0
		m.refill()
	case !slices.ContainsFunc(m.x.entries, func(e entry) bool { return c.match(&e, "yes") }):
		m.note("%s", none)
	default:
		m.leave()
		c.now = slices.Index(c.values, "yes")
		m.query, m.focus = "", paneList
		m.enter(m.x.root)
	}
}

func (m *Model) usedFilter() {
	if f := filterText(m.criteria); f != "" {
		m.user.Filters = append(with(m.user.Filters, f, false), f)
	}
}

func (m *Model) closeFilter() {
	m.usedFilter()
	m.mode = m.ground()
}

// recentFilter sets the filter to one that was used before: each time an older one.
func (m *Model) recentFilter() {
	list := m.user.Filters
	if len(list) == 0 {
		m.note("no earlier filters")
		return
	}
	k := slices.Index(list, filterText(m.criteria))
	if k <= 0 {
		k = len(list)
	}
	passAll(m.criteria)
	for _, f := range strings.Fields(list[k-1]) {
		_ = setCriterion(m.criteria, f) // this library may lack it
	}
	m.refill()
}

// cmdTheme chooses the colours, for later sessions, too.
func (m *Model) cmdTheme(name string) tea.Cmd {
	theme, err := term.ParseTheme(name)
	switch {
	case err != nil:
		m.showError("theme: %v", err)
		return nil
	case name == "":
		m.say("theme %s; the themes are %s", m.Terminal.Theme, strings.Join(term.Themes, ", "))
		return nil
	}
	m.Terminal.Theme, m.user.Theme = theme, name
	m.generation++
	m.say("theme %s", name)
	return m.save()
}
