package profile

import (
	"math"
	"time"
)

// Of short local calls, the agent times one in eight at random, after the first thousand of a row. The time of the others is
// estimated from the timed ones.

// fewPicked is the number of timed calls below which their mean says little.
const fewPicked = 8

// within95 is the number of standard deviations that 95 % of a normal distribution lie within.
const within95 = 1.96

// untimed is the estimated time of a row's calls that were not timed, and its error: 95 % of such estimates are within it, if no call
// takes far longer than those that were timed.
func (r *row) untimed() (calls uint64, added, failure time.Duration) {
	calls = r.count("untimed")
	if calls == 0 {
		return 0, 0, 0
	}
	left, picked := float64(calls), float64(r.count("picked"))
	if picked < fewPicked { // of all timed calls; the time itself is the error
		h := r.histogram()
		added = r.inTime(left * float64(r.count("ticks")) / float64(max(h.Count(), 1)))
		return calls, added, max(added, 1)
	}
	ticks, squares := float64(r.count("picked_ticks")), r.count("picked_squares")
	mean := ticks / picked
	variance := max(float64(squares)-ticks*mean, 0) / (picked - 1)
	if squares == math.MaxUint64 { // too large to count
		variance = mean * mean * picked
	}
	failure = r.inTime(within95 * math.Sqrt(left*(left+picked)/picked*variance))
	return calls, r.inTime(left * mean), max(failure, 1) // 0: exact
}

// Together is the error of a sum of independent estimates.
func Together(a, b time.Duration) time.Duration {
	return time.Duration(math.Hypot(float64(a), float64(b)))
}

// scaled is the histogram of all calls, as far as those that were timed show it.
func (h *Histogram) scaled(untimed uint64) {
	timed := h.Count()
	if timed == 0 || untimed == 0 {
		return
	}
	for i, n := range h.counts {
		h.counts[i] = uint64(math.Round(float64(n) * (1 + float64(untimed)/float64(timed))))
	}
}

// InMPIError is the error of InMPI.
func (p *Profile) InMPIError() (sum time.Duration) {
	for _, r := range p.Averaged() {
		sum = Together(sum, r.InMPIError)
	}
	return sum
}
