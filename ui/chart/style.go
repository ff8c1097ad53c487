// Package chart draws numbers as lines of text: sparklines, strips of bars, and heat maps. Drawings depend on the values, the size and the
// terminal alone. NaN is a gap, infinities are drawn at the edges, and no meaning rests on colour alone. Every function is safe for
// concurrent use.
package chart

import (
	"image/color"
	"math"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

// cividis is a scale from blue to yellow that looks the same to people with all kinds of colour vision, and grows in lightness throughout:
// points of the scale of Nuñez, Anderton and Renslow (PLOS ONE 13(7), 2018), at equal distances.
var cividis = [...]color.RGBA{{0, 34, 78, 255}, {18, 53, 112, 255}, {59, 73, 108, 255}, {87, 93, 109, 255}, {112, 113, 115, 255}, {138, 134, 120, 255}, {165, 156, 116, 255},
	{195, 179, 105, 255}, {225, 204, 85, 255}, {254, 232, 56, 255}}

// ramp is a scale for terminals with 256 colours, from blue to yellow and growing in lightness, of colours in the cube: the nearest ones to
// cividis are partly greys, and out of order.
var ramp = [...]ansi.IndexedColor{17, 19, 24, 31, 36, 78, 185, 227}

// series are colours that people with all kinds of colour vision distinguish (Okabe and Ito), for dark and light backgrounds, with
// one of ANSI's 16: of strips, and of the strip under the cursor.
var series = [...]term.Shade{
	{Dark: color.RGBA{86, 180, 233, 255}, Light: color.RGBA{0, 114, 178, 255}, ANSI: ansi.Cyan},
	{Dark: color.RGBA{230, 159, 0, 255}, Light: color.RGBA{213, 94, 0, 255}, ANSI: ansi.Yellow},
}

// heatColor is the colour of a place between 0 and 1 on the scale, as a terminal shows it; nil: it has too few colours.
func heatColor(t float64, p colorprofile.Profile) color.Color {
	switch {
	case p < colorprofile.ANSI256:
		return nil
	case p == colorprofile.ANSI256:
		return ramp[min(int(min(max(t, 0), 1)*float64(len(ramp))), len(ramp)-1)]
	}
	return scaleColor(t)
}

func scaleColor(t float64) color.RGBA {
	x := min(max(t, 0), 1) * float64(len(cividis)-1)
	i := min(int(x), len(cividis)-2)
	f := x - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-f) + float64(b)*f)) }
	a, b := cividis[i], cividis[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

func seriesColor(i int, t term.Term) color.Color { return t.Color(series[i%len(series)]) }

// painter writes text with as few colour sequences as it needs.
type painter struct {
	strings.Builder
	now color.Color
}

func (p *painter) paint(c color.Color, text string) {
	if c != p.now {
		if p.now != nil {
			p.WriteString(ansi.ResetStyle)
		}
		if p.now = c; c != nil {
			p.WriteString(ansi.Style{}.ForegroundColor(c).String())
		}
	}
	p.WriteString(text)
}

func (p *painter) line() string {
	p.paint(nil, "")
	s := p.String()
	p.Reset()
	return s
}
