package variables

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"mpitx/catalog"
	"mpitx/export"
)

// mark is a sign next to a variable in a table. Its style repeats the meaning in colour.
type mark struct {
	sign, ascii string
	meaning     string
	count       string // in headings: "12 set"
	style       *lipgloss.Style
	applies     func(*catalog.Variable) bool
}

var marks = []mark{
	{"✗", "x", "could not be read", "could not be read", &export.FaultyStyle, unreadable},
	{"?", "?", "metadata differ between ranks (see show)", "in conflict", &export.FaultyStyle,
		func(v *catalog.Variable) bool { return len(v.Conflicts) > 0 }},
	{"≠", "!=", "differs between ranks (see show)", "differing between ranks", &export.DiffersStyle,
		(*catalog.Variable).RanksDiffer},
	{"*", "*", "set by the user", "set", &export.SetStyle, (*catalog.Variable).IsSet},
	{"†", "-", "exists only before MPI_Init; the value is from then", "only before MPI_Init", &export.GoneStyle,
		func(v *catalog.Variable) bool { return v.Before != nil && !existsAfter(v) }},
}

// unreadable reports whether reading a variable failed. A variable without its object has not failed.
func unreadable(v *catalog.Variable) bool {
	r := v.Current()
	return r != nil && (r.Status == catalog.StatusFaulty || r.Status == catalog.StatusError)
}

func (m *mark) in(t export.Terminal) string {
	if t.UTF8 {
		return m.sign
	}
	return m.ascii
}

// markedVariables are the marks of each variable of a table.
type markedVariables struct {
	signs  []string
	styles []*lipgloss.Style // of the most important mark; nil: none
	counts []int             // by index in marks: the variables that have the mark
	shown  []bool            // by index in marks: whether signs include it
}

// markAll marks variables. A sign that all of several variables have is omitted; the heading counts it.
func markAll(t export.Terminal, vars []catalog.Variable, both bool) markedVariables {
	m := markedVariables{
		signs:  make([]string, len(vars)),
		styles: make([]*lipgloss.Style, len(vars)),
		counts: make([]int, len(marks)),
		shown:  make([]bool, len(marks)),
	}
	for j := range marks {
		if marks[j].style == &export.GoneStyle && !both {
			continue // unknown without both stages
		}
		for i := range vars {
			if marks[j].applies(&vars[i]) {
				m.counts[j]++
			}
		}
		n := m.counts[j]
		m.shown[j] = n > 0 && (n < len(vars) || n == 1)
	}
	for i := range vars {
		for j := range marks {
			if !m.shown[j] || !marks[j].applies(&vars[i]) {
				continue
			}
			m.signs[i] += marks[j].in(t)
			if m.styles[i] == nil {
				m.styles[i] = marks[j].style
			}
		}
	}
	return m
}

// summary formats the counts for a heading: "261 only before MPI_Init; 12 set".
func (m markedVariables) summary() string {
	var parts []string
	for j := len(marks) - 1; j >= 0; j-- {
		if m.counts[j] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", m.counts[j], marks[j].count))
		}
	}
	return strings.Join(parts, "; ")
}

// legend explains the marks that were shown, one on each line.
func legend(t export.Terminal, shown []bool) []string {
	var lines []string
	for j, used := range shown {
		if used {
			lines = append(lines, fmt.Sprintf("%-2s %s", marks[j].in(t), marks[j].meaning))
		}
	}
	return lines
}
