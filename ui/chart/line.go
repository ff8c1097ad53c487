package chart

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Series is a line of a chart.
type Series struct {
	Name   string // safe to print
	Values []float64
}

// Axes says what is written beside a chart.
type Axes struct {
	Unit        string // behind the numbers of the values' axis
	Left, Right string // what the time axis begins and ends with, safe to print
	Zero        bool   // the axis begins at 0 where no value is negative
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	braille = 0x2800
)

// dots are the bits of a braille cell, by column and row.
var dots = [2][4]uint8{{1, 2, 4, 64}, {8, 16, 32, 128}}

// patterns say which dots of a line are left out: lines differ without colours.
var patterns = [...][]bool{{true}, {true, false}, {true, true, true, false}, {true, false, false}, {true, true, false, false}, {true, false, true, true, true}}

// LineChart draws series over time in exactly height lines of exactly width cells: lines of dots with an axis of round numbers at
// the left, a line for the time, and one for the names. Where there is no room for these they are left out. With several series each
// has a pattern and ends in its letter. Values that do not fit are put together, by their mean. In ASCII every point is its series' letter.
func LineChart(series []Series, axes Axes, width, height int, s Style) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	c := newCanvas(series, axes, width, height, s)
	for i := range series {
		c.draw(i, series[i].Values)
	}
	return c.lines(series, axes, width, height)
}

type canvas struct {
	style         Style
	columns, rows int
	low, high     float64
	labels        map[int]string // of rows
	label         int            // their width
	bits          []uint8
	owner         []int8 // series of a cell, plus one
	mark          []byte // a letter in a cell
}

func newCanvas(all []Series, axes Axes, width, height int, s Style) *canvas {
	c := &canvas{style: s, rows: height, labels: map[int]string{}}
	if height >= 5 {
		c.rows = height - 2
	}
	values := make([][]float64, len(all))
	for i := range all {
		values[i] = all[i].Values
	}
	var ok bool
	c.low, c.high, ok = Range(values...)
	if axes.Zero && c.low > 0 {
		c.low = 0
	}
	switch {
	case !ok || c.low < c.high:
	case axes.Zero && c.low == 0:
		c.high = 1
	default:
		room := max(math.Abs(c.low)/2, 1)
		c.low, c.high = max(c.low-room, -math.MaxFloat64), min(c.high+room, math.MaxFloat64)
	}
	if width >= 20 && ok {
		for _, t := range Ticks(c.low, c.high, max(c.rows/2, 2)) {
			c.labels[c.row(t)/4] = Number(t) + axes.Unit
		}
		for _, l := range c.labels {
			c.label = max(c.label, ansi.StringWidth(l))
		}
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

// row is the row of dots of a value, from the top.
func (c *canvas) row(x float64) int {
	n := c.rows * 4
	return n - 1 - int(math.Round(place(x, c.low, c.high)*float64(n-1)))
}

func (c *canvas) draw(i int, values []float64) {
	n := c.columns * 2
	pattern := patterns[i%len(patterns)]
	before, last := -1, -1
	for x, v := range fit(values, n, true) {
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
	if last >= 0 && i > 0 || c.style.ASCII && last >= 0 {
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
	if c.style.ASCII {
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
		lines = append(lines, c.times(axes, width), c.names(all, width))
	}
	return lines
}

func (c *canvas) cell(k int) (color, glyph string) {
	if c.bits[k] == 0 && c.mark[k] == 0 {
		return "", " "
	}
	i := int(c.owner[k]) - 1
	switch {
	case c.mark[k] != 0:
		glyph = string(c.mark[k])
	case c.style.ASCII:
		glyph = letters[i%len(letters) : i%len(letters)+1]
	default:
		glyph = string(rune(braille + int(c.bits[k])))
	}
	return c.style.seriesColor(i), glyph
}

// times is the time axis.
func (c *canvas) times(axes Axes, width int) string {
	line, corner := "─", "└"
	if c.style.ASCII {
		line, corner = "-", "+"
	}
	head := ""
	if c.label > 0 {
		head = strings.Repeat(" ", c.label) + corner
	}
	left, right := axes.Left, axes.Right
	if ansi.StringWidth(left)+ansi.StringWidth(right)+3 > c.columns {
		left, right = "", ""
	}
	return head + left + strings.Repeat(line, c.columns-ansi.StringWidth(left)-ansi.StringWidth(right)) + right
}

// names is the legend.
func (c *canvas) names(all []Series, width int) string {
	var p painter
	for i, one := range all {
		if i > 0 {
			p.paint("", "  ")
		}
		if mark := letters[i%len(letters)]; i > 0 || c.style.ASCII || len(all) > 1 {
			p.paint(c.style.seriesColor(i), string(mark))
			p.paint("", " ")
		}
		p.paint("", one.Name)
	}
	s := ansi.Truncate(p.line(), width, "")
	return s + strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
}
