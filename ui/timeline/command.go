package timeline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/export"
	"mpitx/export/perfetto"
	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/screen/prompt"
)

func (m *Model) cmdAt(text string) tea.Cmd {
	at, err := time.ParseDuration(text)
	switch {
	case err != nil:
		m.Say("at: %q is not a time; give it as 1.5s, 20ms or 1m30s", text)
	case m.frame == nil:
	default:
		if at < m.frame.From || at >= m.frame.To {
			m.Say("the trace is from %s to %s", m.exact(m.frame.From), m.exact(m.frame.To))
		}
		p := m.place
		p.Time, p.Call = min(max(at, m.frame.From), m.frame.To-1), trace.CallID{}
		return m.move(p)
	}
	return nil
}

func (m *Model) cmdRank(words string) tea.Cmd {
	if m.frame == nil {
		return nil
	}
	ranks, err := text.ParseRanks(words)
	if err == nil && len(ranks) == 1 {
		for i := range m.frame.Rows {
			if m.frame.Rows[i].Track.Rank.Rank == ranks[0] {
				return m.moveRow(i - m.frame.row(m.place.Track))
			}
		}
	}
	m.Say("rank: %q is not a rank that is shown", words)
	return nil
}

func (m *Model) cmdSearch(words string) tea.Cmd {
	if m.words = words; words == "" {
		return nil
	}
	return m.act(Action{Step: 1, Words: words, First: true})
}

// cmdExport writes the trace of the window and of the ranks of the visible rows.
func (m *Model) cmdExport(command, path string) tea.Cmd {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if format != string(export.FormatCSV) && format != string(export.FormatNDJSON) && format != "pftrace" {
		m.Say("export: the file's name must end in .csv, .ndjson or .pftrace: :export my.csv")
		return nil
	}
	f := m.frame
	if f == nil || len(f.Rows) == 0 {
		m.Say("export: there is nothing to export")
		return nil
	}
	shown := map[int]bool{}
	for i := range f.Cells {
		shown[f.Rows[f.Top+i].Track.Rank.Rank] = true
	}
	o := trace.Options{From: f.Window.From, To: f.Window.To, Rank: func(r *recording.Rank) bool { return shown[r.Rank] }}
	dir, places := f.Dir, m.feed.options.Places
	m.Say("exporting%s", m.Terminal.Ellipsis())
	return func() tea.Msg {
		totals, err := save(command, path, format, dir, o, places)
		return prompt.Saved{Path: path, What: fmt.Sprintf("%d calls and %d messages", totals.Calls, totals.Sent+totals.Received), Err: err}
	}
}

func save(command, path, format, dir string, o trace.Options, places Places) (totals trace.Totals, err error) {
	run, err := recording.Open(dir)
	if err != nil {
		return totals, err
	}
	defer run.Close()
	file, err := prompt.Create(command, path)
	if err != nil {
		return totals, err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	var find func(r *recording.Rank, address uint64) string
	if places != nil {
		var done func()
		find, done = places(run)
		defer done()
	}
	if format == "pftrace" {
		return perfetto.Write(file, run, perfetto.Options{Options: o, Site: find})
	}
	return runs.Trace(file, run, export.Format(format), runs.TraceOptions{Options: o, Site: find})
}
