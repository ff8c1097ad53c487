package variables

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/where"
)

// One variable may have several values. Commas belong to a text.
func TestAlternatives(t *testing.T) {
	c := &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{{Kind: catalog.Cvars, Name: "btl", Type: catalog.TypeChar}, {Kind: catalog.Cvars, Name: "limit", Type: catalog.TypeInt}, {Kind: catalog.Cvars, Name: "on", Type: catalog.TypeInt}}}}
	for _, x := range []struct{ given, want, why string }{
		{"limit=1", "limit=1", ""}, {"limit=1,2,3", "limit=1|limit=2|limit=3", ""}, {"limit=1 limit=2", "limit=1|limit=2", ""}, {"on=1 limit=1,2", "on=1 limit=1|on=1 limit=2", ""},
		{"limit=1,2 on=1", "limit=1 on=1|limit=2 on=1", ""}, {"limit=1 on=1", "limit=1 on=1", ""}, {"btl=self,tcp", "btl=self,tcp", ""}, {"btl=self btl=self,tcp", "btl=self|btl=self,tcp", ""},
		{"limit=1,2 on=1,2", "", "limit and on have several values each"}, {"limit=1,1", "", "limit=1 is given twice"}, {"nosuch=1,2", "nosuch=1,2", ""},
	} {
		given, err := cli.ParseSettings("verify", strings.Fields(x.given))
		if err != nil {
			t.Fatal(err)
		}
		all, err := alternatives(given, c)
		var got []string
		for _, one := range all {
			got = append(got, settingsText(one))
		}
		if text := strings.Join(got, "|"); text != x.want || (err != nil) != (x.why != "") || err != nil && !strings.Contains(err.Error(), x.why) {
			t.Errorf("%s: %s, %v", x.given, text, err)
		}
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
