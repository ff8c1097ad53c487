package explorer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/text"
	"mpitx/ui/term"
)

// Events and event sources are entries of the index as well. Their variable has the properties that they share with variables, and no
// reading, so that nothing reads, writes, pins or watches them.

func eventEntry(e *catalog.Event) *catalog.Variable {
	return &catalog.Variable{Kind: catalog.Events, Name: e.Name, Verbosity: e.Verbosity, Bind: e.Bind, Description: e.Description,
		Categories: e.Categories, Conflicts: e.Conflicts}
}

func sourceEntry(s *catalog.Source) *catalog.Variable {
	return &catalog.Variable{Kind: catalog.Sources, Name: s.Name, Description: s.Description, Conflicts: s.Conflicts}
}

func (e *entry) item() catalog.Entry {
	switch {
	case e.event != nil:
		return e.event
	case e.source != nil:
		return e.source
	}
	return e.v
}

func (e *entry) variable() bool { return e.event == nil && e.source == nil }

func (m *Model) noValue(e *entry) {
	m.note("%s is an %s: it has no value, and cannot be read, written or watched", e.name, e.v.Kind.Info().Name)
}

func (e *entry) stages() (before, after bool) {
	switch {
	case e.event != nil:
		return e.event.Before, e.event.After
	case e.source != nil:
		return e.source.Before, e.source.After
	}
	return e.v.Before != nil, e.v.After != nil || len(e.v.Ranks) > 0
}

// unusable is the status of an entry that cannot be used, and why; "" if it can.
func (e *entry) unusable() (status catalog.Status, why string) {
	switch r := e.v.Current(); {
	case e.event != nil:
		status, why = e.event.Status, e.event.Reason
	case e.source != nil:
		status, why = e.source.Status, e.source.Reason
	case r != nil:
		status, why = r.Status, r.Reason
	}
	if status != catalog.StatusFaulty && status != catalog.StatusError {
		return "", ""
	}
	return status, why
}

func (e *entry) hasType(name string) bool {
	if e.event == nil {
		return e.v.Type.String() == name
	}
	return slices.ContainsFunc(e.event.Elements, func(x catalog.Element) bool { return x.Type.String() == name })
}

