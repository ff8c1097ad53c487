package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/recording/trace"
	"mpitx/ui/term"
)

// letter is how a function is shown.
func (m *Model) letter(function int32) (string, term.Color) {
	name := m.frame.Functions[function]
	k := kindOf(name)
	if !m.byFunction {
		return string(kindInfo[k].letter), kindInfo[k].color
	}
	m.shares()
	return string(m.letters[function]), kindInfo[k].color
}

// noLetter is that of functions that came after all letters were given.
const noLetter = '*'

// give gives a function one of its name's letters, or another one, for the whole session.
func (m *Model) give(function int32) {
	if m.letters[function] != 0 {
		return
	}
	m.letters[function] = noLetter
	for _, r := range strings.ToUpper(strings.TrimPrefix(m.frame.Functions[function], "MPI_")) + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		if r >= 'A' && r <= 'Z' && !m.given[r-'A'] {
			m.letters[function], m.given[r-'A'] = r, true
			return
		}
	}
}

// shares are those of all cells that are shown, the greatest first. Their functions have letters.
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
		for _, s := range m.frame.shares {
			m.give(s.Function)
		}
	}
	return m.frame.shares
}

// entry is a letter of the legend.
type entry struct {
	letter, name string
	color        term.Color
	took         time.Duration
}

// legend says what the letters stand for, and which part of the time each takes, as far as there is room.
func (m *Model) legend() (line string) {
	entries := m.kindEntries()
	if m.byFunction {
		entries = m.functionEntries()
	}
	for n, all := len(entries), false; n >= 0 && !all; n-- {
		line, all = m.legendLine(entries, n)
	}
	return line
}

// legendLine is a legend with the parts of the first n entries.
func (m *Model) legendLine(entries []entry, n int) (line string, all bool) {
	f := m.frame
	whole := float64(f.Window.To-f.Window.From) * float64(len(f.Cells))
	var parts []string
	for i, e := range entries {
		text := e.name
		if n < len(entries) {
			text, _, _ = strings.Cut(text, ",")
		}
		if i < n {
			text += " " + percent(float64(e.took)/whole)
		}
		parts = append(parts, m.terminal.Paint(term.Style{Color: e.color, Bold: true}, e.letter)+" "+text)
	}
	line = " " + strings.Join(append(parts, m.terminal.Glyphs().Dot+" not in MPI"), "  ")
	return line, term.Width(line) <= m.width
}

func (m *Model) functionEntries() (all []entry) {
	var others time.Duration
	for _, s := range m.shares() {
		if letter, color := m.letter(s.Function); letter != string(noLetter) {
			all = append(all, entry{letter, m.terminal.Safe(strings.TrimPrefix(m.frame.Functions[s.Function], "MPI_")), color, s.Time})
		} else {
			others += s.Time
		}
	}
	if others > 0 {
		all = append(all, entry{string(noLetter), "others", term.Default, others})
	}
	return all
}

func (m *Model) kindEntries() (all []entry) {
	var times [kinds]time.Duration
	var calls [kinds]uint64
	for _, s := range m.shares() {
		k := kindOf(m.frame.Functions[s.Function])
		times[k] += s.Time
		calls[k] += s.Calls
	}
	for k := range kinds {
		if calls[k] > 0 {
			all = append(all, entry{string(kindInfo[k].letter), kindInfo[k].name, kindInfo[k].color, times[k]})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(b.took, a.took) })
	return all
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
