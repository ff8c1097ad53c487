// The lines above and below the panes.

package explorer

import (
	"fmt"
	"strconv"
	"strings"

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
	if m.o.Start == nil {
		text = "no values from after MPI_Init in this snapshot (L shows more): " + why
	}
	lines := term.Wrap(m.t.SafeLine(text, maxMessage), m.w-2)
	lines, _ = atMost(lines, min(3, m.h/8))
	for i := range lines {
		lines[i] = m.t.Paint(term.Banner, m.t.Fit(" "+lines[i], m.w))
	}
	return lines
}

func (m *Model) title() string {
	left := " mpitx  "
	if m.x != nil && m.o.Diff == nil {
		lib := m.x.cat.Library
		left += m.t.SafeLine(lib.Family, 20) + "  "
	}
	room := m.w / 2
	if m.o.Diff != nil {
		room = m.w - term.Width(left+m.diffTitle(0))
	}
	left += m.source(room)
	state := m.liveState()
	if state != "" {
		state = "  " + state + " "
	}
	right := state
	if m.x != nil && m.o.Diff != nil {
		right = m.diffTitle(m.w - term.Width(left))
	} else if m.x != nil {
		for _, counts := range []string{m.x.kindCounts(), strconv.Itoa(len(m.x.all)) + " in all"} { // as much as fits
			counts = "  " + counts + " "
			if term.Width(left)+term.Width(state)+term.Width(counts) <= m.w {
				right = strings.TrimSuffix(state, " ") + counts
				break
			}
		}
	}
	return m.t.Paint(term.Title, m.spread(left, right))
}

// source is what the explorer shows: a file or a job, or both sides of a difference.
func (m *Model) source(width int) string {
	if m.o.Diff == nil {
		return m.t.SafeLine(m.o.Source, width)
	}
	names := m.sideNames((width - 3) / 2)
	return names[0] + " " + m.arrow() + " " + names[1]
}

// spread puts text at both ends of a line.
func (m *Model) spread(left, right string) string {
	right = m.t.Cut(right, max(m.w*2/3, m.w-term.Width(left)))
	return m.t.Fit(left, m.w-term.Width(right)) + right
}

// second names what is shown below it, or holds the filter bar.
func (m *Model) second() string {
	accent := func(left, right string) string {
		return m.t.Paint(term.Place, m.spread(left, right))
	}
	switch {
	case m.mode == modeHelp:
		return accent(" help", "")
	case m.mode == modeLog:
		return accent(" messages and output", "")
	case m.x == nil:
		return strings.Repeat(" ", m.w)
	case m.mode == modeFilter:
		return m.filterBar()
	case m.watchOpen:
		return accent(" watching", m.at.position(len(m.watching.list)))
	case m.changes.open:
		return accent(" my changes in this session", m.changes.at.position(len(m.edits())))
	}
	left := " " + m.t.SafeLine(m.branch.name, m.w/2)
	if m.query != "" {
		left = " search: " + m.t.SafeLine(m.query, m.w/2)
	}
	if f := filterText(m.criteria); f != "" {
		left += "   filter: " + m.t.SafeLine(f, m.w)
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
	width := m.w - len(place)
	for i, c := range m.criteria {
		s := c.name + "=" + m.t.SafeLine(c.values[c.now], 40)
		if i == m.field {
			s = m.t.Paint(term.Cursor, "["+s+"]")
		}
		parts = append(parts, s)
		for i == m.field && from < i && term.Width(strings.Join(parts[from:], " "))+1 > width {
			from++
		}
	}
	return m.t.Fit(" "+strings.Join(parts[from:], " "), width) + place
}

// bottom is the footer: the line that is typed, or a message in up to four lines, or the keys.
func (m *Model) bottom() []string {
	switch {
	case m.mode == modeSearch:
		return []string{term.Pad("/"+m.line.Render(m.t, m.w-1), m.w)}
	case m.mode == modeCommand:
		return append(m.offered(), term.Pad(":"+m.line.Render(m.t, m.w-1), m.w))
	case m.status != "":
		lines, _ := m.statusLines()
		return lines
	}
	return []string{m.t.Fit(" "+keys.Footer(m.t, m.w-1, m.hints()...), m.w)}
}

// statusLines is the last message, and whether it is cut.
func (m *Model) statusLines() (lines []string, cut bool) {
	more := ""
	if lines, cut = atMost(term.Wrap(m.status, m.w-2), min(4, m.h-m.head()-3)); cut {
		more = " (L: all) "
	}
	for i := range lines {
		end := ""
		if i == len(lines)-1 {
			end = more
		}
		lines[i] = m.t.Paint(m.style, m.t.Fit(" "+lines[i], m.w-len(end))+end)
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
	if m.status == "" || m.w == 0 {
		return false
	}
	_, cut := m.statusLines()
	return cut
}

func (m *Model) offered() []string {
	if len(m.offers) == 0 {
		return nil
	}
	lines := term.Wrap(m.t.SafeLine(strings.Join(m.offers, "  "), maxMessage), m.w-2)
	if most := max(1, min(4, m.h/5)); len(lines) > most {
		lines = append(lines[:most-1], m.t.Cut(lines[most-1], m.w-12)+" "+m.t.Ellipsis())
	}
	for i := range lines {
		lines[i] = m.t.Paint(term.Label, m.t.Fit(" "+lines[i], m.w))
	}
	return lines
}
