package timeline

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/recording/waits"
	"mpitx/ui/term"
)

// mostCalls bounds the calls of a trace whose waits are found while the screen is in use.
const mostCalls = 5_000_000

// analyst finds waits and the critical path while the screen is in use. It reads the run on its own.
type analyst struct {
	begun, ended bool
	live         bool // the run was being written when it began
	found        chan *waits.Analysis
	analysis     *waits.Analysis      // nil: not yet, or there are too many calls
	threads      map[*trace.Track]int // their numbers in the analysis
}

func (a *analyst) start(dir string, live bool) {
	if a.begun {
		return
	}
	a.begun, a.live, a.found, a.threads = true, live, make(chan *waits.Analysis, 1), map[*trace.Track]int{}
	go func() {
		run, err := recording.Open(dir)
		if err != nil {
			a.found <- nil
			return
		}
		defer run.Close()
		t := trace.Read(run, trace.Options{Flows: true, Parts: true})
		r := waits.NewReader(run, t, func(*recording.Rank, uint64) string { return "" }, mostCalls)
		for e := range t.Events {
			r.Event(e)
		}
		p := r.Program()
		if p == nil {
			a.found <- nil
			return
		}
		a.found <- p.Analyse()
	}()
}

// take takes the result, if there is one now; wait: when there is one.
func (a *analyst) take(wait bool) {
	if !a.begun || a.ended {
		return
	}
	if wait {
		a.analysis, a.ended = <-a.found, true
		return
	}
	select {
	case a.analysis = <-a.found:
		a.ended = true
	default:
	}
}

// thread is the number of a row's first thread in the analysis; -1: none.
func (a *analyst) thread(x *trace.Index, t *trace.Track) int {
	n, known := a.threads[t]
	if !known {
		n = -1
		if id, _, _, ok := x.Next(trace.CallID{Track: t}, x.Begin(t), 1, nil); ok {
			if c, ok := x.Call(id); ok {
				n = a.analysis.Thread(t.Rank.Rank, c.Thread)
			}
		}
		a.threads[t] = n
	}
	return n
}

// Waits is what a frame has of waits and the critical path.
type Waits struct {
	Ended bool // all are found
	None  bool // there are too many calls
	Cells [][]WaitCell
	Sums  [waits.Kinds]time.Duration // of the visible rows
	Call  *waits.Wait                // of the call under the cursor; nil: it did not wait
	Path  *waits.Piece               // at the cursor; nil: the cursor's thread is not on the critical path there
}

// WaitCell is what a cell has of them.
type WaitCell struct {
	Kind    waits.Kind    // that takes the most of it
	Waiting time.Duration // for this reason
	Path    bool          // the critical path is there
}

// waits fills a frame.
func (f *Feed) waits(ask Ask, out *Frame) {
	if !ask.Waits {
		return
	}
	f.analyst.start(f.run.Dir, out.Live)
	f.analyst.take(false)
	w := &Waits{Ended: f.analyst.ended}
	out.Waits = w
	a := f.analyst.analysis
	if w.None = w.Ended && a == nil; a == nil {
		return
	}
	rows := map[[2]int]int{} // by rank and thread
	for i := range out.Cells {
		t := out.Rows[out.Top+i].Track
		thread := f.analyst.thread(f.index, t)
		cells := make([]WaitCell, out.Window.Columns)
		sums := make([][waits.Kinds]time.Duration, out.Window.Columns)
		for x := range func(yield func(*waits.Wait) bool) { a.Between(thread, out.Window.From, out.Window.To, yield) } {
			rows[[2]int{x.Rank, x.Thread}] = i + 1
			f.spread(out, x.From, x.To, func(c int, d time.Duration) {
				w.Sums[x.Kind] += d
				if sums[c][x.Kind] += d; sums[c][x.Kind] > cells[c].Waiting {
					cells[c].Kind, cells[c].Waiting = x.Kind, sums[c][x.Kind]
				}
			})
		}
		rows[a.Of(thread)] = i + 1
		w.Cells = append(w.Cells, cells)
	}
	for x := range func(yield func(*waits.Piece) bool) { a.PiecesBetween(out.Window.From, out.Window.To, yield) } {
		if i := rows[[2]int{x.Rank, x.Thread}]; i > 0 {
			f.spread(out, x.From, x.To, func(c int, _ time.Duration) { w.Cells[i-1][c].Path = true })
		}
	}
}

