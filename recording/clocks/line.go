package clocks

import "math"

const (
	mostRate = 1e-3  // how much faster a clock can run than another one: crystals differ by 100 ppm, and adjtime slews by 500
	likely   = 50e-6 // usual differences of rates
	wander   = 1e-6  // how much a rate can differ from that of a line while no message shows it
)

// line says how far the second clock of a pair is ahead of the first one.
type line struct {
	at          int64
	ahead, rate float64 // at this time; what it gains since

	margin      float64 // how far all points are from the line, at least; negative: no line fits, and some are on its wrong side
	uncertainty float64 // how much the true rate differs at most
}

func (l *line) value(at int64) float64 { return l.ahead + float64(at-l.at)*l.rate }

// cloud is points relative to an origin.
type cloud struct{ x, y []float64 }

func newCloud(points []point, at, ahead int64) (c cloud) {
	for _, p := range points {
		c.x, c.y = append(c.x, float64(p.at-at)), append(c.y, float64(p.ahead-ahead))
	}
	return c
}

// touch raises a line of a rate until it touches a point: how high it is at the origin, and where the point is.
func (c *cloud) touch(rate float64) (height, x float64) {
	height = math.Inf(1)
	for i := range c.x {
		if y := c.y[i] - rate*c.x[i]; y < height {
			height, x = y, c.x[i]
		}
	}
	return height, x
}

// corridor is the space between the points of both directions, in which the true difference of two clocks is.
type corridor struct{ upper, lower cloud }

// gap is how wide it is for lines of a rate; a greater rate makes it wider if slope is positive.
func (c *corridor) gap(rate float64) (width, slope float64) {
	u, above := c.upper.touch(rate)
	l, below := c.lower.touch(-rate)
	return u + l, below - above
}

// widest is the rate of the lines with the most space.
func (c *corridor) widest() float64 {
	low, high := -mostRate, mostRate
	for range 60 {
		middle := (low + high) / 2
		if _, slope := c.gap(middle); slope > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// last is the last rate on the way from one with more space to another one that has this much.
func (c *corridor) last(from, to, width float64) float64 {
	if w, _ := c.gap(to); w >= width {
		return to
	}
	for range 50 {
		middle := (from + to) / 2
		if w, _ := c.gap(middle); w >= width {
			from = middle
		} else {
			to = middle
		}
	}
	return from
}

// typical is the rate that the points suggest if most are about as far from the true line, and if the clocks' own rates are about right. Points
// that are not as far from the line of a rate count less.
func (c *corridor) typical(rate, space float64) float64 {
	space = max(space, 100)
	height := c.height(rate)
	var n, x, y, xx, xy float64
	for i, direction := range []*cloud{&c.upper, &c.lower} {
		sign := 1 - 2*float64(i)
		for k, at := range direction.x {
			ahead := sign * (direction.y[k] - space)
			off := ahead - rate*at - height
			weight := space * space / (space*space + off*off)
			n, x, y, xx, xy = n+weight, x+weight*at, y+weight*ahead, xx+weight*at*at, xy+weight*at*ahead
		}
	}
	return (xy - x*y/n) / (xx - x*x/n + space*space/(likely*likely))
}

// height is where the middle line of a rate is at the origin.
func (c *corridor) height(rate float64) float64 {
	u, _ := c.upper.touch(rate)
	l, _ := c.lower.touch(-rate)
	return (u - l) / 2
}

// fit finds a line between the hulls of both directions: of the lines with a fair part of the most space, the one with the most likely rate.
func fit(upper, lower []point) line {
	at := upper[0].at/2 + upper[len(upper)-1].at/2
	ahead := upper[0].ahead
	c := corridor{newCloud(upper, at, ahead), newCloud(lower, at, -ahead)}
	rate := c.widest()
	width, _ := c.gap(rate)
	l := line{at: at, uncertainty: wander}
	if width > 0 {
		least, most := c.last(rate, -mostRate, width/4), c.last(rate, mostRate, width/4)
		rate = min(max(0, least), most)
		for range 10 {
			rate = min(max(c.typical(rate, width/2), least), most)
		}
		l.uncertainty += max(rate-c.last(rate, -mostRate, 0), c.last(rate, mostRate, 0)-rate)
	}
	width, _ = c.gap(rate)
	l.rate, l.ahead, l.margin = rate, float64(ahead)+c.height(rate), width/2
	return l
}
