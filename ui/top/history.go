package top

import (
	"math"
	"time"
)

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
		for i := range h.ring {
			h.ring[i] = math.NaN()
		}
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
	h.ring = make([]float64, bins)
	for i := range h.ring {
		h.ring[i] = math.NaN()
	}
	for b := max(old.last-bins+1, 0); b <= old.last && len(old.ring) > 0; b++ {
		h.ring[b%bins] = old.at(b)
	}
}

func (h *history) halve() {
	n := len(h.ring)
	if n == 0 || h.last < 0 {
		return
	}
	old := append([]float64(nil), h.ring...)
	for i := range h.ring {
		h.ring[i] = math.NaN()
	}
	for b := max(h.last-n+1, 0); b <= h.last; b++ {
		if x := old[b%n]; !math.IsNaN(x) {
			h.ring[(b/2)%n] = x
		}
	}
	h.last /= 2
}
