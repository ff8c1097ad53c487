package chart

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

// Strips draws each row as bars over time, one strip below the other, all with the same scale, and below them the times, in at most height
// lines. Strips of two lines or more have the scale at their left; if there is room for one line each, the scale is below them. If there are
// more rows than lines, those around the cursor are shown. A gap is blank. Bars are filled from zero; on a logarithmic scale, and with
// negative numbers, they are points.
func Strips(r Rows, width, height int, on term.Term) Drawing {
	n := len(r.Values)
	if width <= 0 || height <= 0 || n == 0 {
		return Drawing{}
	}
	room := max(height-1, 1)
	high := max(room/n, 1) // lines of a strip
	shown := min(n, room/high)
	from := max(min(r.row()-shown/2, n-shown), 0)
	s := r.scale(r.Values) // also of those that are not shown: strips stay comparable
	if !s.log && !r.Items {
		s.low, s.high = min(s.low, 0), max(s.high, 0)
	}
	labels, labelWidth := r.strip(s, high, width)
	names, margin := r.names(r.Names[from:from+shown], func(i int) bool { return r.row() == from+i }, width/3)
	d := r.newDrawing(width, margin, labelWidth+1)
	bar := on.Glyphs().Bar
	for i := range shown {
		cells := r.bars(&d, s, from+i, high, on)
		for y := range high {
			var p painter
			name := padLeft("", margin)
			if y == 0 {
				name = names[i]
			}
			p.WriteString(term.Pad(ansi.Truncate(name+labels[y]+bar, d.Margin, ""), d.Margin))
			for _, c := range cells[y] {
				p.paint(c.color, c.text)
			}
			d.Lines, d.Rows = append(d.Lines, p.line()), append(d.Rows, from+i)
		}
	}
	if len(d.Lines) < height {
		var legend []glyph
		note := ""
		if labelWidth == 0 {
			legend = r.legend(s, func(t float64) glyph { return glyph{seriesColor(0, on), level(t, 1, 0, true, on)} })
		}
		if shown < n {
			note = fmt.Sprintf("  %s-%s of %d", r.Names[from], r.Names[from+shown-1], n)
		}
		d.Lines, d.Rows = append(d.Lines, r.axis(&d, legend, note, on)), append(d.Rows, -1)
	}
	return d
}

// strip labels the lines of a strip with the ends of the scale, and between them with round numbers or with the items that occur. No label
// occurs twice.
func (r *Rows) strip(s scale, high, width int) (labels []string, most int) {
	labels = make([]string, high)
	if high < 2 || width < 30 {
		return labels, 0
	}
	line := func(x float64) int { return high - 1 - min(int(s.place(x)*float64(high)), high-1) }
	put := func(y int, x float64) {
		if text := label(r.Label, x); labels[y] == "" && !slices.Contains(labels, text) {
			labels[y] = text
		}
	}
	put(high-1, s.low)
	if s.high != s.low {
		put(0, s.high)
	}
	switch {
	case r.Items:
		for _, x := range r.distinct() {
			put(line(x), x)
		}
	case high >= 5:
		for _, t := range s.ticks(high / 2) {
			if y := line(t); y > 1 && y < high-2 {
				put(y, t)
			}
		}
	}
	for _, l := range labels {
		most = max(most, term.Width(l)+3) // apart from the name, as both may be numbers
	}
	for y := range labels {
		labels[y] = padLeft(labels[y], most)
	}
	return labels, most
}

func (r *Rows) distinct() []float64 {
	seen := map[float64]bool{}
	for _, row := range r.Values {
		for _, x := range row {
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				seen[x] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// bars are the cells of a strip, by line.
func (r *Rows) bars(d *Drawing, s scale, row, high int, on term.Term) [][]glyph {
	of, cursor := seriesColor(0, on), r.column(d)
	if row == r.row() {
		of = seriesColor(1, on)
	}
	lines := make([][]glyph, high)
	filled := !s.log && s.low >= 0 || r.Items
	for x, v := range fit(r.Values[row], d.Columns, d.fill) {
		t := s.place(v)
		for y := range lines {
			c := glyph{of, level(t, high, high-1-y, filled, on)}
			if c.text == " " {
				if c.color = nil; x == cursor {
					c.text = on.Glyphs().Bar
				}
			}
			lines[y] = append(lines[y], c)
		}
	}
	return lines
}

// level is the glyph of a bar in one of its high lines, counted from below; of a bar that is not filled, only its highest line has one.
// The least value is a low line, not a blank: that is a gap.
func level(t float64, high, line int, fill bool, on term.Term) string {
	bars := on.Glyphs().Bars
	n := len(bars)
	if math.IsNaN(t) {
		return " "
	}
	filled := 1 + int(math.Round(t*float64(high*n-1))) - line*n
	if filled <= 0 || filled > n && !fill {
		return " "
	}
	return bars[min(filled, n)-1]
}

// Sparkline draws the last width values in one line of exactly width cells, or with fill all values, between their least and greatest (but
// from 0 if that is not far away). A gap is a blank; zeros are a low line.
func Sparkline(values []float64, width int, fill bool, on term.Term) string {
	if width <= 0 {
		return ""
	}
	values = fit(values, width, fill)
	r := Rows{}
	s := r.scale([][]float64{values})
	var p painter
	for _, x := range values {
		p.paint(seriesColor(0, on), level(s.place(x), 1, 0, true, on))
	}
	return p.line()
}
