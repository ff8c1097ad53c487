//go:build cgo && linux

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// traffic makes a run of four ranks whose variables are counters.
func traffic(t *testing.T, grown map[string][4]uint64) string {
	return trafficOf(t, grown, 4, nil)
}

// trafficOf also sets the thread level of the processes, which end with totals by function: calls and time.
func trafficOf(t *testing.T, grown map[string][4]uint64, level int32, functions map[string][4][2]uint64) string {
	t.Helper()
	var chunks []byte
	for rank := range 4 {
		s := recordingtest.NewStream(uint64(rank)+1, int32(rank))
		s.Header(recordingtest.Header{Rank: int32(rank), Size: 4, Clock: 1, NsPerTick: 1, Host: "n", Thread: level})
		s.Clock(0, 0, 1e18, 0)
		var zero, end []byte
		var offsets []uint32
		for i, name := range slices.Sorted(maps.Keys(grown)) {
			class := catalog.ClassCounter
			if strings.Contains(name, "time") {
				class = catalog.ClassTimer
			}
			s.Column(uint32(i), recordingtest.Column{Variable: name, Class: int32(class), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
			offsets = append(offsets, uint32(i))
			zero, end = binary.LittleEndian.AppendUint64(zero, 0), binary.LittleEndian.AppendUint64(end, grown[name][rank])
		}
		s.Set(0, len(zero), offsets...)
		s.Sample(0, 0, zero, nil)
		s.Sample(0, 2e9, end, nil)
		s.Counters(2, 0, 0, 0, 0, 0)
		var totals []recordingtest.Function
		for _, name := range slices.Sorted(maps.Keys(functions)) {
			if f := functions[name][rank]; f[0] > 0 {
				totals = append(totals, recordingtest.Function{Name: name, Calls: f[0], Ns: f[1]})
			}
		}
		if functions != nil {
			s.Functions(totals...)
		}
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", chunks); err != nil {
		t.Fatal(err)
	}
	return dir
}

var someTraffic = map[string][4]uint64{
	"mpitx:bytes_sent":     {21761408, 21761408, 21761408, 18014398509481985},
	"mpitx:calls":          {20094, 20094, 20094, 20095},
	"mpitx:rma_operations": {},
	"mpitx:time_in_mpi":    {1500000, 2469494, 2452541, 2400000},
	"mpitx:time/MPI_Wait":  {2, 3, 4, 5},
}

// CSV and JSON have the same numbers, digit by digit, and exact totals.
func TestStatsFormatsAgree(t *testing.T) {
	run, err := recording.Open(traffic(t, someTraffic))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	rows := statRows(run.Stats(recording.Options{}))
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
	dir := traffic(t, map[string][4]uint64{"mpitx:bytes_sent": {21761408, 21761408, 21761408, 21761409}, "mpitx:calls": {20094, 20094, 20094, 20095},
		"mpitx:collectives": {1, 2, 3, 8}, "mpitx:rma_operations": {}, "mpitx:time_in_mpi": {1500000, 2469494, 2452541, 2400000}})
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
		if err := statTable(stats, export.Terminal{}).Write(&b, export.FormatTable, export.Terminal{Width: width, UTF8: true}); err != nil || b.String() != want {
			t.Errorf("width %d: %v\n%s", width, err, b.String())
		}
	}
}

func TestStatsCommand(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if _, err := build(); err != nil {
		t.Fatal(err)
	}
	dir := traffic(t, someTraffic)
	for _, test := range []struct {
		args, first string
		code        int
	}{
		{"", "mpitx:bytes_sent mpitx:calls mpitx:rma_operations mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"--nonzero", "mpitx:bytes_sent mpitx:calls mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"mpitx:time*", "mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"mpitx:calls mpitx:*sent", "mpitx:bytes_sent mpitx:calls", 0},
		{"--sort max", "mpitx:time_in_mpi mpitx:time/MPI_Wait mpitx:bytes_sent mpitx:calls mpitx:rma_operations", 0},
		{"--sort size", "", 2},
		{"mpitx:call", "", 1},
	} {
		p := newProcess(environ, t.TempDir(), append([]string{"mpitx", "stats", dir, "-o", "names"}, strings.Fields(test.args)...)...)
		p.run(hung)
		if got := strings.Join(strings.Fields(p.stdout.String()), " "); p.failure != "" || p.code != test.code || got != test.first {
			t.Errorf("%s: exit code %d: %s\n%s%s", test.args, p.code, got, p.failure, p.stderr.String())
		}
		if test.args == "mpitx:call" && !strings.Contains(p.stderr.String(), "did you mean mpitx:calls") {
			t.Error(p.stderr.String())
		}
	}
}

// A job that was sampled with mpitx:* ends with one screen: the share of MPI, what was sent, how far ranks differ, and the functions
// that took the most time.
func TestSummary(t *testing.T) {
	for name, k := range map[string]struct {
		grown     map[string][4]uint64
		level     int32
		functions map[string][4][2]uint64
		want      string
	}{
		"totals": {map[string][4]uint64{"mpitx:calls": {100, 100, 100, 100}, "mpitx:time_in_mpi": {1e9, 1e9, 1e9, 5e8}, "mpitx:bytes_sent": {1000, 3000, 0, 0},
			"mpitx:messages_sent": {}, "mpitx:messages_received": {0, 0, 1, 2}}, 1, nil, `mpitx: MPI took 43.8 % of the sampled time (2.000 s per rank on average, 4 ranks)
  PER RANK            MIN     MEAN      MAX     UNIT  IMBALANCE  MAX AT    TOTAL
  MPI calls         100      100      100                0.0 %  0-3     400
  time in MPI         0.500    0.875    1.000  s        14.3 %  0-2       3.500
  bytes sent          0.000    1.000    3.000  kB      200.0 %  1         4.000
  messages received   0.000    0.750    2.000          166.7 %  3         3.000
`},
		"sampled functions": {map[string][4]uint64{"mpitx:calls": {2, 2, 2, 2}, "mpitx:time_in_mpi": {4e6, 4e6, 4e6, 4e6}, "mpitx:time/MPI_Wait": {3e6, 1e6, 3e6, 1e6},
			"mpitx:time/MPI_Send": {1e6, 0, 1e6, 0}, "mpitx:calls/MPI_Wait": {1, 1, 1, 1}, "mpitx:time/MPI_Recv": {}}, 2, nil, `mpitx: MPI took 0.2 % of the sampled time (2.000 s per rank on average, 4 ranks)
  PER RANK       MIN   MEAN    MAX  UNIT  IMBALANCE  MAX AT     TOTAL
  MPI calls    2      2      2             0.0 %  0-3      8
  time in MPI  4.000  4.000  4.000  ms        0.0 %  0-3     16.000
  FUNCTION  TIME (ms)  OF MPI  CALLS   us/CALL  IMBALANCE  MAX AT
  MPI_Wait    8.000  50.0 %      4  2000.000     50.0 %  0,2
  MPI_Send    2.000  12.5 %                     100.0 %  0,2
`},
		"counted functions of threads": {map[string][4]uint64{"mpitx:calls": {2, 2, 2, 2}, "mpitx:time_in_mpi": {8e9, 8e9, 8e9, 8e9}, "mpitx:calls/MPI_Wait": {9, 9, 9, 9}}, 4,
			map[string][4][2]uint64{"MPI_Wait": {{4, 6e9}, {4, 2e9}, {4, 2e9}, {4, 2e9}}, "MPI_Send": {{1, 1e9}, {}, {1, 1e9}, {}}, "MPI_Comm_rank": {{5, 900}, {5, 100}, {5, 100}, {5, 100}}},
			`mpitx: MPI took 400.0 % of the sampled time (summed over threads; 2.000 s per rank on average, 4 ranks)
  PER RANK       MIN   MEAN    MAX  UNIT  IMBALANCE  MAX AT     TOTAL
  MPI calls    2      2      2             0.0 %  0-3      8
  time in MPI  8.000  8.000  8.000  s        0.0 %  0-3     32.000
  FUNCTION  TIME (s)  OF MPI  CALLS   us/CALL  IMBALANCE  MAX AT
  MPI_Wait 12.00 37.5 % 16 750000.000 100.0 % 0
  MPI_Send 2.00 6.2 % 2 1000000.000 100.0 % 0,2
  MPI_Comm_rank 0.00 <0.1 % 20 0.060 200.0 % 0
`},
		"no times": {map[string][4]uint64{"mpitx:calls": {1, 1, 1, 1}}, 4, nil, ""},
	} {
		run, err := recording.Open(trafficOf(t, k.grown, k.level, k.functions))
		if err != nil {
			t.Fatal(err)
		}
		fields := func(s string) string {
			return regexp.MustCompile(" +(\n|$)").ReplaceAllString(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " "), "$1")
		}
		if got := summary(run, export.Terminal{}); fields(got) != fields(k.want) {
			t.Errorf("%s:\n%s", name, got)
		}
		run.Close()
	}
}
