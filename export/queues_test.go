package export

import (
	"path/filepath"
	"strings"
	"testing"

	"mpitx/recording"
	"mpitx/recording/queues"
	"mpitx/recording/recordingtest"
)

func TestQueues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveQueues(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	q := queues.Read(run, recording.Options{})
	for name, c := range map[string]struct {
		format Format
		table  string
		term   Terminal
	}{
		"queues":         {FormatTable, "", Terminal{Width: 120, UTF8: true}},
		"queues_80":      {FormatTable, "", Terminal{Width: 80}},
		"queues_json":    {FormatJSON, "", Terminal{UTF8: true}},
		"queues_csv":     {FormatCSV, "", Terminal{UTF8: true}},
		"queues_lengths": {FormatCSV, "lengths", Terminal{UTF8: true}},
	} {
		var b strings.Builder
		if err := Queues(&b, q, c.format, c.table, c.term); err != nil {
			t.Fatal(err)
		}
		golden(t, name, []byte(b.String()))
	}
}
