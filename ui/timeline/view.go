package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mpitx/export"
	"mpitx/recording/trace"
	"mpitx/ui/chart"
	"mpitx/ui/keys"
	"mpitx/ui/program"
	"mpitx/ui/term"
)

const (
	headerLines = 4 // title, status, phases and axis, above the rows
	leastWidth  = 40
	leastHeight = 10
	leastDetail = 4  // lines
	mostDetail  = 14 // lines
)

// View is the screen.
func (m *Model) View() tea.View {
	if m.rendered == "" {
		m.rendered = m.Render(m.width, m.height)
	}
	return program.View(m.terminal, m.rendered, "mpitx timeline")
}

// Render is the screen as text: height lines of at most width cells.
func (m *Model) Render(width, height int) string {
	var lines []string
	switch {
	case width < leastWidth || height < leastHeight:
		lines = term.Wrap(fmt.Sprintf("mpitx timeline needs %dx%d cells; this terminal has %dx%d. q quits.", leastWidth, leastHeight, width, height), max(width, 1))
	case m.text != nil:
		lines = append([]string{m.title()}, m.textScreen(height-1)...)
	case m.frame == nil:
		lines = m.fill([]string{m.title(), "", "  Reading the trace" + m.terminal.Ellipsis()})
	case len(m.frame.Rows) == 0 || m.frame.To <= m.frame.From:
		lines = append([]string{m.title(), ""}, m.wrapped(m.empty())...)
		lines = m.fill(lines)
	default:
		lines = m.screen()
	}
	lines = lines[:min(len(lines), max(height, 0))]
	for i := range lines {
		lines[i] = m.terminal.Cut(lines[i], width)
	}
	return strings.Join(lines, "\n")
}

func (m *Model) empty() string {
	if m.frame.Live {
		return "No MPI call has been recorded yet. Calls are shown here as soon as they are."
	}
	return "No MPI call was recorded in this run, or none in the chosen ranks and time."
}

