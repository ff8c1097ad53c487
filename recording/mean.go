package recording

import "math"

// weightedMean is the mean and the deviation of numbers that count for more or less.
type weightedMean struct {
	sum, weight exactSum
	m2          float64
}

func (m *weightedMean) add(x, weight float64) {
	before := m.mean()
	product := x * weight
	m.sum.add(product)
	m.sum.rest += math.FMA(x, weight, -product)
	m.weight.add(weight)
	m.m2 += weight * (x - before) * (x - m.mean())
}

func (m *weightedMean) mean() float64 {
	if m.weight.sum == 0 {
		return 0
	}
	return m.sum.value() / m.weight.value()
}

func (m *weightedMean) deviation() float64 { return math.Sqrt(m.m2 / m.weight.value()) }

// exactSum adds with what rounding took away (Neumaier): one great rate among small ones does not swallow them.
type exactSum struct{ sum, rest float64 }

func (s *exactSum) add(x float64) {
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.rest += s.sum - t + x
	} else {
		s.rest += x - t + s.sum
	}
	s.sum = t
}

func (s *exactSum) value() float64 {
	if math.IsInf(s.sum, 0) {
		return s.sum
	}
	return s.sum + s.rest
}
