package html

import (
	"html/template"
	"io"
	"math"
	"path"
	"strings"

	"mpitx/export"
	"mpitx/export/campaigns"
)

// Campaign writes what mpitx tune found out.
func Campaign(w io.Writer, a *campaigns.Answer) error {
	t := export.Terminal{UTF8: true}
	d := document{Title: t.Safe(path.Base(a.Session.App[0])), What: "settings", Calls: 1}
	for _, line := range a.Head() {
		d.Head = append(d.Head, t.Safe(line))
	}
	for _, paragraph := range a.Conclusion() {
		d.Findings = append(d.Findings, finding{t.Safe(paragraph[0]), t.Safe(strings.Join(paragraph[1:], " "))})
	}
	if svg := changes(a); svg != "" {
		d.Charts = append(d.Charts, Chart{"Change of the program's time", "Dots are medians. Only the interval of what was compared in new runs concludes; it is drawn.", svg})
	}
	if rows := a.Table(t); len(rows.Rows) > 0 {
		for k := range rows.Columns { // a page has room for all of them
			rows.Columns[k].Wide = false
		}
		d.Tables = append(d.Tables, newTable("Candidates", rows, t))
	}
	return template.Must(template.New("report").Parse(page)).Execute(w, d)
}

// changes is a chart of the candidates' changes, with the interval of the one that was compared.
func changes(a *campaigns.Answer) template.HTML {
	all := a.Changes()
	if len(all) == 0 {
		return ""
	}
	x := axis{from: 0, to: chartWidth - 20}
	for _, c := range all {
		x.from = max(x.from, 8+widthOf(c.Name))
		x.low, x.high = min(x.low, c.Percent, c.Low), max(x.high, c.Percent, c.High)
	}
	x.from = math.Min(x.from, chartWidth/2)
	x.low, x.high = x.low-1, x.high+1
	var d drawing
	bottom := float64(20*len(all) + 2)
	d.line(x.at(0), 0, x.at(0), bottom)
	for k, c := range all {
		y := float64(20*k) + 10
		d.write(x.from-6, y+3, "end", c.Name)
		color := grey
		if c.Compared {
			color = blue
			d.rect(x.at(c.Low), y-1, x.at(c.High)-x.at(c.Low), 2, orange)
		}
		d.rect(x.at(c.Percent)-4, y-4, 8, 8, color)
	}
	d.xAxis(x, x.marks(8), bottom, "percent of the program's time")
	return d.svg(chartWidth, int(bottom)+30, "changes of the program's time by candidate")
}
