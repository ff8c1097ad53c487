package export

import (
	"math"
	"slices"
	"strconv"
	"strings"
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
func (t Terminal) ScaleOf(unit string, greatest float64) Scale {
	s := Scale{Unit: unit, factor: 1}
	greatest = math.Abs(greatest)
	for i, step := range scales[unit] {
		if i == 0 || greatest >= step.factor {
			s.Unit, s.factor = step.unit, step.factor
		}
	}
	s.Unit = t.Units(s.Unit)
	if scaled := greatest / s.factor; scaled > 0 && !math.IsInf(scaled, 0) {
		s.decimals = min(max(3-int(math.Floor(math.Log10(scaled))), 0), 6)
	}
	return s
}

// Text formats an amount without its unit. A whole amount has no decimals if the unit is the counted one.
func (s Scale) Text(x float64, whole bool) string {
	decimals := s.decimals
	if whole && s.factor == 1 || x == 0 {
		decimals = 0
	}
	return strconv.FormatFloat(x/s.factor, 'f', decimals, 64)
}

// Units writes the units in a text of mpitx's own with the characters that a terminal has.
func (t Terminal) Units(s string) string {
	if t.UTF8 {
		return s
	}
	return strings.ReplaceAll(s, "µs", "us")
}

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

// Amount formats one amount with its unit.
func (t Terminal) Amount(x float64, unit string) string {
	s := t.ScaleOf(unit, x)
	text := s.Text(x, x == math.Trunc(x))
	if s.Unit == "" || s.Unit == "/s" {
		return text + s.Unit
	}
	return text + " " + s.Unit
}
