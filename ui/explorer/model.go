// Package explorer is the explorer: one Bubble Tea model whose parts draw themselves into a given size. It never loads MPI. It shows the
// catalog of a snapshot, or that of a [link.Backend]. Update does no I/O, commands change no state, and no timer runs unless
// something on the screen moves.
package explorer

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/text"
	"mpitx/ui/config"
	"mpitx/ui/link"
	"mpitx/ui/screen"
	"mpitx/ui/screen/program"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// Options configure an explorer.
type Options struct {
	Term   term.Term
	Source string // for the title: a file name, or "4 ranks"
	Size   int64  // of the file in bytes; 0: unknown

	// Load reads the catalog of an offline explorer. It is called once, outside of Update.
	Load func() (*catalog.Catalog, error)

	// Diff is shown instead of a catalog; nil: a catalog is shown.
	Diff *diff.Diff

	// Start starts the back end of a live explorer, excludes variables by their IDs, and adds to its environment; nil: offline. After a back
	// end is lost, it is called again, also with the variables that killed one.
	Start func(ctx context.Context, exclude, environ []string) (link.Backend, error)

	// Environ is the environment that sets variables for a back end.
	Environ func(c *catalog.Catalog, all []Setting) []string

	// HowToSet gives the lines that set control variables for the next run, with a placeholder for the zero Value; nil: no lines are
	// shown.
	HowToSet func(c *catalog.Catalog, all []Setting) []string

	// Complete adds what settings need to have an effect, before the first that needs it, and the doubts that remain; nil: they need nothing.
	Complete func(c *catalog.Catalog, all []Setting) []Setting

	// AtStart says why a write of a control variable has no effect, because the library reads it only when it starts; "" for others;
	// nil: nothing is known.
	AtStart func(c *catalog.Catalog, v *catalog.Variable) string

	// Items returns the enumeration whose items can be written to a control variable, if it has more items than the library's own.
	Items func(c *catalog.Catalog, v *catalog.Variable) *catalog.Enum

	// Essentials are the control variables that users commonly tune, by name; nil: nothing is known.
	Essentials func(c *catalog.Catalog) map[string]Essential

	// Effect says in lines when the library reads a control variable, and what the effect of a setting depends on; nil: nothing is known.
	Effect func(c *catalog.Catalog, v *catalog.Variable) []string

	Warning string // about the choice of the library; shown once at the start, and in the help

	Virtual []catalog.Variable // mpitx's own variables, shown with the library's; with them come the events of PERUSE that mpitx derives

	ReadOnly bool // refuse writes

	// Export writes settings for the next run in one of ExportForms, and names what that cannot set, with the reason; nil: changes are only
	// shown. The error says why there is no such form.
	Export func(c *catalog.Catalog, all []Setting, form int) (text string, left []string, err error)

	Config *config.File // the user's configuration; nil: nothing is kept for the next session
}

type pane int

const (
	paneTree pane = iota
	paneList
	paneDetails
	panes
)

type mode int

const (
	modeNormal mode = iota
	modeSearch
	modeFilter
	modeEdit
	modePick // an item of an enumeration is selected
	modeConfirm
	modeRanks // the ranks of a write are typed
	modeSet   // a value for the next run is typed
	modeOutcome
	modeWatch
	modeWork
	modeChanges
)

