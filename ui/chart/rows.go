package chart

import (
	"image/color"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

// Rows are numbers over time, one row for each name: what heat maps and strips draw.
type Rows struct {
	Title  string // of the names: "rank"
	Names  []string
	Values [][]float64          // of each row, the newest last
	Label  func(float64) string // writes a number of the scale with its unit; nil: Number
	Time   Time
	Log    bool // a logarithmic scale; values of 0 and less are at its lower end
	Cursor *Cursor
}

// Cursor marks a row and a step of time. Either is -1 if it is not marked.
type Cursor struct{ Row, Step int }

// Time says what the time axis shows.
type Time struct {
	Step        time.Duration // between two values; 0: the axis shows no times
	Fill        bool          // all values fill the width: repeated, or averaged; else the newest ones are shown, one per column
	Left, Right string        // the times at both ends; without Left, the time between the ends with a minus sign
}

// Drawing is a chart, and where its parts are.
type Drawing struct {
	Lines   []string // each of exactly the width that was asked for
	Rows    []int    // the first row in each line; -1: none
	Margin  int      // cells left of the values
	Columns int      // cells of the values
	names   int      // cells of the names
	steps   int
	fill    bool
}

// Column is where a step of time is drawn; -1: it is not.
func (d *Drawing) Column(step int) int {
	n, w := d.steps, d.Columns
	switch {
	case step < 0 || step >= n || w <= 0:
		return -1
	case !d.fill:
		return max(w-n+step, -1)
	case n <= w:
		return (step*w + n - 1) / n
	}
	return ((step+1)*w - 1) / n
}

// Step is the step of time that is drawn in a column, the last one if there are several. It is -1 outside of the drawing.
func (d *Drawing) Step(column int) int {
	n, w := d.steps, d.Columns
	switch {
	case column < 0 || column >= w || n == 0:
		return -1
	case !d.fill:
		return max(n-w+column, -1)
	case n <= w:
		return column * n / w
	}
	return (column+1)*n/w - 1
}

// Steps is how many steps of time there are.
func (d *Drawing) Steps() int { return d.steps }

// Visible is how many of them are drawn.
func (d *Drawing) Visible() int {
	if d.fill {
		return d.steps
	}
	return min(d.steps, d.Columns)
}

// newDrawing is a drawing without lines. Its margin has names and labels.
func (r *Rows) newDrawing(width, names, labels int) Drawing {
	d := Drawing{Margin: min(names+labels, width), names: names, fill: r.Time.Fill}
	d.Columns = width - d.Margin
	for _, v := range r.Values {
		d.steps = max(d.steps, len(v))
	}
	return d
}

func (r *Rows) row() int {
	if r.Cursor == nil {
		return -1
	}
	return r.Cursor.Row
}

// column is that of the cursor; -1: none.
func (r *Rows) column(d *Drawing) int {
	if r.Cursor == nil {
		return -1
	}
	return d.Column(r.Cursor.Step)
}

// names are the names with the mark of the cursor, all equally wide.
func (r *Rows) names(names []string, marked func(i int) bool, most int, on term.Term) (out []string, width int) {
	width = ansi.StringWidth(r.Title)
	for _, n := range names {
		width = max(width, ansi.StringWidth(n))
	}
	width = min(width, max(most-1, 0))
	for i, n := range names {
		mark := " "
		if marked(i) {
			mark = on.Glyphs().Arrow
		}
		out = append(out, mark+padLeft(n, width))
	}
	return out, width + 1
}

func padLeft(s string, width int) string {
	s = ansi.Truncate(s, width, "")
	return strings.Repeat(" ", max(width-ansi.StringWidth(s), 0)) + s
}

// scale is from the least to the greatest of the values, or from zero if that is not far away.
type scale struct {
	low, high float64
	log       bool
}

func (r *Rows) scale(rows [][]float64) scale {
	s := scale{log: r.Log}
	if r.Log {
		positive := make([][]float64, len(rows))
		for i, row := range rows {
			positive[i] = make([]float64, len(row))
			for k, x := range row {
				if positive[i][k] = x; !(x > 0) {
					positive[i][k] = math.NaN()
				}
			}
		}
		rows = positive
	}
	s.low, s.high, _ = Range(rows...)
	if !s.log && s.low > 0 && (s.low < s.high/2 || s.low == s.high) {
		s.low = 0
	}
	return s
}

// place is where a value lies on the scale, from 0 to 1; NaN: nowhere.
func (s scale) place(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case s.low == s.high && !math.IsInf(x, 0):
		return 0
	case s.log && x <= 0:
		return 0
	case s.log:
		return place(math.Log10(x), math.Log10(s.low), math.Log10(s.high))
	}
	return place(x, s.low, s.high)
}

