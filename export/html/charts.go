package html

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"mpitx/export"
	"mpitx/recording/profile"
)

// The colours are told apart by people who see few of them, and differ in brightness.
var (
	blue   = color.RGBA{0x00, 0x5f, 0x9e, 0xff}
	orange = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	grey   = color.RGBA{0xc8, 0xd4, 0xdc, 0xff}
)

const (
	chartWidth = 680
	mostBars   = 12
	mostBins   = 256 // ranks of a chart: more are put together
	mostCells  = 128 // ranks on a side of the matrix
)

// newPlot is an empty chart.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, f := range []*font.Font{&p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		f.Variant, f.Size = "Sans", 10
	}
	return p
}

// svg draws a chart as an element of a page; what it says in words is read out to people who do not see it.
func svg(p *plot.Plot, height vg.Length, says string) template.HTML {
	c := vgsvg.New(chartWidth, height)
	p.Draw(draw.New(c))
	return element(c, says)
}

func element(c *vgsvg.Canvas, says string) template.HTML {
	var b bytes.Buffer
	c.WriteTo(&b)
	text := b.String()
	text = text[strings.Index(text, "<svg"):]
	text = strings.Replace(text, "<svg", `<svg role="img" aria-label="`+template.HTMLEscapeString(says)+`"`, 1)
	return template.HTML(text) // vgsvg escapes texts
}

// short makes a label of a name.
func short(t export.Terminal, name string) string {
	name = t.Safe(name)
	if r := []rune(name); len(r) > 48 {
		return string(r[:30]) + "…" + string(r[len(r)-17:])
	}
	return name
}

// inRun leaves out functions whose time is not part of the run time, and those of calls that the library made in others.
func inRun(all []*profile.Function) []*profile.Function {
	return slices.DeleteFunc(slices.Clone(all), func(f *profile.Function) bool { return profile.Initializes(f.Name) || f.Within != "" })
}

// bars is a chart of the functions or call sites that took the most time.
func bars(all []*profile.Function, t export.Terminal, name func(*profile.Function) string, says string) template.HTML {
	all = inRun(all)
	n := min(len(all), mostBars)
	if n == 0 {
		return ""
	}
	scale := t.ScaleOf("ns", float64(all[0].Time))
	values, names := make(plotter.Values, n), make([]string, n)
	for i, f := range all[:n] { // from the bottom up
		values[n-1-i] = scale.Value(float64(f.Time))
		names[n-1-i] = short(t, name(f))
	}
	p := newPlot("time in "+scale.Unit+", all ranks", "")
	b, err := plotter.NewBarChart(values, 14)
	if err != nil {
		return ""
	}
	b.Horizontal, b.Color, b.LineStyle.Width = true, blue, 0
	p.Add(b)
	p.NominalY(names...)
	p.X.Min = 0
	return svg(p, vg.Length(50+20*n), says)
}

// ranks is a chart of each rank's time in MPI and outside of it.
func ranks(p *profile.Profile, t export.Terminal) template.HTML {
	if len(p.Ranks) == 0 {
		return ""
	}
	var longest time.Duration
	for _, r := range p.Ranks {
		longest = max(longest, r.Elapsed)
	}
	scale := t.ScaleOf("ns", float64(longest))
	per := (len(p.Ranks) + mostBins - 1) / mostBins
	bins := (len(p.Ranks) + per - 1) / per
	useful, inMPI := make(plotter.Values, bins), make(plotter.Values, bins)
	for i, r := range p.Ranks {
		n := float64(min(per, len(p.Ranks)-i/per*per))
		useful[i/per] += scale.Value(float64(r.Useful())) / n
		inMPI[i/per] += scale.Value(float64(r.InMPI)) / n
	}
	title := "rank"
	if per > 1 {
		title = fmt.Sprintf("ranks, each bar the mean of %d", per)
	}
	c := newPlot(title, "time in "+scale.Unit)
	width := vg.Length(chartWidth-80) / vg.Length(bins)
	width = min(width*4/5, 30)
	lower, err := plotter.NewBarChart(useful, width)
	if err != nil {
		return ""
	}
	upper, err := plotter.NewBarChart(inMPI, width)
	if err != nil {
		return ""
	}
	lower.Color, upper.Color, lower.LineStyle.Width, upper.LineStyle.Width = grey, orange, 0, 0
	upper.StackOn(lower)
	c.Add(lower, upper)
	c.Legend.Add("in MPI", upper)
	c.Legend.Add("outside of MPI", lower)
	c.Legend.Top, c.Legend.Padding, c.Legend.ThumbnailWidth = true, 3, 14
	c.Y.Min, c.Y.Max = 0, 1.25*scale.Value(float64(longest))
	c.X.Min, c.X.Max = -0.7, float64(bins)-0.3
	c.X.Tick.Marker = rankTicks{per, len(p.Ranks)}
	return svg(c, 220, "time of each rank in MPI and outside of it")
}