// Model is the explorer's state, a tea.Model for one program.
type Model struct {
	screen.Screen
	o Options

	x         *index
	failed    string      // why the catalog is missing
	phase     string      // what the back end is doing
	style     term.Style  // of Note
	sections  []section   // of the key map
	early     [][2]string // keys pressed before the catalog was there, and what they type
	warned    bool        // Options.Warning was shown
	mode      mode
	text      string // the name of the text that covers everything: help, a log
	focus     pane
	zoom      bool // only the pane that has the focus is shown
	criteria  []criterion
	field     int // of the filter bar
	searches  prompt.History
	before    place  // the user's place when / was pressed
	home      string // the ID of the variable that was chosen before the search
	found     string // the ID of the best match, if Enter took it and the user has not used it
	query     string
	search    searcher
	termsOf   string // the query that lastTerms are of
	lastTerms []searchTerm

	branch     *branch
	rows       []*branch // of the tree
	tree       scroll
	treeBranch *branch    // the cursor's, when the tree was listed
	treeNarrow bool       // a search or a filter hides branches
	wideTree   listedTree // the tree before that
	counts     tally
	shown      []int32    // of the list
	names      nameWidths // the list's columns make room for
	list       scroll
	chosen     string  // the ID of the variable that the user chose: the cursor stays on it
	listed     *branch // what the list was filled from; nil: a search
	detail     scroll
	cache      details
	places     []place
	placeAt    int
	generation int // grows with every change to what the details show

	live
	edit    editing
	work    scroll // in the menu of workloads
	changes changesView
	staging staging
	related related
	user    settings
	watching
}

// New makes an explorer.
func New(o Options) *Model {
	m := &Model{o: o, phase: "starting", focus: paneList}
	m.Screen = screen.Screen{Terminal: o.Term, Config: o.Config, Complete: m.commandNames, Help: m.help, Wheel: m.wheel, Click: m.click,
		About: "The mouse selects rows and scrolls. A key that does not scroll closes this help."}
	m.live.msgs = make(chan tea.Msg, 64)
	m.watching.every, m.watching.past = 500*time.Millisecond, map[string]*series{}
	m.bindKeys()
	m.bind()
	m.loadSettings()
	return m
}

type (
	loadedMsg struct {
		x   *index
		err error
	}
	readMsg struct {
		c *catalog.Catalog
	}
	phaseMsg string
)

// Init begins to read the catalog.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.load(), m.Screen.Init()) }

func (m *Model) load() tea.Cmd {
	if m.o.Start != nil {
		return tea.Batch(m.start(nil), m.listen())
	}
	o := m.o
	if o.Diff != nil {
		m.phase = "sorting " + text.Count(len(o.Diff.Items), "difference")
		t := m.Terminal
		return func() tea.Msg { return loadedMsg{x: newDiffIndex(o.Diff, t)} }
	}
	m.phase = "reading " + o.Source
	if o.Size > 1<<20 {
		m.phase += fmt.Sprintf(" (%d MB)", o.Size>>20)
	}
	return func() tea.Msg {
		c, err := o.Load()
		if err != nil {
			return loadedMsg{err: err}
		}
		return readMsg{c}
	}
}

// ready indexes a catalog together with mpitx's own variables. After a large catalog it returns the memory that reading took, and makes
// the garbage collector run more often.
func ready(c *catalog.Catalog, own []catalog.Variable, t term.Term) *index {
	if own != nil {
		c = c.WithPeruse()
	}
	c.Virtual = own
	x := newIndex(c, t)
	if len(x.entries) > 10_000 {
		debug.SetGCPercent(20)
		debug.FreeOSMemory()
	}
	return x
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.Width, m.Height = msg.Width, msg.Height
		m.generation++
	case tea.BackgroundColorMsg:
		m.generation++
		return m, m.Common(msg)
	case readMsg:
		m.phase = fmt.Sprintf("sorting %d variables", len(msg.c.Cvars)+len(msg.c.Pvars))
		t := m.Terminal
		return m, func() tea.Msg { return loadedMsg{x: ready(msg.c, m.o.Virtual, t)} }
	case loadedMsg:
		m.loaded(msg)
		return m, m.pressEarly()
	case tea.KeyPressMsg:
		return m, m.key(msg.String(), msg.Text)
	case tea.PasteMsg:
		if m.typing() {
			m.Line.Insert(msg.Content)
			m.typed()
		}
	case tea.MouseClickMsg, tea.MouseWheelMsg:
		return m, m.Common(msg)
	case prompt.Saved:
		m.saved(msg)
	case screen.KeptMsg:
		m.kept(msg.Err)
	case program.CannotStop:
		m.showError("cannot suspend: no job-control shell started mpitx")
	default:
		return m, m.liveMsg(msg)
	}
	return m, nil
}

