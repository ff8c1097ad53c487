//go:build cgo && linux

package runs

import (
	"regexp"
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

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
  FUNCTION  TIME (ms)  OF MPI  CALLS  IMBALANCE  MAX AT      MEAN
  MPI_Wait    8.000  50.0 %      4     50.0 %  0,2     2.000 ms
  MPI_Send    2.000  12.5 %           100.0 %  0,2
`},
		"counted functions of threads": {map[string][4]uint64{"mpitx:calls": {2, 2, 2, 2}, "mpitx:time_in_mpi": {8e9, 8e9, 8e9, 8e9}, "mpitx:calls/MPI_Wait": {9, 9, 9, 9}}, 4,
			map[string][4][2]uint64{"MPI_Wait": {{4, 6e9}, {4, 2e9}, {4, 2e9}, {4, 2e9}}, "MPI_Send": {{1, 1e9}, {}, {1, 1e9}, {}}, "MPI_Comm_rank": {{5, 900}, {5, 100}, {5, 100}, {5, 100}}},
			`mpitx: MPI took 400.0 % of the sampled time (summed over threads; 2.000 s per rank on average, 4 ranks)
  PER RANK       MIN   MEAN    MAX  UNIT  IMBALANCE  MAX AT     TOTAL
  MPI calls    2      2      2             0.0 %  0-3      8
  time in MPI  8.000  8.000  8.000  s        0.0 %  0-3     32.000
  FUNCTION  TIME (s)  OF MPI  CALLS  IMBALANCE  MAX AT  MEAN
  MPI_Wait 12.00 37.5 % 16 100.0 % 0 750.0 ms
  MPI_Send 2.00 6.2 % 2 100.0 % 0,2 1.000 s
  MPI_Comm_rank 0.00 <0.1 % 20 200.0 % 0 60 ns
`},
		"no times": {map[string][4]uint64{"mpitx:calls": {1, 1, 1, 1}}, 4, nil, ""},
	} {
		run, err := recording.Open(recordingtest.Traffic{Grown: k.grown, Level: k.level, Functions: k.functions}.Saved(t))
		if err != nil {
			t.Fatal(err)
		}
		fields := func(s string) string {
			return regexp.MustCompile(" +(\n|$)").ReplaceAllString(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " "), "$1")
		}
		if got := Summary(run, export.Terminal{}); fields(got) != fields(k.want) {
			t.Errorf("%s:\n%s", name, got)
		}
		run.Close()
	}
}
