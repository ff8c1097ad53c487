package explorer

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/text"
	"mpitx/ui/chart"
	"mpitx/ui/term"
)

const watchTop = 2 // the line of the body where the list of pins begins

func (m *Model) watchRows(height int) int {
	return min(len(m.watching.list)+2, max(height/2, 3)) - 2
}

func (m *Model) watchView(width, height int) []string {
	n := len(m.watching.list)
	if n == 0 {
		return m.block(m.unwatched(width), width, height)
	}
	top := m.watchRows(height) + 2
	m.at.view(n, top-2)
	state := fmt.Sprintf(" every %s", m.every)
	if m.Paused {
		state += ", PAUSED"
	}
	if m.log10 {
		state += ", logarithmic scale"
	}
	state += fmt.Sprintf(": %s", m.show)
	lines := []string{m.Terminal.Paint(term.Heading, state), ""}
	nameW, valueW := 0, 10
	for _, s := range m.watching.list {
		nameW = max(nameW, term.Width(m.Terminal.SafeLine(s.id, width)))
		valueW = max(valueW, term.Width(m.last(s)))
	}
	valueW = min(valueW, max(width/4, 10))
	nameW = min(nameW, max(width-valueW-4-leastSpark, 18)) // names have the first claim on the width
	for i := m.at.top; i < min(n, m.at.top+top-2); i++ {
		s := m.watching.list[i]
		sign, style := m.at.chosen(i)
		lines = append(lines, m.Terminal.Paint(style, sign+m.Terminal.FitMiddle(m.Terminal.SafeLine(s.id, width), nameW)+" "+m.Terminal.FitRight(m.last(s), valueW)+" ")+
			chart.Sparkline(s.total(m.showing(s)), width-nameW-valueW-4, false, m.Terminal))
	}
	lines = m.block(lines, width, top)
	if m.at.at >= n || height-top < 3 {
		return m.block(lines, width, height)
	}
	return m.block(append(append(lines, ""), m.chart(m.watching.list[m.at.at], width, height-top-1)...), width, height)
}

func (m *Model) unwatched(width int) []string {
	lines := []string{"", " " + m.Terminal.Paint(term.Heading, "Nothing is pinned."), ""}
	text := "This view shows the values of pinned variables over time. Esc goes back to the list, where p pins the variable under the cursor. " +
		":watch NAME pins one by its name."
	lines = append(lines, m.wrapped(text, width, term.Plain)...)
	var offers []string
	for i := range m.x.entries {
		if e := &m.x.entries[i]; e.v.Kind == catalog.Pvars && watchable(e) && len(offers) < 5 {
			offers = append(offers, e.v.ID())
		}
	}
	if len(offers) > 0 {
		lines = append(lines, "", " "+m.Terminal.Paint(term.Label, "for example"))
		for _, id := range offers {
			lines = append(lines, m.inLines(m.Terminal.Safe(":watch "+id), width, term.Plain)...)
		}
	}
	return lines
}

const leastSpark = 16 // cells of a sparkline

func (m *Model) last(s *series) string {
	curve := s.total(m.showing(s))
	if len(curve) == 0 || math.IsNaN(curve[len(curve)-1]) {
		return "-"
	}
	text := m.amount(s, curve[len(curve)-1])
	if s.are() {
		if _, others := most(s.rows[len(s.rows)-1]); others > 0 {
			text += fmt.Sprintf(" and %d other", others)
		}
	}
	return text
}

func (m *Model) amount(s *series, x float64) string {
	switch {
	case s.are():
		return m.Terminal.Cut(m.Terminal.SafeLine(s.word(x), maxWord), maxWord)
	case m.showing(s) == showRate:
		return chart.Number(x) + "/s"
	}
	return chart.Number(x)
}

// maxWord is how much of an item or a text a chart shows.
const maxWord = 24