// fill adds the footer at the last line of the screen.
func (m *Model) fill(lines []string) []string {
	if m.once {
		return lines
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return append(lines[:m.height-1], m.footer())
}

func (m *Model) screen() []string {
	lines := []string{m.title(), m.status(), m.phases(), m.axis()}
	for i := range m.frame.Cells {
		lines = append(lines, m.row(i))
	}
	rows, _ := m.room()
	for !m.once && len(lines) < headerLines+rows && len(m.frame.Rows) > rows {
		lines = append(lines, "")
	}
	lines = append(lines, m.legend())
	switch {
	case m.once:
		lines = append(lines, m.detail(mostDetail)...)
	case !m.zoom:
		lines = append(lines, m.detail(m.height-1-len(lines))...)
	}
	return m.fill(lines)
}

// room is how many rows and columns of cells are visible.
func (m *Model) room() (rows, columns int) {
	rows = m.height - headerLines - 2 // legend, footer
	if !m.zoom {
		detail := min(max(m.height/3, leastDetail), mostDetail)
		if m.frame != nil && len(m.frame.Rows) > 0 { // what few rows leave is for the details
			detail = max(detail, rows-len(m.frame.Rows))
		}
		rows -= detail
	}
	return max(rows, 1), max(m.width-m.margin()-1, 1)
}

// margin is the width of the names of rows.
func (m *Model) margin() int {
	n := 4
	if m.frame != nil {
		for i := range m.frame.Rows {
			n = max(n, len(m.name(m.frame.Rows[i].Track)))
		}
	}
	return n + 2
}

// name is the rank of a row, and the number of its thread if it is not the rank's first one.
func (m *Model) name(t *trace.Track) string {
	name := strconv.Itoa(t.Rank.Rank)
	if t.Number > 0 {
		name += "." + strconv.Itoa(t.Number)
	}
	return name
}

func (m *Model) title() string {
	const program = " mpitx timeline  "
	if m.frame == nil {
		return m.terminal.Paint(term.Title, m.terminal.Fit(program, m.width))
	}
	f := m.frame
	text := fmt.Sprintf("%d ranks", f.Ranks)
	if f.Ranks == 1 {
		text = "1 rank"
	}
	if span := f.To - f.From; span < 10*time.Millisecond {
		text += ", " + m.amount(span)
	} else {
		text += ", " + chart.Duration(span)
	}
	if f.Live {
		text += ", live"
	}
	room := max(m.width-term.Width(program+text)-3, 10)
	return m.terminal.Paint(term.Title, m.terminal.Fit(program+m.terminal.Cut(m.terminal.Safe(f.Dir), room)+"  "+text, m.width))
}

// status is what is wrong, and what is shown.
func (m *Model) status() string {
	f := m.frame
	warn := func(s string) string { return m.terminal.Paint(term.Attention, "! "+s) }
	var parts []string
	if m.paused {
		parts = append(parts, warn("paused"))
	}
	if m.mode == modeSearch {
		parts = append(parts, m.terminal.Paint(term.Place, "search: ")+m.line.Render(m.terminal, max(m.width/2, 10)))
	} else if m.words != "" {
		parts = append(parts, m.terminal.Paint(term.Place, "search: "+m.terminal.Safe(m.words)))
	}
	if f.Broken != "" {
		parts = append(parts, warn("cannot be read any more: "+m.terminal.SafeLine(f.Broken, m.width)))
	}
	if len(f.Dead) > 0 {
		parts = append(parts, warn("died: "+export.Ranks(f.Dead)))
	}
	if f.Lost > 0 {
		parts = append(parts, warn(plural(f.Lost, "event")+" lost"))
	}
	if n := len(f.Damage); n > 0 {
		parts = append(parts, warn(fmt.Sprintf("%d damaged: %s", n, m.terminal.SafeLine(f.Damage[0].Error(), m.width))))
	}
	shown := "the whole time"
	if !f.Whole {
		shown = "from " + m.time(f.Window.From) + " to " + m.time(f.Window.To)
	}
	shown += ", " + m.amount((f.Window.To-f.Window.From)/time.Duration(f.Window.Columns)) + " a column"
	if f.Behind {
		shown += fmt.Sprintf(", %d %% read", int(f.Read*100))
	} else if f.Sampled {
		shown += ", a sample: zoom in for all calls"
	}
	if m.order != ByRank {
		shown += ", by " + [...]string{"", "time in MPI", "calls"}[m.order]
	}
	parts = append(parts, m.terminal.Paint(term.Label, shown))
	place := ""
	if n := len(f.Rows); n > len(f.Cells) {
		place = fmt.Sprintf(" %d of %d", f.row(f.Place.Track)+1, n)
	}
	return m.terminal.Fit(" "+strings.Join(parts, "  "), m.width-len(place)) + m.terminal.Paint(term.Label, place)
}

func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return chart.Number(float64(n)) + " " + noun + "s"
}

func (m *Model) amount(d time.Duration) string { return m.terminal.Amount(float64(d), "ns") }

// time is a time since the start of the job, as exact as the window needs.
func (m *Model) time(t time.Duration) string {
	cell := max((m.frame.Window.To-m.frame.Window.From)/time.Duration(m.frame.Window.Columns), 1)
	return seconds(t, cell)
}

// seconds is a time with the digits that tell it from another one that is apart by step.
func seconds(t, step time.Duration) string {
	digits := max(min(9-int(math.Log10(float64(step))), 9), 0)
	return strconv.FormatFloat(t.Seconds(), 'f', digits, 64) + " s"
}

// phases is the line of the phases of the cursor's thread.
func (m *Model) phases() string {
	f := m.frame
	if !slices.ContainsFunc(f.Phases, func(s string) bool { return s != "" }) {
		return ""
	}
	var b strings.Builder
	line := m.terminal.Glyphs().Line
	for c := 0; c < len(f.Phases); {
		end := c
		for end < len(f.Phases) && f.Phases[end] == f.Phases[c] {
			end++
		}
		text := ""
		if f.Phases[c] != "" {
			text = m.terminal.Cut(m.terminal.Safe(f.Phases[c]), end-c)
			text += strings.Repeat(line, end-c-term.Width(text))
		}
		b.WriteString(term.Pad(text, end-c))
		c = end
	}
	return m.terminal.Paint(term.Label, m.terminal.Fit("phase", m.margin())) + m.terminal.Paint(term.Place, b.String())
}

