package top

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"mpitx/text"
	"mpitx/ui/chart"
	"mpitx/ui/screen"
)

// entry is a line of a table: what it shows, and what it is sorted by.
type entry struct {
	cells []value
	trend []float64
	key   Key // views of variables
	rank  int // views of ranks
	warn  bool
}

// value is a cell of a table. Numbers are sorted by their values.
type value struct {
	text   string
	number float64
	isText bool
}

func textOf(s string) value    { return value{text: s, isText: true} }
func numberOf(x float64) value { return value{text: chart.Number(x), number: x} }

// amountOf is a number with its unit, without "/s": the heading of the column says that.
func amountOf(x float64, unit string) value {
	return value{text: amount(x, unit), number: x}
}

func amount(x float64, unit string) string {
	unit, perSecond := strings.CutSuffix(unit, "/s")
	switch {
	case math.IsNaN(x) || x == 0 || unit == "":
		return chart.Number(x)
	case unit == "ns":
		x /= 1e9
		fallthrough
	case unit == "s":
		if perSecond {
			return text.Percent(x)
		}
		return duration(x)
	}
	return chart.Number(x) + unit
}

// labelled is an amount with its whole unit, also of zero and with "/s", for places where nothing else says the unit.
func labelled(x float64, unit string) string {
	words := amount(x, unit)
	base, perSecond := strings.CutSuffix(unit, "/s")
	time := base == "ns" || base == "s"
	switch {
	case math.IsNaN(x):
		return words
	case x == 0 && time && perSecond:
		return text.Percent(0)
	case x == 0 && time:
		return "0s"
	case x == 0:
		words += base
	}
	if perSecond && !time {
		words += "/s"
	}
	return words
}

func duration(seconds float64) string {
	switch a := math.Abs(seconds); {
	case a < 999.5e-9:
		return chart.Number(seconds*1e9) + "ns"
	case a < 999.5e-6:
		return chart.Number(seconds*1e6) + "µs"
	case a < 999.5e-3:
		return chart.Number(seconds*1e3) + "ms"
	}
	return chart.Number(seconds) + "s"
}

func (r *Row) extreme(ranks []int) value { return value{text: r.at(ranks), number: float64(ranks[0])} }

func rankOf(r int) value      { return value{text: rankText(r), number: float64(r)} }
func (v value) missing() bool { return !v.isText && math.IsNaN(v.number) || v.isText && v.text == "" }
func compareValues(a, b value) int {
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
}

func rankText(r int) string {
	if r < 0 {
		return "-"
	}
	return strconv.Itoa(r)
}

type heading struct {
	title string
	width int // 0: as wide as its longest text
	left  bool
	drop  int // the order in which columns are dropped for lack of room; 0: never
}

var variableHeadings = []heading{
	{"VARIABLE", 0, true, 0}, {"OBJECT", 16, true, 6}, {"AS", 5, true, 3}, {"SUM", 8, false, 0}, {"MIN", 8, false, 5}, {"AT", 5, false, 1},
	{"MEAN", 8, false, 2}, {"MAX", 8, false, 7}, {"AT", 5, false, 4},
}

var rankHeadings = []heading{
	{"RANK", 6, false, 0}, {"HOST", 0, true, 0}, {"STATE", 12, true, 0}, {"RAW", 9, false, 0}, {"DELTA", 9, false, 3}, {"RATE/s", 9, false, 4},
	{"LAST", 9, false, 1}, {"LOST", 7, false, 2},
}

const trendWidth = 16

func variables(f *Frame, filter string) []entry {
	var all []entry
	for i := range f.Rows {
		r := &f.Rows[i]
		if !matches(r, filter) {
			continue
		}
		e := entry{key: r.Key, rank: -1, trend: r.Trend}
		name := r.Variable
		e.cells = []value{textOf(name), textOf(r.Object), textOf(r.As.String())}
		if r.Number && r.Ranks > 0 {
			e.cells = append(e.cells, amountOf(r.Sum, r.Unit), amountOf(r.Min, r.Unit), r.extreme(r.MinAt), amountOf(r.Mean, r.Unit), amountOf(r.Max, r.Unit), r.extreme(r.MaxAt))
		} else {
			nan := value{number: math.NaN()}
			e.cells = append(e.cells, textOf(r.Text), nan, nan, nan, nan, nan)
		}
		all = append(all, e)
	}
	return all
}

