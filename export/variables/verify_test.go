package variables

import (
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/recording/compare"
	"mpitx/recording/experiment"
)

// The interval is the result: a narrow terminal shows it whole, below its row.
func TestNarrowIntervals(t *testing.T) {
	c := experiment.Change{What: "MPI_Bcast", Unit: "ns", Known: true, By: 0.056, Low: -0.09, High: 0.274,
		Delta: compare.Delta{Base: compare.Sample{18700}, New: compare.Sample{19740}}}
	for width, want := range map[int]string{50: "\n      95 % interval: -9.0 % to +27.4 %\n", 100: "  +5.6 %  -9.0 % to +27.4 %\n"} {
		var out strings.Builder
		v := Verified{Experiments: []Experiment{{Changes: []experiment.Change{c}}}}
		if err := v.Write(&out, export.FormatTable, export.Terminal{Width: width, IsTTY: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%d columns:\n%s", width, out.String())
		}
	}
}

// Several values and sizes are judged apart, and rows for programs say which they are of.
func TestExperiments(t *testing.T) {
	slower := experiment.Change{What: "MPI_Send", Unit: "ns", Known: true, Changed: true, By: 1, Low: 0.9, High: 1.1, Delta: compare.Delta{Base: compare.Sample{1000}, New: compare.Sample{2000}}}
	same := experiment.Change{What: "MPI_Send", Unit: "ns", Known: true, Low: -0.1, High: 0.1, Delta: compare.Delta{Base: compare.Sample{1000}, New: compare.Sample{1000}}}
	v := Verified{Ran: "the workload messages", Ranks: 2, Rounds: 5, Experiments: []Experiment{{Settings: "limit=1024", Bytes: 65536, Changes: []experiment.Change{slower}, NoCores: "Busy."},
		{Settings: "limit=2048", Bytes: 65536, Changes: []experiment.Change{same}}}}
	var table, csv, json strings.Builder
	for f, w := range map[export.Format]*strings.Builder{export.FormatTable: &table, export.FormatCSV: &csv, export.FormatJSON: &json} {
		if err := v.Write(w, f, export.Terminal{}); err != nil {
			t.Fatal(err)
		}
	}
	first, second, _ := strings.Cut(table.String(), "\nlimit=2048, messages of 65536 bytes\n")
	if !strings.Contains(first, "\nlimit=1024, messages of 65536 bytes\nBusy.\n") || !strings.Contains(first, "Something measurable changed.") || !strings.Contains(second, "Nothing measurable changed.") {
		t.Error(table.String())
	}
	if !strings.Contains(csv.String(), ",interval,changed,settings,size\n") || !strings.Contains(csv.String(), ",false,limit=2048,65536\n") || strings.Count(csv.String(), "what,unit") != 1 {
		t.Error(csv.String())
	}
	if !strings.Contains(json.String(), `"changed": true`) || !strings.Contains(json.String(), `"processor": "Busy."`) {
		t.Error(json.String())
	}
}

// Runs that differ much find only large changes, and the verdict says so.
func TestNoisyVerdict(t *testing.T) {
	if text := verdict([]experiment.Change{{Low: -0.5, High: 1.5, Known: true}}, false); !strings.Contains(text, "too noisy: only a change by a factor of several would be detected") {
		t.Error(text)
	}
	if text := verdict([]experiment.Change{{}}, false); !strings.Contains(text, "No time could be compared") || strings.Contains(text, "0 %") {
		t.Error(text)
	}
}
