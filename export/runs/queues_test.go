package runs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/queues"
	"mpitx/recording/recordingtest"
)

// Columns are dropped before the numbers of communicators with the same name are cut.
func TestQueueNames(t *testing.T) {
	q := &queues.Queues{Derived: true}
	for _, comm := range []string{"MPI_Comm_dup", "MPI_Comm_dup #2"} {
		q.Peers = append(q.Peers, queues.Peer{Comm: comm, Peer: 1, Unexpected: 1234, Expected: 1234})
		q.Queues = append(q.Queues, queues.Queue{Comm: comm, Inserted: 1234})
	}
	for width := 50; width < 130; width++ {
		var b strings.Builder
		if err := Queues(&b, q, export.FormatTable, "", export.Terminal{Width: width, UTF8: true}); err != nil {
			t.Fatal(err)
		}
		if strings.Count(b.String(), "MPI_Comm_dup #2") != 2 {
			t.Errorf("width %d:\n%s", width, b.String())
		}
	}
}

// cutNumber matches a number, or its unit, that was cut.
var cutNumber = regexp.MustCompile(`[0-9.] ?…`)

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
		format export.Format
		table  string
		term   export.Terminal
	}{
		"queues":         {export.FormatTable, "", export.Terminal{Width: 120, UTF8: true}},
		"queues_80":      {export.FormatTable, "", export.Terminal{Width: 80}},
		"queues_60":      {export.FormatTable, "", export.Terminal{Width: 60, UTF8: true}},
		"queues_json":    {export.FormatJSON, "", export.Terminal{UTF8: true}},
		"queues_csv":     {export.FormatCSV, "", export.Terminal{UTF8: true}},
		"queues_lengths": {export.FormatCSV, "lengths", export.Terminal{UTF8: true}},
	} {
		var b strings.Builder
		if err := Queues(&b, q, c.format, c.table, c.term); err != nil {
			t.Fatal(err)
		}
		golden(t, name, []byte(b.String()))
	}
	for width := 30; width < 130; width++ {
		var b strings.Builder
		if err := Queues(&b, q, export.FormatTable, "", export.Terminal{Width: width, UTF8: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if line = strings.TrimSuffix(line, "\n"); export.Width(line) > width || cutNumber.MatchString(line) {
				t.Errorf("width %d: %s", width, line)
			}
		}
	}
}

// Without messages, no table is printed.
func TestNoQueues(t *testing.T) {
	for _, table := range []string{"", "peers", "lengths"} {
		var b strings.Builder
		if err := Queues(&b, &queues.Queues{Derived: true}, export.FormatTable, table, export.Terminal{Width: 80}); err != nil || b.Len() > 0 {
			t.Errorf("%v: %q", err, b.String())
		}
	}
}

// Without debug information, a call site is only a function, and the output says once what would give lines.
func TestQueueSitesWithoutLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveLate(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	q := queues.Derive(run, recording.Options{})
	for site, want := range map[string]int{"": 0, "main": 1, "solver::step(int)": 1, "main late.c:14": 0, "liblate.so+0x1234": 0} {
		q.ResolveSites(func(*recording.Rank, uint64) string { return site })
		var b strings.Builder
		if err := Queues(&b, q, export.FormatTable, "", export.Terminal{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "compile with -g"); got != want {
			t.Errorf("%q: %d times in\n%s", site, got, b.String())
		}
	}
}
