package chart

import "mpitx/ui/term"

// Sparkline draws the last width values in one line of exactly width cells, or with fill all values, between their least and greatest (but
// from 0 if that is not far away). A gap is a blank; zeros are a low line.
func Sparkline(values []float64, width int, fill bool, on term.Term) string {
	if width <= 0 {
		return ""
	}
	values = fit(values, width, fill)
	r := Rows{}
	s := r.scale([][]float64{values})
	var p painter
	for _, x := range values {
		p.paint(seriesColor(0, on), level(s.place(x), 1, 0, true, on))
	}
	return p.line()
}
