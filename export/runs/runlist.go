package runs

import (
	"fmt"
	"io"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording/runlist"
	"mpitx/text"
)

// RunListFormats are the formats of lists of runs.
var RunListFormats = []export.Format{export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV, export.FormatNames}

// RunList writes a list of runs.
func RunList(w io.Writer, all []*runlist.Run, f export.Format, t export.Terminal) error {
	rows := runListRows()
	for _, r := range all {
		rows.Rows = append(rows.Rows, runListRow(r, f, t))
	}
	return rows.Write(w, f, t)
}

// CleanedRuns writes what became of runs that were chosen to be removed; dry: they would be.
func CleanedRuns(w io.Writer, all []runlist.Cleaned, dry bool, f export.Format, t export.Terminal) error {
	rows := runListRows()
	rows.Schema = "mpitx.cleaned"
	rows.Columns = append([]export.RowColumn{rows.Columns[0], {Name: "action", Header: "ACTION"}}, rows.Columns[1:]...)
	rows.Columns = append(rows.Columns, export.RowColumn{Name: "why", Header: "WHY", Optional: true, Below: true, Label: "kept: "})
	removed := "removed"
	if dry {
		removed = "would be removed"
	}
	for _, c := range all {
		action := "kept"
		if c.Removed {
			action = removed
		}
		row := runListRow(c.Run, f, t)
		rows.Rows = append(rows.Rows, append(append([]any{row[0], action}, row[1:]...), c.Why))
	}
	return rows.Write(w, f, t)
}

func runListRows() *export.Rows {
	return &export.Rows{Schema: "mpitx.runs", Columns: []export.RowColumn{
		{Name: "run", Header: "RUN", MinWidth: 20}, {Name: "program", Header: "PROGRAM"}, {Name: "started", Header: "STARTED", Right: true},
		{Name: "ranks", Header: "RANKS", Right: true}, {Name: "recorded", Header: "RECORDED"}, {Name: "bytes", Header: "SIZE", Right: true},
		{Name: "state", Header: "STATE"}, {Name: "detail", Header: "DETAIL", Optional: true},
	}}
}

func runListRow(r *runlist.Run, f export.Format, t export.Terminal) []any {
	var ranks any
	if r.Ranks > 0 {
		ranks = r.Ranks
	}
	tools := r.Tools
	if tools == nil {
		tools = []string{}
	}
	if f != export.FormatTable && f != export.FormatWide && f != export.FormatNames {
		return []any{r.Dir, r.Program, r.Start.Format(time.RFC3339), ranks, tools, r.Bytes, string(r.State), r.Detail}
	}
	program := r.Program
	if f == export.FormatTable {
		program = commandText(program)
	}
	return []any{t.Quote(r.Dir), program, r.Start.Local().Format(time.DateTime), ranks, strings.Join(tools, ", "), t.Amount(float64(r.Bytes), "B"), string(r.State), r.Detail}
}

// CleanedText sums up what was removed.
func CleanedText(all []runlist.Cleaned, dry bool, t export.Terminal) string {
	removed, kept, bytes := 0, 0, 0.0
	for _, c := range all {
		if c.Removed {
			removed++
			bytes += float64(c.Bytes)
		} else {
			kept++
		}
	}
	words := "removed " + text.Count(removed, "run")
	if dry {
		words = text.Count(removed, "run") + " would be removed"
	}
	if removed > 0 {
		words += ", " + t.Amount(bytes, "B")
	}
	if kept > 0 {
		words += fmt.Sprintf("; %d kept", kept)
	}
	return words
}
