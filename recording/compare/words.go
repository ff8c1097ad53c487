package compare

import (
	"fmt"
	"math"
	"strconv"
)

// units are scales for people, from small to large.
var units = map[string][]struct {
	name string
	size float64
}{
	"ns": {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}},
	"s":  {{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}},
	"B":  {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}},
}

// scale returns the unit for numbers up to greatest, with its size.
func scale(greatest float64, unit string) (name string, size float64) {
	name, size = unit, 1
	for i, u := range units[unit] {
		if i == 0 || greatest >= 0.9995*u.size {
			name, size = u.name, u.size
		}
	}
	return name, size
}

// digits is a number with three digits, of small ones with fewer. Whole numbers of what has no unit have none.
func digits(x float64, unit string) string {
	decimals := 0
	if a := math.Abs(x); a > 0 && (unit != "" || x != math.Trunc(x)) && unit != "B" {
		decimals = min(max(2-int(math.Floor(math.Log10(a)+1e-4)), 0), 2)
		if a < 0.095 {
			decimals = 3
		}
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

func withUnit(text, unit string) string {
	if unit == "" {
		return text
	}
	return text + " " + unit
}

// amount is a number with its unit.
func amount(x float64, unit string) string {
	name, size := scale(math.Abs(x), unit)
	return withUnit(digits(x/size, name), name)
}

// more is a change: "2.10 s more".
func more(m Measure) string {
	return longer(m.Change(), max(m.Base.Mean(), m.New.Mean()))
}

// longer is a change of time, next to times of a size.
func longer(change, size float64) string {
	word := " more"
	switch {
	case math.Abs(change) < 0.0005*math.Abs(size):
		return "as long"
	case change < 0:
		word = " less"
	}
	return amount(math.Abs(change), "ns") + word
}

// arrow is both numbers in one unit: "1.20 → 3.30 s".
func arrow(m Measure) string {
	a, b, unit := both(m)
	if a == b {
		return withUnit(a, unit)
	}
	return withUnit(a+" → "+b, unit)
}

// both are the numbers of both sides in one unit.
func both(m Measure) (base, with, unit string) {
	a, b := m.Base.Mean(), m.New.Mean()
	unit, size := scale(max(math.Abs(a), math.Abs(b)), m.Unit)
	return digits(a/size, unit), digits(b/size, unit), unit
}

// relative is a relative change after a comma: ", +20 %", ", 28 times"; "" from 0.
func relative(d Delta) string {
	r, ok := d.Relative()
	switch {
	case !ok:
		return ""
	case r >= 9:
		return fmt.Sprintf(", %.0f times", r+1)
	}
	return fmt.Sprintf(", %+.0f %%", 100*r)
}

// fromTo is both numbers after a verb: "from 0 to 5 B".
func fromTo(m Measure) string {
	a, b, unit := both(m)
	return withUnit("from "+a+" to "+b, unit)
}

func count(x float64) string { return fmt.Sprintf("%.0f", x) }

// countArrow is both counts: "4000 → 8000", or "4000".
func countArrow(m Measure) string {
	if a, b := count(m.Base.Mean()), count(m.New.Mean()); a != b {
		return a + " → " + b
	}
	return count(m.Base.Mean())
}

// varies says how much the runs of a side vary, if it has several, and how exact an estimated change of time is.
func varies(d Delta) string {
	if failure := d.Error(); failure > 0 {
		return fmt.Sprintf("; estimated, ±%s%s", amount(failure, "ns"), varies(Delta{Base: d.Base, New: d.New}))
	}
	if !d.Spread() {
		return ""
	}
	if greatest := max(math.Abs(d.Base.Mean()), math.Abs(d.New.Mean())); greatest > 0 {
		return fmt.Sprintf("; runs vary by %.0f %%", 100*max(d.Base.Max()-d.Base.Min(), d.New.Max()-d.New.Min())/greatest)
	}
	return ""
}
