// Package html writes a report as one page with charts. The page loads nothing and runs nothing: it can be read without a network.
package html

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path"
	"slices"
	"strings"

	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/trigger"
)

//go:embed report.html
var page string

type document struct {
	Title    string
	What     string // the page is about
	Head     []string
	Calls    uint64
	Findings []finding
	Charts   []Chart
	Samples  []Chart
	Note     string // about Samples
	Tables   []table
}

type finding struct{ Text, Next string }

type table struct {
	Title   string
	Note    string
	Headers []cell
	Rows    [][]cell
}

type cell struct {
	Text   string
	Number bool
}

const mostRows = 500 // of a table

var titles = map[string]string{runs.ViewFunctions: "Functions", runs.ViewSites: "Call sites", runs.ViewRanks: "Ranks", runs.ViewPhases: "Phases",
	runs.ViewCommunicators: "Communicators", runs.ViewSizes: "Message sizes", runs.ViewAlgorithms: "Algorithms of collective calls",
	runs.ViewArrivals: "Last ranks of collective calls"}

// Write writes the report of a run, which the user calls name, and what its triggers found.
func Write(w io.Writer, p *profile.Profile, triggers []*trigger.Trigger, name string) error {
	t := export.Terminal{UTF8: true}
	d := document{Title: t.Safe(path.Base(name)), What: "MPI profile", Head: runs.ReportHead(p, t), Calls: p.Total.Calls}
	for _, f := range p.Findings() {
		d.Findings = append(d.Findings, finding{t.Safe(f.Text), t.Safe(f.NextText(name))})
	}
	chart := func(title, note string, svg template.HTML) {
		if svg != "" {
			d.Charts = append(d.Charts, Chart{title, note, svg})
		}
	}
	most := "the %d that took the most time"
	chart("Time by function", noteIf(len(inRun(p.Functions)) > mostBars, most, mostBars), slowest(p.Functions, t, func(f *profile.Function) string { return f.Name }, "time by function"))
	chart("Time by call site", noteIf(len(inRun(p.Sites)) > mostBars, most, mostBars), slowest(p.Sites, t, (*profile.Function).Where, "time by call site"))
	chart("Ranks", "", ranks(p, t))
	svg, note := matrix(p, t)
	chart("Messages between ranks", note, svg)
	svg, note = pathMap(p, t)
	chart("Transports between ranks", note, svg)
	var more int
	if d.Samples, more = samples(p.Run, sampleOptions(p), t); more > 0 {
		d.Note = fmt.Sprintf("The first %d of %d variables that change; mpitx top shows all.", len(d.Samples), len(d.Samples)+more)
	}
	for _, name := range runs.ReportTables {
		if rows := runs.ReportTable(p, name, t); len(rows.Rows) > 0 {
			d.Tables = append(d.Tables, newTable(titles[name], rows, t))
		}
	}
	for _, one := range triggers {
		x := newTable("Trigger "+t.Safe(one.Condition), runs.TriggerEvents(one, 0, t), t)
		x.Note = strings.TrimSpace(t.Safe(runs.TriggerText(one)) + ". " + x.Note)
		d.Tables = append(d.Tables, x)
	}
	return template.Must(template.New("report").Parse(page)).Execute(w, d)
}

func noteIf(condition bool, format string, args ...any) string {
	if !condition {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// sampleOptions are the samples of the ranks that the report is about.
func sampleOptions(p *profile.Profile) recording.Options {
	return recording.Options{Rank: func(r *recording.Rank) bool {
		return slices.ContainsFunc(p.Ranks, func(of *profile.Rank) bool { return of.Process == r })
	}}
}

func newTable(title string, rows *export.Rows, t export.Terminal) table {
	x := table{Title: title}
	var shown []int
	for i, c := range rows.Columns {
		empty := func(row []any) bool { return row[i] == nil || row[i] == "" }
		if c.Header == "" || c.Optional && !slices.ContainsFunc(rows.Rows, func(row []any) bool { return !empty(row) }) {
			continue
		}
		shown = append(shown, i)
		x.Headers = append(x.Headers, cell{t.Safe(c.Header), c.Right})
	}
	for _, row := range rows.Rows[:min(len(rows.Rows), mostRows)] {
		var cells []cell
		for _, i := range shown {
			text := ""
			if row[i] != nil {
				text = t.Safe(fmt.Sprint(row[i]))
			}
			cells = append(cells, cell{text, rows.Columns[i].Right})
		}
		x.Rows = append(x.Rows, cells)
	}
	if len(rows.Rows) > mostRows {
		x.Note = fmt.Sprintf("The first %d of %d rows.", mostRows, len(rows.Rows))
	}
	return x
}
