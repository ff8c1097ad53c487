package experiment

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/recording"
	"mpitx/recording/algorithm"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
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
	run := func(bytes, toThird uint64) Run {
		return Run{traffic: seenTraffic(&profile.Profile{
			Functions: []*profile.Function{function("MPI_Send", "", 4, 4, 4*bytes, 0), function("MPI_File_write_all", "", 2, 0, 0, 16),
				function("MPI_Isend", "MPI_File_write_all", 6, 6, 6*bytes, 0)},
			Pairs: []profile.Pair{pair(0, 1, 4), pair(0, 2, toThird)},
		})}
	}
	for _, test := range []struct {
		name    string
		without []Run
		with    []Run
		want    []string
	}{
		{"the same", []Run{run(8, 4), run(8, 4)}, []Run{run(8, 4), run(8, 4)}, nil},
		{"other sizes", []Run{run(8, 4), run(8, 4)}, []Run{run(16, 4), run(16, 4)},
			[]string{"bytes sent by a call of MPI_File_write_all: 32 to 56 B", "bytes sent by a call of MPI_Send: 8 to 16 B"}},
		{"other peers", []Run{run(8, 0), run(8, 0)}, []Run{run(8, 4), run(8, 4)},
			[]string{"messages from rank 0 to 1: 100 to 50 %", "messages from rank 0 to 2: 0 to 50 %"}},
		{"apart, but no further than the runs of a side differ", []Run{run(8, 4), run(10, 4)}, []Run{run(11, 4), run(13, 4)}, nil},
	} {
		var got []string
		for _, c := range Changes([2][]Run{test.without, test.with}) {
			if !c.Changed || !c.Traffic {
				t.Errorf("%s: %+v", test.name, c)
			}
			got = append(got, fmt.Sprintf("%s: %v to %v %s", c.What, c.Delta.Base.Median(), c.Delta.New.Median(), c.Unit))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// CHANGE is the change of the medians that are shown. It always lies in its interval.
func TestChangeOfMedians(t *testing.T) {
	runs := func(times ...float64) (out []Run) {
		for _, x := range times {
			out = append(out, Run{calls: map[string]float64{"MPI_Bcast": x}, share: map[string]float64{"MPI_Bcast": 1}})
		}
		return out
	}
	for _, c := range timeChanges([2][]Run{runs(40, 41, 42, 265, 266, 267, 268), runs(39, 40, 41, 42, 270, 271, 272)}) {
		if want := 42.0/265 - 1; c.By != want || c.Low > want || c.High < want || c.Changed {
			t.Errorf("%+v, want %v", c, want)
		}
	}
}

// Runs in which ranks had no core are counted, and the worst is named.
func TestWithoutCores(t *testing.T) {
	short := func(share float64, text string) Run {
		return Run{short: &processor.Shortage{Share: share, Text: text}}
	}
	sides := [2][]Run{{short(0.2, "little"), {}}, {short(0.6, "4 ranks on 1 core: rank 0 waited 60 % of the run for a core"), {}}}
	if text, want := WithoutCores(sides), "Ranks had no core for a part of 2 of the 4 runs. In one, 4 ranks on 1 core: rank 0 waited 60 % of the run for a core."; !strings.HasPrefix(text, want) {
		t.Errorf("%s", text)
	}
	if text := WithoutCores([2][]Run{{{}}, {{}}}); text != "" {
		t.Errorf("%s", text)
	}
}

// Incomplete ranks are left out, and named.
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
	m, err := Read(run)
	if want := 360e6 / 1000; err != nil || math.Abs(m.calls["MPI_Wait"]-want) > 1 {
		t.Errorf("MPI_Wait takes %v, not %v: %v", m.calls["MPI_Wait"], want, err)
	}
	if text := WithoutRanks([2][]Run{{m, {}}, {{}, {}}}); text != "In 1 of the 4 runs the recording of some ranks is incomplete (rank 2). They are left out." {
		t.Error(text)
	}
}

// Algorithms differ if others served the calls, or clearly another part of them; unknown ones are not the same.
func TestAlgorithms(t *testing.T) {
	run := func(ring, linear uint64) Run {
		var p profile.Profile
		for text, calls := range map[string]uint64{"ring": ring, "linear": linear} {
			if calls > 0 {
				p.Algorithms = append(p.Algorithms, &profile.Algorithm{Function: "MPI_Bcast", Calls: calls, Served: algorithm.Served{Component: "tuned", Algorithm: text, Functions: []string{"f"}}})
			}
		}
		return Run{algorithms: algorithmsOf(&p)}
	}
	for name, test := range map[string]struct {
		sides   [2][]Run
		same    bool
		changes int
	}{
		"the same":     {[2][]Run{{run(60, 40), run(62, 38)}, {run(61, 39), run(60, 40)}}, true, 0},
		"another":      {[2][]Run{{run(10, 0), run(10, 0)}, {run(0, 10), run(0, 10)}}, false, 2},
		"another part": {[2][]Run{{run(90, 10), run(90, 10)}, {run(10, 90), run(10, 90)}}, false, 2},
		"in one run":   {[2][]Run{{run(10, 0), run(9, 1)}, {run(10, 0), run(10, 0)}}, false, 0},
		"unknown":      {[2][]Run{{run(0, 0)}, {run(0, 0)}}, false, 0},
	} {
		if same, changes := SameAlgorithms(test.sides), Changes(test.sides); same != test.same || len(changes) != test.changes {
			t.Errorf("%s: same %v, changes %+v", name, same, changes)
		}
	}
}
