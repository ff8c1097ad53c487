package runs

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// metricsOf are the metrics of a run whose ranks each have functions, variables of one communicator, and its name.
func metricsOf(t *testing.T, ranks, functions, variables int, object string) (text string, omitted int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "the \"run\"\\")
	var chunks []byte
	for rank := range int32(ranks) {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: int32(ranks), Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/a\nb", Library: "Open MPI v4.1.4, package", Family: "openmpi"})
		s.Clock(100, 100, 1_700_000_000_500_000_000, 0)
		var set []uint32
		var row []byte
		for i := range variables {
			s.Column(uint32(i), recordingtest.Column{Variable: fmt.Sprintf("v%03d", i), Class: 7, Type: 11, Count: 1, Size: 8, Bind: 1, Object: 5, ObjectName: object})
			set = append(set, uint32(i))
			row = binary.LittleEndian.AppendUint64(row, uint64(i)*10+uint64(rank))
		}
		s.Set(0, 8*variables, set...)
		s.Sample(0, 200, make([]byte, 8*variables), nil)
		s.Sample(0, 300, row, nil)
		p := recordingtest.NewProfile(s, 1)
		for i := range functions {
			p.Calls(recordingtest.Call{Function: fmt.Sprintf("MPI_F%03d", i), Calls: uint64(i) + 1, Ticks: 1000 * (uint64(i) + 1), MessagesSent: 1, BytesSent: 8})
		}
		s.Clock(1e9, 1e9, 1_700_000_001_500_000_000-100, 0)
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	if err := recordingtest.Save(dir, "node1", chunks); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var b strings.Builder
	if omitted, err = OpenMetrics(&b, run, recording.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String(), omitted
}

var sampleLine = regexp.MustCompile(`^[a-z_]+\{(?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+\} [-+.e0-9]+$`)

// The number of series has a bound: it depends neither on ranks nor on how much a run recorded. What is left out is said.
func TestOpenMetricsBound(t *testing.T) {
	series := func(text string) (n int) {
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			switch {
			case strings.HasPrefix(line, "# "):
			case !sampleLine.MatchString(line):
				t.Errorf("not a sample: %s", line)
			default:
				n++
			}
		}
		return n
	}
	few, none := metricsOf(t, 2, 5, 7, "grid")
	many, omitted := metricsOf(t, 6, 70, 130, "grid")
	if n := series(few); none != 0 || n != 9+4*5+3*7 {
		t.Errorf("%d series, %d left out:\n%s", n, none, few)
	}
	if n := series(many); omitted != 30 || n != 10+4*51+3*100 || n >= 600 {
		t.Errorf("%d series, %d left out:\n%s", n, omitted, many)
	}
	for _, line := range []string{
		`mpitx_run_omitted_variables{run="the \"run\"\\"} 30`,
		`mpitx_run_processes{run="the \"run\"\\",state="ended"} 6`,
		`mpitx_function_calls{run="the \"run\"\\",function="MPI_F069"} 420`,
		fmt.Sprintf(`mpitx_function_calls{run="the \"run\"\\",function="other"} %d`, 6*20*21/2), // the first 20 take the least time
		`mpitx_function_sent_bytes{run="the \"run\"\\",function="other"} 960`,
		`mpitx_variable_growth{run="the \"run\"\\",variable="v099",class="counter",object="grid"} 5955`,
		`mpitx_variable_rank_min{run="the \"run\"\\",variable="v099",class="counter",object="grid"} 990`,
		`mpitx_variable_rank_max{run="the \"run\"\\",variable="v099",class="counter",object="grid"} 995`,
	} {
		if !strings.Contains(many, "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, many)
		}
	}
	if !strings.HasSuffix(many, "\n# EOF\n") || strings.Count(many, "# EOF") != 1 {
		t.Error("the end is missing")
	}
}

// Texts of others stay in their labels.
func TestOpenMetricsLabels(t *testing.T) {
	text, _ := metricsOf(t, 1, 1, 1, "a\"} 1\n# EOF\n\x1b[2J\\\xff")
	for _, part := range []string{`program="/home/a\\x0ab",library="Open MPI v4.1.4"} 1`, `object="a\"} 1\\x0a# EOF\\x0a\\x1b[2J\\\\\\xff"} 0`} {
		if !strings.Contains(text, part+"\n") {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
	if strings.Count(text, "\n# EOF") != 1 {
		t.Error(text)
	}
}
