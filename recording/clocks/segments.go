package clocks

import (
	"math"
	"slices"
	"time"

	"mpitx/recording"
)

// segment is a part of the time with one line.
type segment struct {
	line
	first, next int // parts
	error       float64
}

// fitter fits the lines of one pair.
type fitter struct {
	parts    []*part
	shift    uint
	from, to int64 // in which errors count
}

func (f *fitter) begin(part int) int64 { return f.parts[part].number << f.shift }
func (f *fitter) end(part int) int64   { return (f.parts[part].number + 1) << f.shift }

// points are those of some parts in one direction.
func (f *fitter) points(first, next, direction int) (all []point) {
	for _, s := range f.parts[first:next] {
		all = append(all, s.points[direction]...)
	}
	return all
}

// bothWays reports whether some parts have messages in both directions.
func (f *fitter) bothWays(first, next int) bool {
	var have [2]bool
	for _, s := range f.parts[first:next] {
		have[0], have[1] = have[0] || len(s.points[0]) > 0, have[1] || len(s.points[1]) > 0
	}
	return have[0] && have[1]
}

func (f *fitter) segment(first, next int) segment {
	points := [2][]point{f.points(first, next, 0), f.points(first, next, 1)}
	s := segment{line: fit(chain(nil, points[0]), chain(nil, points[1])), first: first, next: next}
	s.error = f.errorOf(&s, points, s.value)
	return s
}

// errorOf bounds the difference between the true difference of the clocks and that of a segment. At a point it is known; from there on it
// grows at most as the uncertainty of the rate says.
func (f *fitter) errorOf(s *segment, points [2][]point, value func(at int64) float64) float64 {
	from, to := f.begin(s.first), f.end(s.next-1)
	if s.first == 0 {
		from = f.from
	}
	if s.next == len(f.parts) {
		to = f.to
	}
	worst := 0.0
	for direction, all := range points {
		sign := 1 - 2*float64(direction)
		slack := make([]float64, len(all))
		for i, p := range all {
			if slack[i] = float64(p.ahead) - sign*value(p.at); i > 0 {
				slack[i] = min(slack[i], slack[i-1]+s.uncertainty*float64(p.at-all[i-1].at))
			}
		}
		for i := len(all) - 2; i >= 0; i-- {
			apart := s.uncertainty * float64(all[i+1].at-all[i].at)
			slack[i] = min(slack[i], slack[i+1]+apart)
			worst = max(worst, (slack[i]+slack[i+1]+apart)/2, -slack[i])
		}
		last := len(all) - 1
		worst = max(worst, slack[0]+s.uncertainty*float64(all[0].at-from), slack[last]+s.uncertainty*float64(to-all[last].at), -slack[last])
	}
	return worst
}

// split fits parts by one line, or by two halves if that is clearly better.
func (f *fitter) split(first, next int) []segment {
	whole := f.segment(first, next)
	middle := (first + next) / 2
	if whole.margin >= whole.error*3/4 || next-first < 2 || !f.bothWays(first, middle) || !f.bothWays(middle, next) {
		return []segment{whole}
	}
	a, b := f.segment(first, middle), f.segment(middle, next)
	if whole.margin >= 0 && max(a.error, b.error) >= whole.error*3/4 {
		return []segment{whole}
	}
	return slices.Concat(f.split(first, middle), f.split(middle, next))
}

const (
	beyond   = 1 << 40 // how far the first and the last knot are outside, so that rounding does not change the rates there
	steepest = 0.1     // the greatest rate between two knots
)

// curve joins segments.
func (f *fitter) curve(all []segment) recording.Curve {
	var knots recording.Curve
	add := func(at int64, ahead float64) {
		if n := len(knots); n > 0 {
			before := knots[n-1]
			last, most := float64(before.To-before.From), steepest*float64(at-int64(before.From))
			ahead = min(max(ahead, last-most), last+most)
		}
		knots = append(knots, recording.Knot{From: time.Duration(at), To: time.Duration(at + int64(math.Round(ahead)))})
	}
	at := f.begin(0) - beyond
	add(at, all[0].value(at))
	for i := 1; i < len(all); i++ {
		a, b := &all[i-1], &all[i]
		end, begin := f.end(a.next-1), f.begin(b.first)
		if end == begin {
			add(end, (a.value(end)+b.value(end))/2)
			continue
		}
		add(end, a.value(end))
		add(begin, b.value(begin))
	}
	at = f.end(len(f.parts)-1) + beyond
	add(at, all[len(all)-1].value(at))
	return knots
}

// run fits a curve from the first clock to the second one, and says how wrong it is at most; nil: unknown.
func (f *fitter) run() (recording.Curve, float64) {
	if !f.bothWays(0, len(f.parts)) {
		return nil, math.Inf(1)
	}
	all := f.split(0, len(f.parts))
	curve := f.curve(all)
	worst := 0.0
	for i := range all {
		s := &all[i]
		points := [2][]point{f.points(s.first, s.next, 0), f.points(s.first, s.next, 1)}
		worst = max(worst, f.errorOf(s, points, func(at int64) float64 { return float64(int64(curve.At(time.Duration(at))) - at) }))
	}
	return curve, worst
}
