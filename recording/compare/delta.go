package compare

import (
	"cmp"
	"math"
	"slices"
)

// Sample is a number from each run of a side.
type Sample []float64

// Mean is 0 for no runs.
func (s Sample) Mean() float64 {
	sum := 0.0
	for _, x := range s {
		sum += x
	}
	return sum / float64(max(len(s), 1))
}

// Min is the least number; 0 for no runs.
func (s Sample) Min() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Min(s)
}

// Max is the greatest number; 0 for no runs.
func (s Sample) Max() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Max(s)
}

// Median is 0 for no runs.
func (s Sample) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Delta is a quantity on both sides. A side without runs does not know it.
type Delta struct {
	Base, New           Sample
	BaseError, NewError float64 // of the means, if they are estimated: see [profile.Totals]
}

// Error is that of the change.
func (d Delta) Error() float64 { return math.Hypot(d.BaseError, d.NewError) }

// Known reports whether both sides know the quantity.
func (d Delta) Known() bool { return len(d.Base) > 0 && len(d.New) > 0 }

// Change is the difference of the means; 0 if a side does not know the quantity.
func (d Delta) Change() float64 {
	if !d.Known() {
		return 0
	}
	return d.New.Mean() - d.Base.Mean()
}

// Relative is the change as a part of the base. It is false if the base is 0 or not known.
func (d Delta) Relative() (float64, bool) {
	base := d.Base.Mean()
	if !d.Known() || base == 0 {
		return 0, false
	}
	return d.Change() / math.Abs(base), true
}

// ratio is the change as a part of the greater side, between -1 and 1 for quantities that are not negative.
func (d Delta) ratio() float64 {
	greater := max(math.Abs(d.Base.Mean()), math.Abs(d.New.Mean()))
	if greater == 0 {
		return 0
	}
	return d.Change() / greater
}

// Spread reports whether a side has several runs, so that it is known how much runs vary.
func (d Delta) Spread() bool { return d.Known() && len(d.Base)+len(d.New) > 2 }

// Interval is the change as a part of the base, with the ends of the interval in which it lies with 95 % confidence, from the ratios of
// all pairs of runs (Hodges and Lehmann) and the distribution of Mann and Whitney's statistic. It is false if the sides have too few
// runs, or numbers that are not positive.
func (d Delta) Interval() (change, low, high float64, ok bool) {
	n, m := float64(len(d.Base)), float64(len(d.New))
	least := int(n*m/2 - 1.96*math.Sqrt(n*m*(n+m+1)/12))
	if min(len(d.Base), len(d.New)) < fewestTested || least < 1 || d.Base.Min() <= 0 || d.New.Min() <= 0 {
		return 0, 0, 0, false
	}
	var ratios []float64
	for _, a := range d.Base {
		for _, b := range d.New {
			ratios = append(ratios, b/a-1)
		}
	}
	slices.Sort(ratios)
	half := len(ratios) / 2
	change = ratios[half]
	if len(ratios)%2 == 0 {
		change = (ratios[half-1] + ratios[half]) / 2
	}
	return change, ratios[least-1], ratios[len(ratios)-least], true
}

// Apart reports whether all numbers of one side are greater than all of the other.
func (d Delta) Apart() bool {
	return d.Known() && (d.Base.Max() < d.New.Min() || d.New.Max() < d.Base.Min())
}

// Runs on each side from which the test of Mann and Whitney can find a difference, and its level.
const (
	fewestTested = 4
	level        = 0.05
)

// WithinSpread reports whether a change may be chance. With four runs or more on each side the test of Mann and Whitney decides, with
// fewer whether the sides' ranges overlap. It is false if one run on each side leaves it unknown. A change that is not greater than the
// error of estimates may be chance in any case.
func (d Delta) WithinSpread() bool {
	switch {
	case d.Known() && d.Change() != 0 && math.Abs(d.Change()) <= d.Error():
		return true
	case !d.Spread() || d.Change() == 0:
		return false
	case min(len(d.Base), len(d.New)) >= fewestTested:
		return mannWhitney(d.Base, d.New) >= level
	}
	return d.Base.Min() <= d.New.Max() && d.New.Min() <= d.Base.Max()
}

// mannWhitney is the probability that two samples of one distribution differ as much as these in their ranks, from the normal
// approximation with corrections for ties and continuity.
func mannWhitney(a, b Sample) float64 {
	type number struct {
		x     float64
		fromA bool
	}
	var all []number
	for _, x := range a {
		all = append(all, number{x, true})
	}
	for _, x := range b {
		all = append(all, number{x, false})
	}
	slices.SortFunc(all, func(x, y number) int { return cmp.Compare(x.x, y.x) })
	n, m := float64(len(a)), float64(len(b))
	ranks, ties := 0.0, 0.0
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].x == all[from].x {
			to++
		}
		for _, x := range all[from:to] {
			if x.fromA {
				ranks += float64(from+to+1) / 2
			}
		}
		t := float64(to - from)
		ties += t*t*t - t
		from = to
	}
	u := ranks - n*(n+1)/2
	deviation := math.Sqrt(n * m / 12 * (n + m + 1 - ties/((n+m)*(n+m-1))))
	if deviation == 0 {
		return 1
	}
	return math.Erfc(max(math.Abs(u-n*m/2)-0.5, 0) / deviation / math.Sqrt2)
}
