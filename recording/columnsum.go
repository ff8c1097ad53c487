package recording

import "time"

// columnSum is the contribution of one column to a Stat.
type columnSum struct {
	column *Column
	stat   *Stat
	totals []Value // Delta: each element's last difference

	// Raw: the newest sample. Its weight is unknown until the next one.
	numbers []float64
	time    time.Duration
	gap     time.Duration // since the sample before
	samples uint64
}

func (c *columnSum) sample(cell *Cell, at time.Duration, resumed bool) {
	s := c.stat
	if s.As == Raw && cell.Element == 0 {
		c.next(at, resumed)
	}
	switch cell.Status {
	case Reset:
		s.Resets++
	case AtMost:
		s.AtMost++
	}
	switch {
	case cell.Value.Kind == None:
		s.Without++
	case s.As == Delta:
		if c.totals == nil {
			c.totals = make([]Value, c.column.Count)
		}
		if cell.Element < len(c.totals) {
			c.totals[cell.Element] = cell.Value
		}
	case !s.number(cell.Value, c.column.Rank.Rank):
	case s.As == Rate:
		s.mean.add(cell.Value.Float64(), float64(cell.covers))
	default:
		c.numbers = append(c.numbers, cell.Value.Float64())
	}
}

// next begins a sample. The one before it counts for half of the gap between them, or of an interval if others were left out.
func (c *columnSum) next(at time.Duration, resumed bool) {
	if c.samples > 0 {
		gap := at - c.time
		if resumed {
			gap = c.outer(gap)
		}
		if c.samples == 1 {
			c.gap = c.outer(gap)
		}
		c.weigh(gap)
		c.gap = gap
	}
	c.time = at
	c.samples++
}

// outer is the gap before the first sample and after the last one, given the gap to its neighbour.
func (c *columnSum) outer(gap time.Duration) time.Duration {
	return min(gap, c.column.Rank.Interval)
}

// weigh adds the newest sample, given the gap after it.
func (c *columnSum) weigh(after time.Duration) {
	weight := float64(max(c.gap+after, 1)) / 2
	for _, x := range c.numbers {
		c.stat.mean.add(x, weight)
	}
	c.numbers = c.numbers[:0]
}

func (c *columnSum) end() {
	switch {
	case c.samples == 1:
		c.gap = c.column.Rank.Interval
		c.weigh(c.gap)
	case c.samples > 1:
		c.weigh(c.outer(c.gap))
	}
	for _, v := range c.totals {
		if v.Kind != None && c.stat.number(v, c.column.Rank.Rank) {
			c.stat.mean.add(v.Float64(), 1)
			c.stat.Total = c.stat.Total.plus(v)
		}
	}
}
