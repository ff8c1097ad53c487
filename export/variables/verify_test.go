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
		v := Verified{Changes: []experiment.Change{c}}
		if err := v.Write(&out, export.FormatTable, export.Terminal{Width: width, IsTTY: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%d columns:\n%s", width, out.String())
		}
	}
}

// Runs that differ much find only large changes, and the verdict says so.
func TestNoisyVerdict(t *testing.T) {
	if text := verdict([]experiment.Change{{Low: -0.5, High: 1.5, Known: true}}); !strings.Contains(text, "too noisy: only a change by a factor of several would be detected") {
		t.Error(text)
	}
	if text := verdict([]experiment.Change{{}}); !strings.Contains(text, "No time could be compared") || strings.Contains(text, "0 %") {
		t.Error(text)
	}
}