func (m *Model) loaded(msg loadedMsg) {
	if msg.err != nil {
		m.failed = msg.err.Error()
		return
	}
	old := m.criteria
	m.x, m.failed, m.phase = msg.x, "", ""
	if m.o.Warning != "" && !m.warned {
		m.warned = true
		m.showError("warning: %s", m.o.Warning)
	}
	m.search.reset(m.x)
	m.markEssentials()
	m.criteria = newCriteria(m.x)
	if m.o.Diff != nil {
		m.criteria = diffCriteria(m.o.Diff, m.criteria)
	}
	for _, c := range old {
		if c.now > 0 {
			setCriterion(m.criteria, c.name+"="+c.values[c.now]) // a value that no longer occurs is dropped
		}
	}
	for _, id := range m.exclude { // the reading is from before the variable was excluded
		if e := m.x.entry(id); e != nil {
			e.v.After, e.v.Ranks = &catalog.Reading{Status: catalog.StatusFaulty, Reason: "it ended a back end and is skipped"}, nil
		}
	}
	for _, s := range m.watching.list {
		if e := m.x.entry(s.id); e != nil {
			e.pinned = true
		}
	}
	m.restore()
	m.branch = m.x.root
	m.tree, m.list = scroll{}, scroll{}
	m.refill()
	m.arrived()
	m.comeBack(m.lastPlace)
	m.lastPlace = kept{}
	if text := missing(m.x.cat); text != "" {
		m.showError("%s", text)
		if m.frozen() != "" {
			m.Note = "" // the banner says it
		}
	}
	m.places, m.placeAt = []place{m.here()}, 0
}

// refill updates what the list shows, from the branch or the query, and the filter.
func (m *Model) refill() {
	if m.x == nil {
		return
	}
	from := m.branch
	if m.query != "" {
		from = nil
		m.shown = filtered(m.x, m.criteria, m.search.find(m.x.all, m.query))
	} else {
		m.shown = m.inOrder(filtered(m.x, m.criteria, m.branch.below(m.x)))
	}
	m.names = m.nameWidths()
	m.seek(from != nil && from == m.listed)
	m.listed = from
	m.generation++
	m.listTree()
}

// seek puts the cursor on the variable that the user chose, also after a detour through lists without it. near says to choose its
// neighbour if the list does not have it.
func (m *Model) seek(near bool) {
	row := m.list.at - m.list.top
	k, ok := m.x.byID[m.chosen]
	switch at := slices.Index(m.shown, k); {
	case ok && at >= 0:
		m.list.at = at
	case ok && near:
		if m.list.at = slices.IndexFunc(m.shown, func(other int32) bool { return other > k }); m.list.at < 0 {
			m.list.at = len(m.shown)
		}
	default:
		m.list.at = 0
	}
	m.list.clamp(len(m.shown))
	m.list.top = max(0, m.list.at-max(row, 0))
	m.generation++
}

func (m *Model) current() *entry {
	if m.x == nil || m.list.at >= len(m.shown) {
		return nil
	}
	return &m.x.entries[m.shown[m.list.at]]
}

// choose notes that the user wants the variable under the cursor.
func (m *Model) choose() {
	if e := m.current(); e != nil && e.v.ID() != m.chosen {
		m.chosen, m.detail = e.v.ID(), scroll{}
	}
}

const maxMessage = 4000 // characters

func (m *Model) say(format string, args ...any) {
	m.Say(format, args...)
	m.style = term.Success
}

func (m *Model) showError(format string, args ...any) {
	m.Say(format, args...)
	m.style = term.Failure
}

func (m *Model) note(format string, args ...any) {
	m.Say(format, args...)
	m.style = term.Plain
}
