package profile

import (
	"math"
	"time"
)

// The agent's histogram of durations: 4 buckets for each doubling, from 2^5 ticks.
const (
	buckets      = 128
	bucketFirst  = 5
	bucketsTwice = 4
)

// Histogram counts durations in buckets. Its zero value is empty.
type Histogram struct {
	tick   float64 // nanoseconds of the unit in which buckets are counted
	counts [buckets]uint64
}

// edge is the least duration of a bucket, in ticks.
func edge(bucket int) float64 {
	if bucket <= 0 {
		return 0
	}
	return math.Ldexp(1+float64(bucket%bucketsTwice)/bucketsTwice, bucketFirst+bucket/bucketsTwice)
}

// bucketOf is the bucket of a duration in ticks.
func bucketOf(ticks float64) int {
	if ticks < edge(1) {
		return 0
	}
	fraction, exponent := math.Frexp(ticks) // fraction in [0.5, 1)
	return min(bucketsTwice*(exponent-1-bucketFirst)+int(fraction*2*bucketsTwice)-bucketsTwice, buckets-1)
}

// add adds a histogram. Ticks that differ by less than 1 % count as equal: each process calibrates its clock. Otherwise the counts
// of a bucket are divided among those that it overlaps.
func (h *Histogram) add(o *Histogram) {
	switch {
	case o.tick == 0:
		return
	case h.tick == 0:
		*h = *o
		return
	}
	scale := o.tick / h.tick
	if math.Abs(scale-1) < 0.01 {
		for i, n := range o.counts {
			h.counts[i] += n
		}
		return
	}
	for i, n := range o.counts {
		if n == 0 {
			continue
		}
		low, high := edge(i)*scale, edge(i+1)*scale
		for left, b := n, bucketOf(low); left > 0; b++ {
			part := left
			if above := edge(b + 1); above < high && b < buckets-1 {
				part = min(left, uint64(math.Round(float64(n)*(above-max(low, edge(b)))/(high-low))))
			}
			h.counts[b] += part
			left -= part
		}
	}
}

// Count is the number of durations.
func (h *Histogram) Count() (n uint64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}

// quantile estimates the duration below which a part q of all durations lies, to about 10 %.
func (h *Histogram) quantile(q float64) time.Duration {
	want := q * float64(h.Count())
	below := 0.0
	for i, n := range h.counts {
		if n > 0 && below+float64(n) >= want {
			low, high := edge(i), edge(i+1)
			return time.Duration(h.tick * (low + (high-low)*(want-below)/float64(n)))
		}
		below += float64(n)
	}
	return 0
}

// partAbove estimates which part of the time the longest durations took: those above the quantile q.
func (h *Histogram) partAbove(q float64) float64 {
	left := (1 - q) * float64(h.Count())
	above, all := 0.0, 0.0
	for i := buckets - 1; i >= 0; i-- {
		n, middle := float64(h.counts[i]), (edge(i)+edge(i+1))/2
		above += min(n, left) * middle
		left -= min(n, left)
		all += n * middle
	}
	if all == 0 {
		return 0
	}
	return above / all
}

// Percentile estimates the duration of which p percent of the calls were shorter, from a histogram, to about 10 %.
func (f *Function) Percentile(p float64) time.Duration {
	return min(max(f.Durations.quantile(p/100), f.Shortest), f.Longest)
}

// Bucket is a range of durations with the number of calls.
type Bucket struct {
	From  time.Duration `json:"from_ns"`
	To    time.Duration `json:"to_ns"`
	Calls uint64        `json:"calls"`
}

// Buckets returns the buckets that are not empty, ascending.
func (h *Histogram) Buckets() (list []Bucket) {
	for i, n := range h.counts {
		if n > 0 {
			list = append(list, Bucket{time.Duration(edge(i) * h.tick), time.Duration(edge(i+1) * h.tick), n})
		}
	}
	return list
}
