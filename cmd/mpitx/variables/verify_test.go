package variables

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/compare"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
	"mpitx/recording/where"
)

// Of the traffic that interception saw, what a call sends and who gets it count. Messages of the library's own calls are those of the
// application's call.
func TestTraffic(t *testing.T) {
	function := func(name, within string, calls, messages, bytes, out uint64) *profile.Function {
		return &profile.Function{Name: name, Within: within, Totals: profile.Totals{Calls: calls, MessagesSent: messages, BytesSent: bytes, BytesOut: out}}
	}
	pair := func(from, to int, messages uint64) profile.Pair {
		return profile.Pair{Source: from, Destination: to, MessagesSent: messages, SourceKnown: true}
	}
	run := func(bytes, toThird uint64) measured {
		return measured{traffic: seenTraffic(&profile.Profile{
			Functions: []*profile.Function{function("MPI_Send", "", 4, 4, 4*bytes, 0), function("MPI_File_write_all", "", 2, 0, 0, 16),
				function("MPI_Isend", "MPI_File_write_all", 6, 6, 6*bytes, 0)},
			Pairs: []profile.Pair{pair(0, 1, 4), pair(0, 2, toThird)},
		})}
	}
	for _, test := range []struct {
		name    string
		without []measured
		with    []measured
		want    []string
	}{
		{"the same", []measured{run(8, 4), run(8, 4)}, []measured{run(8, 4), run(8, 4)}, nil},
		{"other sizes", []measured{run(8, 4), run(8, 4)}, []measured{run(16, 4), run(16, 4)},
			[]string{"bytes sent by a call of MPI_File_write_all: 32 to 56 B", "bytes sent by a call of MPI_Send: 8 to 16 B"}},
		{"other peers", []measured{run(8, 0), run(8, 0)}, []measured{run(8, 4), run(8, 4)},
			[]string{"messages from rank 0 to 1: 100 to 50 %", "messages from rank 0 to 2: 0 to 50 %"}},
		{"apart, but no further than the runs of a side differ", []measured{run(8, 4), run(10, 4)}, []measured{run(11, 4), run(13, 4)}, nil},
	} {
		var got []string
		for _, c := range measuredChanges([2][]measured{test.without, test.with}) {
			if !c.changed || !c.traffic {
				t.Errorf("%s: %+v", test.name, c)
			}
			got = append(got, fmt.Sprintf("%s: %v to %v %s", c.what, c.delta.Base.Median(), c.delta.New.Median(), c.unit))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// CHANGE is the change of the medians that are shown. It always lies in its interval.
func TestChangeOfMedians(t *testing.T) {
	runs := func(times ...float64) (out []measured) {
		for _, x := range times {
			out = append(out, measured{calls: map[string]float64{"MPI_Bcast": x}, share: map[string]float64{"MPI_Bcast": 1}})
		}
		return out
	}
	for _, c := range timeChanges([2][]measured{runs(40, 41, 42, 265, 266, 267, 268), runs(39, 40, 41, 42, 270, 271, 272)}) {
		if want := 42.0/265 - 1; c.by != want || c.low > want || c.high < want || c.changed {
			t.Errorf("%+v, want %v", c, want)
		}
	}
}

// Runs in which ranks had no core are counted, and the worst is named.
func TestWithoutCores(t *testing.T) {
	short := func(share float64, text string) measured {
		return measured{short: &processor.Shortage{Share: share, Text: text}}
	}
	sides := [2][]measured{{short(0.2, "little"), {}}, {short(0.6, "4 ranks on 1 core: rank 0 waited 60 % of the run for a core"), {}}}
	if text, want := withoutCores(sides), "Ranks had no core for a part of 2 of the 4 runs. In one, 4 ranks on 1 core: rank 0 waited 60 % of the run for a core."; !strings.HasPrefix(text, want) {
		t.Errorf("%s", text)
	}
	if text := withoutCores([2][]measured{{{}}, {{}}}); text != "" {
		t.Errorf("%s", text)
	}
}

// The interval is the result: a narrow terminal shows it whole, below its row.
func TestNarrowIntervals(t *testing.T) {
	c := change{what: "MPI_Bcast", unit: "ns", known: true, by: 0.056, low: -0.09, high: 0.274,
		delta: compare.Delta{Base: compare.Sample{18700}, New: compare.Sample{19740}}}
	for width, want := range map[int]string{50: "\n      95 % interval: -9.0 % to +27.4 %\n", 100: "  +5.6 %  -9.0 % to +27.4 %\n"} {
		var out strings.Builder
		o := &verifyOptions{Source: cli.Source{App: &cli.App{Out: bufio.NewWriter(&out)}}, format: export.FormatTable, workload: "bcast", rounds: 9}
		o.Term = export.Terminal{Width: width, IsTTY: true}
		if err := o.write(nil, []change{c}, nil); err != nil {
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
	if text := verdict([]change{{low: -0.5, high: 1.5, known: true}}); !strings.Contains(text, "too noisy: only a change by a factor of several would be detected") {
		t.Error(text)
	}
	if text := verdict([]change{{}}); !strings.Contains(text, "No time could be compared") || strings.Contains(text, "0 %") {
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

// An incomplete rank is left out of what verify measures, and where names it.
func TestIncompleteRank(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := (recordingtest.Solver{Lacks: []int32{2}}).Save(dir); err != nil {
		t.Fatal(err)
	}
	m, err := measure(dir)
	if want := 360e6 / 1000; err != nil || math.Abs(m.calls["MPI_Wait"]-want) > 1 {
		t.Errorf("MPI_Wait takes %v, not %v: %v", m.calls["MPI_Wait"], want, err)
	}
	if text := withoutRanks([2][]measured{{m, {}}, {{}, {}}}); text != "In 1 of the 4 runs the recording of some ranks is incomplete (rank 2). They are left out." {
		t.Error(text)
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
