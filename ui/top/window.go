package top

import (
	"math"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/ui/chart"
)

// window is the time that the heat map and the chart show. The zero value follows the newest values: it shows all of a run that has ended,
// and one bin in each column while the run goes on.
type window struct {
	span  time.Duration // 0: see above
	still bool          // it does not follow, and has a cursor
	end   time.Duration // of a window that does not follow
	at    time.Duration // the cursor: the end of a bin
}

const leastSpan = 4 // bins

// detail is what the map and the chart show; nil: it is not known yet.
func (m *Model) detail() *Detail {
	if m.frame == nil || m.frame.Detail == nil || m.frame.Detail.Key != m.selected || len(m.frame.Detail.Ranks) == 0 {
		return nil
	}
	return m.frame.Detail
}

func (m *Model) rankRow(d *Detail) int {
	return max(slices.IndexFunc(d.Ranks, func(v Value) bool { return v.Rank == m.rank }), 0)
}

func (d *Detail) bins(from, to time.Duration) int {
	return int(math.Round(float64(to-from) / float64(d.BinWidth)))
}

func (m *Model) plot(d *Detail) chart.Rows {
	w, end, n := m.window, d.End, len(d.History[0])
	switch {
	case w.span > 0:
		n = max(d.bins(0, w.span), 1)
	case !d.Whole:
		n = m.Width // more than there are columns
	}
	if w.still {
		end = w.end
	}
	label := func(x float64) string { return m.Terminal.Cut(m.label(d, x), 16) }
	r := chart.Rows{Title: "rank", Label: label, Items: d.Enum != nil, Log: m.log && d.Enum == nil, Full: d.full(), Time: chart.Time{Step: d.BinWidth, Fill: d.Whole || w.span > 0}}
	skip := len(d.History[0]) - d.bins(end, d.End) - n // bins that are older than the window; negative: some are missing
	for i := range d.Ranks {
		values := chart.Gaps(n)
		for k := range values {
			if b := skip + k; b >= 0 && b < len(d.History[i]) {
				values[k] = d.History[i][b]
			}
		}
		r.Names, r.Values = append(r.Names, strconv.Itoa(d.Ranks[i].Rank)), append(r.Values, values)
	}
	if m.view == viewRanks || m.focused() || w.still {
		r.Cursor = &chart.Cursor{Row: m.rankRow(d), Step: -1}
	}
	if w.still {
		r.Cursor.Step = n - 1 - d.bins(w.at, end)
	}
	r.Time.First = max(n-d.bins(d.Begin, end), 0)
	if r.Time.Right = m.endText(d); w.still || d.Whole {
		r.Time.Left, r.Time.Right = chart.Duration(max(end-time.Duration(n)*d.BinWidth, 0)), chart.Duration(end)
	}
	return r
}

func (m *Model) endText(d *Detail) string {
	switch {
	case d.Whole:
		return chart.Duration(d.End)
	case m.Paused:
		return "paused"
	case !m.frame.Live:
		return "end"
	}
	return "now"
}

// visible is the time that a drawing shows.
func (m *Model) visible(d *Detail, drawn *chart.Drawing) time.Duration {
	if m.window.span > 0 {
		return m.window.span
	}
	return time.Duration(max(drawn.Visible(), leastSpan)) * d.BinWidth
}

// hold stops the window where it is, and sets the cursor to its end.
func (m *Model) hold(d *Detail, drawn *chart.Drawing) {
	if !m.window.still {
		m.window = window{span: m.visible(d, drawn), still: true, end: d.End, at: d.End}
	}
}

func (m *Model) drawn() (d *Detail, drawn chart.Drawing, ok bool) {
	d = m.detail()
	if n := m.paneHeight(); d != nil && n > 0 {
		return d, m.draw(d, n), true
	}
	return nil, drawn, false
}

func (m *Model) moveTime(by int) tea.Cmd {
	d, drawn, ok := m.drawn()
	if !ok {
		return nil
	}
	m.hold(d, &drawn)
	w := &m.window
	w.at += time.Duration(by*max(drawn.Visible()/max(drawn.Columns, 1), 1)) * d.BinWidth
	m.keep(d)
	return m.read(false)
}

