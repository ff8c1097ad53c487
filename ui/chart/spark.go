package chart

import (
	"math"

	"mpitx/ui/term"
)

var (
	sparks      = []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	sparksASCII = []string{"_", ".", ":", "-", "=", "+", "*", "#"}
)

// Sparkline draws the last width values in one line of exactly width cells, between their least and greatest (but from 0 where
// all are positive). A gap is a blank; values that are all equal are a low line.
func Sparkline(values []float64, width int, on term.Term) string {
	if width <= 0 {
		return ""
	}
	glyphs := sparks
	if !on.UTF8 {
		glyphs = sparksASCII
	}
	values = fit(values, width, false, false)
	low, high, _ := Range(values)
	if low > 0 {
		low = 0
	}
	var p painter
	color := seriesColor(0, on)
	for _, x := range values {
		switch t := place(x, low, high); {
		case math.IsNaN(t):
			p.paint(nil, " ")
		case low == high && !math.IsInf(x, 0):
			p.paint(color, glyphs[0])
		default:
			p.paint(color, glyphs[min(int(t*float64(len(glyphs))), len(glyphs)-1)])
		}
	}
	return p.line()
}
