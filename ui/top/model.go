package top

import (
	"cmp"
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/recording"
	"mpitx/ui/config"
	"mpitx/ui/screen"
	"mpitx/ui/screen/program"
	"mpitx/ui/term"
)

// refreshDead is the time between two looks if no rank that runs is visible from here: ranks may join, or run on other nodes.
const refreshDead = 2 * time.Second

// Source is where frames come from: a [Feed].
type Source interface {
	Poll() bool
	Frame(Ask) *Frame
	Close()
}

type view uint8

const (
	viewVariables view = iota
	viewFunctions
	viewMatrix
	viewRanks         // of a variable or a function
	viewFunctionRanks // where orders and filters of the ranks of functions are
	views
)

type pane uint8

const (
	paneHeat pane = iota
	paneChart
	paneNone
	panes
)

// Model is the screen. Only its commands read files, one at a time.
type Model struct {
	screen.Screen
	find    screen.Find[Source]
	source  Source // nil: the run is not open
	frame   *Frame
	entries []entry

	view    view
	home    view // the view that the ranks were opened from, else the same as view
	visited bool // the user chose the view
	picked  bool // the user chose a function
	grid    grid
	metric  Metric // of functions over time
	pane    pane
	zoom    bool // the pane alone
	inPane  bool // keys go to the pane
	window  window
	log     bool // the scale of the pane is logarithmic
	as      recording.Transform
	orders  [views]order
	filters [views]string

	tableKeys, paneKeys, timeKeys, matrixKeys, commonKeys screen.Section

	selected Key             // the variable or the function
	chosen   [viewMatrix]Key // in the views of variables and of functions, while another view is shown
	rank     int             // the selected rank
	cursor   int             // index of the selected entry
	top      int             // the first entry that is shown

	busy   bool // a command is reading
	stale  bool // the command reads something that is not wanted any more
	reopen bool // the next command opens the run again
}

// New makes the screen.
func New(find screen.Find[Source], t term.Term, as recording.Transform) *Model {
	m := &Model{find: find, as: as, metric: OfTime, orders: [views]order{{-1, false}, {-1, false}, {-1, false}, {0, false}, {0, false}}}
	m.Screen = screen.Screen{Name: "top", LeastWidth: 40, LeastHeight: 8, Terminal: t, Width: 80, Height: 24,
		Findings: m.findings, Help: m.help, About: about, Hints: m.hints, Click: m.click,
		Wheel: func(_, _, by int) tea.Cmd { return m.move(3 * by) }}
	m.bind()
	return m
}

type frameMsg struct{ frame *Frame }

// Init opens the run.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.read(true), m.Screen.Init()) }

// read makes a command that opens the run, or reads a frame. With poll, the frame holds what was written until now.
func (m *Model) read(poll bool) tea.Cmd {
	if m.busy {
		m.stale = true
		return nil
	}
	m.busy, m.stale = true, false
	if m.reopen || m.source == nil {
		old, find := m.source, m.find
		m.source, m.frame, m.reopen = nil, nil, false
		return func() tea.Msg {
			if old != nil {
				old.Close()
			}
			return find.Look()
		}
	}
	_, trend := m.room()
	ask := Ask{As: m.as, Trend: trend, History: m.history(), Metric: m.metric, Profile: m.home == viewFunctions, Matrix: m.home == viewMatrix}
	if m.home == viewFunctions {
		ask.As = recording.Default
	}
	if key := m.selected; key.Variable != "" {
		ask.Row = &key
	}
	source := m.source
	return func() tea.Msg {
		if poll {
			source.Poll()
		}
		return frameMsg{source.Frame(ask)}
	}
}

func (m *Model) found(msg screen.FoundMsg[Source]) tea.Cmd {
	m.busy, m.source = false, msg.Run
	if cmd := m.Found(msg.Awaited, msg.Err); cmd != nil {
		return cmd
	}
	return tea.Batch(m.read(true), m.wait())
}

func (m *Model) restart() tea.Cmd {
	m.reopen, m.Paused, m.window = true, false, window{}
	return m.read(true)
}

// wait is the time to the next look; there is none after all ranks have ended.
func (m *Model) wait() tea.Cmd {
	after := screen.Refresh
	switch {
	case m.frame != nil && m.frame.Over && !m.frame.Behind:
		m.Tick++ // the one under way is ignored
		return nil
	case m.frame != nil && !m.frame.Live:
		after = refreshDead
	}
	return m.Wait(after)
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	if _, ok := msg.(screen.TickMsg); !ok || m.reopen || m.source == nil {
		m.Rendered = ""
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.Width, m.Height = msg.Width, msg.Height
		m.arrange()
		cmd = m.read(false)
	case screen.TickMsg:
		if int(msg) != m.Tick || m.Paused {
			return m, nil
		}
		cmd = m.read(true)
		return m, tea.Batch(cmd, m.wait())
	case screen.FoundMsg[Source]:
		return m, m.found(msg)
	case frameMsg:
		return m, m.show(msg.frame)
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.Common(msg); m.Mode == screen.Words {
			cmd = m.typed()
		}
	default:
		cmd = m.Common(msg)
	}
	return m, cmd
}

