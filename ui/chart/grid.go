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