// spread yields the columns that a time overlaps, and how much.
func (f *Feed) spread(out *Frame, from, to time.Duration, yield func(column int, d time.Duration)) {
	w := out.Window
	from, to = max(from, w.From), min(to, w.To)
	if from >= to {
		return
	}
	for c := w.Column(from); c < w.Columns && w.Edge(c) < to; c++ {
		if d := min(w.Edge(c+1), to) - max(w.Edge(c), from); d > 0 {
			yield(c, d)
		}
	}
}

// waitsAt finds what is at the cursor.
func (f *Feed) waitsAt(out *Frame) {
	a := f.analyst.analysis
	if out.Waits == nil || a == nil {
		return
	}
	p := &out.Place
	thread := f.analyst.thread(f.index, p.Track)
	if c := out.Detail.Call; c != nil {
		a.Between(thread, c.Begin, c.End, func(x *waits.Wait) bool {
			if x.From >= c.Begin && x.From <= c.End {
				found := *x
				out.Waits.Call = &found
			}
			return out.Waits.Call == nil
		})
	}
	of := a.Of(thread)
	a.PiecesBetween(p.Time, p.Time, func(x *waits.Piece) bool {
		if x.Rank == of[0] && x.Thread == of[1] {
			found := *x
			out.Waits.Path = &found
		}
		return out.Waits.Path == nil
	})
}

// actWaits moves to another thread: along the critical path, or from a wait to the call that it waited for.
func (f *Feed) actWaits(act Action, out *Frame) string {
	f.analyst.take(false)
	a := f.analyst.analysis
	switch {
	case !f.analyst.ended:
		return "waits are still being found; try again"
	case a == nil:
		return tooMany()
	}
	rank, thread, at := 0, 0, time.Duration(0)
	if act.Path != 0 {
		x, ok := a.NextPiece(out.Place.Time, act.Path)
		if !ok {
			return "the critical path does not change to another thread " + map[bool]string{true: "after", false: "before"}[act.Path > 0] + " this time"
		}
		rank, thread, at = x.Rank, x.Thread, x.From
	} else {
		rank, thread, at = act.Rank, act.Thread, act.At
	}
	p := &out.Place
	for _, t := range f.index.Tracks {
		if of := a.Of(f.analyst.thread(f.index, t)); of == [2]int{rank, thread} {
			if at >= out.To || at < out.From {
				return "it is outside of --from and --to"
			}
			p.Track, p.Call, p.Time = t, trace.CallID{}, at
			return ""
		}
	}
	return "it is on a rank that --rank leaves out"
}

func tooMany() string {
	return fmt.Sprintf("the trace has more than %d calls: mpitx report RUN waits finds their waits", mostCalls)
}

// ---- the screen ----

var waitColors = [waits.Kinds]struct {
	letter string
	color  term.Color
}{waits.LateSender: {"S", term.Warn}, waits.WrongOrder: {"O", term.Bad}, waits.LateReceiver: {"R", term.Good}, waits.AtBarrier: {"B", term.Match}, waits.NToN: {"N", term.Match}, waits.AtNeighbors: {"G", term.Match},
	waits.LateRoot: {"L", term.Accent}, waits.EarlyRoot: {"E", term.Accent}, waits.Prefix: {"P", term.Accent}, waits.AtWindow: {"W", term.Good}, waits.LatePost: {"T", term.Good},
	waits.LateComplete: {"C", term.Good}, waits.Locked: {"K", term.Good}, waits.CollectiveIO: {"F", term.Bad}, waits.Management: {"M", term.Muted}}

