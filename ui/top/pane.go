package top

import (
	"math"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/ui/chart"
	"mpitx/ui/term"
)

const besideDrawing = 2 // lines of a pane: its title and the values at the cursor

func (m *Model) focused() bool { return (m.inPane || m.zoom) && m.paneHeight() > 0 }

// paneHeight is that of the map or the chart below the table, with its title and the values at the cursor; 0: there is none.
func (m *Model) paneHeight() int {
	room := m.Height - headerLines - 2 // of the table's lines and the pane
	switch {
	case m.pane == paneNone || m.view == viewMatrix || m.home == viewFunctions && (m.frame == nil || !m.frame.Watched):
		return 0
	case m.zoom:
		return room + 1
	}
	ranks := 1
	if m.frame != nil {
		ranks = max(len(m.frame.Ranks), 1)
	}
	n := room / 2
	if m.pane == paneChart { // two lines for each rank, if the table keeps some
		n = max(n, min(2*ranks+besideDrawing+1, room-leastRows))
	}
	if want := len(m.entries); want < room-n { // a short table leaves it more
		n = room - max(want, 1)
	}
	if m.pane == paneHeat { // a line for each rank, or several if the table leaves room
		lines := max(min((room-max(len(m.entries), 1)-besideDrawing-1)/ranks, chart.MostHeat), 1)
		n = min(n, lines*ranks+besideDrawing+1)
	}
	if n < besideDrawing+2 {
		return 0
	}
	return n
}

func (m *Model) paneLines(height int) []string {
	d := m.detail()
	if d == nil {
		return nil
	}
	drawn := m.draw(d, height)
	lines := append([]string{m.paneTitle(d, &drawn)}, drawn.Lines...)
	return append(lines, m.readout(d))
}

func (m *Model) draw(d *Detail, height int) chart.Drawing {
	draw := chart.HeatMap
	if m.pane == paneChart {
		draw = chart.Strips
	}
	return draw(m.plot(d), m.Width, height-besideDrawing, m.Terminal)
}

// paneTitle names the variable and how it is shown. The name has the first claim on the width.
func (m *Model) paneTitle(d *Detail, drawn *chart.Drawing) string {
	g := m.Terminal.Glyphs()
	text := m.Terminal.Safe(d.Variable)
	if d.Object != "" {
		text += " on " + m.Terminal.Safe(d.Object)
	}
	if room := m.Width - 4; term.Width(text) > room {
		text = strings.TrimRight(m.Terminal.FitMiddle(text, room), " ")
	}
	how := asWord(d.As)
	if d.Metric != OfVariable {
		how = metricWord(d.Metric)
	}
	parts := []string{how, "each rank over time"}
	if m.log && d.Enum == nil {
		parts = append(parts, "log scale")
	}
	parts = append(parts, "steps of "+stepText(d.BinWidth*time.Duration(drawn.Visible())/time.Duration(max(min(drawn.Columns, drawn.Visible()), 1))))
	for i, p := range parts {
		if separator := [...]string{": ", ", "}[min(i, 1)]; term.Width(text+separator+p) <= m.Width-4 {
			text += separator + p
		}
	}
	style := term.Place
	if m.focused() {
		style = term.Cursor
	}
	return m.Terminal.Paint(style, term.Pad(g.Line+g.Line+" "+text+" ", m.Width))
}

func stepText(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// newest is the newest bin in which a rank has a value; the last one if it has none.
func (d *Detail) newest(row int) int {
	last := len(d.History[row]) - 1
	for k := last; k >= 0; k-- {
		if !math.IsNaN(d.History[row][k]) {
			return k
		}
	}
	return last
}

// readout is the time and the value at the cursor, and how the other ranks compare. Without a cursor it is the newest time, or the end of the
// rank in a run that has ended.
func (m *Model) readout(d *Detail) string {
	row, last := m.rankRow(d), len(d.History[0])-1
	when, k := m.endText(d), last
	switch {
	case m.window.still:
		when = chart.Duration(m.window.at)
		k -= d.bins(m.window.at, d.End)
	case d.Whole:
		k = d.newest(row)
		when = chart.Duration(d.End - time.Duration(last-k)*d.BinWidth)
	}
	at := func(i int) float64 {
		if k < 0 || k >= len(d.History[i]) {
			return math.NaN()
		}
		return d.History[i][k]
	}
	text := func(x float64) string {
		if math.IsNaN(x) {
			return "no value"
		}
		return m.label(d, x)
	}
	line := when + "  rank " + rankText(d.Ranks[row].Rank) + ": " + text(at(row))
	low, high := -1, -1
	for i := range d.Ranks {
		x := at(i)
		if low < 0 && !math.IsNaN(x) || low >= 0 && x < at(low) {
			low = i
		}
		if high < 0 && !math.IsNaN(x) || high >= 0 && x > at(high) {
			high = i
		}
	}
	if low >= 0 && len(d.Ranks) > 1 {
		least := "min " + text(at(low)) + " on rank " + rankText(d.Ranks[low].Rank)
		most := "max " + text(at(high)) + " on rank " + rankText(d.Ranks[high].Rank)
		for _, others := range []string{"   " + least + ", " + most, "   " + most, "  " + most} { // as much as there is room for
			if term.Width(line+others) <= m.Width {
				return line + others
			}
		}
	}
	return m.Terminal.Cut(line, m.Width)
}

// overTime is how a variable is shown over time: what only grows as its rate, unless the user chose otherwise.
func (k *column) overTime(as recording.Transform) recording.Transform {
	if as == recording.Default && k.As == recording.Default && k.grows {
		return recording.Rate
	}
	return k.Shown(as)
}
