package html

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"path"
	"strconv"
	"time"

	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording/waits"
	"mpitx/text"
)

var waitTitles = map[string]string{"states": "Why ranks waited", "rest": "Time in calls that no wait explains", "causes": "What caused it", "path": "Critical path", "efficiency": "Efficiency", "parts": "Efficiency of phases and nodes",
	"gains": "If it took a tenth less time"}

// Waits writes why the ranks of a run, which the user calls name, waited.
func Waits(w io.Writer, a *waits.Analysis, name string) error {
	t := export.Terminal{UTF8: true}
	d := document{Title: t.Safe(path.Base(name)), What: "why ranks wait", Calls: uint64(a.Run)}
	for _, line := range runs.WaitHead(a, t) {
		d.Head = append(d.Head, t.Safe(line))
	}
	for _, f := range a.Findings() {
		d.Findings = append(d.Findings, finding{t.Safe(f.Text), t.Safe(f.NextText(name))})
	}
	chart := func(title, note string, svg template.HTML) {
		if svg != "" {
			d.Charts = append(d.Charts, Chart{title, note, svg})
		}
	}
	chart("Efficiency", "Each factor is the product of those below it.", efficiency(a))
	chart("What causes the waiting", noteIf(len(a.Causes) > mostBars, "the %d most expensive of %d causes; the bars end at all waiting", mostBars, len(a.Causes)), waterfall(a, t))
	chart("Ranks over time", "The darker, the more of the time is spent waiting; white is none.", overTime(a))
	for _, name := range runs.WaitTables {
		if rows := runs.WaitTable(a, name, t); len(rows.Rows) > 0 {
			d.Tables = append(d.Tables, newTable(waitTitles[name], rows, t))
		}
	}
	return template.Must(template.New("report").Parse(page)).Execute(w, d)
}

// efficiency is a chart of the factors.
func efficiency(a *waits.Analysis) template.HTML {
	var names []string
	var values []float64
	for _, f := range a.Efficiency.Factors() {
		names, values = append(names, f.Name), append(values, 100*f.Value)
	}
	if names == nil {
		return ""
	}
	return bars(names, values, "percent", "factors of the efficiency")
}

// waterfall is a chart of the causes: each bar begins where the one before ends.
func waterfall(a *waits.Analysis, t export.Terminal) template.HTML {
	if a.Waiting == 0 {
		return ""
	}
	scale := t.ScaleOf("ns", float64(a.Waiting))
	var d drawing
	var names []string
	var costs []time.Duration
	rest := a.Waiting
	for _, c := range a.Causes[:min(len(a.Causes), mostBars)] {
		name := "rank " + strconv.Itoa(c.Rank) + ": " + c.Where()
		switch c.What {
		case waits.Computing:
			name = "rank " + strconv.Itoa(c.Rank) + ": before " + c.Where()
		case waits.Unexplained:
			name = "unexplained"
		}
		names, costs = append(names, short(t, name)), append(costs, c.Cost)
		rest -= c.Cost
	}
	if rest > 0 {
		names, costs = append(names, "others"), append(costs, rest)
	}
	x := axis{high: scale.Value(float64(a.Waiting)), to: chartWidth - 20}
	for _, name := range names {
		x.from = max(x.from, 8+widthOf(name))
	}
	sofar := time.Duration(0)
	for i, name := range names {
		y := float64(20 * i)
		from, to := x.at(scale.Value(float64(sofar))), x.at(scale.Value(float64(sofar+costs[i])))
		d.write(x.from-6, y+13, "end", name)
		d.rect(from, y+3, to-from, 14, orange)
		sofar += costs[i]
	}
	bottom := 20*len(names) + 2
	d.xAxis(x, x.marks(8), float64(bottom), "waiting in "+scale.Unit)
	return d.svg(chartWidth, bottom+30, "costs of the causes of waiting")
}

const timeCells = 200 // of a chart of ranks over time

// overTime is a heat map of the part that ranks wait.
func overTime(a *waits.Analysis) template.HTML {
	from, to := a.Span()
	ranks := a.RankNumbers()
	if to <= from || len(ranks) == 0 || a.Waiting == 0 {
		return ""
	}
	per := (len(ranks) + mostBins - 1) / mostBins
	row := map[int]int{}
	for i, r := range ranks {
		row[r] = i / per
	}
	rows := make([][timeCells]time.Duration, (len(ranks)+per-1)/per)
	width := float64(to-from) / timeCells
	for w := range a.Waits {
		for c := int(float64(w.From-from) / width); c < timeCells; c++ {
			begin, end := from+time.Duration(float64(c)*width), from+time.Duration(float64(c+1)*width)
			if begin >= w.To {
				break
			}
			rows[row[w.Rank]][c] += max(min(w.To, end)-max(w.From, begin), 0)
		}
	}
	height := max(2, min(18, 400/float64(len(rows))))
	var d drawing
	y := axis{low: -0.5, high: float64(len(rows)) - 0.5, from: 8, to: 8 + height*float64(len(rows))}
	marks := rankMarks(per, ranks[len(ranks)-1]+1)
	x := axis{low: from.Seconds(), high: to.Seconds(), from: leftOf(marks), to: chartWidth - 12}
	cell := (x.to - x.from) / timeCells
	for i, r := range rows {
		for c, d2 := range r {
			if part := math.Min(float64(d2)/width/float64(per), 1); part > 0 {
				d.rect(x.from+float64(c)*cell, y.at(float64(i)-0.5), cell, height, shade(part))
			}
		}
	}
	d.xAxis(x, x.marks(10), y.to+4, "time in s")
	d.yAxis(y, marks, x.from-4, "rank")
	return d.svg(chartWidth, int(y.to)+36, fmt.Sprintf("waiting of %s over time", text.Count(len(ranks), "rank")))
}