func (m *Model) chart(s *series, width, height int) []string {
	show := m.showing(s)
	rows := chart.Rows{Label: func(x float64) string { return m.amount(s, x) }, Items: s.are(), Log: m.log10 && !s.are(), Time: chart.Time{Right: "now"}}
	title := show.String()
	switch n := len(s.ranks); {
	case n > 1 && s.are():
		title += " of most ranks (s shows each)"
	case n > 1:
		title += ", sum of " + text.Count(n, "rank")
	}
	if m.ranks {
		title, rows.Title = show.String()+" on each rank", "rank"
		for k, r := range s.ranks {
			rows.Names, rows.Values = append(rows.Names, strconv.Itoa(r)), append(rows.Values, s.rank(k, show))
		}
	} else {
		rows.Names, rows.Values = []string{""}, [][]float64{s.total(show)}
	}
	if n := len(s.times); n > 1 {
		rows.Time.Step = s.times[n-1].Sub(s.times[0]) / time.Duration(n-1)
		if m.Paused || m.ended != "" {
			rows.Time.Right = s.times[n-1].Format(time.TimeOnly)
		}
	}
	return append([]string{" " + title}, chart.Strips(rows, width, height-1, m.Terminal).Lines...)
}

// writeSamples writes the samples of the pins: a row for each time, variable and rank.
func (m *Model) writeSamples(w io.Writer, f export.Format) error {
	type sample struct {
		Time  time.Time `json:"time"`
		Name  string    `json:"variable"`
		Rank  int       `json:"rank"`
		Value *float64  `json:"value"`
		Text  string    `json:"text,omitempty"` // of an item, or the value of a text variable
	}
	samples := []sample{}
	for _, s := range m.watching.list {
		for i, row := range s.rows {
			for k, v := range row {
				x := sample{s.times[i], s.id, s.ranks[k], &v, ""}
				if s.are() && !math.IsNaN(v) {
					x.Text = s.word(v)
				}
				if math.IsNaN(v) || math.IsInf(v, 0) || s.texts != nil {
					x.Value = nil
				}
				samples = append(samples, x)
			}
		}
	}
	if f == export.FormatJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(samples)
	}
	if f != export.FormatCSV {
		return fmt.Errorf("samples can be saved as .csv or .json")
	}
	c := csv.NewWriter(w)
	c.Write([]string{"time", "variable", "rank", "value", "text"})
	for _, s := range samples {
		v := ""
		if s.Value != nil {
			v = strconv.FormatFloat(*s.Value, 'g', -1, 64)
		}
		c.Write([]string{s.Time.UTC().Format(time.RFC3339Nano), export.Terminal{}.CSV(s.Name), strconv.Itoa(s.Rank), v, export.Terminal{}.CSV(s.Text)})
	}
	c.Flush()
	return c.Error()
}

// words are what the numbers of a series stand for, if they are not amounts: items of an enumeration, or texts. Such numbers have no
// sum and no rate.
type words struct {
	enum  *catalog.Enum
	texts []string // a number is a place here
}

func (w *words) are() bool { return w.enum != nil || w.texts != nil }

// number is what the curve of a reading shows: an item's value, the place of a text, or an amount; NaN: there is no value.
func (w *words) number(r *catalog.Reading, enum *catalog.Enum) float64 {
	text := r.Value.Type().Form() == catalog.FormText
	switch {
	case r.Status != catalog.StatusOK || r.Value.IsZero():
		return math.NaN()
	case text || enum != nil && r.Value.Len() > 1:
		return w.place(r.Value.Format(enum))
	}
	w.enum = enum
	return number(r)
}

// place is that of a text; NaN: there are too many.
func (w *words) place(text string) float64 {
	i := slices.Index(w.texts, text)
	if i < 0 {
		if len(w.texts) == maxSamples {
			return math.NaN()
		}
		i = len(w.texts)
		w.texts = append(w.texts, text)
	}
	return float64(i)
}

func (w *words) word(x float64) string {
	i := int(x)
	if w.enum != nil {
		if name, ok := w.enum.NameOf(int64(i)); ok {
			return name
		}
	} else if i >= 0 && i < len(w.texts) {
		if w.texts[i] == "" {
			return `""`
		}
		return w.texts[i]
	}
	return fmt.Sprint(i)
}

// most is the number that most ranks have in a sample, and how many other numbers there are; NaN: no rank has one.
func most(row []float64) (most float64, others int) {
	counts := map[float64]int{}
	most = math.NaN()
	for _, x := range row {
		if !math.IsNaN(x) {
			counts[x]++
		}
	}
	for x, n := range counts {
		if best := counts[most]; n > best || n == best && x < most {
			most = x
		}
	}
	return most, max(len(counts)-1, 0)
}
