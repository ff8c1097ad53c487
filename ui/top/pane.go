package top

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"mpitx/recording"
	"mpitx/ui/chart"
	"mpitx/ui/term"
)

func (m *Model) unit() string {
	switch d := m.frame.Detail; {
	case d == nil:
		return ""
	case d.As == recording.Rate:
		return d.Unit + "/s"
	default:
		return d.Unit
	}
}

// paneTitle says what is drawn below it.
func (m *Model) paneTitle() string {
	d := m.frame.Detail
	if d == nil || d.Key != m.selected {
		return ""
	}
	what := "ranks over time"
	if m.pane == paneChart {
		what = "over time"
	}
	text := m.terminal.Safe(d.Variable)
	if d.Object != "" {
		text += " on " + m.terminal.Safe(d.Object)
	}
	span := "bins of " + binText(d.BinWidth)
	if d.Whole {
		span = "all of " + chart.Duration(d.End)
	}
	text += fmt.Sprintf(": %s, %s, %s", what, asWord(d.As), span)
	line := m.terminal.Glyphs().Line
	return m.terminal.Paint(term.Style{Color: term.Accent}, line+line+" "+m.terminal.Cut(text, m.width-4))
}

func binText(d time.Duration) string {
	if d < time.Second {
		return d.String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// time is the panes' time axis.
func (m *Model) time(d *Detail) chart.Time {
	end := "now"
	switch {
	case d.Whole:
		end = chart.Duration(d.End)
	case m.paused:
		end = "paused"
	case !m.frame.Live:
		end = "end"
	}
	return chart.Time{Step: d.BinWidth, Whole: d.Whole, End: end}
}

func (m *Model) drawPane(height int) []string {
	d := m.frame.Detail
	if d == nil || d.Key != m.selected || height < 1 {
		return nil
	}
	unit := m.unit()
	label := func(x float64) string { return labelled(x, unit) }
	if m.pane == paneChart {
		return chart.LineChart(m.lines(d), chart.Axes{Label: label, Time: m.time(d), Zero: true}, m.width, height, m.terminal)
	}
	h := chart.Heat{Label: label, Time: m.time(d)}
	for i := range d.Ranks {
		h.Names = append(h.Names, strconv.Itoa(d.Ranks[i].Rank))
		h.Values = append(h.Values, d.History[i])
	}
	return chart.HeatMap(h, m.width, height, m.terminal)
}

const mostLines = 6

// lines are those of a chart: each rank where they are few, else the least, the mean and the greatest of all ranks; in the view of
// ranks the selected one too.
func (m *Model) lines(d *Detail) []chart.Series {
	var all []chart.Series
	if len(d.Ranks) <= mostLines {
		for i := range d.Ranks {
			all = append(all, chart.Series{Name: "rank " + strconv.Itoa(d.Ranks[i].Rank), Values: d.History[i]})
		}
		return all
	}
	if m.view == viewRanks {
		if k := slices.IndexFunc(d.Ranks, func(v Value) bool { return v.Rank == m.rank }); k >= 0 {
			all = append(all, chart.Series{Name: "rank " + strconv.Itoa(m.rank), Values: d.History[k]})
		}
	}
	n := len(d.History[0])
	low, mean, high := make([]float64, n), make([]float64, n), make([]float64, n)
	column := make([]float64, len(d.History))
	for b := range n {
		for i := range d.History {
			column[i] = d.History[i][b]
		}
		low[b], mean[b], high[b] = extremes(column)
	}
	return append(all, chart.Series{Name: "greatest", Values: high}, chart.Series{Name: "mean", Values: mean}, chart.Series{Name: "least", Values: low})
}
