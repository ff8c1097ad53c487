package cli

import (
	"cmp"
	"io"

	"mpitx/export"
	"mpitx/export/html"
	"mpitx/export/parquet"
	"mpitx/export/pprof"
	"mpitx/export/runs"
	"mpitx/recording/profile"
	"mpitx/recording/waits"
	"mpitx/text"
)

// Formats of runs that package export does not write.
const (
	FormatParquet = export.Format("parquet")
	formatPprof   = export.Format("pprof")
	FormatHTML    = export.Format("html")

	FormatOpenMetrics = export.Format("openmetrics")
)

// ReportFormats are the formats of the overview of a profile.
var ReportFormats = append(runs.ReportFormats[:len(runs.ReportFormats):len(runs.ReportFormats)], FormatParquet, FormatHTML, formatPprof)

// Showable reports, before any work, a format that standard output cannot show because it is a terminal.
func (a *App) Showable(f export.Format) error {
	if f != FormatParquet && f != FormatHTML && f != formatPprof && f != FormatPerfetto {
		return nil
	}
	term, err := a.Terminal()
	if err == nil && term.IsTTY {
		err = Usagef("-o %s: a terminal cannot show it; name a file with --out", f)
	}
	return err
}

// WriteWaits writes why ranks waited. The user calls the run dir.
func WriteWaits(w io.Writer, a *waits.Analysis, f export.Format, dir, table string, t export.Terminal) error {
	if f == FormatHTML {
		return html.Waits(w, a, dir)
	}
	return runs.Waits(w, a, f, text.Quote(dir), table, t)
}

// WriteReport writes a report in any of the ReportFormats.
func WriteReport(w io.Writer, p *profile.Profile, f export.Format, o runs.ReportOptions) error {
	switch f {
	case FormatParquet:
		return parquet.Report(w, p.Run, runs.ReportRows(p, cmp.Or(o.Table, runs.ReportTables[0])))
	case FormatHTML:
		return html.Write(w, p, o.Triggers, o.Run)
	case formatPprof:
		return pprof.Write(w, p)
	}
	return runs.Report(w, p, f, o)
}
