package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/export/runs"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/term"
)

// detail is what is at the cursor, in at most height lines: the call, its cell, and its messages.
func (m *Model) detail(height int) []string {
	f, d := m.frame, m.frame.Detail
	if d == nil || height < 2 {
		return nil
	}
	t := f.Place.Track
	head := fmt.Sprintf("rank %s", m.name(t))
	if t.Rank.Host != "" {
		head += " on " + m.Terminal.Safe(t.Rank.Host)
	}
	line := m.Terminal.Glyphs().Line
	lines := []string{""}
	switch c := d.Call; {
	case c == nil && d.Cell.Lost > 0:
		lines = append(lines, m.fields("unknown: "+text.Count(d.Cell.Lost, "event")+" lost here", [][2]string{{"", "the recording had no room for them"}})...)
	case c == nil && d.Cell.Skipped > 0:
		lines = append(lines, m.fields("this part is not read yet", nil)...)
	case c == nil:
		lines = append(lines, m.fields("no MPI call here", nil)...)
	default:
		head += ", thread " + strconv.Itoa(c.Thread)
		lines = append(lines, m.call(c)...)
	}
	lines = append(lines, m.waitWords()...)
	if len(d.Events) > 0 {
		lines = append(lines, m.events(d))
	}
	if words := m.cell(d); words != "" {
		lines = append(lines, words)
	}
	title := line + line + " " + head + ", " + m.exact(f.Place.Time)
	if len(d.Phases) > 0 {
		phases := "in phase " + m.Terminal.Safe(strings.Join(d.Phases, " > "))
		if term.Width(title)+2+term.Width(phases) <= m.Width {
			title += ", " + phases
		} else {
			lines = slices.Insert(lines, 1, " "+phases)
		}
	}
	lines[0] = m.Terminal.Paint(term.Subject, m.Terminal.Cut(title, m.Width))
	if len(d.Messages) > 0 {
		lines = append(lines, m.messages(height-len(lines))...)
	}
	return lines[:min(len(lines), height)]
}

func (m *Model) exact(t time.Duration) string {
	return strconv.FormatFloat(t.Seconds(), 'f', 9, 64) + " s"
}

// fields are lines that begin with a name, and continue with fields.
func (m *Model) fields(name string, fields [][2]string) (lines []string) {
	line := " " + m.Terminal.Paint(term.Heading, name)
	for _, f := range fields {
		if f[1] == "" {
			continue
		}
		next := "  " + m.Terminal.Paint(term.Label, f[0]) + " " + f[1]
		if f[0] == "" {
			next = "  " + f[1]
		}
		if term.Width(line+next) > m.Width {
			lines, line = append(lines, line), " "
		}
		line += next
	}
	if term.Width(strings.TrimSpace(line)) == 0 {
		return lines
	}
	return append(lines, line)
}

func (m *Model) call(c *trace.Found) []string {
	var words []string
	for _, w := range []struct {
		on   bool
		text string
	}{{c.Depth > 0, "nested in another call"}, {c.Failed, "returned an error"}, {c.Abandoned, "was left by longjmp or an exception"}, {c.Open, "had not returned"}} {
		if w.on {
			words = append(words, w.text)
		}
	}
	first := m.fields(m.Terminal.Safe(c.Function), [][2]string{{"took", m.amount(c.End - c.Begin)}, {"from", m.exact(c.Begin)}, {"to", m.exact(c.End)}, {"", strings.Join(words, ", ")}})
	role := "peer"
	if c.Root {
		role = "root"
	} else if c.OneSided {
		role = "target"
	}
	kind := "communicator"
	if c.Object != nil {
		kind = c.Object.Kind
	}
	request := ""
	if c.Request != 0 {
		request = strconv.Itoa(int(c.Request))
	}
	bytes := ""
	if c.Bytes > 0 || c.Peer != trace.None {
		bytes = m.Terminal.Amount(float64(c.Bytes), "B")
	}
	fields := [][2]string{{kind, m.Terminal.Safe(c.Object.String())}, {role, peer(c.Peer, c.Job)}, {"tag", tag(c.Tag)}, {"bytes", bytes}, {"request", request}}
	if all := m.frame.Detail.Messages; len(all) > 1 { // those of one message would be taken for the call's
		fields = append(fields[:1], m.several(all)...)
	}
	site := m.Terminal.Safe(m.frame.Detail.Site)
	if runs.NoLine(site) {
		site += " (compile with -g to see the line)"
	}
	return append(first, m.fields("", append(fields, [2]string{"at", site}))...)
}

// mostPeers is how many peers of a call's messages are named.
const mostPeers = 4

func (m *Model) several(all []Message) [][2]string {
	var peers []string
	bytes := uint64(0)
	for i := range all {
		bytes += all[i].Bytes
		if p := peer(all[i].Peer, all[i].Job); p != "" && !slices.Contains(peers, p) {
			peers = append(peers, p)
		}
	}
	name := "peers"
	switch n := len(peers); {
	case n == 1:
		name = "peer"
	case n > mostPeers:
		peers = append(peers[:mostPeers-1], fmt.Sprintf("%d more", n-mostPeers+1))
	}
	return [][2]string{{"messages", strconv.Itoa(len(all))}, {name, strings.Join(peers, ", ")}, {"bytes", m.Terminal.Amount(float64(bytes), "B")}}
}

