package cli

import (
	"mpitx/catalog"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/settings/tuning"
)

// Judge judges settings of an MPI's control variables. Problems with the user's rules are reported.
func (a *App) Judge(m machine.MPI) *settings.Judge {
	known, problems := settings.ReadKnowledge(a.Env)
	for _, err := range problems {
		a.Complain("%v", err)
	}
	return &settings.Judge{Env: a.Env, Impl: m.Impl, Knowledge: known}
}

// Judge judges settings of a catalog's control variables. It reports rules of the user's that name a variable which the library does
// not have.
func (s *Source) Judge(c *catalog.Catalog) *settings.Judge {
	j := s.App.Judge(s.Chosen)
	j.Impl, j.Elsewhere = s.Family(c), s.From != ""
	if c.Before.Read && c.After.Read {
		for _, words := range j.Knowledge.Unknown(c) {
			s.App.Complain("%s", words)
		}
	}
	return j
}

// NoteUnreported names the variables whose setting the library does not report.
func (s *Source) NoteUnreported(c *catalog.Catalog, vars []*catalog.Variable, format export.Format) {
	for _, v := range vars {
		if set, ok := c.Unreported(v); ok && (format == export.FormatTable || format == export.FormatWide) {
			s.App.Complain("%s", tuning.NotReported(v.Name, set))
		}
	}
}

// WarnOfCrashes warns of settings that are known to crash programs of this library.
func (a *App) WarnOfCrashes(m machine.MPI, given []launch.NameValue) {
	for _, s := range given {
		if hint := settings.CrashHint(m.Impl, func() string { return a.Env.Version(m) }, s.Name, s.Value); hint != "" {
			a.Complain("warning: %s", hint)
		}
	}
}
