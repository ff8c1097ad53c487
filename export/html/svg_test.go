package html

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/recording/paths"
	"mpitx/recording/profile"
)

// The charts have a place for every finite number, and escape every text.
func TestExtremes(t *testing.T) {
	for _, values := range [][]float64{{0, 0}, {1, 1}, {-3, 5}, {-math.MaxFloat64, math.MaxFloat64}, {0, math.SmallestNonzeroFloat64}, {1e15, 1e15 + 1}} {
		positive := []float64{math.Abs(values[0]), math.Abs(values[1])}
		for name, chart := range map[string]string{
			"bars":   string(bars([]string{hostile, "b"}, positive, hostile, hostile)),
			"stacks": string(stacks([]stack{{hostile, grey, positive}, {"b", orange, []float64{0, 0}}}, positive[1], rankMarks(1, 2), hostile, hostile, hostile)),
			"lines":  string(lines([]float64{1, 2}, values, values, values, hostile, hostile, hostile)),
		} {
			if bad := regexp.MustCompile(`NaN|Inf|"-[\d.]+"|\d{5,}\.|<img|<script`).FindString(chart); bad != "" {
				t.Errorf("%s of %v has %s", name, values, bad)
			}
		}
	}
}

// Bars are as long as their values, and stand on each other.
func TestBars(t *testing.T) {
	for want, chart := range map[string]string{
		`width="([\d.]+)" height="14.0"`:                       string(bars([]string{"a", "b"}, []float64{4, 1}, "", "")),
		`height="([\d.]+)" fill="#(?:c8d4dc|e69f00)"/>\n<rect`: string(stacks([]stack{{"a", grey, []float64{8, 2}}, {"b", orange, []float64{0, 6}}}, 8, nil, "", "", "")),
	} {
		found := regexp.MustCompile(want).FindAllStringSubmatch(chart, -1)
		var first, second float64
		if len(found) < 2 {
			t.Fatal(chart)
		}
		fmt.Sscan(found[0][1], &first)
		fmt.Sscan(found[1][1], &second)
		if math.Abs(first-4*second) > 0.5 {
			t.Errorf("%v and %v", first, second)
		}
	}
	if chart := string(bars([]string{"a"}, []float64{0}, "", "")); !strings.Contains(chart, `width="0.0"`) {
		t.Error(chart)
	}
}

// Labels are exact, where a chart shows a small part of large numbers.
func TestMarks(t *testing.T) {
	for _, a := range []axis{{low: 0, high: 1.2}, {low: 1e9 + 1, high: 1e9 + 4}, {low: -0.3, high: 0.3}} {
		var got []string
		for _, m := range a.marks(6) {
			got = append(got, m.label)
		}
		if s, want := strings.Join(got, " "), map[float64]string{0: "0 0.5 1", 1e9 + 1: "1000000001 1000000002 1000000003 1000000004", -0.3: "-0.2 0 0.2"}[a.low]; s != want {
			t.Errorf("%v: %s, not %s", a, s, want)
		}
	}
	if marks := rankMarks(8, 1024); len(marks) != 11 || marks[1] != (mark{12, "100"}) {
		t.Error(marks)
	}
}

// Cells of one shade that touch are one, so that the page of a dense matrix is small.
func TestDenseMatrix(t *testing.T) {
	rows := make([][]float64, mostCells)
	for i := range rows {
		rows[i] = make([]float64, mostCells)
		for j := range rows[i] {
			rows[i][j] = float64(1 + (i+j)%2*1000)
		}
	}
	if n := len(heatMap(rows, 1001, nil, "", "", "")); n > 300_000 {
		t.Errorf("%d bytes", n)
	}
	for i := range rows {
		rows[i] = make([]float64, mostCells)
		rows[i][3], rows[i][4], rows[i][5] = 1e-9, 7, 7
	}
	chart := string(heatMap(rows, 7, nil, "", "", ""))
	if !strings.Contains(chart, "M4,127h2v1h-2z") || !strings.Contains(chart, "M3,127h1v1h-1z") || strings.Contains(chart, "M0,") || len(chart) > 8000 {
		t.Errorf("%d bytes: %.2000s", len(chart), chart)
	}
}

// The map of transports names each kind once, and has a cell for both directions of a pair.
func TestPathMap(t *testing.T) {
	p := &profile.Profile{Paths: []*paths.Path{
		{A: 0, B: 1, Carriers: []paths.Carrier{{Layer: paths.BTL, Transport: "<vader>", Use: paths.All}}},
		{A: 1, B: 2, Carriers: []paths.Carrier{{Layer: paths.BTL, Transport: "tcp", Device: "eth0", Use: paths.All}}},
		{A: 0, B: 2, Carriers: []paths.Carrier{{Layer: paths.BTL, Transport: "tcp", Device: "eth0", Use: paths.All}}},
	}}
	chart, note := pathMap(p, export.Terminal{UTF8: true})
	for text, n := range map[string]int{"BTL &lt;vader&gt;<": 1, "BTL tcp eth0<": 1, "M1,0h1v1h-1zM0,1h1v1h-1z": 1, "M2,0h1v1h-1zM2,1h1v1h-1zM0,2h2v1h-2z": 1, "<vader>": 0} {
		if got := strings.Count(string(chart), text); got != n {
			t.Errorf("%q is there %d times, want %d:\n%s", text, got, n, chart)
		}
	}
	if note == "" {
		t.Error("nothing says what the colors mean")
	}
	if chart, _ := pathMap(&profile.Profile{}, export.Terminal{}); chart != "" {
		t.Errorf("of nothing: %s", chart)
	}
}
