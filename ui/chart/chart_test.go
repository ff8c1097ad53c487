package chart

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"mpitx/export"
	"mpitx/ui/term"
)

var update = flag.Bool("update", false, "update the golden files")

var styles = map[string]term.Term{"true": {Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}, "256": {Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.ANSI256}, "16": {Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.ANSI, Light: true}, "none": {Terminal: export.Terminal{UTF8: true}}, "ascii": {}}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

func wave(n int, phase float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 100 + 80*math.Sin(phase+float64(i)/6)
	}
	return v
}

func perSecond(x float64) string { return Number(x) + "/s" }

func sampleRows(ranks, steps int) Rows {
	h := Rows{Title: "rank", Label: perSecond, Time: Time{Step: time.Second, Right: "now"}}
	for r := range ranks {
		v := wave(steps, float64(r))
		if r == 2 {
			for i := 10; i < 20; i++ {
				v[i] = math.NaN()
			}
		}
		h.Names, h.Values = append(h.Names, fmt.Sprint(r)), append(h.Values, v)
	}
	return h
}

func TestGolden(t *testing.T) {
	for name, s := range styles {
		gaps := wave(40, 0)
		gaps[5], gaps[6], gaps[20] = math.NaN(), math.NaN(), math.Inf(1)
		var b strings.Builder
		b.WriteString(Sparkline(gaps, 30, false, s) + "|\n")
		rows := sampleRows(8, 40)
		rows.Cursor = &Cursor{Row: 2, Step: 30}
		for _, height := range []int{9, 17, 5} {
			for _, l := range Strips(rows, 60, height, s).Lines {
				b.WriteString(l + "|\n")
			}
		}
		for _, l := range HeatMap(rows, 50, 6, s).Lines {
			b.WriteString(l + "|\n")
		}
		golden(t, name, b.String())
	}
}

// check holds for whatever is drawn: exact widths, no more lines than asked for, colours that are put back, ASCII where asked.
func check(t interface{ Errorf(string, ...any) }, what string, lines []string, width, height int, s term.Term) {
	if len(lines) > max(height, 0) {
		t.Errorf("%s: %d lines in %d", what, len(lines), height)
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n != max(width, 0) {
			t.Errorf("%s: %d cells, not %d: %q", what, n, width, l)
		}
		if k := strings.LastIndex(l, "\x1b["); k >= 0 && !strings.HasPrefix(l[k:], ansi.ResetStyle) {
			t.Errorf("%s: a colour goes on: %q", what, l)
		}
		if s.Profile <= colorprofile.ASCII && strings.Contains(l, "\x1b") {
			t.Errorf("%s: a colour: %q", what, l)
		}
		for _, r := range l {
			if !s.UTF8 && r > 126 {
				t.Errorf("%s: %q in %q", what, r, l)
			}
		}
	}
}

func drawAll(t interface{ Errorf(string, ...any) }, rows [][]float64, width, height int, s term.Term) {
	r := Rows{Title: "rank", Values: rows, Time: Time{Step: time.Minute, Right: "now", Fill: height%2 == 0, First: width % 11}, Log: width%3 == 0}
	if width%2 == 0 {
		r.Cursor = &Cursor{Row: height % 5, Step: width % 7}
	}
	for i, v := range rows {
		r.Names = append(r.Names, fmt.Sprint("rank ", i))
		if i < 3 && width > 0 {
			check(t, "sparkline", []string{Sparkline(v, width, false, s)}, width, 1, s)
		}
	}
	for what, draw := range map[string]func(Rows, int, int, term.Term) Drawing{"heat map": HeatMap, "strips": Strips} {
		d := draw(r, width, height, s)
		check(t, what, d.Lines, width, height, s)
		for c := range max(d.Columns, 0) { // what is drawn in a column is drawn there
			if k := d.Step(c); k < -1 || k >= d.Steps() || k >= 0 && d.Column(k) > c {
				t.Errorf("%s: column %d of %d has step %d of %d, which is in column %d", what, c, d.Columns, k, d.Steps(), d.Column(k))
			}
		}
	}
}

var hard = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1, -1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
	math.MaxInt64, math.MinInt64, math.MaxUint64, 1e-300}

func TestAnyValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom(hard))
		rows := rapid.SliceOfN(rapid.SliceOfN(value, 0, 40), 0, 12).Draw(t, "rows")
		s := term.Term{Profile: colorprofile.Profile(rapid.IntRange(2, 5).Draw(t, "colors")), Terminal: export.Terminal{UTF8: rapid.Bool().Draw(t, "utf8")}, Light: rapid.Bool().Draw(t, "light")}
		drawAll(t, rows, rapid.IntRange(-1, 60).Draw(t, "width"), rapid.IntRange(-1, 20).Draw(t, "height"), s)
	})
}

