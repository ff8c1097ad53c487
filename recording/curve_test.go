package recording

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// draw draws a curve whose rates are between 1/2 and 2.
func drawCurve(t *rapid.T, name string) (c Curve) {
	k := Knot{time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, name+" from")), time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, name+" to"))}
	for range rapid.IntRange(0, 6).Draw(t, name) {
		c = append(c, k)
		d := rapid.Int64Range(1000, 1e12).Draw(t, name+" step")
		k.From += time.Duration(d)
		k.To += time.Duration(rapid.Int64Range(d/2, d*2).Draw(t, name+" gain"))
	}
	return c
}

func near(a, b, most time.Duration) bool { return a-b <= most && b-a <= most }

// A curve keeps the order of times; the way back leads back; Then is one conversion after the other.
func TestCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCurve(t, "a"), drawCurve(t, "b")
		if !a.valid() {
			t.Fatal(a)
		}
		x := time.Duration(rapid.Int64Range(-2e15, 2e15).Draw(t, "x"))
		y := x + time.Duration(rapid.Int64Range(0, 1e13).Draw(t, "more"))
		both := a.Then(b)
		most, line := 3*time.Nanosecond, 0
		if len(a) > 0 && (x < a[0].From || x > a[len(a)-1].From) || len(both) > 0 && (x < both[0].From || x > both[len(both)-1].From) {
			most = 1 << 52 // rounding of knots that are close together, far from them
		}
		switch {
		case a.At(x) > a.At(y):
			t.Fatalf("%v is after %v", a.At(x), a.At(y))
		case !near(a.Inverse().At(a.At(x)), x, most):
			t.Fatalf("%d leads back to %d", x, a.Inverse().At(a.At(x)))
		case !near(both.At(x), b.At(a.At(x)), most):
			t.Fatalf("%d, not %d", both.At(x), b.At(a.At(x)))
		case a.at(y, &line) != a.At(y) || a.at(x, &line) != a.At(x):
			t.Fatal("the line used last matters")
		}
		for _, k := range a {
			if a.At(k.From) != k.To {
				t.Fatalf("%v leads to %v", k, a.At(k.From))
			}
		}
	})
}

// Whatever a file of clocks holds, times can be read.
func FuzzClocks(f *testing.F) {
	f.Add([]byte(`{"base":"x","curves":[{"node":0,"knots":[{"from_ns":1,"to_ns":2},{"from_ns":3,"to_ns":9}]}]}`), uint64(5))
	f.Add([]byte(`{"curves":[{"node":0,"knots":[{"from_ns":-9223372036854775808,"to_ns":2},{"from_ns":9223372036854775807,"to_ns":1}]}]}`), ^uint64(0))
	f.Fuzz(func(t *testing.T, text []byte, ticks uint64) {
		parseClocks(text)
		var c *Clocks
		if _, err := parseDocument(text, &c); err != nil || c == nil {
			return
		}
		r := &Rank{NsPerTick: 1}
		n := &Node{Ranks: []*Rank{r}}
		r.Node = n
		run := &Run{Nodes: []*Node{n}, Ranks: []*Rank{r}}
		run.SetClocks(c)
		run.TimeAt(r, ticks)
		run.TimeAt(r, 0)
	})
}
