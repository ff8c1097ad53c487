package explorer

import (
	"iter"
	"slices"
	"strings"

	"mpitx/ui/term"
)

const (
	maxMentions = 20 // variables that mention another one, or that it mentions
	maxSiblings = 8  // variables of the same component
)

// leading is a variable that another one's details lead to.
type leading struct {
	e    *entry
	why  string
	line int // of the details, where it is first shown
}

// related are the variables that the details of e lead to. They are looked for when e is shown, and kept until another one is.
type related struct {
	x     *index
	e     *entry
	links []leading
	at    int // the chosen one; -1: none
}

// links are what the details of the variable under the cursor lead to: what it mentions, what mentions it, what has the nearest names
// in its component.
func (m *Model) links() []leading {
	e := m.current()
	if e == nil || e.change != nil {
		return nil
	}
	if m.related.x != m.x || m.related.e != e {
		m.related = related{x: m.x, e: e, links: m.x.related(e), at: -1}
	}
	return m.related.links
}

// related looks for the variables that belong to another one.
func (x *index) related(e *entry) []leading {
	var links []leading
	seen := map[*entry]bool{e: true}
	add := func(o *entry, why string) {
		if !seen[o] {
			seen[o] = true
			links = append(links, leading{o, why, 0})
		}
	}
	for w := range mentions(e.v.Description) {
		if o := x.mentioned(w.text(e.v.Description)); o != nil && len(links) < maxMentions {
			add(o, "named in the description")
		}
	}
	for _, o := range x.namedBy[e] {
		add(o, "descriptions that name it")
	}
	siblings, of := x.siblings(e)
	for _, o := range siblings {
		add(o, "more in "+of)
	}
	return links
}

type span struct{ from, to int }

func (s span) text(of string) string { return of[s.from:s.to] }

// mentions are the words of a text that can be names of variables: words of prose have no underscore.
func mentions(s string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for end := 0; ; {
			at := strings.IndexByte(s[end:], '_')
			if at < 0 {
				return
			}
			at += end
			from := at
			for from > end && inName(s[from-1]) {
				from--
			}
			for end = at; end < len(s) && inName(s[end]); end++ {
			}
			if !yield(span{from, end}) {
				return
			}
		}
	}
}

