package timeline

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/export"
	"mpitx/export/perfetto"
	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// commands is filled in by init, since the help is one of the actions.
var commands prompt.Commands[*Model]

func init() {
	write := func(name string) func(*Model, string) tea.Cmd {
		return func(m *Model, path string) tea.Cmd { return m.cmdExport(name, path) }
	}
	add := commands.Add
	add("at", "TIME", "move the cursor to a time since the start of the job, such as 1.5s", (*Model).cmdAt)
	add("rank", "RANK", "move the cursor to a rank", (*Model).cmdRank)
	add("search", "[WORDS]", "go to the next call whose function and communicator have these words; without words: end the search", (*Model).cmdSearch)
	add("all", "", "show the whole time", func(m *Model, _ string) tea.Cmd { return m.all() })
	add("export", "FILE.csv|ndjson|pftrace", "write the calls and messages of the time and the ranks that are shown to a file; ui.perfetto.dev opens a .pftrace", write("export"))
	add("export!", "FILE.csv|ndjson|pftrace", "the same; replaces a file that exists", write("export!"))
	add("theme", "[NAME]", "choose the colours: "+strings.Join(term.Themes, ", "), (*Model).cmdTheme)
	add("pause", "", "pause or resume", func(m *Model, _ string) tea.Cmd { return m.pause() })
	add("messages", "", "show all messages and what is wrong with the run, in full", func(m *Model, _ string) tea.Cmd { return m.showText(m.messageLines) })
	add("help", "", "show keys and commands", func(m *Model, _ string) tea.Cmd { return m.showText(m.helpLines) })
	add("quit", "", "quit", func(*Model, string) tea.Cmd { return tea.Quit })
}

// begin opens the command line.
func (m *Model) begin(text string) tea.Cmd {
	m.mode, m.line = modeCommand, prompt.New(text)
	return nil
}

func (m *Model) keyCommand(name, text string) tea.Cmd {
	ended, run := m.line.Command(name, text, commands.Names)
	if ended {
		m.mode = modeKeys
	}
	if run {
		return m.command(m.line.String())
	}
	return nil
}

// command runs a line of the command line.
func (m *Model) command(line string) tea.Cmd {
	command, args, err := commands.Parse(line)
	if err != nil {
		m.say("%v", err)
	}
	if command == nil {
		return nil
	}
	m.text = nil
	return command.Do(m, args)
}

func (m *Model) cmdAt(text string) tea.Cmd {
	at, err := time.ParseDuration(text)
	switch {
	case err != nil:
		m.say("at: %q is not a time; give it as 1.5s, 20ms or 1m30s", text)
	case m.frame == nil:
	default:
		if at < m.frame.From || at >= m.frame.To {
			m.say("the trace is from %s to %s", m.exact(m.frame.From), m.exact(m.frame.To))
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
	m.say("rank: %q is not a rank that is shown", words)
	return nil
}

func (m *Model) cmdSearch(words string) tea.Cmd {
	if m.words = words; words == "" {
		return nil
	}
	return m.act(Action{Step: 1, Words: words, First: true})
}

// cmdTheme chooses the colours, for later sessions, too.
func (m *Model) cmdTheme(name string) tea.Cmd {
	note, save := m.themes.Choose(&m.terminal, name)
	m.say("%s", note)
	if save == nil {
		return nil
	}
	return func() tea.Msg { return keptMsg{save()} }
}

type savedMsg struct {
	path   string
	totals trace.Totals
	err    error
}

func (m *Model) saved(msg savedMsg) {
	if msg.err != nil {
		m.say("export %s: %v", msg.path, msg.err)
		return
	}
	m.say("exported %d calls and %d messages to %s", msg.totals.Calls, msg.totals.Sent+msg.totals.Received, msg.path)
}

// cmdExport writes the trace of the window and of the ranks of the visible rows.
func (m *Model) cmdExport(command, path string) tea.Cmd {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if format != string(export.FormatCSV) && format != string(export.FormatNDJSON) && format != "pftrace" {
		m.say("export: the file's name must end in .csv, .ndjson or .pftrace: :export my.csv")
		return nil
	}
	f := m.frame
	if f == nil || len(f.Rows) == 0 {
		m.say("export: there is nothing to export")
		return nil
	}
	shown := map[int]bool{}
	for i := range f.Cells {
		shown[f.Rows[f.Top+i].Track.Rank.Rank] = true
	}
	o := trace.Options{From: f.Window.From, To: f.Window.To, Rank: func(r *recording.Rank) bool { return shown[r.Rank] }}
	dir, places := f.Dir, m.feed.options.Places
	m.say("exporting%s", m.terminal.Ellipsis())
	return func() tea.Msg {
		totals, err := save(command, path, format, dir, o, places)
		return savedMsg{path, totals, err}
	}
}

// save writes a part of a run to a file. Only a command that ends in ! replaces a file that exists.
func save(command, path, format, dir string, o trace.Options, places Places) (totals trace.Totals, err error) {
	run, err := recording.Open(dir)
	if err != nil {
		return totals, err
	}
	defer run.Close()
	how := os.O_EXCL
	if strings.HasSuffix(command, "!") {
		how = os.O_TRUNC
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o666)
	if os.IsExist(err) {
		return totals, fmt.Errorf("the file exists; :%s! %s replaces it", command, path)
	}
	if err != nil {
		return totals, err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	var find func(r *recording.Rank, address uint64) string
	if places != nil {
		var done func()
		find, done = places(run)
		defer done()
	}
	var w io.Writer = file
	if format == "pftrace" {
		return perfetto.Write(w, run, perfetto.Options{Options: o, Site: find})
	}
	return export.Trace(w, run, export.Format(format), export.TraceOptions{Options: o, Site: find})
}
