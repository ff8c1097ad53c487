package text

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Scale formats amounts that are compared with each other: in one unit, with as many decimals as the greatest needs for four digits.
type Scale struct {
	Unit     string // "ms", "MB", "MB/s"
	factor   float64
	decimals int
}

// scales are the units for people, from small to large, with the factor to the counted unit.
var scales = map[string][]struct {
	unit   string
	factor float64
}{
	"ns":   {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}},
	"s":    {{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}},
	"ns/s": {{"%", 1e7}}, // percent of the time
	"s/s":  {{"%", 1e-2}},
	"B":    {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}},
	"B/s":  {{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}},
	"/s":   {{"/s", 1}},
}

// ScaleOf chooses the scale for amounts of a unit ("ns", "s", "B", or "" for plain numbers; "/s" may follow) up to greatest.
func ScaleOf(unit string, greatest float64) Scale { return scaleOf(unit, greatest, 4) }

func scaleOf(unit string, greatest float64, digits int) Scale {
	s := Scale{Unit: unit, factor: 1}
	greatest = math.Abs(greatest)
	for i, step := range scales[unit] {
		if i == 0 || greatest >= rounded(step.factor, digits) {
			s.Unit, s.factor = step.unit, step.factor
		}
	}
	if scaled := greatest / s.factor; scaled > 0 && !math.IsInf(scaled, 0) {
		s.decimals = min(max(digits-1-int(math.Floor(math.Log10(scaled/rounded(1, digits)))), 0), 6)
	}
	return s
}

// rounded is the least number that is a power of ten when it is rounded to some digits.
func rounded(power float64, digits int) float64 { return power * (1 - math.Pow10(-digits)/2) }

// Value is an amount in the scale's unit.
func (s Scale) Value(x float64) float64 { return x / s.factor }

// Texts formats the amounts of one line without their unit, all with the same number of decimals: none if all are whole and the unit is
// the counted one.
func (s Scale) Texts(amounts ...float64) []string {
	decimals := s.decimals
	if s.factor == 1 && !slices.ContainsFunc(amounts, func(x float64) bool { return x != math.Trunc(x) && !math.IsNaN(x) }) {
		decimals = 0
	}
	var texts []string
	for _, x := range amounts {
		texts = append(texts, strconv.FormatFloat(x/s.factor, 'f', decimals, 64))
	}
	return texts
}

// Amount is one amount with four digits and its unit, for tables: "1.200 s", "43.00 MB/s". A whole amount of the counted unit has no
// decimals: "160 ns".
func Amount(x float64, unit string) string { return amount(x, unit, 4) }

func amount(x float64, unit string, digits int) string {
	s := scaleOf(unit, x, digits)
	if x == 0 {
		s.decimals = 0
	}
	number := s.Texts(x)[0]
	if s.Unit == "" || s.Unit == "/s" {
		return number + s.Unit
	}
	return number + " " + s.Unit
}

// Duration is a time with three digits, for sentences: "1.20 s"; from 100 s on in minutes and hours: "2m5s", "1h30m".
func Duration(d time.Duration) string { return duration(d, 3) }

// RoughDuration is a time with two digits, as its last one is not exact: "1.2 s".
func RoughDuration(d time.Duration) string { return duration(d, 2) }

func duration(d time.Duration, digits int) string {
	step := time.Second
	switch {
	case d.Abs() < 100*time.Second:
		return amount(float64(d), "ns", digits)
	case d.Abs() >= time.Hour:
		step = time.Minute
	}
	return trimZero(d.Round(step).String())
}

// trimZero removes parts that are 0 from the end of a duration of the standard library: "1h0m0s" becomes "1h".
func trimZero(s string) string {
	for _, zero := range []string{"m0s", "h0m"} {
		if len(s) > len(zero) && s[len(s)-len(zero):] == zero {
			s = s[:len(s)-len(zero)+1]
		}
	}
	return s
}

// Percent is a part of 1: "35.3 %"; "-" if it is not known (NaN).
func Percent(part float64) string {
	switch {
	case math.IsNaN(part):
		return "-"
	case part > 0 && part < 0.0005:
		return "<0.1 %"
	}
	return strconv.FormatFloat(100*part, 'f', 1, 64) + " %"
}

// RoughPercent is a part of 1 in whole percent. It never rounds to 0 or 100 %: "under 1 %", "over 99 %".
func RoughPercent(part float64) string {
	switch p := part * 100; {
	case math.IsNaN(p):
		return "-"
	case p > 0 && p < 1:
		return "under 1 %"
	case p > 99 && p < 100:
		return "over 99 %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

// ErrorPercent is an error as a part of what it is the error of, rounded up: "0.3 %", "12 %".
func ErrorPercent(failure, of float64) string {
	p := 100 * failure / math.Abs(of)
	switch {
	case failure == 0:
		return "0 %"
	case of == 0 || p > 100:
		return "over 100 %"
	case p < 10:
		return strconv.FormatFloat(math.Ceil(10*p)/10, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(math.Ceil(p), 'f', 0, 64) + " %"
}
