package top

import (
	"math"
	"time"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/ui/chart"
)

// Key identifies a row: a variable and the name of the object that it is bound to, or a function and what is counted of it.
type Key struct {
	Variable string // or a function
	Class    catalog.Class
	Object   string
	Metric   Metric
}

// combine is how the values of several elements or columns become one number.
type combine uint8

const (
	sum combine = iota
	greatest
	least
	latest // the last one, since states, text and truth values cannot be added
)

func combineOf(c *recording.Column) combine {
	switch c.Class {
	case catalog.ClassHighWatermark, catalog.ClassPercentage:
		return greatest
	case catalog.ClassLowWatermark:
		return least
	case catalog.ClassState:
		return latest
	}
	if form := c.Type.Form(); form == catalog.FormText || form == catalog.FormBool || c.Enum != nil {
		return latest
	}
	return sum
}

func (how combine) add(a, b float64) float64 {
	switch {
	case math.IsNaN(a) || how == latest:
		return b
	case math.IsNaN(b):
		return a
	case how == greatest:
		return max(a, b)
	case how == least:
		return min(a, b)
	}
	return a + b
}

// column is the state of a column of the recording.
type column struct {
	*recording.Column
	cell    *cell
	how     combine
	grows   bool // its values never drop, except by resets
	float   bool
	mask    uint64
	last    []uint64 // bits of its elements
	known   bool     // it has had a value
	raw     float64  // its elements combined
	first   float64  // the first raw: the base of differences, unless it grows
	grown   float64  // the sum of all increases, if it grows
	status  recording.Status
	text    string
	numbers int // its cells in an instant
}

func newColumn(c *recording.Column, to *cell) *column {
	k := &column{Column: c, cell: to, how: combineOf(c), raw: math.NaN(), status: recording.Pending, numbers: c.Count}
	form := c.Type.Form()
	k.float = form == catalog.FormFloat
	k.mask = math.MaxUint64
	if n := c.Type.Size(); n > 0 && n < 8 {
		k.mask = 1<<(8*n) - 1
	}
	k.grows = (c.Class == catalog.ClassCounter || c.Class == catalog.ClassAggregate || c.Class == catalog.ClassTimer) && k.how == sum
	if form == catalog.FormText {
		k.numbers = 1
	}
	if k.grows {
		k.last = make([]uint64, c.Count)
	}
	return k
}

// take adds a column's part of an instant.
func (k *column) take(cells []recording.Cell) {
	k.status = cells[0].Status
	if !k.status.HasValue() {
		return
	}
	raw := math.NaN()
	for i := range cells {
		v := &cells[i].Value
		raw = k.how.add(raw, v.Float64())
		if k.grows {
			k.step(i, v)
		}
	}
	if !k.known {
		k.first = raw
	}
	k.known, k.raw = true, raw
	if k.how == latest {
		if k.text = ""; len(cells) > 0 {
			k.text = cells[0].Value.String() // a copy: values are valid until the next instant
		}
	}
}

// step adds the increase of an element. A drop is a wrap if it is a small increase modulo the range of the type, else a reset.
func (k *column) step(i int, v *recording.Value) {
	if k.float {
		now := v.Float64()
		if before := math.Float64frombits(k.last[i]); k.known && now > before {
			k.grown += now - before
		}
		k.last[i] = math.Float64bits(now)
		return
	}
	bits, ok := v.Uint64()
	if !ok {
		n, _ := v.Int64()
		bits = uint64(n)
	}
	if d := (bits - k.last[i]) & k.mask; k.known && (bits >= k.last[i] || d <= k.mask/2) {
		k.grown += float64(d)
	}
	k.last[i] = bits
}

// cell is a row of the table on one rank.
type cell struct {
	rank    *rank
	how     combine
	columns []*column
	time    time.Duration // of the last sample
	start   mark          // the first sample
	bin     int           // the bin of the last sample
	closed  int           // the bin that ended with the last sample; -1: none did
	history history       // differences from the first sample
	marks   [2]mark       // at the ends of the last two bins: rates begin there
}

type mark struct {
	time  time.Duration
	grown float64
	set   bool
}

// now is the value, and its difference from the first one.
func (c *cell) now() (raw, grown float64) {
	raw = math.NaN()
	first, grows := math.NaN(), false
	for _, k := range c.columns {
		if k.known && k.status != recording.Gone {
			raw, first = c.how.add(raw, k.raw), c.how.add(first, k.first)
		}
		grown += k.grown // also of freed objects
		grows = grows || k.grows
	}
	if !grows {
		grown = raw - first
	}
	return raw, grown
}

func (c *cell) status() recording.Status {
	best := recording.Pending
	for _, k := range c.columns {
		switch {
		case k.status == recording.AtMost, k.status.HasValue() && !best.HasValue(), best == recording.Pending:
			best = k.status
		}
	}
	return best
}

