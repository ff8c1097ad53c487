package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Gaps are n values that are missing.
func Gaps(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

// extent is the least and the greatest finite value, of the positive ones if only they count; 0 and 0 if there is none.
func extent(values [][]float64, positive bool) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		for _, x := range v {
			if !math.IsNaN(x) && !math.IsInf(x, 0) && (x > 0 || !positive) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	if low > high {
		return 0, 0
	}
	return low, high
}

// place is where x lies between low and high, from 0 to 1. It does not overflow even if their difference does.
func place(x, low, high float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x >= high:
		return 1
	case x <= low:
		return 0
	}
	span := high/2 - low/2
	if span == 0 { // denormal
		return 0.5
	}
	return min(max((x/2-low/2)/span, 0), 1)
}

// Number is a number for people, in at most 9 characters, mostly 5: 950, 1.5k, 12.3M, 2.1e30, -0.25. NaN is "-".
func Number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case x == 0:
		return "0"
	}
	a := math.Abs(x)
	if a < 1 {
		if a < 0.001 {
			return shorter(strconv.FormatFloat(x, 'e', 1, 64))
		}
		return trimZeros(strconv.FormatFloat(x, 'f', 4-int(math.Ceil(math.Log10(a)+1)), 64))
	}
	for i, unit := range []string{"", "k", "M", "G", "T", "P", "E"} {
		scaled := x / math.Pow(1000, float64(i))
		if math.Abs(scaled) >= 999.5 {
			continue
		}
		digits := 2
		switch b := math.Abs(scaled); {
		case b >= 99.95:
			digits = 0
		case b >= 9.995:
			digits = 1
		}
		return trimZeros(strconv.FormatFloat(scaled, 'f', digits, 64)) + unit
	}
	return shorter(strconv.FormatFloat(x, 'e', 1, 64))
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// shorter writes 1.0e-05 as 1e-5.
func shorter(s string) string {
	m, e, _ := strings.Cut(s, "e")
	sign := strings.TrimPrefix(e[:1], "+")
	return trimZeros(m) + "e" + sign + strings.TrimLeft(e[1:], "0")
}

// label writes a number as label does; nil: as Number.
func label(label func(float64) string, x float64) string {
	if label == nil {
		return Number(x)
	}
	return label(x)
}

// fit gives exactly n values: the last ones, after NaN if there are too few; with fill all of them, repeated or averaged.
func fit(values []float64, n int, fill bool) []float64 {
	out := make([]float64, n)
	switch {
	case !fill || len(values) == 0:
		values = values[max(len(values)-n, 0):]
		for i := range n - len(values) {
			out[i] = math.NaN()
		}
		copy(out[n-len(values):], values)
	case len(values) <= n:
		for i := range out {
			out[i] = values[i*len(values)/n]
		}
	default:
		for i := range out {
			out[i] = mean(values[i*len(values)/n : (i+1)*len(values)/n])
		}
	}
	return out
}

// mean leaves out NaN, and does not overflow. An infinity is its own mean.
func mean(values []float64) float64 {
	mean, count := 0.0, 0.0
	for _, x := range values {
		if math.IsInf(x, 0) {
			return x
		}
		if !math.IsNaN(x) {
			count++
			mean += x/count - mean/count
		}
	}
	if count == 0 {
		return math.NaN()
	}
	return mean
}

// Duration is a time for people: 850ms, 12.5s, 2m5s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 100*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	}
	return d.Round(time.Second).String()
}
