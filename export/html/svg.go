package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"mpitx/export"
	"mpitx/text"
)

// The colours are told apart by people who see few of them, and differ in brightness.
const (
	blue   = "#005f9e"
	orange = "#e69f00"
	grey   = "#c8d4dc"
	black  = "#000000"
)

const (
	chartWidth = 680
	letter     = 5.0 // at most the mean width of letters in the page's font of charts
)

// drawing is a chart as SVG. Its origin is at the top left.
type drawing struct{ strings.Builder }

func (d *drawing) rect(x, y, width, height float64, color string) {
	fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, width, height, color)
}

func (d *drawing) line(x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, `<path d="M%.1f,%.1fL%.1f,%.1f" stroke="%s" stroke-width=".5"/>`+"\n", x1, y1, x2, y2, black)
}

// write writes a text that starts, ends, or has its middle at a place.
func (d *drawing) write(x, y float64, anchor, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, template.HTMLEscapeString(text))
}

// svg is an element of a page; what the chart says in words is read out to people who do not see it.
func (d *drawing) svg(width, height int, says string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg role="img" aria-label="%s" width="%dpt" height="%dpt" viewBox="0 0 %d %d">`+"\n%s</svg>",
		template.HTMLEscapeString(says), width, height, width, height, d.String()))
}

// axis maps numbers to places in a drawing.
type axis struct{ low, high, from, to float64 }

func (a axis) at(x float64) float64 {
	span := a.high/2 - a.low/2 // does not overflow
	if span == 0 {
		return a.from
	}
	return a.from + (x/2-a.low/2)/span*(a.to-a.from)
}

// mark is a labelled place of an axis.
type mark struct {
	value float64
	label string
}

// marks are at most n round numbers.
func (a axis) marks(n int) (all []mark) {
	for _, x := range text.Ticks(a.low, a.high, n) {
		all = append(all, mark{x, strconv.FormatFloat(x, 'g', 12, 64)})
	}
	return all
}

// rankMarks are marks at each rank, or each 2nd, 5th, 10th …, if each value stands for some ranks.
func rankMarks(per, size int) (all []mark) {
	step := 1
	for i := 0; size/step > 16; i++ {
		step = []int{2, 5, 10}[i%3] * int(math.Pow10(i/3))
	}
	for rank := 0; rank < size; rank += step {
		all = append(all, mark{float64(rank / per), strconv.Itoa(rank)})
	}
	return all
}

// xAxis draws an axis below the chart, in the 30 units below y.
func (d *drawing) xAxis(a axis, marks []mark, y float64, title string) {
	d.line(a.from, y, a.to, y)
	for _, m := range marks {
		d.line(a.at(m.value), y, a.at(m.value), y+5)
		d.write(a.at(m.value), y+14, "middle", m.label)
	}
	d.write((a.from+a.to)/2, y+26, "middle", title)
}

// yAxis draws an axis to the left of x. It needs leftOf(marks).
func (d *drawing) yAxis(a axis, marks []mark, x float64, title string) {
	d.line(x, a.from, x, a.to)
	for _, m := range marks {
		d.line(x-5, a.at(m.value), x, a.at(m.value))
		d.write(x-8, a.at(m.value)+3, "end", m.label)
	}
	fmt.Fprintf(d, `<text transform="translate(10,%.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (a.from+a.to)/2, template.HTMLEscapeString(title))
}

// leftOf is the room for labels at the left, and a title.
func leftOf(marks []mark) float64 {
	room := 0.0
	for _, m := range marks {
		room = max(room, widthOf(m.label))
	}
	return 24 + room
}

// widthOf is about the width of a text, rather more: fonts differ.
func widthOf(s string) float64 {
	width := letter * float64(export.Width(s))
	for _, r := range s {
		if 'A' <= r && r <= 'Z' || r == 'm' || r == 'w' {
			width += 2
		}
	}
	return width
}

// bars are horizontal bars with their names, the first one on top.
func bars(names []string, values []float64, title, says string) template.HTML {
	var d drawing
	x := axis{high: 0, from: 0, to: chartWidth - 20}
	for i, name := range names {
		x.from, x.high = max(x.from, 8+widthOf(name)), max(x.high, values[i])
	}
	for i, name := range names {
		y := float64(20 * i)
		d.write(x.from-6, y+13, "end", name)
		d.rect(x.from, y+3, x.at(values[i])-x.from, 14, blue)
	}
	bottom := 20*len(names) + 2
	d.xAxis(x, x.marks(8), float64(bottom), title)
	return d.svg(chartWidth, bottom+30, says)
}

// stack is a part of each vertical bar.
type stack struct {
	name, color string
	values      []float64
}