func peer(rank, job int) string {
	switch {
	case rank == trace.None:
		return ""
	case rank == trace.Any:
		return "any"
	case rank == trace.Nobody:
		return "MPI_PROC_NULL"
	case job != 0:
		return fmt.Sprintf("%d of job %d", rank, job)
	}
	return strconv.Itoa(rank)
}

func tag(n int) string {
	switch n {
	case trace.None:
		return ""
	case trace.Any:
		return "any"
	}
	return strconv.Itoa(n)
}

// cell is what the cursor's column holds, if that is more than its call.
func (m *Model) cell(d *Detail) string {
	c := &d.Cell
	if c.Lost > 0 && d.Call == nil {
		return ""
	}
	if c.Lost > 0 {
		return " " + m.Terminal.Paint(term.Wrong, text.Count(c.Lost, "event")+" lost here: the recording had no room for them")
	}
	if c.Calls < 2 {
		return ""
	}
	words := fmt.Sprintf(" this column: %s, %s in MPI:", text.Count(c.Calls, "call"), text.Percent(float64(c.Busy)/float64(max(d.Width-c.Skipped, 1))))
	for i, s := range c.Shares {
		part := fmt.Sprintf(" %s %s,", m.Terminal.Safe(m.frame.Functions[s.Function]), text.Percent(float64(s.Time)/float64(max(d.Width-c.Skipped, 1))))
		if i > 0 && term.Width(words+part) > m.Width {
			break
		}
		words += part
	}
	return strings.TrimSuffix(words, ",")
}

// events are those of MPI_T and PERUSE during the call. Most of PERUSE's have a long prefix, which would leave no room for others.
func (m *Model) events(d *Detail) string {
	text := " events of the library in this call:"
	for i, e := range d.Events {
		part := fmt.Sprintf(" %d %s,", e.Events, m.Terminal.Safe(strings.TrimPrefix(e.Name, "PERUSE_COMM_")))
		if i > 0 && term.Width(text+part) > m.Width-2 {
			return strings.TrimSuffix(text, ",") + " " + m.Terminal.Ellipsis()
		}
		text += part
	}
	return strings.TrimSuffix(text, ",")
}

func (m *Model) messages(height int) []string {
	f, d := m.frame, m.frame.Detail
	if height < 2 {
		return nil
	}
	rows := [][]string{{"MESSAGE", "RANK", "TAG", "BYTES", "SENT AT", "RECEIVED AT", "SEEN AFTER", "POSTED AT"}}
	first := max(min(m.message-(height-2)/2, len(d.Messages)-(height-1)), 0)
	last := min(first+height-1, len(d.Messages))
	for i := first; i < last; i++ {
		rows = append(rows, m.messageRow(&d.Messages[i]))
	}
	widths := messageWidths(rows, m.Width+1)
	var lines []string
	for i, r := range rows {
		line := " "
		if i > 0 && first+i-1 == m.message {
			line = ">"
		}
		for k, w := range widths {
			switch {
			case k == 0:
				line += m.Terminal.Fit(r[k], w)
			case w > 0:
				line += "  " + m.Terminal.FitRight(r[k], w)
			}
		}
		switch {
		case i == 0:
			line = m.Terminal.Paint(term.Columns, line)
			note := ""
			if f.Matching {
				note = fmt.Sprintf("matching messages: %d %%", int(f.Matched*100))
			}
			if len(d.Messages) > height-1 {
				note = strings.TrimLeft(note+fmt.Sprintf("  %d of %d", m.message+1, len(d.Messages)), " ")
			}
			if note != "" && term.Width(line)+len(note)+3 <= m.Width {
				line += "   " + m.Terminal.Paint(term.Label, note)
			}
		case line[0] == '>':
			line = m.Terminal.Paint(term.Chosen(m.inMessages), line)
		}
		lines = append(lines, line)
	}
	return lines
}

// messageWidths are the widths of the table's columns, as far as there is room: the most important ones first. Empty columns have none.
func messageWidths(rows [][]string, room int) []int {
	widths := make([]int, len(rows[0]))
	for _, r := range rows[1:] {
		for k, text := range r {
			widths[k] = max(widths[k], term.Width(text))
		}
	}
	for _, k := range [...]int{0, 1, 6, 4, 7, 3, 5, 2} {
		if widths[k] == 0 {
			continue
		}
		widths[k] = max(widths[k], term.Width(rows[0][k]))
		if room -= widths[k] + 2; room < 0 {
			widths[k], room = 0, -1
		}
	}
	return widths
}

func (m *Model) messageRow(x *Message) []string {
	g := m.Terminal.Glyphs()
	what := "send " + g.Arrow
	switch {
	case x.Received:
		what = "receive " + g.Arrow
	case x.Completed:
		what = "completes send " + g.Arrow
	}
	if x.Cancelled {
		what += " cancelled"
	} else if x.Other != nil {
		what += " " + x.Other.Function
	} else if !m.frame.Matching {
		what += " not in the trace"
	}
	at := func(t time.Duration) string {
		if t < 0 {
			return ""
		}
		return m.exact(t)
	}
	row := []string{m.Terminal.Safe(what), peer(x.Peer, x.Job), tag(x.Tag), m.Terminal.Amount(float64(x.Bytes), "B"), at(x.Sent), at(x.Done), "", ""}
	if x.Sent >= 0 && x.Done >= 0 {
		row[6] = m.amount(x.Done - x.Sent)
	}
	receive := x.Message
	if !x.Received {
		receive = x.OtherSide
	}
	if receive.Received && receive.Posted != 0 {
		row[7] = m.exact(receive.Posted)
	}
	return row
}
