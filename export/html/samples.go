package html

import (
	"html/template"
	"math"
	"sort"
	"time"

	"mpitx/export"
	"mpitx/recording"
)

const (
	mostVariables = 12
	timeBins      = 400
)

// series has the values of a variable over time, of all its ranks, objects and elements.
type series struct {
	name, unit string
	bins       [timeBins]bin
}

type bin struct{ n, sum, low, high float64 }

func (b *bin) add(o bin) {
	switch {
	case o.n == 0:
	case b.n == 0:
		*b = o
	default:
		b.n, b.sum, b.low, b.high = b.n+o.n, b.sum+o.sum, min(b.low, o.low), max(b.high, o.high)
	}
}

// Chart is a titled picture.
type Chart struct {
	Title, Note string
	SVG         template.HTML
}

// samples draws variables over time, if the run has samples: the mean of all ranks, and the least and the greatest value.
func samples(run *recording.Run, o recording.Options, t export.Terminal) (charts []Chart, more int) {
	all, width := collect(run, o)
	var names []string
	for name, s := range all {
		if s.moves() {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	if len(names) > mostVariables {
		names, more = names[:mostVariables], len(names)-mostVariables
	}
	for _, name := range names {
		charts = append(charts, Chart{Title: t.Safe(name), SVG: all[name].draw(width, t)})
	}
	return charts, more
}

// collect reads all samples, in as many bins of time as the charts have points.
func collect(run *recording.Run, o recording.Options) (all map[string]*series, width time.Duration) {
	all, width = map[string]*series{}, time.Millisecond
	for in := range run.Instants(o) {
		if run.Excludes(in.Rank) {
			continue
		}
		for in.Time >= timeBins*width {
			for _, s := range all {
				s.halve()
			}
			width *= 2
		}
		at := max(in.Time, 0) / width
		for i := range in.Cells {
			c := &in.Cells[i]
			if c.Status != recording.OK && c.Status != recording.Incomplete || c.Value.Kind == recording.None || c.Value.Kind == recording.Text {
				continue
			}
			s := all[c.Column.Variable]
			if s == nil {
				s = &series{name: c.Column.Variable, unit: c.Column.UnitAs(o.As)}
				all[s.name] = s
			}
			v := c.Value.Float64()
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue // has no place in a chart
			}
			s.bins[at].add(bin{1, v, v, v})
		}
	}
	return all, width
}

// halve puts two bins each together.
func (s *series) halve() {
	var bins [timeBins]bin
	for i, b := range s.bins {
		bins[i/2].add(b)
	}
	s.bins = bins
}

// moves reports whether the variable has more than one value.
func (s *series) moves() bool {
	var all bin
	for _, b := range s.bins {
		all.add(b)
	}
	return all.n > 0 && all.low < all.high
}

func (s *series) draw(width time.Duration, t export.Terminal) template.HTML {
	var all bin
	last := 0
	for i, b := range s.bins {
		if all.add(b); b.n > 0 {
			last = i
		}
	}
	scale, clock := t.ScaleOf(s.unit, max(all.high, -all.low)), t.ScaleOf("ns", float64(width)*float64(last+1))
	var at, low, mean, high []float64
	for i, b := range s.bins[:last+1] {
		if b.n > 0 {
			at = append(at, clock.Value(float64(width)*(float64(i)+0.5)))
			low, mean, high = append(low, scale.Value(b.low)), append(mean, scale.Value(b.sum/b.n)), append(high, scale.Value(b.high))
		}
	}
	return lines(at, low, mean, high, "time in "+clock.Unit, scale.Unit, t.Safe(s.name)+" over time")
}
