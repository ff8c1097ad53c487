package top

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mpitx/recording"
	"mpitx/ui/pager"
	"mpitx/ui/program"
	"mpitx/ui/prompt"
	"mpitx/ui/term"
)

const (
	refresh     = 500 * time.Millisecond
	refreshDead = 2 * time.Second // of one in which nothing runs that can be seen from here: ranks may come, or be on other nodes
)

// Source is where frames come from: a [Feed].
type Source interface {
	Poll() bool
	Frame(Ask) *Frame
}

// mode is what keys are for.
type mode uint8

const (
	modeKeys mode = iota
	modeFilter
	modeCommand
)

type view uint8

const (
	viewVariables view = iota
	viewRanks
)

type pane uint8

const (
	paneHeat pane = iota
	paneChart
	paneNone
	panes
)

// Model is the screen. It reads nothing itself: commands do, one at a time.
type Model struct {
	source   Source
	terminal term.Term
	frame    *Frame
	entries  []entry
	width    int
	height   int

	view    view
	pane    pane
	zoom    bool            // the pane alone
	text    func() []string // shown in the place of all else: help, troubles; nil: nothing is
	pager   pager.Pager     // of text
	as      recording.Transform
	orders  [2]order
	filters [2]string
	mode    mode
	line    prompt.Line // that is typed
	note    string      // what came of the last key or command; "": nothing to say
	paused  bool

	selected Key // the variable
	rank     int // the rank in the view of ranks
	cursor   int // index of the selected entry
	top      int // the first entry that is shown

	busy  bool // a command reads
	stale bool // what is wanted has changed since it began
	tick  int  // the tick that counts; others are of an earlier pause
}

// New makes the screen.
func New(source Source, t term.Term, as recording.Transform) *Model {
	return &Model{source: source, terminal: t, as: as,
		width: 80, height: 24, orders: [2]order{{-1, false}, {0, false}}}
}

type (
	frameMsg struct{ frame *Frame }
	tickMsg  int
)

// Init reads for the first time.
func (m *Model) Init() tea.Cmd {
	if m.terminal.Profile <= colorprofile.ASCII || m.terminal.Plain {
		return tea.Batch(m.read(true), m.wait())
	}
	return tea.Batch(m.read(true), m.wait(), tea.RequestBackgroundColor) // dark, or what COLORFGBG says, if there is no answer
}

// read makes a frame in a command; poll: of what is in the directory by now.
func (m *Model) read(poll bool) tea.Cmd {
	if m.busy {
		m.stale = true
		return nil
	}
	m.busy, m.stale = true, false
	_, trend := m.layout()
	ask := Ask{As: m.as, Trend: trend, History: mostBins}
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

// wait is the time to the next look; there is none once all ranks have come to their end.
func (m *Model) wait() tea.Cmd {
	m.tick++
	n, after := m.tick, refresh
	switch {
	case m.frame != nil && m.frame.Over && !m.frame.Behind:
		return nil
	case m.frame != nil && !m.frame.Live:
		after = refreshDead
	}
	return tea.Tick(after, func(time.Time) tea.Msg { return tickMsg(n) })
}

// Update takes in what happened.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.arrange()
		cmd = m.read(false)
	case tea.BackgroundColorMsg:
		m.terminal.Light = !msg.IsDark()
	case tickMsg:
		if int(msg) != m.tick || m.paused {
			return m, nil
		}
		cmd = m.read(true)
		return m, tea.Batch(cmd, m.wait())
	case frameMsg:
		return m, m.show(msg.frame)
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.mode != modeKeys {
			m.line.Insert(msg.Content)
			cmd = m.typed()
		}
	case savedMsg:
		m.saved(msg)
	case program.CannotStop:
		m.note = "cannot suspend: there is no job-control shell"
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			cmd = m.move(-3)
		case tea.MouseWheelDown:
			cmd = m.move(3)
		}
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			cmd = m.click(msg.X, msg.Y)
		}
	}
	return m, cmd
}

// show takes a frame. Where there is more to read, it is read at once.
func (m *Model) show(f *Frame) tea.Cmd {
	m.busy = false
	m.frame = f
	m.arrange()
	if m.selected.Variable == "" && len(m.entries) > 0 && m.view == viewVariables {
		m.choose(0)
		m.stale = true
	}
	switch {
	case f.Behind && !m.paused:
		return m.read(true)
	case m.stale:
		return m.read(false)
	}
	return nil
}

// arrange makes the table's lines anew, and keeps the selected one.
func (m *Model) arrange() {
	if m.frame == nil {
		return
	}
	if m.view == viewRanks {
		m.entries = ranksOf(m.frame, m.filters[m.view])
	} else {
		m.entries = variables(m.frame, m.filters[m.view])
	}
	m.orders[m.view].sort(m.entries, m.headings())
	m.cursor = min(m.cursor, max(len(m.entries)-1, 0))
	for i := range m.entries {
		if e := &m.entries[i]; m.view == viewRanks && e.rank == m.rank || m.view == viewVariables && e.key == m.selected {
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

// choose selects an entry.
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

// move selects an entry below or above.
func (m *Model) move(by int) tea.Cmd {
	if m.text != nil {
		m.pager.SetYOffset(m.pager.YOffset() + by)
		return nil
	}
	before := m.selected
	m.choose(m.cursor + by)
	if m.selected != before {
		return m.read(false)
	}
	return nil
}

// click selects an entry, or sorts by a column.
func (m *Model) click(x, y int) tea.Cmd {
	if m.text != nil || m.zoom {
		return nil
	}
	if y == headerLines {
		m.sortAt(x)
		return nil
	}
	if i := y - headerLines - 1 + m.top; y > headerLines && y <= headerLines+m.rows() && i < len(m.entries) {
		return m.move(i - m.cursor)
	}
	return nil
}

func (m *Model) setFilter(s string) {
	m.filters[m.view] = s
	m.arrange()
}