func (c *cell) text() string {
	for _, k := range c.columns {
		if k.known && k.text != "" {
			return k.text
		}
	}
	return ""
}

// before ends the bins that are over when a sample comes. The sample is taken in next.
func (c *cell) before(l *timeline, bin, bridge int) {
	if bin > c.bin && c.start.set {
		c.close(l, bridge)
		c.bin = bin
	}
}

// after comes after the sample.
func (c *cell) after(l *timeline, bin, bridge int, t time.Duration) {
	if !c.start.set {
		_, grown := c.now()
		c.start, c.bin = mark{t, grown, true}, bin
	}
	c.settle(l, bridge, t)
	c.time = t
}

// close stores the value of the bin that ended.
func (c *cell) close(l *timeline, bridge int) {
	_, grown := c.now()
	if math.IsNaN(grown) {
		return
	}
	c.history.put(c.bin, l.bins, bridge, c.linear(), grown)
	c.marks[0], c.marks[1] = c.marks[1], mark{c.time, grown, true}
	c.closed = c.bin
}

// linear says whether values between two samples may be interpolated.
func (c *cell) linear() bool { return c.how == sum && c.columns[0].grows }

// settle interpolates the values at the ends of bins between their last sample and the current one. Without it, the increase after a bin's
// last sample would count for the next bin, and that bin would show too high a rate.
func (c *cell) settle(l *timeline, bridge int, t time.Duration) {
	last, b := c.marks[1], c.closed
	c.closed = -1
	if b < 0 || !c.linear() || c.bin-b > bridge || t <= last.time {
		return
	}
	_, grown := c.now()
	for ; b < c.bin; b++ {
		end := time.Duration(b+1) * l.width
		c.history.put(b, l.bins, 1, true, last.grown+(grown-last.grown)*float64(end-last.time)/float64(t-last.time))
	}
}

// rate is the increase per second: in the last one or two bins of a running job, else since the first sample.
func (c *cell) rate(l *timeline, all bool) float64 {
	_, grown := c.now()
	from := c.start
	if !all {
		for _, m := range c.marks {
			if m.set && c.time-m.time >= l.width/2 {
				from = m
			}
		}
	}
	if d := c.time - from.time; d > 0 {
		return (grown - from.grown) / d.Seconds()
	}
	return math.NaN()
}

const (
	mostBins     = 960 // so that a window of a quarter still has a bin for each column
	leastBins    = 16
	historyBytes = 64 << 20 // of all cells together
	binOfLive    = 500 * time.Millisecond
)

// timeline divides histories into bins of time. The bins of a running job have a fixed width, and the oldest ones are dropped. A run that
// has ended is kept as a whole, in bins that get wider as more of it is read.
type timeline struct {
	width time.Duration
	bins  int
	whole bool
	last  int // the newest bin of all
}

func (l *timeline) bin(t time.Duration) int { return int(max(t, 0) / l.width) }

// history holds the last number of each bin.
type history struct {
	ring []float64 // bin b is at b modulo its length
	last int       // the newest bin; -1: none
}

// put stores a number. Up to bridge missing bins before it are filled in, since the interval between samples may be longer than a bin: linearly,
// or with the last number. More missing bins are a gap.
func (h *history) put(b, bins, bridge int, linear bool, x float64) {
	if len(h.ring) != bins {
		h.resize(bins)
	}
	switch {
	case h.last < 0 || b-h.last >= bins:
		h.ring = chart.Gaps(bins)
	case b > h.last:
		from, step := math.NaN(), 0.0
		if b-h.last <= bridge {
			from = h.ring[h.last%bins]
			if linear {
				step = (x - from) / float64(b-h.last)
			}
		}
		for k := h.last + 1; k < b; k++ {
			h.ring[k%bins] = from + step*float64(k-h.last)
		}
	case b < h.last:
		return
	}
	h.ring[b%bins], h.last = x, b
}

func (h *history) at(b int) float64 {
	if n := len(h.ring); n == 0 || b < 0 || b > h.last || b <= h.last-n {
		return math.NaN()
	}
	return h.ring[b%len(h.ring)]
}

func (h *history) resize(bins int) {
	old := *h
	h.ring = chart.Gaps(bins)
	for b := max(old.last-bins+1, 0); b <= old.last && len(old.ring) > 0; b++ {
		h.ring[b%bins] = old.at(b)
	}
}

func (h *history) halve() {
	n := len(h.ring)
	if n == 0 || h.last < 0 {
		return
	}
	old := h.ring
	h.ring = chart.Gaps(n)
	for b := max(h.last-n+1, 0); b <= h.last; b++ {
		if x := old[b%n]; !math.IsNaN(x) {
			h.ring[(b/2)%n] = x
		}
	}
	h.last /= 2
}
