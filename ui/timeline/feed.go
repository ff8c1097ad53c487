package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// budget is the time that a frame may read.
const budget = 100 * time.Millisecond

// Options choose the part of a run to show.
type Options struct {
	From, To time.Duration              // if To > From
	Rank     func(*recording.Rank) bool // nil: all
	At       time.Duration              // where the cursor begins; negative: in the middle
	Places   Places
}

// Places returns a function that says where a call site is in the source, and one that ends its use.
type Places func(*recording.Run) (find func(r *recording.Rank, address uint64) string, done func())

// Feed reads frames of a run. It is not safe for concurrent use.
type Feed struct {
	run     *recording.Run
	index   *trace.Index
	options Options
	matcher matcher
	analyst analyst
	broken  error
	place   func(r *recording.Rank, address uint64) string
	done    func()
	sites   map[site]string
	deaths  *deaths // nil: not read
}

type site struct {
	rank    *recording.Rank
	address uint64
}

// Open begins to read a run, which the feed closes.
func Open(run *recording.Run, o Options) *Feed {
	f := &Feed{run: run, index: trace.NewIndex(run, o.Rank), options: o, sites: map[site]string{}}
	if o.Places != nil {
		f.place, f.done = o.Places(run)
	}
	return f
}

// Close closes the run.
func (f *Feed) Close() {
	f.matcher.stop()
	f.analyst.take(true)
	if f.done != nil {
		f.done()
	}
	f.run.Close()
}

// Poll reads what has come since. It returns false if the run is not live.
func (f *Feed) Poll() bool {
	if !f.run.Running() {
		return false
	}
	f.broken = f.index.Refresh(f.options.Rank)
	return true
}

// Extent is the time that can be shown, and false if there is none.
func (f *Feed) Extent() (from, to time.Duration, ok bool) {
	from, to = f.index.Span()
	to++
	if f.options.To > f.options.From {
		from, to = max(from, f.options.From), min(to, f.options.To)
	}
	return from, to, from < to && len(f.index.Tracks) > 0
}

// All reads everything that a frame may need.
func (f *Feed) All() {
	for f.index.Fill(time.Now().Add(time.Hour)) < 1 {
	}
	f.matcher.wait(f)
}

// Order is how rows are sorted.
type Order uint8

// The orders.
const (
	ByRank Order = iota
	ByTime       // in MPI calls, in the window
	ByCalls
	orders
)

// Place is what is shown, and where the cursor is.
type Place struct {
	From, To time.Duration // the window; all if To is 0
	Track    *trace.Track  // nil: the first one
	Time     time.Duration
	Call     trace.CallID // without a Track: the one that takes the most of the cursor's cell
}

// Action is a movement that must read the trace.
type Action struct {
	Step    int    // to the next call (1), or the one before (-1)
	Words   string // only to a call that has these words
	First   bool   // the search begins at the cursor's time, not at its call
	Message int    // to the other side of this message of the call, from 1
	Path    int    // to the next thread of the critical path (1), or the one before (-1)
	Cause   bool   // to a call that was waited for: At that time on a Thread of a Rank

	Rank, Thread int
	At           time.Duration
}

// Ask says what a frame should hold.
type Ask struct {
	Place
	Action
	Columns, Rows int // that are visible
	Top           int
	Order         Order
	Reverse       bool
	Waits         bool // also waits and the critical path
	Follow        bool // while the run is being written, the cursor is at the last call of its thread
}

// Row is a thread.
type Row struct {
	Track *trace.Track
	Cell  trace.Cell // of the whole window, if rows are sorted by it
}

