package chart

import (
	"image/color"
	"math"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

var (
	shades      = []string{" ", "░", "▒", "▓", "█"}
	shadesASCII = []string{" ", ".", ":", "=", "+", "*", "#", "@"}
)

// Heat is a heat map: one row for each name, one column for each step of time.
type Heat struct {
	Names     []string             // of the rows, safe to print
	Values    [][]float64          // of each row, the newest last
	Low, High float64              // the scale's ends; where High <= Low, those of the values
	Label     func(float64) string // writes the scale's numbers, with their unit; nil: Number
	Time      Time
}

// HeatMap draws a heat map in at most height lines of exactly width cells: its rows, and a line below with the times and the scale.
// Rows that do not fit are put together by equal numbers, of which the greatest value is shown, and named "first-last"; so nothing hot
// is hidden. Columns that do not fit are put together by their mean if the whole is shown, else the oldest are left out. With 256
// colours or more a cell is a colour of a colour-blind-safe scale that grows in lightness; with fewer a shade. A gap is a dot.
func HeatMap(h Heat, width, height int, on term.Term) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	rows, names := h.grouped(height - 1)
	label := 0
	for _, n := range names {
		label = max(label, ansi.StringWidth(n))
	}
	label = min(label, width/3)
	low, high := h.Low, h.High
	if !(high > low) {
		var ok bool
		if low, high, ok = Range(rows...); !ok {
			low, high = 0, 0
		} else if low > 0 && low < high/2 {
			low = 0
		}
	}
	columns := max(width-label-1, 0)
	var lines []string
	for i, row := range rows {
		var p painter
		name := ansi.Truncate(names[i], label, "")
		p.WriteString(strings.Repeat(" ", label-ansi.StringWidth(name)) + name + " "[:min(1, width-label)])
		for _, x := range fit(row, columns, h.Time.Whole, h.Time.Whole) {
			p.paint(cell(x, low, high, on))
		}
		lines = append(lines, p.line())
	}
	if len(lines) < height {
		lines = append(lines, h.legend(low, high, label, width, on))
	}
	return lines
}

// cell is the colour and the glyph of a value.
func cell(x, low, high float64, on term.Term) (c color.Color, glyph string) {
	t := place(x, low, high)
	if math.IsNaN(t) {
		if !on.UTF8 {
			return nil, "-"
		}
		return nil, "·"
	}
	if low == high && !math.IsInf(x, 0) {
		t = 0
		if x != 0 {
			t = 0.5
		}
	}
	glyphs := shades
	if on.Profile >= colorprofile.ANSI256 {
		c = on.Profile.Convert(scaleColor(t))
	}
	switch {
	case !on.UTF8 && c != nil:
		glyphs = shadesASCII[1:] // the lowest is seen by its colour
	case !on.UTF8:
		glyphs = shadesASCII
	case c != nil:
		return c, "█"
	}
	return c, glyphs[min(int(t*float64(len(glyphs))), len(glyphs)-1)]
}

// legend is the time axis, with the scale in its middle.
func (h Heat) legend(low, high float64, margin, width int, on term.Term) string {
	const steps = 12
	var p painter
	p.WriteString(label(h.Label, low) + " ")
	for i := range steps {
		c, g := cell(float64(i)/(steps-1), 0, 1, on)
		p.paint(c, g)
	}
	p.paint(nil, " "+label(h.Label, high))
	head := strings.Repeat(" ", min(margin+1, width))
	columns := width - len(head)
	return head + h.Time.axis(columns, p.line(), columns, on)
}

// grouped puts rows together until there are at most n, but for n < 1 still one.
func (h Heat) grouped(n int) ([][]float64, []string) {
	names := make([]string, len(h.Values))
	copy(names, h.Names)
	n = max(n, 1)
	if len(h.Values) <= n {
		return h.Values, names
	}
	size := (len(h.Values) + n - 1) / n
	var rows [][]float64
	var labels []string
	for from := 0; from < len(h.Values); from += size {
		to := min(from+size, len(h.Values))
		length := 0
		for _, v := range h.Values[from:to] {
			length = max(length, len(v))
		}
		row := make([]float64, length)
		for i := range row {
			row[i] = math.NaN()
		}
		for _, v := range h.Values[from:to] {
			for i, x := range v {
				if k := i + length - len(v); math.IsNaN(row[k]) || x > row[k] {
					row[k] = x
				}
			}
		}
		name := names[from]
		if to-1 > from {
			name += "-" + names[to-1]
		}
		rows, labels = append(rows, row), append(labels, name)
	}
	return rows, labels
}
