// Package stats compares paired measurements: runs with a setting and runs without, made one after the other. A pair gives the logarithm
// of the ratio of its times, so that a gain of 5 % has the same size whatever the program takes.
package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is what paired measurements say about a change, as logarithms of ratios.
type Interval struct {
	Change    float64 // the median of the means of all pairs of differences (Hodges and Lehmann)
	Low, High float64 // in between with the confidence that was asked for
	Known     bool    // there are enough pairs for that confidence
}

// SignedRank gives the interval of a change with an error of at most alpha, from the distribution of Wilcoxon's signed rank statistic. It
// assumes nothing about the differences but that without a change each is as often positive as negative of a given size, which random
// order within pairs ensures.
func SignedRank(differences []float64, alpha float64) (i Interval) {
	n := len(differences)
	if n == 0 {
		return i
	}
	means := make([]float64, 0, n*(n+1)/2)
	for k, a := range differences {
		for _, b := range differences[k:] {
			means = append(means, (a+b)/2)
		}
	}
	slices.Sort(means)
	last := len(means) - 1
	i.Change = (means[last/2] + means[(last+1)/2]) / 2
	if cut := below(n, alpha/2); cut >= 0 {
		i.Low, i.High, i.Known = means[cut], means[last-cut], true
	}
	return i
}

// below is the greatest sum of ranks that is not exceeded with a probability of at most part; -1 if even 0 is more probable. Of many pairs,
// it is that of the normal distribution.
func below(n int, part float64) int {
	if n > mostExact {
		m := float64(n)
		return int(m*(m+1)/4 - quantile(1-part)*math.Sqrt(m*(m+1)*(2*m+1)/24) - 0.5)
	}
	total, cut := 0.0, -1
	for k, p := range ways(n) {
		if total += p; total > part {
			break
		}
		cut = k
	}
	return cut
}

const mostExact = 50

// ways is the probability of each sum of the ranks of n differences that are positive as often as negative.
func ways(n int) []float64 {
	ways := make([]float64, n*(n+1)/2+1) // the probability of each sum of ranks
	ways[0] = 1
	sum := 0
	for rank := 1; rank <= n; rank++ {
		sum += rank
		for k := sum; k >= 0; k-- {
			ways[k] /= 2
			if k >= rank {
				ways[k] += ways[k-rank] / 2
			}
		}
	}
	return ways
}

// Fewest is the least number of pairs that can show a change with an error of at most alpha.
func Fewest(alpha float64) int { return int(math.Ceil(1 - math.Log2(alpha))) }

// Deviation is the standard deviation of differences, estimated from their median distance to their median, so that single slow runs
// count little.
func Deviation(differences []float64) float64 {
	if len(differences) < 2 {
		return 0
	}
	middle := Median(differences)
	away := make([]float64, len(differences))
	for k, d := range differences {
		away[k] = math.Abs(d - middle)
	}
	return 1.4826 * Median(away)
}

// Median is 0 for no numbers.
func Median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(numbers))
	last := len(sorted) - 1
	return (sorted[last/2] + sorted[(last+1)/2]) / 2
}

// Power is the probability that n pairs show a change of this size with an error of at most alpha, if their differences are normal: from
// the mean and the variance that the statistic then has.
func Power(change, deviation, alpha float64, n int) float64 {
	cut := below(n, alpha/2)
	if cut < 0 || change == 0 {
		return 0
	}
	if deviation == 0 {
		return 1
	}
	d := math.Abs(change) / deviation
	// The statistic counts the positive differences and sums of two. Of these: one is positive, two that share a difference are.
	one, two := normal(d), normal(math.Sqrt2*d)
	var oneAndTwo, twoAndTwo float64
	const step = 0.02
	for x := -8.0; x <= 8; x += step {
		weight := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * step
		other := normal(x + 2*d)
		if x+d > 0 {
			oneAndTwo += weight * other
		}
		twoAndTwo += weight * other * other
	}
	m := float64(n)
	sums := m * (m - 1) / 2
	mean := m*one + sums*two
	variance := m*one*(1-one) + sums*two*(1-two) + 4*sums*(oneAndTwo-one*two) + 2*sums*(m-2)*(twoAndTwo-two*two)
	least := m + sums - float64(cut) // the sum of ranks that shows the change
	return normal((mean - least + 0.5) / math.Sqrt(max(variance, 1e-12)))
}

// Chance is the part of repetitions in which n pairs show a change of this size with an error of at most alpha, if the differences are
// spread around it as these are around their median: each repetition draws n of them. It assumes no shape of the noise.
func Chance(differences []float64, change, alpha float64, n int) float64 {
	if len(differences) == 0 || n < Fewest(alpha) {
		return 0
	}
	const times = 200
	middle := Median(differences)
	random := rand.New(rand.NewPCG(uint64(n), uint64(len(differences))))
	drawn, shown := make([]float64, n), 0
	for range times {
		for k := range drawn {
			drawn[k] = change + differences[random.IntN(len(differences))] - middle
		}
		if i := SignedRank(drawn, alpha); i.Low > 0 || i.High < 0 {
			shown++
		}
	}
	return float64(shown) / times
}

// Pairs is how many pairs show a change of this size with the probability power; 0: more than most.
func Pairs(change, deviation, alpha, power float64, most int) int {
	enough := func(n int) bool { return Power(change, deviation, alpha, n) >= power }
	n := Fewest(alpha)
	for ; !enough(n); n *= 2 {
		if n > most {
			return 0
		}
	}
	low := n / 2
	for n-low > 1 {
		if middle := (low + n) / 2; enough(middle) {
			n = middle
		} else {
			low = middle
		}
	}
	if n = max(n, Fewest(alpha)); n > most {
		return 0
	}
	return n
}

func quantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
