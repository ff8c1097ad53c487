package compare

import (
	"math/rand/v2"
	"testing"
)

// The interval contains the true change in about 95 of 100 experiments, and excludes 0 if the change is large.
func TestInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const experiments, rounds = 2000, 9
	for _, change := range []float64{0, 0.3} {
		inside, zero := 0, 0
		for range experiments {
			var d Delta
			for range rounds {
				d.Base = append(d.Base, 100*(1+0.05*random.NormFloat64()))
				d.New = append(d.New, 100*(1+change)*(1+0.05*random.NormFloat64()))
			}
			by, low, high, ok := d.Interval()
			if !ok || low > by || by > high {
				t.Fatalf("%v: %v, %v to %v, %v", d, by, low, high, ok)
			}
			if low <= change && change <= high {
				inside++
			}
			if low <= 0 && 0 <= high {
				zero++
			}
		}
		if inside < experiments*92/100 || inside > experiments*99/100 {
			t.Errorf("change %v: the interval contains it in %d of %d", change, inside, experiments)
		}
		if change > 0 && zero > 0 {
			t.Errorf("change %v: the interval contains 0 in %d", change, zero)
		}
	}
	for _, d := range []Delta{{}, {Base: Sample{1, 2, 3}, New: Sample{1, 2, 3}}, {Base: Sample{0, 1, 2, 3}, New: Sample{1, 2, 3, 4}}} {
		if _, _, _, ok := d.Interval(); ok {
			t.Errorf("%v has an interval", d)
		}
	}
}

func TestApart(t *testing.T) {
	for _, c := range []struct {
		d    Delta
		want bool
	}{
		{Delta{Base: Sample{1, 2}, New: Sample{3, 4}}, true}, {Delta{Base: Sample{3, 4}, New: Sample{1, 2}}, true}, {Delta{Base: Sample{1, 3}, New: Sample{3, 4}}, false},
		{Delta{Base: Sample{1, 4}, New: Sample{2, 3}}, false}, {Delta{Base: nil, New: Sample{1}}, false},
	} {
		if c.d.Apart() != c.want {
			t.Errorf("%v: %v", c.d, c.d.Apart())
		}
	}
}
