package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
)

// solver is the profile of a run that is known exactly, with sources of some call sites.
func solver(t testing.TB, cut profile.Cut) *profile.Profile {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveSolver(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	p, err := profile.Read(run, cut)
	if err != nil || len(run.Damage()) > 0 {
		t.Fatal(err, run.Damage())
	}
	p.Resolve(func(a profile.Address) []profile.Frame {
		switch a.Offset {
		case 0x1180:
			return []profile.Frame{{Function: "exchange", File: "/home/user/src/halo.h", Line: 31, Inlined: true}, {Function: "step", File: "/home/user/src/solver.c", Line: 118}}
		case 0x1200:
			return []profile.Frame{{Function: "norm", File: "/home/user/src/norm.f90", Line: 7}}
		}
		return nil
	})
	return p
}

func report(t testing.TB, p *profile.Profile, f export.Format, o ReportOptions) string {
	t.Helper()
	o.Findings = p.Findings()
	var b bytes.Buffer
	if err := Report(&b, p, f, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReportGolden: the files are named after the terminal and the flags.
func TestReportGolden(t *testing.T) {
	screen := export.Terminal{Width: 80, IsTTY: true, UTF8: true}
	for name, o := range map[string]ReportOptions{
		"report_screen": {Terminal: screen}, "report_ascii": {Terminal: ascii}, "report_pipe": {Terminal: pipe}, "report_color": {Terminal: color},
		"report_functions": {Terminal: tty, Table: "functions"}, "report_sites": {Terminal: tty, Table: "sites"}, "report_ranks": {Terminal: tty, Table: "ranks"},
		"report_phases": {Terminal: tty, Table: "phases"}, "report_communicators": {Terminal: tty, Table: "communicators"}, "report_sizes": {Terminal: tty, Table: "sizes"}, "report_algorithms": {Terminal: tty, Table: "algorithms"},
		"report_arrivals": {Terminal: tty, Table: "arrivals"},
	} {
		golden(t, name, []byte(report(t, solver(t, profile.Cut{}), export.FormatTable, o)))
	}
	p := solver(t, profile.Cut{})
	golden(t, "report_json", []byte(report(t, p, export.FormatJSON, ReportOptions{})))
	for _, table := range ReportTables {
		golden(t, "report_csv_"+table, []byte(report(t, p, export.FormatCSV, ReportOptions{Table: table})))
	}
	golden(t, "report_phase", []byte(report(t, solver(t, profile.Cut{Phases: []string{"output"}}), export.FormatTable, ReportOptions{Terminal: screen})))
	golden(t, "report_comm", []byte(report(t, solver(t, profile.Cut{Objects: []string{"grid"}, Ranks: []int{0, 1}}), export.FormatTable, ReportOptions{Terminal: screen})))
}

// A report is one screen of 80 columns.
func TestReportScreen(t *testing.T) {
	text := report(t, solver(t, profile.Cut{}), export.FormatTable, ReportOptions{Terminal: export.Terminal{Width: 80, UTF8: true}})
	lines := strings.Split(text, "\n")
	for _, l := range lines {
		if export.Width(l) > 80 {
			t.Errorf("%d cells: %s", export.Width(l), l)
		}
	}
	if len(lines) > 50 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestCommandText(t *testing.T) {
	for command, want := range map[string]string{"/bin/solver": "solver", "./solver -i /data/in.txt x": "solver -i in.txt x", "python3 /a/run.py": "python3 run.py", "": ""} {
		if got := commandText(command); got != want {
			t.Errorf("%q: %q, not %q", command, got, want)
		}
	}
}

// Several programs are named without their arguments, each once.
func TestProgramsText(t *testing.T) {
	for want, commands := range map[string][]string{"solver -i in.txt": {"./solver -i /data/in.txt"}, "solver": {"./solver a", "/bin/solver b"},
		"atm and ocean": {"./atm", "./ocean in"}, "atm, ice and ocean": {"./atm", "ice", "./ocean"}, "": nil} {
		if got := programsText(commands); got != want {
			t.Errorf("%q: %q, not %q", commands, got, want)
		}
	}
}

// Messages with processes of other jobs are counted, though they are in no matrix.
func TestReportOtherJobs(t *testing.T) {
	p := solver(t, profile.Cut{})
	if text := report(t, p, export.FormatJSON, ReportOptions{}); strings.Contains(text, "other_jobs") {
		t.Error("other jobs without messages")
	}
	p.Others = profile.Totals{MessagesSent: 2, BytesSent: 16, MessagesReceived: 1, BytesReceived: 8}
	if text := report(t, p, export.FormatJSON, ReportOptions{}); !strings.Contains(text, `"other_jobs": {"messages_sent":2,"bytes_sent":16,"messages_received":1,"bytes_received":8}`) || !json.Valid([]byte(text)) {
		t.Error(text)
	}
}

// JSON, CSV and the model have the same numbers.
func TestReportNumbers(t *testing.T) {
	p := solver(t, profile.Cut{})
	var doc struct {
		Functions []struct {
			Name                                       string
			Calls, Time_ns, Bytes_sent, Bytes_received uint64
			Ranks                                      []struct{ Rank, Calls, Time_ns uint64 }
		}
		Matrix []struct{ Source, Destination, Messages, Bytes uint64 }
	}
	if err := json.Unmarshal([]byte(report(t, p, export.FormatJSON, ReportOptions{})), &doc); err != nil {
		t.Fatal(err)
	}
	byName := map[string]int{}
	for i, f := range doc.Functions {
		byName[f.Name] = i
		var calls, time uint64
		for _, r := range f.Ranks {
			calls, time = calls+r.Calls, time+r.Time_ns
		}
		if calls != f.Calls || time != f.Time_ns {
			t.Errorf("%s: ranks have %d calls in %d ns, all %d in %d", f.Name, calls, time, f.Calls, f.Time_ns)
		}
	}
	if f := doc.Functions[byName["MPI_Isend"]]; f.Calls != 4000 || f.Time_ns != 16e6 || f.Bytes_sent != 4000*8192 || f.Bytes_received != 0 {
		t.Errorf("MPI_Isend: %+v", f)
	}
	if f := doc.Functions[byName["MPI_Wait"]]; f.Calls != 4000 || f.Time_ns != 1090e6 || f.Bytes_received != 4000*8192 {
		t.Errorf("MPI_Wait: %+v", f)
	}
	var b bytes.Buffer
	if err := Matrix(&b, p, p.Pairs, export.FormatCSV, export.Terminal{}); err != nil {
		t.Fatal(err)
	}
	if want := "source,destination,messages,bytes,incomplete_ranks\n0,1,1000,8192000,\n0,3,1,100,\n1,2,1000,8192000,\n2,3,1000,8192000,\n3,0,1000,8192000,\n"; b.String() != want {
		t.Errorf("matrix:\n%s", b.String())
	}
	if len(doc.Matrix) != 5 || doc.Matrix[1].Bytes != 100 {
		t.Errorf("matrix in JSON: %+v", doc.Matrix)
	}
	lines, err := csv.NewReader(strings.NewReader(report(t, p, export.FormatCSV, ReportOptions{}))).ReadAll()
	if err != nil || len(lines) != len(p.Functions)+1 || lines[1][0] != "MPI_Wait" || lines[1][3] != "4000" || lines[1][4] != "1090000000" {
		t.Errorf("CSV: %v %v", err, lines)
	}
}

func TestMatrixGolden(t *testing.T) {
	p := solver(t, profile.Cut{})
	for name, f := range map[string]export.Format{"matrix_table": export.FormatTable, "matrix_wide": export.FormatWide, "matrix_json": export.FormatJSON} {
		var b bytes.Buffer
		if err := Matrix(&b, p, p.Pairs, f, export.Terminal{Width: 80, UTF8: true}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
	var many []profile.Pair
	for i := range 30 {
		many = append(many, profile.Pair{Source: i, Destination: (i + 1) % 30, MessagesSent: 1, BytesSent: uint64(i) * 1000, SourceKnown: true})
	}
	var b bytes.Buffer
	if err := Matrix(&b, p, many, export.FormatTable, export.Terminal{Width: 80, UTF8: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "matrix_many", b.Bytes())
}

// A profile without calls says so.
func TestReportEmpty(t *testing.T) {
	for cut, want := range map[string]string{"": "No MPI call was recorded: the program made none, or --include and --exclude left out all that it made\n",
		"solve": "No MPI call was recorded in this part of the run\n"} {
		c := profile.Cut{}
		if cut != "" {
			c.Phases = []string{cut}
		}
		p := solver(t, c)
		p.Total = profile.Totals{}
		var b bytes.Buffer
		if err := Report(&b, p, export.FormatTable, ReportOptions{}); err != nil || !strings.Contains(b.String(), want) || strings.Contains(b.String(), "stands out") {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
	var b bytes.Buffer
	if err := Report(&b, &profile.Profile{}, export.FormatTable, ReportOptions{Lost: true}); err != nil || b.String() != "No MPI call was recorded: the agent had no memory for its tables\n" {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A report names the QMPI tools that calls passed through.
func TestReportTools(t *testing.T) {
	o := ReportOptions{Tools: []string{"counter (libfoo.so)", "logger"}}
	if text := report(t, solver(t, profile.Cut{}), export.FormatTable, o); !strings.Contains(text, "\nQMPI tools: counter (libfoo.so), logger (times include theirs)\n") {
		t.Error(text)
	}
	if text := report(t, solver(t, profile.Cut{}), export.FormatJSON, o); !strings.Contains(text, `"tools":["counter (libfoo.so)","logger"]`) {
		t.Error(text)
	}
}
