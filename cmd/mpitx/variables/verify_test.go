package variables

import (
	"bufio"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/compare"
	"mpitx/recording/experiment"
	"mpitx/recording/recordingtest"
	"mpitx/recording/where"
)

// The interval is the result: a narrow terminal shows it whole, below its row.
func TestNarrowIntervals(t *testing.T) {
	c := experiment.Change{What: "MPI_Bcast", Unit: "ns", Known: true, By: 0.056, Low: -0.09, High: 0.274,
		Delta: compare.Delta{Base: compare.Sample{18700}, New: compare.Sample{19740}}}
	for width, want := range map[int]string{50: "\n      95 % interval: -9.0 % to +27.4 %\n", 100: "  +5.6 %  -9.0 % to +27.4 %\n"} {
		var out strings.Builder
		o := &verifyOptions{Source: cli.Source{App: &cli.App{Out: bufio.NewWriter(&out)}}, format: export.FormatTable, workload: "bcast", rounds: 9}
		o.Term = export.Terminal{Width: width, IsTTY: true}
		if err := o.write(nil, []experiment.Change{c}, nil); err != nil {
			t.Fatal(err)
		}
		o.App.Out.Flush()
		if !strings.Contains(out.String(), want) {
			t.Errorf("%d columns:\n%s", width, out.String())
		}
	}
}

// Runs that differ much find only large changes, and the verdict says so.
func TestNoisyVerdict(t *testing.T) {
	if text := verdict([]experiment.Change{{Low: -0.5, High: 1.5, Known: true}}); !strings.Contains(text, "too noisy: only a change by a factor of several would be detected") {
		t.Error(text)
	}
	if text := verdict([]experiment.Change{{}}); !strings.Contains(text, "No time could be compared") || strings.Contains(text, "0 %") {
		t.Error(text)
	}
}

// What a failed run said is shown without the lines about its recording, which is deleted.
func TestReasons(t *testing.T) {
	said := "no input file\nmpitx: a_b is not sampled: reading it crashes or hangs the library\nmpitx: profiled in /tmp/x/0; next: mpitx report /tmp/x/0\nmpitx: start ./nosuch: there is no such file\n"
	if got := reasons(said, "/tmp/x/0"); got != "no input file\nmpitx: start ./nosuch: there is no such file\n" {
		t.Error(got)
	}
}

// An incomplete rank is named by where.
func TestIncompleteRank(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := (recordingtest.Solver{Lacks: []int32{2}}).Save(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var text, document strings.Builder
	job := &where.Job{Size: 4}
	answer := export.Where{Run: run, Job: job, Report: where.Analyze(job), Notes: launch.Incomplete(run)}
	err = errors.Join(answer.Write(&text, export.FormatTable, export.Terminal{}), answer.Write(&document, export.FormatJSON, export.Terminal{}))
	if err != nil || !strings.Contains(text.String(), "\n  rank 2: the recording is incomplete: the agent got no memory") || !strings.Contains(document.String(), `"incomplete_ranks": [
    2
  ]`) {
		t.Errorf("%v\n%s\n%s", err, text.String(), document.String())
	}
}