// matches says whether a row passes the filter: all its words are in the name, the object or the class, in upper or lower case.
func matches(r *Row, filter string) bool {
	return screen.HasWords(r.Variable+" "+r.Object+" "+r.Class.String(), filter)
}

// rankEntries are the lines of a view of ranks, also of those that d lacks; nil: there are no values yet.
func rankEntries(f *Frame, d *Detail, filter string, cells func(r *RankInfo, v *Value) []value) (all []entry) {
	for i := range f.Ranks {
		r := &f.Ranks[i]
		if !r.matches(filter) {
			continue
		}
		e := entry{rank: r.Rank, warn: r.troubled()}
		var v *Value
		if d != nil {
			if k := slices.IndexFunc(d.Ranks, func(v Value) bool { return v.Rank == r.Rank }); k >= 0 {
				v, e.trend = &d.Ranks[k], d.History[k]
			}
		}
		e.cells = append([]value{rankOf(r.Rank), textOf(r.Host), textOf(r.Word())}, cells(r, v)...)
		all = append(all, e)
	}
	return all
}

func ranksOf(f *Frame, filter string) []entry {
	return rankEntries(f, f.Detail, filter, func(r *RankInfo, v *Value) []value {
		nan := value{number: math.NaN()}
		raw, delta, rate := nan, nan, nan
		switch {
		case v == nil:
		case v.Text != "":
			raw = textOf(v.Text)
		default:
			u := f.Detail.Unit
			raw, delta, rate = amountOf(v.Raw, u), amountOf(v.Delta, u), amountOf(v.Rate, u+"/s")
			if !v.Status.HasValue() {
				raw = textOf(v.Status.String())
			}
		}
		last := value{text: strconv.FormatFloat(r.Last.Seconds(), 'f', 1, 64) + "s", number: r.Last.Seconds()}
		return []value{raw, delta, rate, last, numberOf(float64(r.Lost))}
	})
}

type order struct {
	column  int // -1: as recorded
	reverse bool
}

func (o order) sort(all []entry, headings []heading) {
	if o.column < 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		x, y := a.cells[o.column], b.cells[o.column]
		text := headings[o.column].left
		noX, noY := x.missing() || x.isText && !text, y.missing() || y.isText && !text
		if noX != noY { // missing values, and text among numbers, come last in either order
			if noX {
				return 1
			}
			return -1
		}
		c := compareValues(x, y)
		if o.reverse {
			c = -c
		}
		return c
	})
}

const (
	leastHost = 20  // cells of a host's name, if it is as long
	leastRest = 10  // cells that a variable's name leaves for others
	mostTrend = 120 // bins of a sparkline, since it adds up all ranks
)

// layout is the width of each column; 0: not shown. The name of a variable has the first claim: other columns are dropped before it is
// cut. trend is the width that is left for the sparkline. longest gives the width of a column's longest text.
func layout(headings []heading, longest func(int) int, width int) (widths []int, trend int) {
	widths = make([]int, len(headings))
	want := func(i int) int {
		switch h := headings[i]; {
		case h.title == "OBJECT":
			return min(longest(i), h.width)
		case h.width == 0 && i == 0:
			return max(len(h.title)+1, min(longest(i), width-leastRest))
		case h.width == 0:
			return max(len(h.title)+1, min(longest(i), max(leastHost, width*2/5)))
		default:
			return h.width
		}
	}
	left := width
	for i := range headings {
		if widths[i] = want(i); widths[i] > 0 {
			left -= 1 + widths[i]
		}
	}
	drops := make([]int, len(headings)+1) // columns in the order in which they are dropped
	for i, h := range headings {
		drops[h.drop] = i
	}
	last := 1
	for ; last < len(drops) && left < 0; last++ {
		if i := drops[last]; headings[i].drop == last && widths[i] > 0 {
			left += 1 + widths[i]
			widths[i] = 0
		}
	}
	for level := last - 1; level > 0; level-- { // narrow ones may fit now
		if i := drops[level]; headings[i].drop == level && widths[i] == 0 && want(i) > 0 && left > want(i) {
			widths[i] = want(i)
			left -= 1 + widths[i]
		}
	}
	if left > trendWidth {
		trend = min(left-1, mostTrend)
		left -= trend + 1
	}
	for i, h := range headings {
		if h.width == 0 {
			widths[i] = max(widths[i]+left, 4)
		}
	}
	return widths, trend
}