// stacks are vertical bars that consist of parts, the first one at the bottom.
func stacks(parts []stack, high float64, xMarks []mark, xTitle, yTitle, says string) template.HTML {
	const height = 220
	var d drawing
	n := float64(len(parts[0].values))
	y := axis{high: high, from: height - 32, to: 20}
	marks := y.marks(6)
	x := axis{low: -0.6, high: n - 0.4, from: leftOf(marks), to: chartWidth - 8}
	width := min((x.to-x.from)/n*4/5, 30)
	below := make([]float64, len(parts[0].values))
	right := float64(chartWidth)
	for _, p := range parts {
		for i, v := range p.values {
			top := y.at(below[i] + v)
			d.rect(x.at(float64(i))-width/2, top, width, y.at(below[i])-top, p.color)
			below[i] += v
		}
		right -= 12 + 22 + widthOf(p.name)
		d.rect(right, 3, 14, 8, p.color)
		d.write(right+18, 10, "start", p.name)
	}
	d.xAxis(x, xMarks, y.from+2, xTitle)
	d.yAxis(y, marks, x.from, yTitle)
	return d.svg(chartWidth, height, says)
}

// lines draws means over the area between lows and highs; all have the same places on the x axis.
func lines(at, lows, means, highs []float64, xTitle, yTitle, says string) template.HTML {
	const height = 150
	var d drawing
	y := axis{low: lows[0], high: highs[0], from: height - 34, to: 8}
	for i := range lows {
		y.low, y.high = min(y.low, lows[i]), max(y.high, highs[i])
	}
	marks := y.marks(6)
	x := axis{low: at[0], high: at[len(at)-1], from: leftOf(marks), to: chartWidth - 12}
	var area, back, line []string
	for i := range at {
		point := func(v float64) string { return fmt.Sprintf("%.1f,%.1f", x.at(at[i]), y.at(v)) }
		area, back, line = append(area, point(highs[i])), append(back, point(lows[i])), append(line, point(means[i]))
	}
	for i := len(back) - 1; i >= 0; i-- {
		area = append(area, back[i])
	}
	fmt.Fprintf(&d, `<polygon points="%s" fill="%s"/>`+"\n", strings.Join(area, " "), grey)
	fmt.Fprintf(&d, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.2"/>`+"\n", strings.Join(line, " "), blue)
	d.xAxis(x, x.marks(10), y.from+4, xTitle)
	d.yAxis(y, marks, x.from-4, yTitle)
	return d.svg(chartWidth, height, says)
}

// shades are the colours of a heat map.
const shades = 64

// shade is the colour of a share, from 0 to 1: from light to dark.
func shade(share float64) string {
	x := math.Sqrt(share) // small values stay visible
	mix := func(a, b float64) int { return int(a + (b-a)*x) }
	return fmt.Sprintf("#%02x%02x%02x", mix(0xe4, 0x00), mix(0xee, 0x2b), mix(0xf6, 0x54))
}

// heatMap draws a square of rows, the first one on top. The darkest cell is the greatest; what is 0 is white.
func heatMap(rows [][]float64, most float64, marks []mark, xTitle, yTitle, says string) template.HTML {
	var colors []string
	for of := range shades {
		colors = append(colors, shade(float64(of)/(shades-1)))
	}
	kind := func(i, j int) int { return int(math.Ceil(rows[i][j] / most * shades)) } // 0: nothing
	return cellMap(len(rows), kind, colors, nil, marks, xTitle, yTitle, says)
}

// cellMap draws a square of cells, the first row on top. The kind of a cell counts colors from 1; 0 is white. The legend names the kinds.
func cellMap(n int, kind func(i, j int) int, colors, legend []string, marks []mark, xTitle, yTitle, says string) template.HTML {
	const size = 420
	var d drawing
	left := leftOf(marks)
	x := axis{low: -0.5, high: float64(n) - 0.5, from: left, to: size - 8}
	y := axis{low: -0.5, high: float64(n) - 0.5, from: 8, to: size - left}
	y.to = y.from + x.to - x.from
	paths := make([]strings.Builder, len(colors)+1) // of the cells of a kind
	for i := range n {
		for j := 0; j < n; {
			of, first := kind(i, j), j
			for j < n && kind(i, j) == of {
				j++
			}
			fmt.Fprintf(&paths[of], "M%d,%dh%dv1h%dz", first, i, j-first, first-j)
		}
	}
	fmt.Fprintf(&d, `<g transform="translate(%.1f,%.1f) scale(%.4f)" shape-rendering="crispEdges">`+"\n", x.from, y.from, (x.to-x.from)/float64(n))
	for of, color := range colors {
		if path := paths[of+1].String(); path != "" {
			fmt.Fprintf(&d, `<path d="%s" fill="%s"/>`+"\n", path, color)
		}
	}
	d.WriteString("</g>\n")
	d.xAxis(x, marks, y.to+4, xTitle)
	d.yAxis(y, marks, x.from-4, yTitle)
	height := int(y.to) + 36
	for i, text := range legend {
		d.rect(left, float64(height), 14, 8, colors[i])
		d.write(left+20, float64(height)+8, "start", text)
		height += 16
	}
	return d.svg(size, height, says)
}