// withElements adds the datatypes of events' elements to "any" and the datatypes of variables.
func withElements(x *index, types []string) []string {
	for i := range x.cat.Events {
		for _, e := range x.cat.Events[i].Elements {
			if name := e.Type.String(); name != "" && !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
	}
	slices.Sort(types[1:])
	return types
}

// summary describes an event or event source in the column of values.
func (e *entry) summary() string {
	if e.source != nil {
		return e.source.Order.String() + ", " + strconv.FormatInt(e.source.TicksPerSecond, 10) + " ticks/s"
	}
	if e.event.Peruse() {
		return string(e.event.Support)
	}
	names := make([]string, len(e.event.Elements))
	for i, x := range e.event.Elements {
		if names[i] = x.Name; names[i] == "" {
			names[i] = x.Type.String()
		}
	}
	return strings.Join(names, ", ")
}

// eventLines are the details of an event or event source, without those that variables have as well.
func (m *Model) eventLines(e *entry, width int) []string {
	lines := []string{}
	add := func(label, text string, style term.Style) {
		lines = append(lines, m.labelled(label, text, width, style)...)
	}
	before, after := e.stages()
	switch {
	case before && !after:
		add("exists", "before MPI_Init only", term.Plain)
	case after && !before:
		add("exists", "after MPI_Init only", term.Plain)
	}
	var hints []catalog.Hint
	if s := e.source; s != nil {
		hints = s.Hints
		clock := strconv.FormatInt(s.TicksPerSecond, 10) + " ticks a second"
		if tick := s.Tick(); tick > 0 {
			clock += " (each " + tick.String() + ")"
		}
		if after := s.Wraps(); after > 0 {
			clock += ", starts again from 0 after " + after.String()
		}
		add("clock", clock, term.Plain)
		if s.Readable {
			add("", "can be read at any time", term.Plain)
		} else {
			add("", "timestamps in events only", term.Plain)
		}
	} else {
		hints = e.event.Hints
		for _, x := range [...]struct{ label, text string }{{"also", e.event.Also}, {"queues", e.event.QueueScope}, {"support", string(e.event.Support)}} {
			if x.text != "" {
				add(x.label, x.text, term.Plain)
			}
		}
		if e.event.Support == catalog.SupportDerived || e.event.Support == catalog.SupportUnavailable {
			add("", e.event.Reason, term.Plain)
		}
		if e.event.Support == catalog.SupportNative || e.event.Support == catalog.SupportDerived {
			add("record", "mpitx trace --event "+e.name+" -- ./app", term.Plain)
		}
	}
	for _, h := range hints {
		add("hint", h.Key+"="+h.Value, term.Plain)
	}
	if e.event != nil {
		for _, h := range e.event.HandleHints {
			add("handle", h.Key+"="+h.Value, term.Plain)
		}
	}
	if status, why := e.unusable(); status != "" {
		add("status", "("+string(status)+": "+why+")", term.Wrong)
	}
	for _, c := range e.v.Conflicts {
		add("conflict", conflictText(c), term.Plain)
	}
	return lines
}

func (m *Model) elementLines(e *catalog.Event, width int) []string {
	if e.Peruse() {
		return nil
	}
	if len(e.Elements) == 0 {
		return []string{"", " " + m.Terminal.Paint(term.Label, "no elements: only its time is known")}
	}
	lines := []string{"", " " + m.Terminal.Paint(term.Heading, fmt.Sprintf("elements, %d bytes", e.Size()))}
	digits, types := 0, 0
	for _, x := range e.Elements {
		digits = max(digits, len(strconv.FormatInt(x.Displacement, 10)))
		types = max(types, len(x.Type.String()))
	}
	for _, x := range e.Elements {
		lines = append(lines, "   "+m.Terminal.SafeLine(fmt.Sprintf("at %*d  %-*s  %s", digits, x.Displacement, types, x.Type, x.Name), width))
	}
	return lines
}

func whatEvent(e *entry) string {
	if e.event != nil && e.event.Peruse() {
		words := "event of PERUSE"
		if e.event.Section != "" {
			words += ", section " + e.event.Section
		}
		return words
	}
	words := []string{e.v.Kind.Info().Name + " of MPI_T"}
	if e.source != nil {
		words = append(words, e.source.Order.String())
	}
	if e.v.Verbosity != 0 {
		words = append(words, e.v.Verbosity.String())
	}
	if e.v.Bind != catalog.BindNoObject && e.v.Bind != 0 {
		words = append(words, "bound to "+e.v.Bind.String())
	}
	return strings.Join(words, ", ")
}

// countWords counts entries for people: "12 variables, 3 events".
func (x *index) countWords(entries []int32) string {
	if len(x.entries) > 0 && x.entries[0].change != nil {
		return text.Count(len(entries), "difference")
	}
	var counts [3]int
	for _, k := range entries {
		switch e := &x.entries[k]; {
		case e.event != nil:
			counts[1]++
		case e.source != nil:
			counts[2]++
		default:
			counts[0]++
		}
	}
	var words []string
	for i, noun := range [...]string{"variable", "event", "event source"} {
		if counts[i] > 0 || len(entries) == 0 && i == 0 {
			words = append(words, text.Count(counts[i], noun))
		}
	}
	return strings.Join(words, ", ")
}

// kindCounts says how many entries of each kind there are. Their sum is the tree's total.
func (x *index) kindCounts() string {
	c := x.cat
	text := fmt.Sprintf("%d cvars  %d pvars", len(c.Cvars), len(c.Pvars))
	for _, k := range []struct {
		n    int
		word string
	}{{len(c.Virtual), " mpitx:*"}, {len(c.Events), " events"}, {len(c.Sources), " event sources"}} {
		if k.n > 0 {
			text += "  " + strconv.Itoa(k.n) + k.word
		}
	}
	return text
}

const exportKinds = catalog.AllKinds &^ catalog.Groups

func (x *index) items(indices []int32) []catalog.Entry {
	list := make([]catalog.Entry, len(indices))
	for i, k := range indices {
		list[i] = x.entries[k].item()
	}
	return list
}
