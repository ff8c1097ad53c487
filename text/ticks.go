package text

import "math"

// Ticks are at most n round numbers that cover the values between low and high: 1, 2 or 5 times a power of ten apart. None if
// low and high are not finite, or n is less than 2.
func Ticks(low, high float64, n int) []float64 {
	if n < 2 || math.IsNaN(low) || math.IsInf(low, 0) || math.IsNaN(high) || math.IsInf(high, 0) || low > high {
		return nil
	}
	if low == high {
		return []float64{low}
	}
	rough := high/float64(n-1) - low/float64(n-1)
	exponent := math.Floor(math.Log10(rough))
	for range 4 {
		unit := math.Pow(10, exponent)
		for _, m := range []float64{1, 2, 5} {
			step := m * unit
			if step == 0 || math.IsInf(step, 0) || step < rough*0.999999 {
				continue
			}
			first := math.Ceil(low/step - 1e-9)
			count := math.Floor(high/step+1e-9) - first + 1
			if count > float64(n) || count < 1 {
				continue
			}
			ticks := make([]float64, 0, n)
			for i := range int(count) {
				ticks = append(ticks, min(max((first+float64(i))*step, low), high))
			}
			return ticks
		}
		exponent++
	}
	return []float64{low, high}
}