// Frame is what the screen shows. It shares nothing that changes with the feed.
type Frame struct {
	Dir          string
	Ranks        int // of the run
	Chosen       int // of these, to be shown
	Live, Behind bool
	Matching     bool    // it waits for messages to be matched
	Matched      float64 // the part that was matched
	Read         float64 // the part of the trace that was read
	Place        Place
	Sampled      bool          // not all blocks of the window were read
	Whole        bool          // the window shows everything
	From, To     time.Duration // of everything that can be shown
	Part         bool          // of the run: From and To were chosen
	Window       trace.Window
	Rows         []Row
	Top          int
	Cells        [][]trace.Cell     // of the rows from Top on
	Ends         [][2]time.Duration // likewise: when the thread's first event begins, and when its last one ends
	Functions    []string
	Phases       []string // of the cursor's track, by column
	Phased       bool     // a thread has phases
	Detail       *Detail  // nil: not asked for
	Waits        *Waits   // nil: not asked for
	Lost         uint64
	Old          uint64 // events that newer ones have replaced
	Damage       []error
	Broken       string
	Dead         []int // ranks that died
	Deaths       *deaths
	Incomplete   []int // ranks whose recording lacks something
	Cut          []int // ranks whose recording is damaged or missing at the end
	Note         string
	Shares       []trace.Share // of all rows, the greatest first
	Counted      time.Duration // the time of which they are parts
}

func (f *Frame) row(t *trace.Track) int {
	return max(slices.IndexFunc(f.Rows, func(r Row) bool { return r.Track == t }), 0)
}

// Frame reads a frame.
func (f *Feed) Frame(ask Ask) *Frame {
	out := &Frame{Dir: f.run.Dir, Live: f.run.Running(), Place: ask.Place, Damage: slices.Clone(f.run.Damage()), Incomplete: f.run.IncompleteRanks()}
	if f.broken != nil {
		out.Broken = f.broken.Error()
	}
	seen, chosen := map[int]bool{}, map[int]bool{}
	for _, r := range f.run.Ranks {
		if f.options.Rank == nil || f.options.Rank(r) {
			chosen[r.Rank] = true
		}
		out.Lost += r.Counters.LostEvents
		out.Old += r.Counters.OldEvents
		seen[r.Rank] = true
		switch r.State {
		case recording.StateDied:
			out.Dead = append(out.Dead, r.Rank)
		case recording.StateDamaged:
			out.Cut = append(out.Cut, r.Rank)
		}
	}
	out.Ranks, out.Chosen, out.Deaths = len(seen), len(chosen), f.diedIn(out)
	out.Part = f.options.To > f.options.From
	var ok bool
	if out.From, out.To, ok = f.Extent(); !ok {
		return out
	}
	until := time.Now().Add(budget)
	f.matcher.take(f.index)
	p := &out.Place
	if p.Track == nil || !slices.Contains(f.index.Tracks, p.Track) {
		p.Track, p.Call = f.index.Tracks[0], trace.CallID{}
		out.Note = f.begin(out)
	}
	if ask.Follow && out.Live {
		p.Time, p.Call = f.index.End(p.Track)-1, trace.CallID{}
	}
	out.Note = cmp.Or(f.act(ask.Action, out), out.Note)
	p.clamp(out, ask.Columns)
	out.Window = trace.Window{From: p.From, To: p.To, Columns: max(ask.Columns, 1)}
	out.Whole = p.From == out.From && p.To == out.To
	f.rows(ask, out)
	whole := f.cells(ask, out, until)
	f.shares(ask, out, until)
	if p.Call.Track == nil {
		f.resolve(out)
	}
	out.Read = f.index.Fill(until)
	out.Behind, out.Sampled = out.Read < 1, !whole
	out.Functions = slices.Clone(f.index.Functions())
	slices.SortFunc(out.Shares, func(a, b trace.Share) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Calls, a.Calls), cmp.Compare(out.Functions[a.Function], out.Functions[b.Function]))
	})
	out.Phases, out.Phased = f.index.Phases(p.Track, out.Window), f.index.Phased()
	f.waits(ask, out)
	f.detail(out)
	f.waitsAt(out)
	return out
}

// begin places the cursor for the first time. It returns what is wrong with the wanted place.
func (f *Feed) begin(out *Frame) (note string) {
	at := f.options.At
	if at >= out.To || out.Part && at >= 0 && at < out.From {
		note = fmt.Sprintf("--at %s is outside of the time that is shown, from %s to %s", at, seconds(out.From, 1), seconds(out.To, 1))
	}
	if at < 0 {
		at = out.From + (out.To-out.From)/2
	}
	out.Place.Time = at
	return note
}