// axis is the line of time, with a mark over the cursor's column.
func (m *Model) axis() string {
	w := m.frame.Window
	g := m.terminal.Glyphs()
	line := make([]string, w.Columns)
	for i := range line {
		line[i] = g.Line
	}
	put := func(at int, text string) {
		for i, r := range []rune(text) {
			if at+i < len(line) {
				line[at+i] = string(r)
			}
		}
	}
	step := (w.To - w.From) / time.Duration(max(w.Columns/16, 2))
	last := -1
	for _, x := range chart.Ticks(w.From.Seconds(), w.To.Seconds(), max(w.Columns/16, 2)) {
		c := w.Column(min(max(time.Duration(math.Round(x*1e9)), w.From), w.To-1))
		text := g.Bar + seconds(time.Duration(math.Round(x*1e9)), max(step/2, 1)) + " "
		if c <= last || c+term.Width(text) > w.Columns {
			continue
		}
		put(c, text)
		last = c + term.Width(text)
	}
	line[w.Column(m.frame.Place.Time)] = g.Down
	return m.terminal.Paint(term.Label, m.terminal.Fit("rank", m.margin())+strings.Join(line, ""))
}

// glyph is what a cell shows.
type glyph struct {
	text  string
	style term.Style
}

// row is a row with its cells.
func (m *Model) row(i int) string {
	f := m.frame
	t := f.Rows[f.Top+i].Track
	chosen := t == f.Place.Track
	mark, style := " ", term.Plain
	if chosen {
		mark, style = ">", term.Subject
	}
	var b strings.Builder
	b.WriteString(m.terminal.Paint(style, mark+m.terminal.FitRight(m.name(t), m.margin()-2)+" "))
	cursor := -1
	if chosen {
		cursor = f.Window.Column(f.Place.Time)
	}
	run, last := "", term.Style{}
	flush := func() {
		b.WriteString(m.terminal.Paint(last, run))
		run = ""
	}
	for c := range f.Cells[i] {
		g := m.glyph(i, c)
		if c == cursor {
			g.style = term.Chosen(!m.inMessages)
		}
		if g.style != last {
			flush()
		}
		last = g.style
		run += g.text
	}
	flush()
	return b.String()
}

// glyph is how a cell looks: the letter of what takes the most time of it.
func (m *Model) glyph(i, column int) glyph {
	f := m.frame
	c, w := &f.Cells[i][column], f.Window
	from, to := w.Edge(column), w.Edge(column+1)
	tail := f.Tails[i]
	width := to - from - c.Skipped
	switch {
	case c.Lost > 0 || tail.Events > 0 && to > tail.From && from < tail.To && c.Calls == 0:
		return glyph{"?", term.Wrong}
	case c.Calls == 0 && c.Skipped > 0:
		return glyph{" ", term.Plain}
	case c.Calls == 0 && m.outside(i, column):
		return glyph{" ", term.Plain}
	case c.Calls == 0:
		return glyph{m.terminal.Glyphs().Dot, term.Label}
	}
	letter, color := m.letter(c.Shares[0].Function)
	style := term.Style{Color: color}
	if 2*c.Busy >= width {
		style.Reverse = m.terminal.Profile > colorprofile.ASCII
		return glyph{letter, style}
	}
	return glyph{strings.ToLower(letter), style}
}

// outside says whether a cell without calls is before the first or after the last call of its thread, as far as the window shows.
func (m *Model) outside(i, column int) bool {
	begin, end := m.frame.Ends[i][0], m.frame.Ends[i][1]
	w := m.frame.Window
	return w.Edge(column+1) <= begin || w.Edge(column) > end
}

// letter is how a function is shown.
func (m *Model) letter(function int32) (string, term.Color) {
	name := m.frame.Functions[function]
	k := kindOf(name)
	if !m.byFunction {
		return string(kindInfo[k].letter), kindInfo[k].color
	}
	for i, s := range m.shares() {
		if s.Function == function && i < 26 {
			return string(rune('A' + i)), kindInfo[k].color
		}
	}
	return "*", kindInfo[k].color
}