// keep keeps the cursor and the window within the run, and the cursor within the window.
func (m *Model) keep(d *Detail) {
	w := &m.window
	w.at = max(min(w.at, d.End), d.BinWidth)
	w.end = max(min(w.end, d.End), w.at)
	w.end = min(w.end, w.at-d.BinWidth+w.span)
}

// zoomTime makes the window longer or shorter around the cursor.
func (m *Model) zoomTime(by float64) tea.Cmd {
	d, drawn, ok := m.drawn()
	if !ok {
		return nil
	}
	w, before := &m.window, m.visible(d, &drawn)
	most := time.Duration(mostBins) * d.BinWidth
	if d.Whole {
		most = time.Duration(len(d.History[0])) * d.BinWidth
	}
	w.span = max(min(time.Duration(float64(before)*by), most), leastSpan*d.BinWidth)
	if w.span = time.Duration(d.bins(0, w.span)) * d.BinWidth; w.still {
		w.end = w.at + time.Duration(d.bins(0, time.Duration(float64(w.end-w.at)*float64(w.span)/float64(before))))*d.BinWidth
		m.keep(d)
	} else if d.Whole && w.span == most {
		w.span = 0
	}
	return m.read(false)
}

// shiftTime moves the window by half of its length. At the newest values it follows them again.
func (m *Model) shiftTime(by int) tea.Cmd {
	d, drawn, ok := m.drawn()
	if !ok {
		return nil
	}
	if by > 0 && (!m.window.still || m.window.end >= d.End) {
		m.window.still = false
		return nil
	}
	m.hold(d, &drawn)
	w := &m.window
	half := time.Duration(max(d.bins(0, w.span)/2, 1)*by) * d.BinWidth
	end := max(min(w.end+half, d.End), min(w.span, d.End))
	w.at, w.end = w.at+end-w.end, end
	return m.read(false)
}

func (m *Model) pick(x, line int) tea.Cmd {
	d, drawn, ok := m.drawn()
	if !ok || line < 0 || line >= len(drawn.Rows) || drawn.Rows[line] < 0 {
		return nil
	}
	m.inPane = true
	m.rank = d.Ranks[drawn.Rows[line]].Rank
	if m.view == viewRanks {
		m.arrange()
	}
	if step := drawn.Step(x - drawn.Margin); step >= 0 {
		m.hold(d, &drawn)
		n := drawn.Steps()
		m.window.at = m.window.end - time.Duration(n-1-step)*d.BinWidth
		m.keep(d)
	}
	return m.read(false)
}

func (m *Model) history() int {
	d := m.detail()
	switch {
	case d == nil || d.Whole || m.window.still:
		return mostBins
	case m.window.span > 0:
		return d.bins(0, m.window.span) + 1
	}
	return m.Width
}

// full is what the values of a share are parts of: time per second, and a percentage; 0: they are no shares.
func (d *Detail) full() float64 {
	switch {
	case d.As == recording.Rate && d.Unit == "ns":
		return 1e9
	case d.As == recording.Rate && d.Unit == "s", d.As != recording.Rate && d.As != recording.Delta && d.Class == catalog.ClassPercentage:
		return 1
	}
	return 0
}

// label is a value of the map and the chart on this terminal.
func (m *Model) label(d *Detail, x float64) string {
	if d.Enum == nil {
		return m.Terminal.Units(d.label(x))
	}
	return m.Terminal.Safe(d.label(x))
}

// label is a value of the map and the chart: with its unit, or by its name in the variable's enumeration.
func (d *Detail) label(x float64) string {
	unit := d.Unit
	switch {
	case d.Enum != nil && x == math.Trunc(x):
		if name, ok := d.Enum.NameOf(int64(x)); ok {
			return name
		}
	case d.As == recording.Rate:
		unit += "/s"
	}
	return labelled(x, unit)
}