func FuzzDraw(f *testing.F) {
	f.Add([]byte{1, 2, 3}, 20, 5, byte(1))
	f.Add([]byte{}, 0, 0, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, width, height int, mode byte) {
		rows := make([][]float64, int(mode)%5)
		for i, b := range data {
			if len(rows) > 0 {
				v := float64(b)
				if int(b) < len(hard) {
					v = hard[b]
				}
				rows[i%len(rows)] = append(rows[i%len(rows)], v)
			}
		}
		drawAll(t, rows, width%200, height%60, term.Term{Profile: colorprofile.Profile(2 + mode%4), Terminal: export.Terminal{UTF8: mode&16 == 0}})
	})
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1: "1", -0.25: "-0.25", 950: "950", 999.6: "1k", 1500: "1.5k", 12345678: "12.3M", math.MaxInt64: "9.22E",
		math.MinInt64: "-9.22E", math.MaxUint64: "18.4E", 2.1e30: "2.1e30", 1e-5: "1e-5", 0.001: "0.001", 0.0999: "0.0999", math.Inf(-1): "-inf", 99.99: "100"} {
		if got := Number(x); got != want {
			t.Errorf("Number(%v) = %q, not %q", x, got, want)
		}
	}
	if Number(math.NaN()) != "-" {
		t.Error("NaN")
	}
	rapid.Check(t, func(t *rapid.T) {
		if x := rapid.Float64().Draw(t, "x"); len(Number(x)) > 9 {
			t.Errorf("Number(%v) = %q", x, Number(x))
		}
	})
}

// The scale must grow in lightness, which is what is left of it for those who see no colours.
func TestScaleLightness(t *testing.T) {
	last := -1.0
	for i := range 101 {
		c := scaleColor(float64(i) / 100)
		y := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		if y < last-0.5 {
			t.Errorf("at %d the scale gets darker: %v after %v", i, y, last)
		}
		last = y
	}
}

// With 256 colours, too, the scale grows in lightness, by steps that are seen.
func TestRampLightness(t *testing.T) {
	cube := [6]float64{0, 95, 135, 175, 215, 255}
	lightness := func(c ansi.IndexedColor) float64 { // CIE L*
		y := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			level := cube[int(c-16)/[]int{36, 6, 1}[i]%6] / 255
			if level > 0 {
				y += weight * math.Pow((level+0.055)/1.055, 2.4)
			}
		}
		return 116*math.Cbrt(y) - 16
	}
	last, seen := -100.0, 0
	for i := range 101 {
		c, _ := heatCell(float64(i)/100, term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.ANSI256})
		index, ok := c.(ansi.IndexedColor)
		if !ok || index < 16 || index > 231 {
			t.Fatalf("%v is not in the cube", c)
		}
		switch l := lightness(index); {
		case l == last:
		case l < last+5:
			t.Errorf("at %d colour %d has lightness %.0f after %.0f", i, index, l, last)
		default:
			last, seen = l, seen+1
		}
	}
	if seen < 6 || last < 90 {
		t.Errorf("%d colours, up to lightness %.0f", seen, last)
	}
}

// What is hot stays visible when rows are put together.
func TestHeatMapKeepsPeaks(t *testing.T) {
	h := Rows{}
	for r := range 1000 {
		v := make([]float64, 10)
		if r == 777 {
			v[5] = 1
		}
		h.Names, h.Values = append(h.Names, fmt.Sprint(r)), append(h.Values, v)
	}
	lines := HeatMap(h, 40, 10, term.Term{Terminal: export.Terminal{UTF8: true}}).Lines
	if n := strings.Count(strings.Join(lines[:len(lines)-1], ""), "█"); n != 1 {
		t.Errorf("the peak is seen %d times:\n%s", n, strings.Join(lines, "\n"))
	}
}

func BenchmarkHeatMap(b *testing.B) {
	h := sampleRows(1000, 240)
	for b.Loop() {
		HeatMap(h, 200, 40, term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor})
	}
}

func plain(d Drawing) string { return strings.Join(d.Lines, "\n") }

var utf8 = term.Term{Terminal: export.Terminal{UTF8: true}}

// Zeros are a low line, from a scale without negative numbers; gaps are blank.
func TestZeros(t *testing.T) {
	text := plain(Strips(Rows{Names: []string{"0"}, Values: [][]float64{{0, math.NaN(), 0}}}, 40, 4, utf8))
	if !strings.Contains(text, "▁ ▁\n") || strings.Contains(text, "-") {
		t.Error(text)
	}
}

