// The lines above and below the panes.

package explorer

import (
	"fmt"
	"strconv"
	"strings"

	"mpitx/ui/screen"
	"mpitx/ui/screen/keys"
	"mpitx/ui/term"
)

// head is the number of lines above the body.
func (m *Model) head() int { return 2 + len(m.banner()) }

// banner reports, in every view, that MPI is not available. Otherwise it has no lines.
func (m *Model) banner() []string {
	why := m.frozen()
	if why == "" {
		return nil
	}
	if said := initReason(m.log); said != "" {
		why = said
	}
	text := "MPI is not available, read-only (R restarts, L shows more): " + why
	if held := m.heldBack(); held != "" {
		text = "MPI is not available, read-only (L shows more). " + held + " " + why
	}
	if m.o.Start == nil {
		text = "no values from after MPI_Init in this snapshot (L shows more): " + why
	}
	lines := term.Wrap(m.Terminal.SafeLine(text, maxMessage), m.Width-2)
	lines, _ = atMost(lines, min(3, m.Height/8))
	for i := range lines {
		lines[i] = m.Terminal.Paint(term.Banner, m.Terminal.Fit(" "+lines[i], m.Width))
	}
	return lines
}

func (m *Model) title() string {
	left := " mpitx  "
	if m.x != nil && m.o.Diff == nil {
		lib := m.x.cat.Library
		left += m.Terminal.SafeLine(lib.Family, 20) + "  "
	}
	room := m.Width / 2
	if m.o.Diff != nil {
		room = m.Width - term.Width(left+m.diffTitle(0))
	}
	left += m.source(room)
	state := m.liveState()
	if state != "" {
		state = "  " + state + " "
	}
	right := state
	if m.x != nil && m.o.Diff != nil {
		right = m.diffTitle(m.Width - term.Width(left))
	} else if m.x != nil {
		for _, counts := range []string{m.x.kindCounts(), strconv.Itoa(len(m.x.all)) + " in all"} { // as much as fits
			counts = "  " + counts + " "
			if term.Width(left)+term.Width(state)+term.Width(counts) <= m.Width {
				right = strings.TrimSuffix(state, " ") + counts
				break
			}
		}
	}
	return m.Terminal.Paint(term.Title, m.spread(left, right))
}

// source is what the explorer shows: a file or a job, or both sides of a difference.
func (m *Model) source(width int) string {
	if m.o.Diff == nil {
		return m.Terminal.SafeLine(m.o.Source, width)
	}
	names := m.sideNames((width - 3) / 2)
	return names[0] + " " + m.arrow() + " " + names[1]
}

// spread puts text at both ends of a line.
func (m *Model) spread(left, right string) string {
	right = m.Terminal.Cut(right, max(m.Width*2/3, m.Width-term.Width(left)))
	return m.Terminal.Fit(left, m.Width-term.Width(right)) + right
}

// second names what is shown below it, or holds the filter bar.
func (m *Model) second() string {
	accent := func(left, right string) string {
		return m.Terminal.Paint(term.Place, m.spread(left, right))
	}
	switch {
	case m.Text != nil:
		return accent(" "+m.text, "")
	case m.x == nil:
		return strings.Repeat(" ", m.Width)
	case m.mode == modeFilter:
		return m.filterBar()
	case m.watchOpen:
		return accent(" watching", m.at.position(len(m.watching.list)))
	case m.changes.open:
		return accent(" my changes, for the next run", m.changes.at.position(len(m.changeList())))
	}
	left := " " + m.Terminal.SafeLine(m.branch.name, m.Width/2)
	if m.query != "" {
		left = " search: " + m.Terminal.SafeLine(m.query, m.Width/2)
	}
	if f := filterText(m.criteria); f != "" {
		left += "   filter: " + m.Terminal.SafeLine(f, m.Width)
	} else if m.o.Diff != nil && m.query == "" {
		left += "   " + m.libraryWords()
	}
	return accent(left, m.position())
}

func (m *Model) position() string {
	if len(m.shown) == 0 {
		return " 0 shown "
	}
	return fmt.Sprintf(" %d of %d ", m.list.at+1, len(m.shown))
}

func (m *Model) filterBar() string {
	parts := []string{}
	from := 0
	place := m.position()
	width := m.Width - len(place)
	for i, c := range m.criteria {
		s := c.name + "=" + m.Terminal.SafeLine(c.values[c.now], 40)
		if i == m.field {
			s = m.Terminal.Paint(term.Cursor, "["+s+"]")
		}
		parts = append(parts, s)
		for i == m.field && from < i && term.Width(strings.Join(parts[from:], " "))+1 > width {
			from++
		}
	}
	return m.Terminal.Fit(" "+strings.Join(parts[from:], " "), width) + place
}

// bottom is the footer: the line that is typed, or a message in up to four lines, or the keys.
func (m *Model) bottom() []string {
	switch {
	case m.mode == modeSearch:
		return []string{term.Pad("/"+m.Line.Render(m.Terminal, m.Width-1), m.Width)}
	case m.Mode == screen.Command:
		return m.CommandLine()
	case m.Note != "":
		lines, _ := m.statusLines()
		return lines
	}
	return []string{m.Terminal.Fit(" "+keys.Footer(m.Terminal, m.Width-1, m.hints()...), m.Width)}
}

// statusLines is the last message, and whether it is cut.
func (m *Model) statusLines() (lines []string, cut bool) {
	more := ""
	if lines, cut = atMost(term.Wrap(m.Terminal.SafeLine(m.Note, maxMessage), m.Width-2), min(4, m.Height-m.head()-3)); cut {
		more = " (L: all) "
	}
	for i := range lines {
		end := ""
		if i == len(lines)-1 {
			end = more
		}
		lines[i] = m.Terminal.Paint(m.style, m.Terminal.Fit(" "+lines[i], m.Width-len(end))+end)
	}
	return lines, cut
}

// atMost joins what is more than most lines, at least one, into the last of them. It says whether that was necessary.
func atMost(lines []string, most int) (some []string, cut bool) {
	if most = max(most, 1); len(lines) <= most {
		return lines, false
	}
	return append(lines[:most-1], strings.Join(lines[most-1:], " ")), true
}

func (m *Model) statusCut() bool {
	if m.Note == "" || m.Width == 0 {
		return false
	}
	_, cut := m.statusLines()
	return cut
}