// ticks are at most n round numbers on the scale.
func (s scale) ticks(n int) []float64 {
	if !s.log {
		return Ticks(s.low, s.high, n)
	}
	var powers []float64
	for _, e := range Ticks(math.Log10(s.low), math.Log10(s.high), n) {
		if e == math.Trunc(e) {
			powers = append(powers, math.Pow(10, e))
		}
	}
	return powers
}

// glyph is a cell of a drawing.
type glyph struct {
	color color.Color
	text  string
}

// glyphs is text as one glyph for each cell.
func glyphs(s string) []glyph {
	var out []glyph
	for _, c := range s {
		switch n := ansi.StringWidth(string(c)); {
		case n > 0:
			out = append(append(out, glyph{nil, string(c)}), make([]glyph, n-1)...)
		case len(out) > 0:
			out[len(out)-1].text += string(c)
		}
	}
	return out
}

// legend is a scale: its lower end, the glyphs in between, its upper end.
func (r *Rows) legend(s scale, cell func(t float64) glyph) []glyph {
	const steps = 12
	out := glyphs(label(r.Label, s.low) + " ")
	for i := range steps {
		out = append(out, cell(float64(i)/(steps-1)))
	}
	return append(out, glyphs(" "+label(r.Label, s.high))...)
}

// axis is the line below the values: the title of the names, the times at both ends, middle between them, and the mark of the cursor.
func (r *Rows) axis(d *Drawing, middle []glyph, on term.Term) string {
	g := on.Glyphs()
	cells := make([]glyph, d.Columns)
	for i := range cells {
		cells[i] = glyph{nil, g.Line}
	}
	left, right := glyphs(r.Time.Left), glyphs(r.Time.Right)
	if r.Time.Left == "" {
		n := d.Columns
		if r.Time.Fill {
			n = d.steps
		}
		left = glyphs("-" + Duration(time.Duration(n)*r.Time.Step))
	}
	if r.Time.Step <= 0 || len(left)+len(right)+4 > len(cells) {
		left, right = nil, nil
	}
	if room := len(cells) - len(left) - len(right) - 4; len(middle) > room {
		if left, right = nil, nil; len(middle) > len(cells)-2 { // the scale is worth more than the times
			middle = nil
		}
	}
	cursor := r.column(d)
	if cursor < 0 || cursor > len(left) { // else the time would be unreadable
		copy(cells, left)
	}
	if cursor < len(cells)-len(right)-1 {
		copy(cells[len(cells)-len(right):], right)
	}
	if len(middle) > 0 {
		first, last := len(left)+1, len(cells)-len(right)-len(middle)-1
		at := (first + last) / 2
		if free := func(at int) bool { return cursor < at-1 || cursor > at+len(middle) }; !free(at) && free(last) {
			at = last
		} else if !free(at) && free(first) {
			at = first
		}
		copy(cells[at:], middle)
		cells[at-1].text, cells[at+len(middle)].text = " ", " "
	}
	if cursor >= 0 {
		cells[cursor] = glyph{nil, g.Up}
	}
	var p painter
	p.WriteString(term.Pad(ansi.Truncate(" "+padLeft(r.Title, d.names-1), d.Margin, ""), d.Margin))
	for _, c := range cells {
		p.paint(c.color, c.text)
	}
	return p.line()
}
