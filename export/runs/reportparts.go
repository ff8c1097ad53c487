package runs

import (
	"bytes"
	"strings"

	"mpitx/export"
	"mpitx/recording/profile"
)

// ReportHead returns the first lines of a report: which run it is, and how much of its time was spent in MPI.
func ReportHead(p *profile.Profile, t export.Terminal) []string {
	t.Width = 0
	var b bytes.Buffer
	reportHead(&b, p, ReportOptions{Terminal: t})
	return strings.Split(strings.TrimSpace(b.String()), "\n")
}

// ReportTable is a table of a report for people, with all rows.
func ReportTable(p *profile.Profile, name string, t export.Terminal) *export.Rows {
	return peopleTable(p, name, 0, t)
}