// show takes in a frame. If there is more to read, it is read at once.
func (m *Model) show(f *Frame) tea.Cmd {
	m.busy = false
	if m.reopen {
		return m.read(true)
	}
	m.frame = f
	if !m.visited && len(f.Rows) == 0 && f.HasProfile { // the profile is all there is
		m.visited = true
		m.goHome(viewFunctions)
		return m.read(false)
	}
	m.arrange()
	switch {
	case len(m.entries) == 0 || m.view != m.home || m.view == viewMatrix:
	case m.view == viewFunctions && !m.picked && m.entries[0].key != m.selected: // the first one changes while the job starts
		m.choose(0)
		m.stale = true
	case !f.has(m.selected):
		m.choose(m.cursor)
		m.stale = true
	}
	switch {
	case f.Behind && !m.Paused:
		return m.read(true)
	case m.stale:
		return m.read(false)
	}
	return nil
}

// list is where the order and the filter of the table are kept.
func (m *Model) list() view {
	if m.view == viewRanks && m.home == viewFunctions {
		return viewFunctionRanks
	}
	return m.view
}

func (m *Model) arrange() {
	if m.frame == nil {
		return
	}
	switch filter := m.filters[m.list()]; m.list() {
	case viewVariables:
		m.entries = variables(m.frame, filter)
	case viewFunctions:
		m.entries = functions(m.frame, filter)
	case viewRanks:
		m.entries = ranksOf(m.frame, filter)
	case viewFunctionRanks:
		m.entries = functionRanks(m.frame, m.selected, filter)
	default:
		m.entries = nil
	}
	m.orders[m.list()].sort(m.entries, m.headings())
	m.cursor = min(m.cursor, max(len(m.entries)-1, 0))
	for i := range m.entries {
		if e := &m.entries[i]; m.view == viewRanks && e.rank == m.rank || m.view != viewRanks && e.key == m.selected {
			m.cursor = i
			break
		}
	}
	m.clampTop()
}

func (m *Model) clampTop() {
	rows := m.rows()
	if m.cursor < m.top {
		m.top = m.cursor
	}
	if rows > 0 && m.cursor >= m.top+rows {
		m.top = m.cursor - rows + 1
	}
	m.top = max(min(m.top, len(m.entries)-rows), 0)
}

func (m *Model) choose(i int) {
	if len(m.entries) == 0 {
		return
	}
	m.cursor = min(max(i, 0), len(m.entries)-1)
	if e := &m.entries[m.cursor]; m.view == viewRanks {
		m.rank = e.rank
	} else {
		m.selected = e.key
	}
	m.clampTop()
}

// move selects another line: of the pane (a rank), of the matrix, or of the table.
func (m *Model) move(by int) tea.Cmd {
	switch d := m.detail(); {
	case m.view == viewMatrix:
		return m.moveGrid(by, 0)
	case m.focused() && d != nil:
		m.rank = d.Ranks[max(min(m.rankRow(d)+by, len(d.Ranks)-1), 0)].Rank
		if m.view == viewRanks {
			m.arrange()
		}
		return nil
	}
	before := m.selected
	m.picked = m.picked || m.view == viewFunctions
	m.choose(m.cursor + by)
	if m.selected != before {
		return m.read(false)
	}
	return nil
}

func (m *Model) click(x, y int) tea.Cmd {
	table := headerLines + 1 + m.rows() // the line where the pane begins
	if m.zoom {
		table = headerLines
	}
	switch {
	case m.frame == nil || y < headerLines:
	case m.view == viewMatrix:
		m.pickPair(x, y-headerLines-1)
	case y > table:
		return m.pick(x, y-table-1)
	case m.zoom || y == table:
	case y == headerLines:
		m.sortAt(x)
	default:
		if i := y - headerLines - 1 + m.top; i < len(m.entries) {
			m.inPane = false
			return m.move(i - m.cursor)
		}
	}
	return nil
}

func (m *Model) setFilter(s string) {
	m.filters[m.list()] = s
	m.arrange()
}

// Run shows a run on a terminal until the user quits, the context ends, a signal comes (then the error is [program.ErrSignal]), or the run
// cannot be opened. It restores the terminal in any case, also after a panic. file is the user's configuration; nil: nothing is kept.
func Run(ctx context.Context, find screen.Find[Source], t term.Term, as recording.Transform, file *config.File) error {
	m := New(find, t, as)
	m.Config = file
	err := program.Run(ctx, m, t, os.Stdin, os.Stdout)
	if m.source != nil {
		m.source.Close()
	}
	return cmp.Or(err, m.Failed)
}
