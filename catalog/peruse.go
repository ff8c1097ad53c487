package catalog

import (
	"slices"
	"strings"
)

// InterfacePeruse is the interface of events of PERUSE 2.0. Those of MPI_T have none.
const InterfacePeruse = "peruse"

// Support says where an event of PERUSE comes from.
type Support string

// The kinds of support.
const (
	SupportUnknown     Support = ""            // an event of MPI_T; or the library could not be asked
	SupportNative      Support = "native"      // the library raises it
	SupportDerived     Support = "derived"     // mpitx computes it from the calls and messages of a trace
	SupportUnavailable Support = "unavailable" // neither; the reason says why
)

// UnmarshalText accepts one of the kinds.
func (s *Support) UnmarshalText(b []byte) error {
	return readWord(s, Support(b), SupportUnknown, SupportNative, SupportDerived, SupportUnavailable)
}

// AnyPeruseEvents is a pattern of the names of all events of PERUSE.
const AnyPeruseEvents = "PERUSE_*"

// Derivation says how mpitx derives an event of PERUSE from a trace.
type Derivation int

// The derivations.
const (
	NotDerived   Derivation = iota
	FromCalls               // from calls and messages, with any MPI
	FromRequests            // from events of requests that the library raises in collective calls
)

// PeruseEvent is an event of the specification of PERUSE 2.0.
type PeruseEvent struct {
	Name       string
	Section    string // of the specification
	Bind       Bind   // the object that it concerns
	Meaning    string
	Queue      bool // it concerns a queue, whose scope the library says
	Derivation Derivation
	How        string // how it is derived; of others, why it is not available without the library
}

// QueueSpellings are the two spellings of events of searches: the specification's list of section 4.4 and its header differ.
var queueSpellings = [2]string{"_SEARCH_UNEX_QUEUE_", "_SEARCH_UNEX_Q_"}

// OtherSpelling is the other name of an event that the specification spells in two ways; "" for most.
func OtherSpelling(name string) string {
	for i, s := range queueSpellings {
		if strings.Contains(name, s) {
			return strings.Replace(name, s, queueSpellings[1-i], 1)
		}
	}
	return ""
}

// FindPeruseEvent returns an event of the specification, in either spelling; nil for one of a library.
func FindPeruseEvent(name string) *PeruseEvent {
	i := slices.IndexFunc(peruseEvents, func(e PeruseEvent) bool { return e.Name == name || e.Name == OtherSpelling(name) })
	if i < 0 {
		return nil
	}
	return &peruseEvents[i]
}

// PeruseEvents are the events of the specification, in its order: sections 4.3.1 and 4.4, and the proposals of Appendix E.
func PeruseEvents() []PeruseEvent { return slices.Clone(peruseEvents) }

// Native makes an event that a library raises. Events that only the library has are described by their name alone.
func NativePeruseEvent(name, queueScope string) Event {
	e := Event{Interface: InterfacePeruse, Name: name, Also: OtherSpelling(name), Bind: BindComm, Support: SupportNative, Status: StatusOK}
	if spec := FindPeruseEvent(name); spec != nil {
		e.Section, e.Bind, e.Description = spec.Section, spec.Bind, spec.Meaning
		if spec.Queue {
			e.QueueScope = queueScope
		}
	} else {
		e.Description = "An event of this library, which the specification of PERUSE does not have."
	}
	return e
}

// Peruse reports whether it is an event of PERUSE.
func (e *Event) Peruse() bool { return e.Interface == InterfacePeruse }

// WithPeruse returns the catalog with all events of the specification of PERUSE: those that the library does not raise are derived or
// unavailable. If MPI_Init was not reached, their support is not known on a library with PERUSE.
func (c *Catalog) WithPeruse() *Catalog {
	out := *c
	out.Events = slices.Clone(c.Events)
	native := func(name string) bool {
		return slices.ContainsFunc(c.Events, func(e Event) bool { return e.Peruse() && (e.Name == name || e.Also == name) })
	}
	for i := range peruseEvents {
		if native(peruseEvents[i].Name) {
			continue
		}
		e := peruseEvents[i].missing(native)
		if c.Library.PERUSE && !c.After.Read {
			e.Support, e.After, e.Reason = SupportUnknown, false, "the library has PERUSE, but its events are known only after MPI_Init"
		}
		out.Events = append(out.Events, e)
	}
	sortBy(&out.Events, func(a, b *Event) int { return a.compare(b) })
	return &out
}

// missing makes an event that the library does not raise. native says which ones it raises.
func (p *PeruseEvent) missing(native func(name string) bool) Event {
	e := Event{Interface: InterfacePeruse, Name: p.Name, Also: OtherSpelling(p.Name), Section: p.Section, Bind: p.Bind, Description: p.Meaning,
		Support: SupportUnavailable, Reason: p.How}
	if p.Derivation == FromCalls || p.Derivation == FromRequests && native("PERUSE_COMM_REQ_ACTIVATE") {
		e.Support, e.After = SupportDerived, true
	} else if p.Derivation == FromRequests {
		e.Reason = "the library's own messages in collective calls are visible only in events of PERUSE, which this library does not have"
	}
	return e
}

// WithoutUnraised returns the catalog without the events of PERUSE that the library does not raise.
func (c *Catalog) WithoutUnraised() *Catalog {
	out := *c
	out.Keep(Events, func(e Entry) bool { return !e.(*Event).Peruse() || e.(*Event).Support == SupportNative })
	return &out
}
