// Package timeline is the full-screen view of a trace: threads as rows, time as columns.
package timeline

import (
	"cmp"
	"context"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mpitx/recording/trace"
	"mpitx/ui/config"
	"mpitx/ui/screen"
	"mpitx/ui/screen/program"
	"mpitx/ui/term"
)

const soon = 200 * time.Millisecond // while messages are matched

// Model is the screen. Only its commands read files, one at a time.
type Model struct {
	screen.Screen
	feed    *Feed // nil: the run is not open
	find    screen.Find[*Feed]
	reading sync.Mutex // held while a command uses the feed
	frame   *Frame     // nil: not yet
	once    bool       // it is printed, not shown

	place      Place
	action     Action // that was not carried out yet
	acting     bool   // the next frame carries it out
	whole      bool   // everything is shown, also what comes
	follow     bool   // the cursor stays at the last call, until it is moved
	top        int
	needed     int // lines of details so far
	order      Order
	reverse    bool
	byFunction bool
	letters    map[int32]rune // of functions, for the whole session
	given      [26]bool
	inMessages bool // keys go to the list of messages
	message    int  // the chosen one
	words      string
	zoom       bool    // rows alone
	waits      bool    // cells show waits and the critical path
	from       []Place // waits whose causes were shown

	timeKeys, rowKeys, commonKeys screen.Section

	busy  bool              // a command is reading
	stale bool              // it reads something that is not wanted any more
	kept  []tea.KeyPressMsg // typed while an action was not carried out yet
}

// New makes the screen of an open run.
func New(f *Feed, t term.Term) *Model {
	m := &Model{feed: f, whole: true, follow: f == nil || f.options.At < 0, letters: map[int32]rune{}}
	m.Screen = screen.Screen{Name: "timeline", LeastWidth: leastWidth, LeastHeight: 10, Terminal: t, Width: 80, Height: 24,
		Findings: m.findings, Help: m.help, About: about, Hints: m.hints, Click: m.click,
		Wheel: func(_, _, by int) tea.Cmd { return m.zoomTime(math.Exp2(float64(by))) }}
	m.bind()
	return m
}

type frameMsg struct{ frame *Frame }

// Init opens the run, or reads the first frame.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.read(true), m.Screen.Init()) }

func (m *Model) ask() Ask {
	if m.whole {
		m.place.From, m.place.To = 0, 0
	}
	rows, columns := m.room()
	return Ask{Place: m.place, Action: m.action, Columns: columns, Rows: rows, Top: m.top, Order: m.order, Reverse: m.reverse, Waits: m.waits, Follow: m.follow}
}

// read makes a command that opens the run, or reads a frame. With poll, the frame holds what was written until now.
func (m *Model) read(poll bool) tea.Cmd {
	if m.busy {
		m.stale = true
		return nil
	}
	m.busy, m.stale = true, false
	if m.feed == nil {
		return m.find.Look
	}
	ask := m.ask()
	m.acting = m.action != (Action{})
	return func() tea.Msg {
		m.reading.Lock()
		defer m.reading.Unlock()
		if poll {
			m.feed.Poll()
		}
		return frameMsg{m.feed.Frame(ask)}
	}
}

func (m *Model) found(msg screen.FoundMsg[*Feed]) tea.Cmd {
	m.busy, m.feed = false, msg.Run
	if cmd := m.Found(msg.Awaited, msg.Err); cmd != nil {
		return cmd
	}
	m.follow = m.feed.options.At < 0
	return m.read(true)
}

// close ends the feed after a command that still reads.
func (m *Model) close() {
	m.reading.Lock()
	defer m.reading.Unlock()
	if m.feed != nil {
		m.feed.Close()
	}
}

// act carries out an action with the next frame. It finds what was written until now.
func (m *Model) act(a Action) tea.Cmd {
	if m.feed == nil {
		return nil
	}
	m.action, m.follow = a, false
	return m.read(!m.Paused)
}

func (m *Model) move(p Place) tea.Cmd {
	m.place, m.message, m.follow = p, 0, false
	return m.read(false)
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.Rendered = ""
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.Width, m.Height, m.needed = msg.Width, msg.Height, 0
		cmd = m.read(false)
	case screen.TickMsg:
		if int(msg) == m.Tick {
			cmd = m.read(!m.Paused)
		}
	case screen.FoundMsg[*Feed]:
		cmd = m.found(msg)
	case frameMsg:
		cmd = m.show(msg.frame)
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	default:
		cmd = m.Common(msg)
	}
	return m, cmd
}

// show takes in a frame. If there is more to read, it is read at once.
func (m *Model) show(f *Frame) tea.Cmd {
	acted := m.acting
	m.busy, m.acting = false, false
	m.frame, m.top = f, f.Top
	m.giveAll()
	if f.Note != "" {
		m.Say("%s", f.Note)
	}
	if acted || !m.stale {
		if acted && f.Note == "" {
			m.message = 0
		}
		m.place, m.whole = f.Place, f.Whole
	}
	if acted {
		m.action = Action{}
	}
	if m.inMessages = m.inMessages && f.Detail != nil && len(f.Detail.Messages) > 0; f.Detail != nil {
		m.message = min(m.message, max(len(f.Detail.Messages)-1, 0))
	}
	var all []tea.Cmd
	for len(m.kept) > 0 && m.action == (Action{}) {
		k := m.kept[0]
		m.kept = m.kept[1:]
		all = append(all, m.key(k))
	}
	switch {
	case m.busy:
	case m.resized():
		all = append(all, m.read(false))
	case m.stale, f.Behind && !m.Paused:
		all = append(all, m.read(false))
	case f.Matching, f.Waits != nil && !f.Waits.Ended:
		all = append(all, m.Wait(soon))
	case f.Live && !m.Paused:
		all = append(all, m.Wait(screen.Refresh))
	}
	return tea.Batch(all...)
}