// clamp keeps the window within what there is, and the cursor within the window.
func (p *Place) clamp(f *Frame, columns int) {
	if p.To <= p.From {
		p.From, p.To = f.From, f.To
	}
	span := min(max(p.To-p.From, time.Duration(columns)), max(f.To-f.From, time.Duration(columns)))
	p.Time = min(max(p.Time, f.From), f.To-1)
	if p.Time < p.From || p.Time >= p.From+span { // the cursor was moved out of it
		p.From = p.Time - span/2
	}
	p.From = max(min(p.From, f.To-span), f.From)
	p.To = p.From + span
}

func (f *Feed) rows(ask Ask, out *Frame) {
	for _, t := range f.index.Tracks {
		row := Row{Track: t}
		if ask.Order != ByRank {
			row.Cell = f.cell(t, out.Window.From, out.Window.To, time.Now().Add(budget/time.Duration(len(f.index.Tracks))))
		}
		out.Rows = append(out.Rows, row)
	}
	slices.SortStableFunc(out.Rows, func(a, b Row) int {
		switch ask.Order {
		case ByTime:
			return cmp.Compare(b.Cell.Busy, a.Cell.Busy)
		case ByCalls:
			return cmp.Compare(b.Cell.Calls, a.Cell.Calls)
		}
		return 0
	})
	if ask.Reverse {
		slices.Reverse(out.Rows)
	}
	row := out.row(out.Place.Track)
	out.Top = min(max(ask.Top, row-ask.Rows+1, 0), row, max(len(out.Rows)-ask.Rows, 0))
}

func (f *Feed) cells(ask Ask, out *Frame, until time.Time) (whole bool) {
	whole = true
	visible := out.Rows[out.Top:min(out.Top+max(ask.Rows, 1), len(out.Rows))]
	for i := range visible {
		t := visible[i].Track
		now := time.Now()
		part := until.Sub(now) / time.Duration(len(visible)-i)
		cells, all := f.index.Cells(t, out.Window, now.Add(part))
		whole = whole && all
		out.Cells = append(out.Cells, cells)
		out.Ends = append(out.Ends, [2]time.Duration{f.index.Begin(t), f.index.End(t)})
	}
	return whole
}

// cell is a time of a thread as one cell.
func (f *Feed) cell(t *trace.Track, from, to time.Duration, until time.Time) trace.Cell {
	cells, _ := f.index.Cells(t, trace.Window{From: from, To: to, Columns: 1}, until)
	return cells[0]
}

// shares sums up all rows, also those that are not visible, as far as there is time.
func (f *Feed) shares(ask Ask, out *Frame, until time.Time) {
	all := map[int32]trace.Share{}
	add := func(c *trace.Cell, width time.Duration) {
		out.Counted += width - c.Skipped
		for _, s := range c.Shares {
			sum := all[s.Function]
			all[s.Function] = trace.Share{Function: s.Function, Calls: sum.Calls + s.Calls, Time: sum.Time + s.Time}
		}
	}
	window := out.Window
	for i := range out.Rows {
		switch visible := i - out.Top; {
		case visible >= 0 && visible < len(out.Cells):
			for c := range out.Cells[visible] {
				add(&out.Cells[visible][c], out.Window.Edge(c+1)-out.Window.Edge(c))
			}
		case ask.Order != ByRank:
			add(&out.Rows[i].Cell, window.To-window.From)
		case time.Now().Before(until):
			c := f.cell(out.Rows[i].Track, window.From, window.To, until)
			add(&c, window.To-window.From)
		}
	}
	for _, s := range all {
		out.Shares = append(out.Shares, s)
	}
}

func (f *Feed) resolve(out *Frame) {
	p := &out.Place
	column := out.Window.Column(p.Time)
	if c := f.cell(p.Track, out.Window.Edge(column), out.Window.Edge(column+1), time.Now().Add(budget)); c.Longest.Track != nil {
		p.Call = c.Longest
		p.Time = min(max(p.Time, c.Begin, out.Window.Edge(column)), max(c.End, out.Window.Edge(column)))
		p.Time = min(p.Time, out.Window.Edge(column+1)-1)
	}
}
