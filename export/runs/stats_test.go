package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// CSV and JSON have the same numbers, digit by digit, and exact totals.
func TestStatsFormatsAgree(t *testing.T) {
	run, err := recording.Open(recordingtest.SomeTraffic.Saved(t))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	rows := StatRows(run.Stats(recording.Options{}), false)
	var c, j bytes.Buffer
	if rows.Write(&c, export.FormatCSV, export.Terminal{}) != nil || rows.Write(&j, export.FormatJSON, export.Terminal{}) != nil {
		t.Fatal("it cannot be written")
	}
	lines, err := csv.NewReader(&c).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Rows []map[string]json.RawMessage }
	if err := json.Unmarshal(j.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for i, row := range doc.Rows {
		for k, name := range lines[0] {
			if text := strings.Trim(string(row[name]), `"`); text != lines[i+1][k] {
				t.Errorf("%s of %s: %s in JSON, %s in CSV", name, lines[i+1][0], text, lines[i+1][k])
			}
		}
	}
	if total := lines[1][11]; total != fmt.Sprint(3*21761408+18014398509481985) {
		t.Errorf("total %s", total)
	}
}

// Tables have one unit and one number of decimals per line, aligned decimal points, and only as many columns as fit the terminal.
func TestStatsTable(t *testing.T) {
	dir := recordingtest.Traffic{Level: 4, Grown: map[string][4]uint64{"mpitx:bytes_sent": {21761408, 21761408, 21761408, 21761409}, "mpitx:calls": {20094, 20094, 20094, 20095},
		"mpitx:collectives": {1, 2, 3, 8}, "mpitx:rma_operations": {}, "mpitx:time_in_mpi": {1500000, 2469494, 2452541, 2400000}}}.Saved(t)
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	stats := run.Stats(recording.Options{})
	for width, want := range map[int]string{
		0: `VARIABLE              UNIT        MIN       MEAN        MAX  MAX AT  MIN AT  STDDEV  COUNT  AS
mpitx:bytes_sent      MB       21.76      21.76      21.76   3       0-2      0.00       4  delta
mpitx:calls                 20094      20094      20095      3       0-2      0          4  delta
mpitx:collectives               1.000      3.500      8.000  3       0        2.693      4  delta
mpitx:rma_operations            0          0          0      0-3     0-3      0          4  delta
mpitx:time_in_mpi     ms        1.500      2.206      2.469  1       0        0.408      4  delta
`,
		70: `VARIABLE              UNIT        MIN       MEAN        MAX  MAX AT
mpitx:bytes_sent      MB       21.76      21.76      21.76   3
mpitx:calls                 20094      20094      20095      3
mpitx:collectives               1.000      3.500      8.000  3
mpitx:rma_operations            0          0          0      0-3
mpitx:time_in_mpi     ms        1.500      2.206      2.469  1
`,
		48: `VARIABLE              UNIT       MEAN        MAX
mpitx:bytes_sent      MB       21.76      21.76
mpitx:calls                 20094      20095
mpitx:collectives               3.500      8.000
mpitx:rma_operations            0          0
mpitx:time_in_mpi     ms        2.206      2.469
`,
	} {
		var b bytes.Buffer
		if err := StatTable(stats, false, export.Terminal{}).Write(&b, export.FormatTable, export.Terminal{Width: width, UTF8: true}); err != nil || b.String() != want {
			t.Errorf("width %d: %v\n%s", width, err, b.String())
		}
	}
}