// Bars are filled from zero; with negative numbers they are points.
func TestBarsBeginAtZero(t *testing.T) {
	r := Rows{Names: []string{"0"}, Values: [][]float64{{942, 1000}}}
	if text := plain(Strips(r, 40, 5, utf8)); !strings.Contains(text, " 0│") || strings.Count(text, "█") != 7 {
		t.Error(text)
	}
	r.Values[0][0] = -1000
	if text := plain(Strips(r, 40, 5, utf8)); !strings.Contains(text, "-1k│") || strings.Count(text, "█") != 1 || strings.Count(text, "▁") != 1 {
		t.Error(text)
	}
}

// The scale of shares has the whole, also if all values are small or equal.
func TestFullScale(t *testing.T) {
	r := Rows{Names: []string{"0", "1"}, Values: [][]float64{{0.63, 0.63}, {0.63, 0.63}}, Full: 1, Time: Time{Step: time.Second, Fill: true, Left: "0s", Right: "2s"}}
	if text := plain(HeatMap(r, 60, 3, utf8)); !strings.Contains(text, " 0 ") || !strings.Contains(text, " 1 ") || !strings.Contains(text, "▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓") {
		t.Error(text)
	}
}

// A scale of one value is one glyph, and a label of the scale is apart from the row's name.
func TestLegend(t *testing.T) {
	r := Rows{Names: []string{"0"}, Values: [][]float64{{0, 0, 0}}, Label: perSecond, Time: Time{Step: time.Second, Fill: true, Left: "0s", Right: "3s"}}
	if text := plain(HeatMap(r, 60, 3, utf8)); !strings.Contains(text, "─ "+shades[0]+" 0/s ─") || strings.Contains(text, "█") {
		t.Error(text)
	}
	r.Values[0][1] = 1720
	if text := plain(Strips(r, 60, 5, utf8)); !strings.Contains(text, " 0   1.72k/s│") {
		t.Error(text)
	}
}

// Each row has a strip of its own, and all strips have the same scale, with its unit; a logarithmic one has real numbers, too.
func TestStrips(t *testing.T) {
	r := Rows{Title: "rank", Names: []string{"0", "1"}, Values: [][]float64{{1, 10, 100, 1000}, {0, 0, 0, 500}}, Label: perSecond, Time: Time{Step: time.Second, Fill: true, Left: "0s", Right: "4s"}}
	d := Strips(r, 32, 7, utf8)
	if len(d.Lines) != 7 || d.Rows[2] != 0 || d.Rows[3] != 1 || d.Rows[6] != -1 {
		t.Fatalf("%v\n%s", d.Rows, plain(d))
	}
	for _, part := range []string{"    0   1k/s│", "      0/s│", "    1   1k/s│", "rank", "0s", "4s"} {
		if !strings.Contains(plain(d), part) {
			t.Errorf("no %q in\n%s", part, plain(d))
		}
	}
	if strings.Count(d.Lines[0], "█") != 4 || strings.Count(d.Lines[3], " ") != 26 || strings.Count(d.Lines[4], "▅") != 4 {
		t.Errorf("half of the scale is not half of the height:\n%s", plain(d))
	}
	r.Log = true
	d = Strips(r, 32, 9, utf8)
	for _, part := range []string{"    0   1k/s│", " 1/s│"} {
		if !strings.Contains(plain(d), part) {
			t.Errorf("no %q in\n%s", part, plain(d))
		}
	}
	if !strings.HasSuffix(d.Lines[1], " ▆▆▆▆▆    ") {
		t.Errorf("100 of 1 to 1000 is not a point at two thirds:\n%s", plain(d))
	}
	r.Values = nil
	for i := range 40 {
		r.Names = append(r.Names[:i:i], fmt.Sprint(i))
		r.Values = append(r.Values, []float64{1, 2})
	}
	r.Cursor = &Cursor{Row: 20, Step: 1} // in the middle, where the scale must not be
	d = Strips(r, 100, 11, utf8)
	if !strings.Contains(plain(d), ">  20│") || !strings.Contains(plain(d), "15-24 of 40") || !strings.Contains(plain(d), "1/s ▁▂▂▃▄▄▅▅▆▇▇█ 2/s") || !strings.Contains(plain(d), "↑") {
		t.Errorf("of 40 strips those around the cursor are shown, and which:\n%s", plain(d))
	}
}

