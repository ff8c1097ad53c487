package recording

import "math"

// weightedMean is the weighted mean and standard deviation of numbers.
type weightedMean struct {
	sum              exactSum
	weight           float64 // a whole number of nanoseconds: sums are exact
	current, squares float64 // mean so far, and sum of squared deviations from it
}

func (m *weightedMean) add(x, weight float64) {
	before := m.current
	product := x * weight
	m.sum.add(product, math.FMA(x, weight, -product))
	m.weight += weight
	m.current = m.sum.value() / m.weight
	m.squares += weight * (x - before) * (x - m.current)
}

func (m *weightedMean) mean() float64 { return m.current }

func (m *weightedMean) deviation() float64 { return math.Sqrt(m.squares / m.weight) }

// exactSum is Neumaier's compensated sum: small rates count even after a huge one.
type exactSum struct{ sum, rest float64 }

// add adds a number and its rounding error.
func (s *exactSum) add(x, rounded float64) {
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.rest += s.sum - t + x + rounded
	} else {
		s.rest += x - t + s.sum + rounded
	}
	s.sum = t
}

func (s *exactSum) value() float64 {
	if math.IsInf(s.sum, 0) {
		return s.sum
	}
	return s.sum + s.rest
}
