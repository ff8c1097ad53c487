package export

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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
		if err := Queues(&b, q, FormatTable, "", Terminal{Width: width, UTF8: true}); err != nil {
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
		format Format
		table  string
		term   Terminal
	}{
		"queues":         {FormatTable, "", Terminal{Width: 120, UTF8: true}},
		"queues_80":      {FormatTable, "", Terminal{Width: 80}},
		"queues_60":      {FormatTable, "", Terminal{Width: 60, UTF8: true}},
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
	for width := 30; width < 130; width++ {
		var b strings.Builder
		if err := Queues(&b, q, FormatTable, "", Terminal{Width: width, UTF8: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if line = strings.TrimSuffix(line, "\n"); Width(line) > width || cutNumber.MatchString(line) {
				t.Errorf("width %d: %s", width, line)
			}
		}
	}
}

// Without messages, no table is printed.
func TestNoQueues(t *testing.T) {
	for _, table := range []string{"", "peers", "lengths"} {
		var b strings.Builder
		if err := Queues(&b, &queues.Queues{Derived: true}, FormatTable, table, Terminal{Width: 80}); err != nil || b.Len() > 0 {
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
		if err := Queues(&b, q, FormatTable, "", Terminal{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "compile with -g"); got != want {
			t.Errorf("%q: %d times in\n%s", site, got, b.String())
		}
	}
}

// A finding names several ranks as one sentence can.
func TestQueueFinding(t *testing.T) {
	pair := func(rank, peer int) queues.Pair { return queues.Pair{Rank: rank, Peer: peer} }
	for want, f := range map[string]queues.Finding{
		"rank 0 waits for rank 1: 4 of its receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all; rank 1 sends late":                                                              {Kind: queues.LateSender, Relation: queues.OnePair, Pairs: []queues.Pair{pair(0, 1)}},
		"rank 0 waits for ranks 1-2: 4 of its receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all; ranks 1-2 send late":                                                         {Kind: queues.LateSender, Relation: queues.SameRank, Pairs: []queues.Pair{pair(0, 1), pair(0, 2)}},
		"ranks 1-2 wait for rank 0: 4 of their receives on ring were posted 2.000 ms on average before their messages were sent, 8.000 ms in all; rank 0 sends late":                                                     {Kind: queues.LateSender, Relation: queues.SamePeer, Pairs: []queues.Pair{pair(1, 0), pair(2, 0)}, Derived: true},
		"ranks 0-2 each wait for the rank before: 4 of their receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all":                                                               {Kind: queues.LateSender, Relation: queues.Apart, Distance: 1, Pairs: []queues.Pair{pair(0, 2), pair(1, 0), pair(2, 1)}},
		"ranks 0-1,3 each wait for the rank before: 4 of their receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all; rank 2 does not wait, and sends late":                       {Kind: queues.LateSender, Relation: queues.Apart, Distance: 1, Pairs: []queues.Pair{pair(0, 3), pair(1, 0), pair(3, 2)}},
		"ranks 0-1 receive late: 4 of 5 messages from each other, in pairs of neighbours, on ring came before their receives, and waited 2.000 ms on average, 8.000 ms in all; post their receives earlier":              {Kind: queues.LateReceives, Relation: queues.Both, Distance: 1, Pairs: []queues.Pair{pair(0, 1), pair(1, 0)}},
		"ranks 0-1 wait for each other: 4 of their receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all":                                                                         {Kind: queues.LateSender, Relation: queues.Mutual, Pairs: []queues.Pair{pair(0, 1), pair(1, 0)}},
		"ranks 0-3 wait for each other, in pairs of neighbours: 4 of their receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all":                                                 {Kind: queues.LateSender, Relation: queues.Both, Distance: 1, Pairs: []queues.Pair{pair(0, 1), pair(1, 0), pair(2, 3), pair(3, 2)}},
		"rank 0 waits for rank 1: 1 of its receives on ring was posted 8.000 ms before its message was sent; rank 1 sends late":                                                                                          {Kind: queues.LateSender, Messages: 1, Relation: queues.OnePair, Pairs: []queues.Pair{pair(0, 1)}, Derived: true},
		"rank 0 receives late: 1 of 5 messages from rank 1 on ring came before its receive, and waited 8.000 ms; post its receives earlier":                                                                              {Kind: queues.LateReceives, Messages: 1, Relation: queues.OnePair, Pairs: []queues.Pair{pair(0, 1)}},
		"ranks 0,4 each receive late: 4 of 5 messages from the rank that is 2 after on ring came before their receives, and waited 2.000 ms on average, 8.000 ms in all; post their receives earlier":                    {Kind: queues.LateReceives, Relation: queues.Apart, Distance: -2, Pairs: []queues.Pair{pair(0, 2), pair(4, 6)}},
		"rank 0 receives late: 4 of 5 messages from rank 1 on ring were sent before their receives were posted, and waited at most 2.000 ms on average, 8.000 ms in all; post its receives earlier, most of all in main": {Kind: queues.LateReceives, Relation: queues.OnePair, Pairs: []queues.Pair{pair(0, 1)}, Derived: true, Site: &queues.Site{Text: "main"}},
	} {
		f.Comm, f.Messages, f.Of, f.Waited = "ring", cmp.Or(f.Messages, 4), 5, 8*time.Millisecond
		if got := QueueFinding(f, Terminal{UTF8: true}); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
