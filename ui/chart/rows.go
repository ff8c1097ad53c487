package chart

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"mpitx/text"
	"mpitx/ui/term"
)

// Rows are numbers over time, one row for each name: what heat maps and strips draw.
type Rows struct {
	Title  string // of the names: "rank"
	Names  []string
	Values [][]float64          // of each row, the newest last
	Label  func(float64) string // writes a number of the scale with its unit; nil: Number
	Time   Time
	Log    bool    // a logarithmic scale; values of 0 and less are at its lower end
	Items  bool    // values stand for words: nothing is between them, and the scale begins with the least
	Full   float64 // values are parts of this: the scale is from 0 to it, or to a greater value; 0: they are not
	Cursor *Cursor
}

// Cursor marks a row and a step of time. Either is -1 if it is not marked.
type Cursor struct{ Row, Step int }

// Time says what the time axis shows.
type Time struct {
	Step        time.Duration // between two values; 0: the axis shows no times
	Fill        bool          // all values fill the width: repeated, or averaged; else the newest ones are shown, one per column
	Left, Right string        // the times at both ends; without Left, the time between the ends with a minus sign
	First       int           // the step where the time begins: nothing is drawn before it
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

func (r *Rows) begin(d *Drawing) int { return min(max(d.Column(r.Time.First), 0), max(d.Columns-1, 0)) }

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
func (r *Rows) names(names []string, marked func(i int) bool, most int) (out []string, width int) {
	width = ansi.StringWidth(r.Title)
	for _, n := range names {
		width = max(width, ansi.StringWidth(n))
	}
	width = min(width, max(most-1, 0))
	for i, n := range names {
		mark := " "
		if marked(i) {
			mark = ">"
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
	s.low, s.high = extent(rows, r.Log)
	if r.Full > 0 {
		s.high = max(s.high, r.Full)
		if !s.log {
			s.low = min(s.low, 0)
		}
	}
	if !s.log && !r.Items && s.low > 0 && (s.low < s.high/2 || s.low == s.high) {
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

func (s scale) ticks(n int) []float64 {
	if !s.log {
		return text.Ticks(s.low, s.high, n)
	}
	var powers []float64
	for _, e := range text.Ticks(math.Log10(s.low), math.Log10(s.high), n) {
		if e == math.Trunc(e) {
			powers = append(powers, math.Pow(10, e))
		}
	}
	return powers
}

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

// legend is a scale: its lower end, the glyphs in between, its upper end. If all values are equal, it is the one glyph that is drawn.
func (r *Rows) legend(s scale, cell func(t float64) glyph) []glyph {
	const steps = 12
	if s.low == s.high {
		return append([]glyph{cell(0)}, glyphs(" "+label(r.Label, s.low))...)
	}
	out := glyphs(label(r.Label, s.low) + " ")
	for i := range steps {
		out = append(out, cell(float64(i)/(steps-1)))
	}
	return append(out, glyphs(" "+label(r.Label, s.high))...)
}

// axis is the line below the values: the title of the names, the times at both ends, the scale between them with a note, and the mark of
// the cursor. What has no room is left out: the note first, then the times.
func (r *Rows) axis(d *Drawing, scale []glyph, note string, on term.Term) string {
	begin, cursor := r.begin(d), r.column(d)
	left, right := r.times(d)
	var cells []glyph
	var taken []bool
	put := func(at int, what []glyph) bool {
		if at < 0 || at+len(what) > len(cells) || slices.Contains(taken[max(at-1, 0):min(at+len(what)+1, len(cells))], true) {
			return false
		}
		for i := range what {
			cells[at+i], taken[at+i] = what[i], true
		}
		return true
	}
	for _, try := range []struct { // until the middle has room
		middle []glyph
		times  bool
	}{{append(slices.Clone(scale), glyphs(note)...), true}, {scale, true}, {scale, false}, {nil, true}} {
		cells, taken = make([]glyph, d.Columns), make([]bool, d.Columns)
		for i := range cells {
			if cells[i].text = on.Glyphs().Line; i < begin {
				cells[i].text = " "
			}
		}
		if cursor >= 0 {
			put(cursor, []glyph{{nil, on.Glyphs().Up}})
		}
		if try.times {
			put(len(cells)-len(right), right)
			put(begin, left)
		}
		if len(try.middle) == 0 {
			break
		}
		middle := append(append(glyphs(" "), try.middle...), glyphs(" ")...)
		done, at := false, (len(cells)-len(middle))/2
		for k := 0; k < len(cells) && !done; k++ { // as near to the middle as there is room
			done = put(at-k, middle) || put(at+k, middle)
		}
		if done {
			break
		}
	}
	var p painter
	p.WriteString(term.Pad(ansi.Truncate(" "+padLeft(r.Title, d.names-1), d.Margin, ""), d.Margin))
	for _, c := range cells {
		p.paint(c.color, c.text)
	}
	return p.line()
}

func (r *Rows) times(d *Drawing) (left, right []glyph) {
	if r.Time.Step <= 0 {
		return nil, nil
	}
	text := r.Time.Left
	if text == "" {
		text = "-" + Duration(time.Duration(min(d.Visible(), d.steps-r.Time.First))*r.Time.Step)
	}
	return glyphs(text), glyphs(r.Time.Right)
}
