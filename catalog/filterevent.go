package catalog

import (
	"slices"

	"mpitx/text"
)

// ofVariables reports whether the filter has criteria that only variables meet.
func (f *Filter) ofVariables() bool {
	return len(f.Scopes)+len(f.Classes) > 0 || f.Writable || f.Set
}

func (m *Matcher) matchEvent(e *Event, inside map[string]bool) bool {
	f := &m.filter
	return !f.ofVariables() && m.MatchEntry(e) && oneOf(f.Binds, e.Bind) &&
		(f.Verbosity == 0 || e.Verbosity != 0 && e.Verbosity <= f.Verbosity) &&
		f.Stage.matchStages(e.Before, e.After) && (!f.Differing || len(e.Conflicts) > 0) &&
		(len(f.Types) == 0 || slices.ContainsFunc(e.Elements, func(x Element) bool { return oneOf(f.Types, x.Type) })) &&
		(len(m.categories) == 0 || slices.ContainsFunc(e.Categories, func(k string) bool { return inside[k] }))
}

func (m *Matcher) matchSource(s *Source) bool {
	f := &m.filter
	return !f.ofVariables() && len(f.Binds)+len(f.Types)+len(m.categories) == 0 && f.Verbosity == 0 && m.MatchEntry(s) &&
		f.Stage.matchStages(s.Before, s.After) && (!f.Differing || len(s.Conflicts) > 0)
}

func (s StageFilter) matchStages(before, after bool) bool {
	switch s {
	case StageBefore:
		return before
	case StageAfter:
		return after
	case StageBoth:
		return before && after
	}
	return true
}

// Named returns the entries of some kinds other than variables with a literal name: exact matches, or else matches that ignore case.
func (l *Lists) Named(k Kind, name string) []Entry {
	var exact, folded []Entry
	for info, e := range l.Entries(k) {
		switch {
		case info.Kind&Variables != 0:
		case e.ID() == name || name != "" && alsoNamed(e) == name:
			exact = append(exact, e)
		case text.Lower(e.ID()) == text.Lower(name) || name != "" && text.Lower(alsoNamed(e)) == text.Lower(name):
			folded = append(folded, e)
		}
	}
	if exact != nil {
		return exact
	}
	return folded
}

// MatchEntry reports whether a name of an entry other than a variable matches the filter's Names and Regexps.
func (m *Matcher) MatchEntry(e Entry) bool {
	also := alsoNamed(e)
	return m.MatchName(e.ID()) || also != "" && m.MatchName(also)
}

// alsoNamed is another name of an entry; "" for most.
func alsoNamed(e Entry) string {
	if event, ok := e.(*Event); ok {
		return event.Also
	}
	return ""
}