func inName(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (x *index) mentioned(name string) *entry {
	if e := x.entry(name); e != nil {
		return e
	}
	if k, ok := x.pvars[name]; ok {
		return &x.entries[k]
	}
	return nil
}

func (x *index) readMentions() {
	x.namedBy = map[*entry][]*entry{}
	for k := range x.entries {
		e := &x.entries[k]
		text := e.v.Description[:min(len(e.v.Description), maxText)]
		for w := range mentions(text) {
			o := x.mentioned(w.text(text))
			if by := x.namedBy[o]; o != nil && len(by) < maxMentions && !slices.Contains(by, e) {
				x.namedBy[o] = append(by, e)
			}
		}
	}
}

// siblings are the variables with the nearest names in the category of another one, and what they have in common.
func (x *index) siblings(e *entry) ([]*entry, string) {
	k := x.byID[e.v.ID()]
	b := x.holder(k)
	for b != nil && b.category == nil && b.parent != nil && len(b.own) < 2 {
		b = b.parent // a group of one name
	}
	if b == nil || b.parent == nil && len(x.cat.Categories) > 0 {
		return nil, ""
	}
	var found []*entry // the nearest first
	var shares []int
	for _, o := range b.own {
		low := x.entries[o].low
		if n := len(found); o == k || n == maxSiblings && !further(e.low, low, shares[n-1]) {
			continue
		}
		share := shared(e.low, low)
		at := len(shares)
		for at > 0 && shares[at-1] < share {
			at--
		}
		found, shares = slices.Insert(found, at, &x.entries[o]), slices.Insert(shares, at, share)
		found, shares = found[:min(len(found), maxSiblings)], shares[:min(len(shares), maxSiblings)]
	}
	return found, b.name
}

// further says, cheaply, whether two names may have more than n bytes in common.
func further(a, b string, n int) bool { return n < min(len(a), len(b)) && a[n] == b[n] }

func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// relatedLines list the links below the details, and record where each is first shown.
func (m *Model) relatedLines(lines []string, width int) []string {
	why := ""
	for i := range m.links() {
		l := &m.related.links[i]
		if l.why != why {
			why = l.why
			lines = append(lines, "", " "+m.Terminal.Paint(term.Heading, m.Terminal.Cut(m.Terminal.SafeLine(why, width), width-1)))
		}
		if l.line == 0 {
			l.line = len(lines)
		}
		sign, style := "  ", term.Link
		if i == m.chosenLink() {
			sign, style = "> ", term.Cursor
		}
		lines = append(lines, " "+sign+m.Terminal.Paint(style, strings.TrimRight(m.Terminal.FitMiddle(l.e.name, max(width-3, 1)), " ")))
	}
	return lines
}

// chosenLink is the number of the chosen link; -1: there is none, or another pane has the focus.
func (m *Model) chosenLink() int {
	if m.focus != paneDetails || len(m.links()) == 0 {
		return -1
	}
	return m.related.at
}

// paintLinks paints a line of a description: what is marked stands out, and so do the names that lead to variables.
func (m *Model) paintLinks(l string, marks []bool, line int) string {
	var b strings.Builder
	at := 0
	for w := range mentions(l) {
		to := m.x.mentioned(w.text(l))
		i := slices.IndexFunc(m.links(), func(k leading) bool { return k.e == to })
		if to == nil || i < 0 {
			continue
		}
		if m.related.links[i].line == 0 {
			m.related.links[i].line = line
		}
		style := term.Link
		if i == m.chosenLink() {
			style = term.Cursor
		}
		b.WriteString(m.paintMarks(l[at:w.from], marks[at:w.from], term.Plain))
		b.WriteString(m.paintMarks(l[w.from:w.to], marks[w.from:w.to], style))
		at = w.to
	}
	b.WriteString(m.paintMarks(l[at:], marks[at:], term.Plain))
	return b.String()
}

func (m *Model) chooseLink(by int) {
	links := m.links()
	if len(links) == 0 {
		m.note("no related variables")
		return
	}
	m.focus = paneDetails
	if m.related.at < 0 && by < 0 {
		m.related.at = 0
	}
	m.related.at = (m.related.at + by + len(links)) % len(links)
	m.showLink()
}

// showLink scrolls to the chosen link, and says whether that was necessary.
func (m *Model) showLink() bool {
	l := m.layout()
	m.detailView(l.detailW, l.detailH) // which finds the lines
	line, height := m.related.links[m.related.at].line, l.detailH-1
	if line >= m.detail.at && line < m.detail.at+height-1 {
		return false
	}
	m.detail.at = max(0, line-height/2)
	return true
}

func (m *Model) clickLink(line int) {
	links := m.links()
	switch i := slices.IndexFunc(links, func(l leading) bool { return l.line == line }); {
	case i < 0:
	case i == m.related.at:
		m.follow()
	default:
		m.related.at = i
	}
}

// open goes to the details, or from there to the chosen link's variable.
func (m *Model) open() {
	if m.focus == paneDetails {
		m.follow()
	} else {
		m.right()
	}
}

// follow goes to the chosen link's variable. A link that was scrolled out of sight is shown first.
func (m *Model) follow() {
	links := m.links()
	switch {
	case len(links) == 0:
		m.note("no related variables")
		return
	case m.related.at < 0:
		m.note("n chooses a related variable, then Enter goes to it")
		return
	case m.showLink():
		return
	}
	to := links[m.related.at].e
	m.leave()
	if !m.reveal(to.v.ID()) {
		m.travel(-1)
		m.showError("the filter hides %s; F clears it", to.name)
		return
	}
	m.detail = scroll{}
}
