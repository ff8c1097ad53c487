package chart

import (
	"image/color"
	"math"

	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

var (
	shades      = []string{" ", "░", "▒", "▓", "█"}
	shadesASCII = []string{" ", ".", ":", "=", "+", "*", "#", "@"}
)

// MostHeat is how many lines a row of a heat map may have.
const MostHeat = 12

// HeatMap draws each row as a line of colours or shades, or several equal ones if there is room, and below them the times and the scale, in
// at most height lines. Neighbouring rows share a line if there are too many: the line shows the greatest of their values, so that nothing
// hot is hidden, and is named "first-last". With 256 colours or more a cell has a colour of a scale that grows in lightness and that
// colour-blind people can read; with fewer colours it has a shade. A gap is a dot.
func HeatMap(r Rows, width, height int, on term.Term) Drawing {
	if width <= 0 || height <= 0 {
		return Drawing{}
	}
	size := max((len(r.Values)+max(height-1, 1)-1)/max(height-1, 1), 1)
	rows, names := r.grouped(size)
	names, margin := r.names(names, func(i int) bool { return r.row() >= 0 && r.row()/size == i }, width/3)
	d := r.newDrawing(width, margin, 1)
	s := r.scale(rows)
	lines := max(min((height-1)/max(len(rows), 1), MostHeat), 1)
	for i, row := range rows {
		var p painter
		for column, x := range fit(row, d.Columns, d.fill) {
			c, g := heatCell(s.place(x), on)
			if column < r.begin(&d) {
				c, g = nil, " "
			}
			p.paint(c, g)
		}
		cells, name := p.line(), ansi.Truncate(names[i], d.Margin, "")
		for range lines {
			d.Lines, d.Rows, name = append(d.Lines, term.Pad(name, d.Margin)+cells), append(d.Rows, i*size), ""
		}
	}
	if len(d.Lines) < height {
		legend := r.legend(s, func(t float64) glyph { c, g := heatCell(t, on); return glyph{c, g} })
		d.Lines, d.Rows = append(d.Lines, r.axis(&d, legend, "", on)), append(d.Rows, -1)
	}
	return d
}

// heatCell is the colour and the glyph of a place on the scale.
func heatCell(t float64, on term.Term) (c color.Color, glyph string) {
	if math.IsNaN(t) {
		return nil, on.Glyphs().Gap
	}
	glyphs := shades
	c = heatColor(t, on.Profile)
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

// grouped puts size rows together in one.
func (r *Rows) grouped(size int) ([][]float64, []string) {
	if size <= 1 {
		return r.Values, r.Names
	}
	var rows [][]float64
	var names []string
	for from := 0; from < len(r.Values); from += size {
		to := min(from+size, len(r.Values))
		length := 0
		for _, v := range r.Values[from:to] {
			length = max(length, len(v))
		}
		row := make([]float64, length)
		for i := range row {
			row[i] = math.NaN()
		}
		for _, v := range r.Values[from:to] {
			for i, x := range v {
				if k := i + length - len(v); math.IsNaN(row[k]) || x > row[k] {
					row[k] = x
				}
			}
		}
		name := r.Names[from]
		if to-1 > from {
			name += "-" + r.Names[to-1]
		}
		rows, names = append(rows, row), append(names, name)
	}
	return rows, names
}