// waitGlyph is how a cell looks while waits are shown: the letter of the wait that takes a quarter of it or more; the critical path is a line.
func (m *Model) waitGlyph(i, column int) (g glyph, ok bool) {
	w := m.frame.Waits
	if w == nil || i >= len(w.Cells) {
		return g, false
	}
	c := w.Cells[i][column]
	width := m.frame.Window.Edge(column+1) - m.frame.Window.Edge(column)
	switch {
	case 4*c.Waiting >= width && !c.Path:
		x := waitColors[c.Kind]
		return glyph{x.letter, term.Style{Color: x.color, Reverse: m.Terminal.Profile > colorprofile.ASCII && 2*c.Waiting >= width}}, true
	case c.Path:
		return glyph{m.pathLine(), term.Style{Color: term.Accent, Bold: true}}, true
	case m.state(i, column) == busy:
		return glyph{m.inMPI(), term.Label}, true
	}
	return g, false
}

// pathLine is the cell of the critical path.
func (m *Model) pathLine() string {
	if m.Terminal.UTF8 {
		return "━"
	}
	return "="
}

// inMPI is a cell in MPI that does not wait.
func (m *Model) inMPI() string {
	if m.Terminal.UTF8 {
		return "▪"
	}
	return ":"
}

// waitLegend says what the letters of waits stand for.
func (m *Model) waitLegend() (entries []entry) {
	w := m.frame.Waits
	for k := waits.None + 1; k < waits.Kinds; k++ {
		if w.Sums[k] > 0 {
			entries = append(entries, entry{waitColors[k].letter, k.String(), waitColors[k].color, w.Sums[k]})
		}
	}
	return entries
}

// waitWords says why the call under the cursor waited, and whether it is on the critical path.
func (m *Model) waitWords() (lines []string) {
	w := m.frame.Waits
	switch {
	case w == nil:
		return nil
	case w.None:
		return []string{" " + tooMany()}
	case !w.Ended:
		return []string{" waits are being found"}
	}
	var fields [][2]string
	if x := w.Call; x != nil {
		fields = [][2]string{{"waits", m.amount(x.To - x.From)}, {"", x.Kind.String()}, {"for rank", fmt.Sprint(x.For)}, {"until it is in", m.Terminal.Safe(x.On.Function)}, {"", "Enter goes there"}}
		if len(m.from) > 0 {
			fields = append(fields, [2]string{"", "Backspace goes back"})
		}
	}
	if x := w.Path; x != nil {
		fields = append(fields, [2]string{"critical path", m.exact(x.From) + " to " + m.exact(x.To) + map[bool]string{true: ", computation", false: ""}[x.What == waits.Computing]})
	}
	if len(fields) == 0 {
		return nil
	}
	return m.fields("", fields)
}

func (m *Model) switchWaits() tea.Cmd {
	m.waits = !m.waits
	return m.read(false)
}

// alongPath goes to the next thread of the critical path, or to the one before.
func (m *Model) alongPath(by int) func() tea.Cmd {
	return func() tea.Cmd {
		if m.frame == nil || len(m.frame.Rows) == 0 {
			return nil
		}
		m.waits = true
		return m.act(Action{Path: by})
	}
}

// toCause goes from a wait to the call that it waited for. It returns false if the call under the cursor did not wait.
func (m *Model) toCause() (tea.Cmd, bool) {
	f := m.frame
	if f == nil || f.Waits == nil || f.Waits.Call == nil || m.inMessages {
		return nil, false
	}
	x := f.Waits.Call
	if m.from = append(m.from, m.place); len(m.from) > mostBack {
		m.from = m.from[1:]
	}
	return m.act(Action{Cause: true, Rank: x.For, Thread: x.OnThread, At: x.To}), true
}

// mostBack bounds the places to go back to.
const mostBack = 100

// backFrom goes back to the wait whose cause was shown last.
func (m *Model) backFrom() tea.Cmd {
	if len(m.from) == 0 {
		m.Say("there is no wait to go back to")
		return nil
	}
	p := m.from[len(m.from)-1]
	m.from = m.from[:len(m.from)-1]
	return m.move(p)
}
