package variables

import (
	"fmt"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
)

var orderWords = map[catalog.SourceOrder]string{
	catalog.Ordered:   "events come in the order of their timestamps",
	catalog.Unordered: "events may come in another order than their timestamps",
}

func (p *page) heading(name string) {
	for _, l := range export.Lines(p.term.Safe(name), p.term.Width) {
		p.line("", p.term.Paint(export.HeadingStyle, l))
	}
}

// several writes entries of which the first only has the label.
func (p *page) several(label string, texts []string) {
	for _, s := range texts {
		p.entry(label, s)
		label = ""
	}
}

func (p *page) description(s string) {
	if s = strings.TrimSpace(s); s != "" {
		p.line("", "")
		p.text("  ", "  ", strings.TrimSpace(p.term.SafeText(s)))
	}
}

func (p *page) event(e *catalog.Event) {
	p.heading(e.Name)
	if e.Peruse() {
		p.peruse(e)
		return
	}
	p.entry("kind", "event of MPI_T")
	if e.Verbosity != 0 {
		p.entry("verbosity", verbosityText(e.Verbosity))
	}
	if e.Bind != 0 {
		p.entry("binding", worded(e.Bind.String(), e.Bind, bindWords))
	}
	p.entry("exists", existsWords(e.Before, e.After))
	var paths, conflicts, differs []string
	for _, name := range e.Categories {
		paths = append(paths, p.term.Safe(p.path(name)))
	}
	for _, x := range e.Conflicts {
		if text := p.term.Safe(conflictText(x)); x.Field == catalog.ConflictExists {
			differs = append(differs, text)
		} else {
			conflicts = append(conflicts, text+" (MPI-4.0, section 15.3.8: it must be equal)")
		}
	}
	p.several("category", paths)
	p.hints("hint", e.Hints)
	if e.Status == catalog.StatusOK {
		p.hints("handle hint", e.HandleHints)
		if e.Reason != "" {
			p.entry("handle hint", p.term.Safe("unknown: "+e.Reason))
		}
	}
	p.status("callbacks", "can be registered", e.Status, e.Reason)
	p.several("differs", differs)
	p.several("conflict", conflicts)
	p.description(e.Description)
	p.elements(e)
	if e.Status == catalog.StatusOK {
		p.record(e.Name)
	}
}

// record says how to record an event.
func (p *page) record(name string) {
	p.line("", "")
	p.text("  ", "  ", "Record it: mpitx trace --event "+name+" -- ./app")
}

var queueWords = map[string]string{"communicator": "each communicator has its own", "tag": "each tag has its own", "source": "each source has its own",
	"global": "one for all communicators"}

var supportWords = map[catalog.Support]string{catalog.SupportNative: "native: the library raises it", catalog.SupportDerived: "derived by mpitx from the calls of a trace",
	catalog.SupportUnavailable: "unavailable with this library", catalog.SupportUnknown: "unknown"}

// peruse writes an event of PERUSE.
func (p *page) peruse(e *catalog.Event) {
	p.entry("kind", "event of PERUSE 2.0"+map[bool]string{true: ", of this library only"}[e.Section == ""])
	if e.Section != "" {
		p.entry("section", e.Section+map[bool]string{true: " (a proposal in Appendix E)"}[strings.HasPrefix(e.Section, "12.")])
	}
	if e.Also != "" {
		p.entry("also", e.Also)
	}
	p.entry("binding", worded(e.Bind.String(), e.Bind, bindWords))
	if e.QueueScope != "" {
		p.entry("queues", either(queueWords[e.QueueScope], p.term.Safe(e.QueueScope)))
	}
	p.entry("support", supportWords[e.Support])
	switch e.Support {
	case catalog.SupportDerived:
		p.entry("as", e.Reason)
	case catalog.SupportNative:
	default:
		p.entry("reason", e.Reason)
	}
	var conflicts []string
	for _, x := range e.Conflicts {
		conflicts = append(conflicts, p.term.Safe(conflictText(x)))
	}
	p.several("differs", conflicts)
	p.description(e.Description)
	if e.Support == catalog.SupportNative || e.Support == catalog.SupportDerived {
		p.record(e.Name)
		return
	}
	p.line("", "")
	instead := "Instead, mpitx trace -- ./app records calls and messages"
	if e.Bind == catalog.BindComm {
		instead += ", and mpitx report RUN queues derives bounds of waiting times from them"
	}
	p.text("  ", "  ", instead+".")
}

func (p *page) elements(e *catalog.Event) {
	if len(e.Elements) == 0 {
		p.line("", "")
		p.text("  ", "  ", "It has no elements: only its time is known.")
		return
	}
	title := fmt.Sprintf("elements, %d bytes", e.Size())
	if e.Enum != "" {
		title += ", named by the enumeration " + p.term.Safe(e.Enum)
	}
	p.line("", "")
	p.text("  ", "  ", title+":")
	digits, width := 0, 0
	for _, x := range e.Elements {
		digits = max(digits, len(strconv.FormatInt(x.Displacement, 10)))
		width = max(width, len(numbered(x.Type)))
	}
	for _, x := range e.Elements {
		p.text("    ", "      ", fmt.Sprintf("at %*d  %-*s  %s", digits, x.Displacement, width, numbered(x.Type), p.term.Safe(x.Name)))
	}
}

func (p *page) source(s *catalog.Source) {
	p.heading(s.Name)
	p.entry("kind", "event source of MPI_T")
	if s.Order != 0 {
		p.entry("order", worded(s.Order.String(), s.Order, orderWords))
	}
	p.entry("clock", p.clock(s))
	if s.Readable {
		p.entry("timestamps", "at any time, and in events")
	} else {
		p.entry("timestamps", "in events only")
	}
	p.entry("exists", existsWords(s.Before, s.After))
	p.hints("hint", s.Hints)
	if s.Status != catalog.StatusOK {
		p.status("status", "", s.Status, s.Reason)
	}
	var differs []string
	for _, x := range s.Conflicts {
		differs = append(differs, p.term.Safe(conflictText(x)))
	}
	p.several("differs", differs)
	p.description(s.Description)
}

func (p *page) clock(s *catalog.Source) string {
	text := strconv.FormatInt(s.TicksPerSecond, 10) + " ticks a second"
	if tick := s.Tick(); tick > 0 {
		text += " (each " + strings.Replace(tick.String(), "µ", "u", 1) + ")"
	}
	if after := wraps(s); after != "" {
		text += "; starts again from 0 after " + after
	}
	return text
}

func (p *page) hints(label string, hints []catalog.Hint) {
	var texts []string
	for _, h := range hints {
		texts = append(texts, p.term.Safe(hintText(h)))
	}
	p.several(label, texts)
}

func (p *page) status(label, usable string, s catalog.Status, reason string) {
	switch {
	case s == catalog.StatusOK:
		p.entry(label, usable)
	case s == catalog.StatusFaulty:
		p.entry(label, p.term.Paint(export.FaultyStyle, p.term.Safe("faulty: "+reason)))
	default:
		p.entry(label, p.term.Safe(strings.TrimSuffix(string(s)+": "+reason, ": ")))
	}
}

func existsWords(before, after bool) string {
	switch stageText(before, after) {
	case "both":
		return "before and after MPI_Init"
	case "before":
		return "only before MPI_Init"
	case "after":
		return "only after MPI_Init"
	}
	return "neither before nor after MPI_Init"
}
