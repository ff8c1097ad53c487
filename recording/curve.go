package recording

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Curve converts the times of one clock to those of another: by a line between two neighbouring knots, and by the first and the last of these
// lines outside. From and To grow from knot to knot. A curve with one knot moves all times alike; an empty one changes nothing.
type Curve []Knot

// Knot is one instant by two clocks.
type Knot struct {
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// At converts a time.
func (c Curve) At(t time.Duration) time.Duration {
	i := 0
	return c.at(t, &i)
}

// at is At for times of which one is usually near the last one, whose line is number *near.
func (c Curve) at(t time.Duration, near *int) time.Duration {
	switch len(c) {
	case 0:
		return t
	case 1:
		return t + c[0].To - c[0].From
	}
	i := min(*near, len(c)-2)
	if t < c[i].From && i > 0 || i+2 < len(c) && t >= c[i+1].From {
		i = c.line(t)
		*near = i
	}
	a, b := c[i], c[i+1]
	rate := float64(b.To-b.From-a.To+a.From) / float64(b.From-a.From)
	return t + a.To - a.From + time.Duration(math.RoundToEven(min(max(float64(t-a.From)*rate, -math.MaxInt64/4), math.MaxInt64/4)))
}

// line is the number of the line for a time.
func (c Curve) line(t time.Duration) int {
	i, found := slices.BinarySearchFunc(c, t, func(k Knot, t time.Duration) int { return cmp.Compare(k.From, t) })
	if !found {
		i--
	}
	return min(max(i, 0), len(c)-2)
}

// Inverse is the conversion back.
func (c Curve) Inverse() Curve {
	inverse := make(Curve, len(c))
	for i, k := range c {
		inverse[i] = Knot{k.To, k.From}
	}
	return inverse
}

// Then is the conversion by c, and then by next.
func (c Curve) Then(next Curve) Curve {
	var at []time.Duration
	for _, k := range c {
		at = append(at, k.From)
	}
	back := c.Inverse()
	for _, k := range next {
		at = append(at, back.At(k.From))
	}
	slices.Sort(at)
	var both Curve
	for _, t := range at {
		k := Knot{t, next.At(c.At(t))}
		if n := len(both); n == 0 || k.From > both[n-1].From && k.To > both[n-1].To {
			both = append(both, k)
		}
	}
	return both
}

// valid reports whether knots are those of a curve.
func (c Curve) valid() bool {
	for i, k := range c {
		const most = math.MaxInt64 / 8
		if k.From < -most || k.From > most || k.To < -most || k.To > most || i > 0 && (k.From <= c[i-1].From || k.To <= c[i-1].To) {
			return false
		}
	}
	return true
}