// A row has several lines if there is room, and its name once.
func TestTallHeatMap(t *testing.T) {
	r := sampleRows(4, 40)
	for height, lines := range map[int]int{5: 1, 8: 1, 9: 2, 13: 3, 40: 9, 80: MostHeat} {
		d := HeatMap(r, 60, height, utf8)
		if len(d.Lines) != 4*lines+1 || strings.Count(plain(d), "    2 ") != 1 || d.Rows[lines-1] != 0 || d.Rows[lines] != 1 {
			t.Errorf("height %d: rows %v\n%s", height, d.Rows, plain(d))
		}
	}
}

// Nothing is drawn before the time begins, and the axis begins there, too.
func TestBegin(t *testing.T) {
	values := append(make([]float64, 20), wave(20, 1)...)
	for i := range 20 {
		values[i] = math.NaN()
	}
	for _, fill := range []bool{true, false} {
		for left, want := range map[string]string{"": "-20s", "0s": "0s"} {
			r := Rows{Names: []string{"0"}, Values: [][]float64{values}, Time: Time{Step: time.Second, Left: left, Right: "now", Fill: fill, First: 20}}
			for _, draw := range []func(Rows, int, int, term.Term) Drawing{HeatMap, Strips} {
				d := draw(r, 60, 2, utf8)
				begin := d.Column(20)
				cells, axis := []rune(d.Lines[0])[d.Margin:], []rune(d.Lines[1])[d.Margin:]
				if strings.TrimSpace(string(cells[:begin])) != "" || cells[begin] == ' ' || !strings.HasPrefix(string(axis[begin-1:]), " "+want+"─") {
					t.Errorf("fill %v: the time begins in column %d, with %s:\n%s", fill, begin, want, plain(d))
				}
			}
		}
	}
}

// The cursor has a place on the axis, and a place is a step of time again.
func TestCursor(t *testing.T) {
	for _, fill := range []bool{true, false} {
		for _, steps := range []int{3, 40, 200} {
			r := Rows{Names: []string{"0"}, Values: [][]float64{wave(steps, 0)}, Time: Time{Fill: fill}, Cursor: &Cursor{Step: steps - 2}}
			d := HeatMap(r, 60, 3, utf8)
			column := strings.IndexRune(strings.Map(func(c rune) rune {
				if c > 127 && c != '↑' {
					return '.'
				}
				return c
			}, d.Lines[len(d.Lines)-1]), '↑') - d.Margin
			if column < 0 || column != d.Column(steps-2) || d.Step(column) < steps-2 || d.Step(column) > steps-1 {
				t.Errorf("fill %v, %d steps: in column %d, should be %d, which is step %d\n%s", fill, steps, column, d.Column(steps-2), d.Step(column), plain(d))
			}
		}
	}
}

// Both ends of both axes of a heat map are written, with the unit.
func TestAxes(t *testing.T) {
	h := Rows{Names: []string{"0"}, Values: [][]float64{{0, 10, 6220}}, Label: perSecond, Time: Time{Step: time.Second, Fill: true, Left: "0s", Right: "3s"}}
	lines := HeatMap(h, 62, 3, utf8).Lines
	if legend := lines[len(lines)-1]; !strings.Contains(legend, "0s──") || !strings.Contains(legend, " 0/s ") || !strings.Contains(legend, " 6.22k/s ") || !strings.HasSuffix(legend, "──3s") {
		t.Errorf("%q", legend)
	}
	if !strings.HasSuffix(lines[0], strings.Repeat("█", 19)) || strings.Contains(lines[0], "·") {
		t.Errorf("three values do not fill the width: %q", lines[0])
	}
}

// No label of a scale occurs twice, and items have no values between them.
func TestLabels(t *testing.T) {
	names := map[float64]string{2: "idle", 3: "busy", 7: "waiting"}
	item := func(x float64) string { return names[x] }
	for what, c := range map[string]struct {
		r    Rows
		want string
	}{
		"a constant":       {Rows{Values: [][]float64{{5, 5, 5}}}, "5 2 0"},
		"nothing but zero": {Rows{Values: [][]float64{{0, 0, 0}}}, "0"},
		"a constant item":  {Rows{Values: [][]float64{{3, 3, 3}}, Label: item, Items: true}, "busy"},
		"items":            {Rows{Values: [][]float64{{2, 3, 7}}, Label: item, Items: true}, "waiting busy idle"},
		"nearly constant":  {Rows{Values: [][]float64{{1000000, 1000001}}}, "1M 500k 0"},
	} {
		c.r.Names = []string{""}
		var labels []string
		for _, l := range strings.Split(plain(Strips(c.r, 60, 10, utf8)), "\n") {
			if name, _, ok := strings.Cut(l, "│"); ok {
				labels = append(labels, strings.Fields(name)...)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%s: %s, not %s", what, got, c.want)
		}
	}
}