func (m *Model) moveTime(by int) tea.Cmd {
	f := m.frame
	if f == nil || len(f.Rows) == 0 {
		return nil
	}
	w := m.window()
	p := m.place
	column := w.Column(p.Time) + by
	switch {
	case column < 0:
		m.shift(&p, -max(w.Columns/4, -column))
	case column >= w.Columns:
		m.shift(&p, max(w.Columns/4, column-w.Columns+1))
	}
	span := p.To - p.From
	p.Time = min(max(w.From+time.Duration(float64(span)*(float64(column)+0.001)/float64(w.Columns)), f.From), f.To-1)
	if column >= 0 && column < w.Columns {
		p.Time = w.Edge(column)
	}
	p.Call = trace.CallID{}
	return m.move(p)
}

// window is the one that will be shown.
func (m *Model) window() trace.Window {
	w := trace.Window{From: m.place.From, To: m.place.To, Columns: m.frame.Window.Columns}
	if w.To <= w.From || m.whole {
		w.From, w.To = m.frame.From, m.frame.To
	}
	return w
}

func (m *Model) shift(p *Place, columns int) {
	w := m.window()
	span := w.To - w.From
	by := time.Duration(float64(span) * float64(columns) / float64(w.Columns))
	p.From = max(min(w.From+by, m.frame.To-span), m.frame.From)
	p.To = p.From + span
	m.whole = false
}

// shiftTime shows an earlier or a later time; the cursor stays in its column.
func (m *Model) shiftTime(by float64) tea.Cmd {
	if m.frame == nil || len(m.frame.Rows) == 0 {
		return nil
	}
	p, w := m.place, m.window()
	column := w.Column(p.Time)
	m.shift(&p, int(by*float64(w.Columns)))
	if p.From == w.From {
		return nil
	}
	w.From, w.To = p.From, p.To
	p.Time, p.Call = w.Edge(column), trace.CallID{}
	return m.move(p)
}

// zoomTime multiplies the window's length; the cursor stays on its call and, if possible, in its column.
func (m *Model) zoomTime(by float64) tea.Cmd {
	if m.frame == nil || len(m.frame.Rows) == 0 {
		return nil
	}
	p, w := m.place, m.window()
	all := m.frame.To - m.frame.From
	span := time.Duration(min(max(float64(w.To-w.From)*by, float64(w.Columns)), float64(all)))
	part := float64(p.Time-w.From) / float64(w.To-w.From)
	p.From = max(min(p.Time-time.Duration(part*float64(span)), m.frame.To-span), m.frame.From)
	p.To = p.From + span
	m.whole = span >= all
	return m.around(p)
}

func (m *Model) around(p Place) tea.Cmd {
	m.place, m.follow = p, false
	return m.read(false)
}

func (m *Model) fitCall() tea.Cmd {
	if m.frame == nil || m.frame.Detail == nil || m.frame.Detail.Call == nil {
		m.Say("there is no call under the cursor")
		return nil
	}
	c, p := m.frame.Detail.Call, m.place
	margin := max((c.End-c.Begin)/8, time.Duration(m.frame.Window.Columns)/8, 1)
	p.From, p.To = max(c.Begin-margin, m.frame.From), min(c.End+margin, m.frame.To)
	p.Time = min(max(c.Begin, p.From), p.To-1)
	m.whole = false
	return m.around(p)
}

// moveRow moves the cursor to another row, or in the list of messages to another message.
func (m *Model) moveRow(by int) tea.Cmd {
	switch f := m.frame; {
	case f == nil || len(f.Rows) == 0:
	case m.inMessages:
		m.message = max(min(m.message+by, len(f.Detail.Messages)-1), 0)
	default:
		row := f.row(m.place.Track)
		if to := max(min(row+by, len(f.Rows)-1), 0); to != row {
			p := m.place
			p.Track, p.Call = f.Rows[to].Track, trace.CallID{}
			return m.move(p)
		}
	}
	return nil
}

func (m *Model) click(x, y int) tea.Cmd {
	f := m.frame
	if f == nil || len(f.Rows) == 0 {
		return nil
	}
	row, column := f.Top+y-headerLines, x-m.margin()
	if y < headerLines || row >= f.Top+len(f.Cells) || column < 0 || column >= f.Window.Columns {
		return nil
	}
	p := m.place
	p.Track, p.Time, p.Call = f.Rows[row].Track, f.Window.Edge(column), trace.CallID{}
	return m.move(p)
}

// Run shows a run on a terminal until the user quits, a signal comes (then the error is [program.ErrSignal]), or the run cannot be opened.
// file is the user's configuration; nil: nothing is kept.
func Run(ctx context.Context, find screen.Find[*Feed], t term.Term, file *config.File) error {
	m := New(nil, t)
	m.find, m.Config = find, file
	err := program.Run(ctx, m, t, os.Stdin, os.Stdout)
	m.close()
	return cmp.Or(err, m.Failed)
}

// Print is one frame of a feed, with all rows, after everything was read. Without colours it has no other attributes of text either.
func Print(f *Feed, t term.Term, width int) string {
	m := New(f, t)
	m.Width, m.Height, m.once = max(width, leastWidth), 1<<16, true
	f.All()
	for range 2 { // the second one knows how wide the names of rows are
		m.show(f.Frame(m.ask()))
	}
	text := m.Render()
	if !t.Terminal.Color {
		text = ansi.Strip(text)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