// rankTicks marks ranks: each one, or every 2nd, 5th, 10th …
type rankTicks struct{ per, size int }

func (r rankTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	step := 1
	for i := 0; r.size/step > 16; i++ {
		step = []int{2, 5, 10}[i%3] * int(math.Pow10(i/3))
	}
	for rank := 0; rank < r.size; rank += step {
		if at := float64(rank / r.per); at >= low && at <= high {
			ticks = append(ticks, plot.Tick{Value: at, Label: fmt.Sprint(rank)})
		}
	}
	return ticks
}

// fromTop has the ranks' marks in n lines from the top down.
type fromTop struct {
	rankTicks
	n int
}

func (f fromTop) Ticks(low, high float64) []plot.Tick {
	ticks := f.rankTicks.Ticks(low, high)
	for i := range ticks {
		ticks[i].Value = float64(f.n-1) - ticks[i].Value
	}
	return ticks
}

// grid is the communication matrix: the bytes from each rank (y, the first one on top) to each one (x).
type grid struct {
	n     int
	bytes []float64
}

func (g *grid) Dims() (c, r int)   { return g.n, g.n }
func (g *grid) X(c int) float64    { return float64(c) }
func (g *grid) Y(r int) float64    { return float64(r) }
func (g *grid) Z(c, r int) float64 { return g.bytes[(g.n-1-r)*g.n+c] }

// matrix is a heat map of the bytes between ranks, and what its colours mean.
func matrix(p *profile.Profile, t export.Terminal) (chart template.HTML, note string) {
	size := 0
	most := 0.0
	for i := range p.Pairs {
		size = max(size, p.Pairs[i].Source+1, p.Pairs[i].Destination+1)
	}
	for _, r := range p.Ranks {
		size = max(size, r.Number+1)
	}
	if len(p.Pairs) == 0 || size < 2 {
		return "", ""
	}
	per := (size + mostCells - 1) / mostCells
	g := &grid{n: (size + per - 1) / per}
	g.bytes = make([]float64, g.n*g.n)
	for i := range p.Pairs {
		pair := &p.Pairs[i]
		cell := &g.bytes[pair.Source/per*g.n+pair.Destination/per]
		*cell += float64(pair.Bytes())
		most = max(most, *cell)
	}
	if most == 0 {
		return "", ""
	}
	for i, bytes := range g.bytes {
		if bytes == 0 {
			g.bytes[i] = math.NaN()
		}
	}
	c := newPlot("to rank", "from rank")
	if per > 1 {
		c.X.Label.Text, c.Y.Label.Text = fmt.Sprintf("to rank, %d in a cell", per), fmt.Sprintf("from rank, %d in a cell", per)
	}
	h := plotter.NewHeatMap(g, shades(64))
	h.Rasterized, h.Min, h.Max = g.n > 16, 0, most
	c.Add(h)
	c.X.Tick.Marker, c.Y.Tick.Marker = rankTicks{per, size}, fromTop{rankTicks{per, size}, g.n}
	canvas := vgsvg.New(420, 420)
	c.Draw(draw.New(canvas))
	return element(canvas, "bytes sent from each rank to each other rank"), "Bytes that were sent. The darkest cell is " + t.Amount(most, "B") + "; white is nothing."
}

// shades are from light to dark.
type shades int

func (n shades) Colors() (list []color.Color) {
	for i := range int(n) {
		x := math.Sqrt(float64(i) / float64(n-1)) // small values stay visible
		mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*x) }
		list = append(list, color.RGBA{mix(0xe4, 0x00), mix(0xee, 0x2b), mix(0xf6, 0x54), 0xff})
	}
	return list
}
