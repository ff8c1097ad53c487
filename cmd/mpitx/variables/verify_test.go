package variables

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/where"
)

// What a failed run said is shown without the lines about its recording, which is deleted.
func TestReasons(t *testing.T) {
	said := "no input file\nmpitx: a_b is not sampled: reading it crashes or hangs the library\nmpitx: 2 variables are not sampled: reading them crashes or hangs the library: a, b\nmpitx: profiled in /tmp/x/0; next: mpitx report /tmp/x/0\nmpitx: start ./nosuch: there is no such file\n"
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
	answer := runs.Where{Run: run, Job: job, Report: where.Analyze(job), Notes: launch.Incomplete(run)}
	err = errors.Join(answer.Write(&text, export.FormatTable, export.Terminal{}), answer.Write(&document, export.FormatJSON, export.Terminal{}))
	if err != nil || !strings.Contains(text.String(), "\n  rank 2: the recording is incomplete: the agent got no memory") || !strings.Contains(document.String(), `"incomplete_ranks": [
    2
  ]`) {
		t.Errorf("%v\n%s\n%s", err, text.String(), document.String())
	}
}
