// Package chart draws numbers as lines of text: sparklines, line charts, and heat maps. It is pure: what comes out depends on
// the values, the size and the [Style] alone. NaN is a gap everywhere, infinities are drawn at the edges, and nothing is told by
// colour alone. Every function is safe for concurrent use.
package chart

import (
	"math"
	"strconv"
	"strings"
)

// Colors is how many colours a terminal shows.
type Colors uint8

// The numbers of colours.
const (
	NoColor   Colors = iota
	Colors16         // the 16 of ANSI: too few for a scale, so heat maps do without
	Colors256        // xterm's palette
	TrueColor        // 24 bits
)

// Style is what the terminal can do. The zero value has UTF-8 and no colours.
type Style struct {
	Colors Colors
	ASCII  bool // no characters beyond ASCII
	Light  bool // a light background
}

const reset = "\x1b[0m"

type rgb [3]uint8

// cividis is a scale from blue to yellow that looks alike to all kinds of colour vision, and grows in lightness throughout:
// points of the scale of Nuñez, Anderton and Renslow (PLOS ONE 13(7), 2018), at equal distances.
var cividis = [...]rgb{{0, 34, 78}, {18, 53, 112}, {59, 73, 108}, {87, 93, 109}, {112, 113, 115}, {138, 134, 120}, {165, 156, 116},
	{195, 179, 105}, {225, 204, 85}, {254, 232, 56}}

// series are colours that all kinds of colour vision tell apart (Okabe and Ito), for dark and light backgrounds, with the
// nearest of ANSI's 16.
var series = [...]struct {
	dark, light rgb
	ansi        int
}{
	{rgb{86, 180, 233}, rgb{0, 114, 178}, 6}, {rgb{230, 159, 0}, rgb{213, 94, 0}, 3}, {rgb{0, 158, 115}, rgb{0, 128, 90}, 2},
	{rgb{240, 228, 66}, rgb{130, 110, 0}, 11}, {rgb{204, 121, 167}, rgb{170, 70, 130}, 5}, {rgb{213, 94, 0}, rgb{160, 60, 0}, 1},
}

// scaleColor is the colour of a place between 0 and 1 on the scale.
func scaleColor(t float64) rgb {
	x := min(max(t, 0), 1) * float64(len(cividis)-1)
	i := min(int(x), len(cividis)-2)
	f := x - float64(i)
	var c rgb
	for k := range c {
		c[k] = uint8(math.Round(float64(cividis[i][k])*(1-f) + float64(cividis[i+1][k])*f))
	}
	return c
}

// foreground is the sequence that sets the colour of text; "" where the terminal has too few.
func (s Style) foreground(c rgb, ansi int) string {
	switch s.Colors {
	case TrueColor:
		return "\x1b[38;2;" + strconv.Itoa(int(c[0])) + ";" + strconv.Itoa(int(c[1])) + ";" + strconv.Itoa(int(c[2])) + "m"
	case Colors256:
		return "\x1b[38;5;" + strconv.Itoa(xterm(c)) + "m"
	case Colors16:
		if ansi >= 8 {
			return "\x1b[" + strconv.Itoa(90+ansi-8) + "m"
		}
		if ansi >= 0 {
			return "\x1b[" + strconv.Itoa(30+ansi) + "m"
		}
	}
	return ""
}

// seriesColor is the sequence for series i.
func (s Style) seriesColor(i int) string {
	c := series[i%len(series)]
	if s.Light {
		return s.foreground(c.light, c.ansi)
	}
	return s.foreground(c.dark, c.ansi)
}

// xterm is the nearest colour of the 6×6×6 cube and the greys.
func xterm(c rgb) int {
	level := func(v uint8) int {
		if v < 48 {
			return 0
		}
		return min((int(v)-35)/40, 5)
	}
	value := func(l int) int {
		if l == 0 {
			return 0
		}
		return 55 + 40*l
	}
	r, g, b := level(c[0]), level(c[1]), level(c[2])
	distance := func(x, y, z int) int {
		dx, dy, dz := x-int(c[0]), y-int(c[1]), z-int(c[2])
		return dx*dx + dy*dy + dz*dz
	}
	grey := min(max((int(c[0])+int(c[1])+int(c[2])-24)/30, 0), 23)
	if v := 8 + 10*grey; distance(v, v, v) < distance(value(r), value(g), value(b)) {
		return 232 + grey
	}
	return 16 + 36*r + 6*g + b
}

// painter writes text with as few colour sequences as it needs.
type painter struct {
	strings.Builder
	now string
}

func (p *painter) paint(color, text string) {
	if color != p.now {
		if p.now != "" {
			p.WriteString(reset)
		}
		p.WriteString(color)
		p.now = color
	}
	p.WriteString(text)
}

func (p *painter) line() string {
	if p.now != "" {
		p.WriteString(reset)
	}
	s := p.String()
	p.Reset()
	p.now = ""
	return s
}