// shares are those of all cells that are shown, the greatest first.
func (m *Model) shares() []trace.Share {
	if m.frame.shares == nil {
		all := map[int32]trace.Share{}
		for _, row := range m.frame.Cells {
			for i := range row {
				for _, s := range row[i].Shares {
					sum := all[s.Function]
					all[s.Function] = trace.Share{Function: s.Function, Calls: sum.Calls + s.Calls, Time: sum.Time + s.Time}
				}
			}
		}
		m.frame.shares = []trace.Share{}
		for _, s := range all {
			m.frame.shares = append(m.frame.shares, s)
		}
		slices.SortFunc(m.frame.shares, func(a, b trace.Share) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Calls, a.Calls), cmp.Compare(m.frame.Functions[a.Function], m.frame.Functions[b.Function]))
		})
	}
	return m.frame.shares
}

// legend says what the letters stand for, and which part of the time it takes.
func (m *Model) legend() string {
	f := m.frame
	var parts []string
	whole := float64(f.Window.To-f.Window.From) * float64(len(f.Cells))
	entry := func(letter, name string, color term.Color, took time.Duration) {
		parts = append(parts, m.terminal.Paint(term.Style{Color: color, Bold: true}, letter)+" "+name+" "+percent(float64(took)/whole))
	}
	if m.byFunction {
		for i, s := range m.shares() {
			letter, color := m.letter(s.Function)
			if i < 26 {
				entry(letter, m.terminal.Safe(strings.TrimPrefix(f.Functions[s.Function], "MPI_")), color, s.Time)
			}
		}
	} else {
		var times [kinds]time.Duration
		var calls [kinds]uint64
		for _, s := range m.shares() {
			k := kindOf(f.Functions[s.Function])
			times[k] += s.Time
			calls[k] += s.Calls
		}
		order := make([]kind, 0, kinds)
		for k := range kinds {
			if calls[k] > 0 {
				order = append(order, k)
			}
		}
		slices.SortStableFunc(order, func(a, b kind) int { return cmp.Compare(times[b], times[a]) })
		for _, k := range order {
			entry(string(kindInfo[k].letter), kindInfo[k].name, kindInfo[k].color, times[k])
		}
	}
	line := " "
	for _, p := range append(parts, m.terminal.Glyphs().Dot+" not in MPI") {
		if term.Width(line)+term.Width(p)+2 > m.width {
			break
		}
		line += p + "  "
	}
	return line
}

// percent is a part for people.
func percent(x float64) string {
	switch {
	case x > 0 && x < 0.001:
		return "<0.1%"
	case x < 0.0995:
		return strconv.FormatFloat(x*100, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(x*100, 'f', 0, 64) + "%"
}

// footer is the command line, the outcome of the last key or command, or the keys that are the most useful now.
func (m *Model) footer() string {
	switch {
	case m.mode == modeCommand:
		return ":" + m.line.Render(m.terminal, m.width-1)
	case m.note != "":
		return m.terminal.Paint(term.Heading, m.terminal.SafeLine(m.note, m.width))
	}
	list := []keys.Key{keys.Of(keys.Help), keys.Of(keys.Quit)}
	if m.frame != nil && len(m.frame.Rows) > 0 {
		list = append(list, timeKeys.bindings[0].Key, timeKeys.bindings[1].Key, timeKeys.bindings[8].Key)
		if m.frame.Detail != nil && len(m.frame.Detail.Messages) > 0 {
			list = append(list, keys.Of(keys.Open).With("", "other side"), keys.Of(keys.NextPane).With("", "messages"))
		}
		list = append(list, keys.Of(keys.Search), keys.Of(keys.Values).With("", map[bool]string{false: "functions", true: "kinds"}[m.byFunction]))
		if m.frame.Live {
			list = append(list, keys.Of(keys.Pause).With("", map[bool]string{false: "pause", true: "resume"}[m.paused]))
		}
		list = append(list, keys.Of(keys.Export), keys.Of(keys.Messages))
	}
	return keys.Footer(m.terminal, m.width, list...)
}
