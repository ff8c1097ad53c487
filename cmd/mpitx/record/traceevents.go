package record

import (
	"slices"

	"mpitx/catalog"
	"mpitx/inspect"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/text"
)

// refuseEvents refuses --event patterns that can match neither an event of the library nor one of the specification of PERUSE.
func (o *tracing) refuseEvents(m machine.MPI, first bool) error {
	return o.events.refuseUnmatched(m, first, patternCheck{
		list:  "events",
		known: slices.Concat(specifiedEvents(), o.cachedEvents(m)),
		missing: func(names []string) []string {
			return slices.DeleteFunc(slices.Clone(o.events.all), func(p string) bool { return catalog.MatchesAny(p, names) })
		},
		why: func(p string, names []string) (text, advice string) { return o.noSuchEvent(m, p, names), "" },
	})
}

// explainEvent says why a pattern matched no event, which only the run could show; "": no message. The summary of the trace names what is
// derived from calls, and what is unavailable. With --force, a warning before the start named what the library's last reading shows.
func (o *tracing) explainEvent(m machine.MPI, p string, names []string) string {
	known := slices.Concat(specifiedEvents(), o.cachedEvents(m))
	if catalog.MatchesAny(p, specifiedEvents()) || o.force && len(inspect.CachedNames(o.Env, m)) > 0 && !catalog.MatchesAny(p, known) {
		return ""
	}
	return "--event " + p + ": " + o.noSuchEvent(m, p, slices.Concat(known, names))
}

func (o *tracing) noSuchEvent(m machine.MPI, p string, names []string) string {
	if matchesFunction(p) == nil {
		return "this matches functions of MPI, not events; record their calls with --function " + text.Quote(p)
	}
	if c := inspect.CachedCatalog(o.Env, m); c != nil && !catalog.OfPeruse(p) {
		for _, name := range o.cachedEvents(m) {
			e := catalog.Event{Name: name}
			if catalog.FindPeruseEvent(name) != nil {
				e.Interface = catalog.InterfacePeruse
			}
			c.Events = append(c.Events, e)
		}
		if words := settings.WithoutEvents(c); words != "" {
			return words
		}
	}
	return m.Name() + " has no such event" + settings.EventHints(names, p)
}

// cachedEvents are the names of events from the library's last reading.
func (o *tracing) cachedEvents(m machine.MPI) (names []string) {
	for e := range inspect.CachedEvents(o.Env, m, catalog.Events) {
		names = append(names, e.ID)
	}
	return names
}

// specifiedEvents are the names of the events of PERUSE, in both spellings.
func specifiedEvents() (names []string) {
	for _, e := range catalog.PeruseEvents() {
		names = append(names, e.Name)
		if other := catalog.OtherSpelling(e.Name); other != "" {
			names = append(names, other)
		}
	}
	return names
}
