package timeline

import (
	"slices"
	"strings"
	"time"

	"mpitx/recording/trace"
	"mpitx/ui/screen"
)

// mostMessages is the number of messages of a call whose other side is looked up.
const mostMessages = 64

// Detail is what is at the cursor.
type Detail struct {
	Cell     trace.Cell
	Width    time.Duration // of the cell
	Call     *trace.Found  // nil: none
	Site     string
	Phases   []string // outermost first
	Messages []Message
	Events   []trace.ExternalCount // of other sources during the call
}

// Message is a message of the call with its other side.
type Message struct {
	trace.Message
	Completed  bool         // it is a send that an earlier call began, and that the call completed
	Other      *trace.Found // the call of the other side; nil: unknown
	OtherSide  trace.Message
	Sent, Done time.Duration // when the sending call began, and when the receive was complete; -1: unknown
}

// of is a message with the call that sent it, or completed its receive.
type of struct {
	call    *trace.Found
	message *trace.Message
}

// messagesOf are the messages of a call, and those whose sends it completed.
func messagesOf(c *trace.Found) (all []of) {
	for i := range c.Messages {
		all = append(all, of{c, &c.Messages[i]})
	}
	for i := range c.Completed {
		all = append(all, of{&c.Completed[i].Send, &c.Completed[i].Message})
	}
	return all
}

func (f *Feed) detail(out *Frame) {
	p := &out.Place
	column := out.Window.Column(p.Time)
	from, to := out.Window.Edge(column), out.Window.Edge(column+1)
	d := &Detail{Cell: f.cell(p.Track, from, to, time.Now().Add(budget)), Width: to - from, Phases: f.index.PhasesAt(p.Track, p.Time)}
	out.Detail = d
	found, ok := f.index.Call(p.Call)
	if !ok {
		return
	}
	d.Call = &found
	if found.Site != 0 && f.place != nil {
		key := site{p.Track.Rank, found.Site}
		if _, known := f.sites[key]; !known {
			f.sites[key] = f.place(p.Track.Rank, found.Site)
		}
		d.Site = f.sites[key]
	}
	d.Events, _ = f.index.Externals(p.Track, found.Thread, found.Begin, found.End)
	all := messagesOf(&found)
	if len(all) > 0 {
		_, end := f.index.Span()
		f.matcher.start(f.run.Dir, end)
		out.Matching, out.Matched = !f.matcher.ended, f.matcher.part()
	}
	unknown := false
	defer func() {
		if _, end := f.index.Span(); unknown && out.Live {
			f.matcher.again(f.run.Dir, end)
		}
	}()
	for i, x := range all {
		unknown = unknown || x.message.Flow == 0
		m := Message{Message: *x.message, Completed: x.call != &found, Sent: -1, Done: -1}
		if i < mostMessages {
			if other, side, ok := f.index.Other(x.call, &m.Message); ok {
				m.Other, m.OtherSide = &other, side
			}
		}
		send, receive := &m.Message, &m.OtherSide
		if m.Received {
			send, receive = receive, send
		}
		if m.Other != nil || !m.Received {
			m.Sent = send.Posted
		}
		if m.Other != nil || m.Received {
			m.Done = receive.Done
		}
		d.Messages = append(d.Messages, m)
	}
}

// act carries out an action. It returns why it could not.
func (f *Feed) act(a Action, out *Frame) string {
	p := &out.Place
	switch {
	case a.Step != 0:
		from, at := p.Call, p.Time
		if from.Track != p.Track || a.First {
			from = trace.CallID{Track: p.Track}
		}
		id, begin, end, ok := f.index.Next(from, at, a.Step, wanted(a.Words))
		if !ok {
			which := "call"
			if a.Words != "" {
				which += " with " + a.Words
			}
			return "no " + which + map[bool]string{true: " after", false: " before"}[a.Step > 0] + " this place on this thread"
		}
		f.reach(begin, out)
		if begin >= out.To || end < out.From {
			return "the next call is outside of --from and --to"
		}
		p.Call, p.Time = id, min(max(begin, out.From), out.To-1)
	case a.Path != 0, a.Cause:
		return f.actWaits(a, out)
	case a.Message > 0:
		call, ok := f.index.Call(p.Call)
		all := messagesOf(&call)
		if !ok || a.Message > len(all) {
			return "this call has no message"
		}
		m := all[a.Message-1]
		other, _, ok := f.index.Other(m.call, m.message)
		if ok {
			f.reach(other.Begin, out)
		}
		switch {
		case !ok && !f.matcher.ended:
			return "messages are still being matched; try again"
		case !ok:
			return "the other side of this message is not in the trace, or the order of messages is ambiguous"
		case other.Begin >= out.To || other.End < out.From:
			return "the other side is outside of --from and --to"
		}
		if !slices.Contains(f.index.Tracks, other.ID.Track) {
			return "the other side is on a rank that --rank leaves out"
		}
		p.Track, p.Call, p.Time = other.ID.Track, other.ID, min(max(other.Begin, out.From), out.To-1)
	}
	return ""
}

// reach extends a frame to a call that came after the frame's end was read.
func (f *Feed) reach(begin time.Duration, out *Frame) {
	if begin >= out.To && f.Poll() {
		out.From, out.To, _ = f.Extent()
	}
}

// wanted says which calls a search is for: those with all words in the function's or the object's name.
// Without words, all calls are, but not those that only name phases (mpitx.h).
func wanted(text string) trace.Wanted {
	if strings.TrimSpace(text) == "" {
		return func(function string, _ *trace.Object) bool { return function != "MPI_Pcontrol" }
	}
	return func(function string, o *trace.Object) bool { return screen.HasWords(function+"\x00"+o.String(), text) }
}
