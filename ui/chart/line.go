package chart

import (
	"image/color"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

// Series is a line of a chart.
type Series struct {
	Name   string // safe to print
	Values []float64
}

// Axes says what is written at the axes of a chart.
type Axes struct {
	Label func(float64) string // writes the numbers of the values' axis, with their unit; nil: Number
	Time  Time
	Zero  bool // the axis begins at 0 where no value is negative
	Log   bool // a logarithmic scale: values of 0 and less are gaps
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	braille = 0x2800
)

// dots are the bits of a braille cell, by column and row.
var dots = [2][4]uint8{{1, 2, 4, 64}, {8, 16, 32, 128}}

// patterns say which dots of a line are left out: lines differ without colours.
var patterns = [...][]bool{{true}, {true, false}, {true, true, true, false}, {true, false, false}, {true, true, false, false}, {true, false, true, true, true}}

// LineChart draws series over time in exactly height lines of exactly width cells: lines of dots with an axis at the left, which
// shows the least and the greatest value and round numbers between them, a line for the time, and one for the names. Where there is
// no room for these they are left out. With several series each has a pattern and ends in its letter. Values that do not fit are put
// together, by their mean. In ASCII every point is its series' letter.
func LineChart(series []Series, axes Axes, width, height int, on term.Term) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	if axes.Log {
		series = logarithms(series)
	}
	c := newCanvas(series, axes, width, height, on)
	c.whole = axes.Time.Whole
	for i := range series {
		c.draw(i, series[i].Values)
	}
	return c.lines(series, axes, width, height)
}

type canvas struct {
	term          term.Term
	columns, rows int
	low, high     float64
	labels        map[int]string // of rows
	label         int            // their width
	bits          []uint8
	owner         []int8 // series of a cell, plus one
	mark          []byte // a letter in a cell
	whole         bool   // the values fill the width
}

func newCanvas(all []Series, axes Axes, width, height int, on term.Term) *canvas {
	c := &canvas{term: on, rows: height, labels: map[int]string{}}
	if height >= 5 {
		c.rows = height - 2
	}
	values := make([][]float64, len(all))
	for i := range all {
		values[i] = all[i].Values
	}
	var ok bool
	c.low, c.high, ok = Range(values...)
	zero := axes.Zero && !axes.Log
	if zero && c.low > 0 {
		c.low = 0
	}
	switch {
	case !ok || c.low < c.high:
	case zero && c.low == 0:
		c.high = 1
	default:
		room := max(math.Abs(c.low)/2, 1)
		c.low, c.high = max(c.low-room, -math.MaxFloat64), min(c.high+room, math.MaxFloat64)
	}
	if width >= 20 && ok {
		c.number(axes)
		c.label = min(c.label, width/3)
	}
	c.columns = width
	if c.label > 0 {
		c.columns = width - c.label - 1
	}
	n := c.columns * c.rows
	c.bits, c.owner, c.mark = make([]uint8, n), make([]int8, n), make([]byte, n)
	return c
}

// number writes the ends of the values' axis, and round numbers that are not next to them.
func (c *canvas) number(axes Axes) {
	write := func(t float64) {
		x := t
		if axes.Log {
			x = math.Pow(10, t)
		}
		l := label(axes.Label, x)
		c.labels[c.row(t)/4], c.label = l, max(c.label, ansi.StringWidth(l))
	}
	for _, t := range Ticks(c.low, c.high, max(c.rows/2, 2)) {
		if y := c.row(t) / 4; y > 1 && y < c.rows-2 && (!axes.Log || t == math.Trunc(t)) {
			write(t)
		}
	}
	write(c.low)
	if c.rows > 1 {
		write(c.high)
	}
}

// logarithms are series for a logarithmic scale.
func logarithms(series []Series) []Series {
	all := make([]Series, len(series))
	for i, one := range series {
		all[i] = Series{one.Name, make([]float64, len(one.Values))}
		for k, v := range one.Values {
			if all[i].Values[k] = math.Log10(v); math.IsInf(all[i].Values[k], -1) {
				all[i].Values[k] = math.NaN()
			}
		}
	}
	return all
}

// row is the row of dots of a value, from the top.
func (c *canvas) row(x float64) int {
	n := c.rows * 4
	return n - 1 - int(math.Round(place(x, c.low, c.high)*float64(n-1)))
}

func (c *canvas) draw(i int, values []float64) {
	n := c.columns * 2
	pattern := patterns[i%len(patterns)]
	before, last := -1, -1
	for x, v := range fit(values, n, true, c.whole) {
		if math.IsNaN(v) {
			before = -1
			continue
		}
		y := c.row(v)
		from, to := y, y
		if before >= 0 {
			from, to = min(y, before), max(y, before)
			if before < y {
				from++
			} else if before > y {
				to--
			}
		}
		for k := from; k <= to; k++ {
			if pattern[(x+k-from)%len(pattern)] || k == y && x == n-1 {
				c.dot(i, x, k)
			}
		}
		before, last = y, (y/4)*c.columns+x/2
	}
	if last >= 0 && i > 0 || !c.term.UTF8 && last >= 0 {
		c.mark[last], c.owner[last] = letters[i%len(letters)], int8(i%100)+1
	}
}

func (c *canvas) dot(i, x, y int) {
	k := (y/4)*c.columns + x/2
	c.bits[k] |= dots[x%2][y%4]
	if c.owner[k] == 0 {
		c.owner[k] = int8(i%100) + 1
	}
}

func (c *canvas) lines(all []Series, axes Axes, width, height int) []string {
	bar := "│"
	if !c.term.UTF8 {
		bar = "|"
	}
	var lines []string
	for y := range c.rows {
		var p painter
		if c.label > 0 {
			l := ansi.Truncate(c.labels[y], c.label, "")
			p.WriteString(strings.Repeat(" ", c.label-ansi.StringWidth(l)) + l + bar)
		}
		for x := range c.columns {
			p.paint(c.cell(y*c.columns + x))
		}
		lines = append(lines, p.line())
	}
	if c.rows < height {
		lines = append(lines, c.times(all, axes), c.names(all, width))
	}
	return lines
}

func (c *canvas) cell(k int) (of color.Color, glyph string) {
	if c.bits[k] == 0 && c.mark[k] == 0 {
		return nil, " "
	}
	i := int(c.owner[k]) - 1
	switch {
	case c.mark[k] != 0:
		glyph = string(c.mark[k])
	case !c.term.UTF8:
		glyph = letters[i%len(letters) : i%len(letters)+1]
	default:
		glyph = string(rune(braille + int(c.bits[k])))
	}
	return seriesColor(i, c.term), glyph
}

// times is the time axis.
func (c *canvas) times(all []Series, axes Axes) string {
	corner := "└"
	if !c.term.UTF8 {
		corner = "+"
	}
	head := ""
	if c.label > 0 {
		head = strings.Repeat(" ", c.label) + corner
	}
	n := c.columns * 2
	for i := range all {
		n = max(n, len(all[i].Values))
	}
	return head + axes.Time.axis(n, "", c.columns, c.term)
}

// names is the legend.
func (c *canvas) names(all []Series, width int) string {
	var p painter
	for i, one := range all {
		if i > 0 {
			p.paint(nil, "  ")
		}
		if mark := letters[i%len(letters)]; i > 0 || !c.term.UTF8 || len(all) > 1 {
			p.paint(seriesColor(i, c.term), string(mark))
			p.paint(nil, " ")
		}
		p.paint(nil, one.Name)
	}
	s := ansi.Truncate(p.line(), width, "")
	return s + strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
}
