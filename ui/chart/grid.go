package chart

import (
	"image/color"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

// Grid is a matrix of numbers. NaN is drawn as a gap.
type Grid struct {
	Title         string // over the names of the rows
	Rows, Columns []string
	Values        [][]float64          // by row and column
	Label         func(float64) string // writes a number with its unit; nil: Number
	Log           bool
	Row, Column   int // the cursor; -1: none
}

// GridDrawing is a grid, and where its parts are.
type GridDrawing struct {
	Lines   []string
	rows    []int // of each line; -1: none
	margin  int
	columns int
	width   int // of a cell
}

// At is the row and the column at a place of the drawing; -1: none.
func (d *GridDrawing) At(x, line int) (row, column int) {
	row, column = -1, -1
	if line >= 0 && line < len(d.rows) {
		row = d.rows[line]
	}
	if x -= d.margin; x >= 0 && x < d.columns*d.width {
		column = x / d.width
	}
	return row, column
}

const (
	leastBlock = 2 // cells of a block next to a number
	mostBlock  = 6
	widestCell = 6 // without a number
)

// GridRoom is how many rows and columns a grid can have, with cells that are about as wide as high.
func GridRoom(width, height, names int) (rows, columns int) {
	return max(height-2, 1), max((width-names-1)/2, 1)
}

// HeatGrid draws each number as a colour or a shade, and as text next to it if there is room for all. The names of the columns are above
// them, and the scale is below, in at most height lines. Rows and columns that have no room are left out: see [GridRoom].
func HeatGrid(g Grid, width, height int, on term.Term) GridDrawing {
	r := Rows{Title: g.Title, Values: g.Values, Label: g.Label, Log: g.Log}
	names, margin := r.names(g.Rows, func(i int) bool { return i == g.Row }, width/3)
	d := GridDrawing{margin: margin + 1, columns: len(g.Columns)}
	if width <= d.margin || height <= 0 || d.columns == 0 {
		return GridDrawing{}
	}
	numbers := 0 // the width of the widest one
	for _, row := range g.Values {
		for _, x := range row {
			if !math.IsNaN(x) {
				numbers = max(numbers, ansi.StringWidth(label(g.Label, x)))
			}
		}
	}
	for _, name := range g.Columns {
		numbers = max(numbers, ansi.StringWidth(name)-leastBlock)
	}
	room := width - d.margin
	block, most := min(room/d.columns-numbers-2, mostBlock), height/2 // lines of numbers are few: leave the caller some
	if d.width = numbers + block + 2; block < leastBlock {
		numbers, d.width = 0, max(min(room/d.columns, widestCell), 1)
		block, most = d.width, height-2
	}
	d.columns = min(d.columns, room/d.width)
	high := max(min(most/max(len(names), 1), block/2), 1)
	d.add(-1, term.Pad(ansi.Truncate(" "+padLeft(g.Title, margin-1), d.margin, ""), d.margin)+g.heads(&d, numbers > 0))
	s := r.scale(g.Values)
	if !s.log {
		s.low = min(s.low, 0)
	}
	for i, row := range g.Values {
		if len(d.Lines)+2 > height {
			break
		}
		for y := range high {
			name := ""
			if y == 0 {
				name = names[i]
			}
			d.add(i, term.Pad(ansi.Truncate(name, d.margin, ""), d.margin)+g.cells(row, s, &d, block, y == 0, on))
		}
	}
	d.add(-1, g.foot(&r, s, &d, width, on))
	return d
}

func (d *GridDrawing) add(row int, line string) {
	d.Lines, d.rows = append(d.Lines, line), append(d.rows, row)
}

// gridBlock is the colour and the glyph of a place on the scale: never a blank, so that a small number differs from none.
func gridBlock(t float64, on term.Term) (color.Color, string) {
	c, glyph := heatCell(t, on)
	switch {
	case glyph == shadesASCII[0] && !on.UTF8:
		glyph = shadesASCII[1]
	case glyph == shades[0]:
		glyph = shades[1]
	}
	return c, glyph
}

// heads are the names of the columns, as far as they do not touch each other.
func (g *Grid) heads(d *GridDrawing, right bool) string {
	var b strings.Builder
	end := 0 // of what was written
	for i, name := range g.Columns[:d.columns] {
		at := i * d.width
		if right {
			at += d.width - ansi.StringWidth(name)
		}
		if at < end || i > 0 && at == end || at+ansi.StringWidth(name) > d.columns*d.width {
			continue
		}
		b.WriteString(strings.Repeat(" ", at-end) + name)
		end = at + ansi.StringWidth(name)
	}
	return b.String()
}

// cells are a line of a row. A block takes the right part of a cell, a number the rest of the first line.
func (g *Grid) cells(row []float64, s scale, d *GridDrawing, block int, first bool, on term.Term) string {
	var p painter
	for _, x := range row[:d.columns] {
		number, gap := "", ""
		if first {
			number, gap = label(g.Label, x), on.Glyphs().Gap
		}
		color, glyph := gridBlock(s.place(x), on)
		switch {
		case math.IsNaN(x) && block < d.width:
			p.paint(nil, padLeft(gap, d.width))
		case math.IsNaN(x):
			p.paint(nil, term.Pad(gap, d.width))
		default:
			if block < d.width {
				p.paint(nil, padLeft(number, d.width-block-1)+" ")
			}
			p.paint(color, strings.Repeat(glyph, block))
		}
	}
	return p.line()
}

// foot marks the column of the cursor, and shows the scale at the right end of the grid, or after the mark.
func (g *Grid) foot(r *Rows, s scale, d *GridDrawing, width int, on term.Term) string {
	legend := r.legend(s, func(t float64) glyph { c, text := gridBlock(t, on); return glyph{c, text} })
	var p painter
	p.paint(nil, strings.Repeat(" ", d.margin))
	end := 0 // of what was written
	if g.Column >= 0 && g.Column < d.columns {
		end = g.Column*d.width + d.width/2
		p.paint(nil, strings.Repeat(" ", end)+on.Glyphs().Up)
		end++
	}
	at := max(d.columns*d.width-len(legend), end+2)
	if at+len(legend) > width-d.margin {
		return p.line()
	}
	p.paint(nil, strings.Repeat(" ", at-end))
	for _, c := range legend {
		p.paint(c.color, c.text)
	}
	return p.line()
}

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
		row := Gaps(length)
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
