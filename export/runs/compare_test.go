package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/compare"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
)

// solverRun is a run of the solver to compare, with sources of some call sites.
func solverRun(t testing.TB, name string, v recordingtest.Solver, cut profile.Cut) compare.Input {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := v.Save(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	p, err := profile.Read(run, cut)
	if err != nil {
		t.Fatal(err)
	}
	moved := int(v.Moved) / 16
	p.Resolve(func(a profile.Address) []profile.Frame {
		switch a.Offset - v.Moved {
		case 0x1180:
			return []profile.Frame{{Function: "step", File: "/home/user/src/solver.c", Line: 118 + moved}}
		case 0x1200:
			return []profile.Frame{{Function: "norm", File: "/home/user/src/norm.f90", Line: 7}}
		}
		return nil
	})
	run.Dir = name // equal in all tests
	return compare.Input{Name: name, Run: run, Profile: p}
}

func comparison(t testing.TB, c *compare.Comparison, f export.Format, o CompareOptions) string {
	t.Helper()
	o.Findings = c.Findings("mpitx compare run1 run2")
	var b bytes.Buffer
	if err := Compare(&b, c, f, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// slower compares the solver with another build of it in which rank 2 computes longer and messages are larger.
func slower(t testing.TB, cut profile.Cut) *compare.Comparison {
	return compare.Compare([]compare.Input{solverRun(t, "run1", recordingtest.Solver{}, cut)},
		[]compare.Input{solverRun(t, "run2", recordingtest.Solver{Longer: 500, Halo: 16384, Build: "\x99", Moved: 0x40}, cut)})
}

// severalRuns compares three runs with two slower ones. Their ranges overlap in the functions that vary.
func severalRuns(t testing.TB) *compare.Comparison {
	side := func(longer ...uint64) (all []compare.Input) {
		for i, l := range longer {
			all = append(all, solverRun(t, fmt.Sprint("run", len(longer), i), recordingtest.Solver{Longer: l}, profile.Cut{}))
		}
		return all
	}
	return compare.Compare(side(0, 10, 40), side(20, 50))
}

func sampledRun(name string, scale int64) compare.Input {
	stat := func(name, object, unit string, class catalog.Class, as recording.Transform, total, most int64) recording.Stat {
		s := recording.Stat{Variable: name, Object: object, Unit: unit, Class: class, As: as, Count: 4, Min: recording.IntegerValue(0), Mean: float64(total) / 4, Max: recording.IntegerValue(most)}
		if as == recording.Delta {
			s.Total = recording.IntegerValue(total)
		}
		return s
	}
	return compare.Input{Name: name, Run: &recording.Run{Ranks: []*recording.Rank{{Rank: 0, Size: 4, Host: "node1", Program: "/bin/solver", Library: "MPICH Version: 4.0.2"}}}, Stats: []recording.Stat{
		stat("mpitx:bytes_sent", "", "B", catalog.ClassAggregate, recording.Delta, 1_000_000*scale, 300_000*scale),
		stat("mpitx:time_in_mpi", "", "ns", catalog.ClassTimer, recording.Delta, 1_000_000_000, 300_000_000),
		stat("unexpected_recvq_length", "MPI_COMM_WORLD", "", catalog.ClassLevel, recording.Raw, 3, 7*scale),
	}}
}

// TestCompareGolden: the files are named after the terminal and the flags.
func TestCompareGolden(t *testing.T) {
	screen := export.Terminal{Width: 80, IsTTY: true, UTF8: true}
	c := slower(t, profile.Cut{})
	for name, o := range map[string]CompareOptions{"compare_screen": {Terminal: screen}, "compare_ascii": {Terminal: ascii}, "compare_pipe": {Terminal: pipe}, "compare_color": {Terminal: color}} {
		golden(t, name, []byte(comparison(t, c, export.FormatTable, o)))
	}
	for _, table := range CompareTables {
		golden(t, "compare_table_"+table, []byte(comparison(t, c, export.FormatTable, CompareOptions{Terminal: tty, Table: table})))
	}
	golden(t, "compare_json", []byte(comparison(t, c, export.FormatJSON, CompareOptions{})))
	golden(t, "compare_csv", []byte(comparison(t, c, export.FormatCSV, CompareOptions{})))
	golden(t, "compare_runs", []byte(comparison(t, severalRuns(t), export.FormatTable, CompareOptions{Terminal: tty})))
	golden(t, "compare_runs_wide", []byte(comparison(t, severalRuns(t), export.FormatWide, CompareOptions{Terminal: tty})))
	golden(t, "compare_phase", []byte(comparison(t, slower(t, profile.Cut{Phases: []string{"output"}, Ranks: []int{0, 2}}), export.FormatTable, CompareOptions{Terminal: screen})))
	same := solverRun(t, "run1", recordingtest.Solver{}, profile.Cut{})
	golden(t, "compare_same", []byte(comparison(t, compare.Compare([]compare.Input{same}, []compare.Input{same}), export.FormatTable, CompareOptions{Terminal: screen})))
	samples := compare.Compare([]compare.Input{sampledRun("run1", 1)}, []compare.Input{sampledRun("run2", 2)})
	golden(t, "compare_samples", []byte(comparison(t, samples, export.FormatTable, CompareOptions{Terminal: screen})))
	golden(t, "compare_samples_json", []byte(comparison(t, samples, export.FormatJSON, CompareOptions{})))
}

// A comparison is one screen of 80 columns.
func TestCompareScreen(t *testing.T) {
	text := comparison(t, slower(t, profile.Cut{}), export.FormatTable, CompareOptions{Terminal: export.Terminal{Width: 80, UTF8: true}})
	lines := strings.Split(text, "\n")
	for _, l := range lines {
		if export.Width(l) > 80 {
			t.Errorf("%d cells: %s", export.Width(l), l)
		}
	}
	if len(lines) > 60 {
		t.Errorf("%d lines", len(lines))
	}
}

// What is long is shortened, unless the difference is there.
func TestCompareDifferences(t *testing.T) {
	run := func(program, library string) []compare.Input {
		in := sampledRun("run", 1)
		in.Run.Ranks[0].Program, in.Run.Ranks[0].Library = program, library
		return []compare.Input{in}
	}
	for _, c := range []struct{ program, library, want string }{
		{"/home/b/solver x", "Open MPI v5.0.1, package: y", "Different: program solver → solver x; MPI library Open MPI v4.1.4 → Open MPI v5.0.1\n"},
		{"/home/b/solver", "Open MPI v4.1.4, package: y", "Different: program /home/a/solver → /home/b/solver; MPI library Open MPI v4.1.4, package: x → Open MPI v4.1.4, package: y\n"},
	} {
		text := comparison(t, compare.Compare(run("/home/a/solver", "Open MPI v4.1.4, package: x"), run(c.program, c.library)), export.FormatTable, CompareOptions{Terminal: pipe})
		if !strings.Contains(text, c.want) {
			t.Errorf("no %q in\n%s", c.want, text)
		}
	}
}

// JSON and CSV have the numbers of the runs.
func TestCompareNumbers(t *testing.T) {
	c := slower(t, profile.Cut{})
	type delta struct{ Base, New, Change, Relative float64 }
	var doc struct {
		Run       struct{ Elapsed_ns, Bytes_sent, Calls delta }
		Functions []struct {
			Name                         string
			Rank_mean_ns, Time_ns, Calls delta
		}
		Sites []struct{ Name, Site, New_site string }
		Peers []struct {
			Source, Destination int
			Bytes               delta
		}
	}
	text := comparison(t, c, export.FormatJSON, CompareOptions{})
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err, text)
	}
	want := delta{2e9, 2.5e9, 0.5e9, 0.25}
	if doc.Run.Elapsed_ns != want || doc.Run.Bytes_sent.Change != 4*1000*8192 || doc.Run.Calls != (delta{16050, 16050, 0, 0}) {
		t.Errorf("run: %+v", doc.Run)
	}
	wait := doc.Functions[0]
	if wait.Name != "MPI_Wait" || wait.Time_ns != (delta{1.09e9, 2.59e9, 1.5e9, 1.5 / 1.09}) || wait.Rank_mean_ns.Change != 375e6 || wait.Calls.Base != 4000 {
		t.Errorf("MPI_Wait: %+v", wait)
	}
	if s := doc.Sites[0]; s.Name != "MPI_Wait" || s.Site != "solver.c:118" || s.New_site != "solver.c:122" {
		t.Errorf("site: %+v", s)
	}
	if p := doc.Peers[0]; p.Source != 0 || p.Destination != 1 || p.Bytes != (delta{8192000, 16384000, 8192000, 1}) {
		t.Errorf("peer: %+v", p)
	}
	rows, err := csv.NewReader(strings.NewReader(comparison(t, c, export.FormatCSV, CompareOptions{Table: "functions"}))).ReadAll()
	if err != nil || len(rows) != 1+9*9 || strings.Join(rows[1][:12], ",") != "functions,MPI_Wait,,,,,,,both,rank_mean_ns,ns,272500000" {
		t.Errorf("%v: %d rows: %v", err, len(rows), rows[1])
	}
}
