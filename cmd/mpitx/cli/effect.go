package cli

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// Knowledge is what mpitx and the user's files know about control variables. A file that is wrong is reported and left out.
func (a *App) Knowledge() *tuning.Knowledge {
	k := tuning.Own()
	for _, f := range []struct {
		name string
		add  func(file, text string) error
	}{{"essentials.txt", k.AddEssentials}, {"rules.txt", k.AddRules}} {
		file := ConfigFile(a.Env, f.name)
		if file == "" {
			continue
		}
		text, err := ReadRegular(a.Env.File(file))
		if err == nil {
			err = f.add(file, string(text))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.Complain("%v; the rest of the file is ignored", err)
		}
	}
	return k
}

// Effects returns what is known about the effect of settings of a catalog's control variables. It reports rules of the user's that
// name a variable which the library does not have.
func (s *Source) Effects(c *catalog.Catalog) func(*catalog.Variable) tuning.Effect {
	k := s.App.Knowledge()
	if c.Before.Read && c.After.Read {
		for _, text := range k.Unknown(c) {
			s.App.Complain("%s", text)
		}
	}
	return func(v *catalog.Variable) tuning.Effect { return s.Effect(k, c, v) }
}

// Effect is what is known about settings of a control variable, also that the file which it was set to does not exist.
func (s *Source) Effect(k *tuning.Knowledge, c *catalog.Catalog, v *catalog.Variable) tuning.Effect {
	e := k.Effect(c, v, s.Enums(c))
	s.findFile(&e, e.Asked)
	return e
}

// findFile looks for the file that a value names.
func (s *Source) findFile(e *tuning.Effect, value string) {
	if e.File == "" || value == "" || s.From != "" { // a snapshot may be of another machine
		return
	}
	if _, err := os.Stat(s.App.Env.File(value)); errors.Is(err, fs.ErrNotExist) {
		e.FileMissing(value)
	}
}

// Enums returns the enumerations of a catalog's variables, including those that MPICH only describes.
func (s *Source) Enums(c *catalog.Catalog) tuning.Enums {
	impl := s.Family(c)
	return func(v *catalog.Variable) *catalog.Enum {
		count := 1
		if r := v.Current(); r != nil {
			count = r.Count
		}
		return settings.Enum(impl, v, c.Enum(v.Enum), count)
	}
}

// Accepts returns an error if the library cannot take a text as the value of a control variable for a run.
func (s *Source) Accepts(c *catalog.Catalog, v *catalog.Variable, text string) error {
	r := v.Current()
	if r == nil || r.Status != catalog.StatusOK {
		return nil
	}
	return settings.Accepts(s.Family(c), v, s.Enums(c)(v), r.Count, text)
}

// WarnOfSettings warns of settings for an application that are not values of their variables, or that have no effect because of
// another variable or because they come too late.
func (a *App) WarnOfSettings(m machine.MPI, given, after []launch.Setting) {
	if len(given)+len(after) == 0 {
		return
	}
	c := a.expected(m, given)
	switch {
	case c == nil && a.Env.CacheDir() == "":
		a.Complain("--set is not checked: mpitx keeps nothing about %s, because $HOME is not a directory; set XDG_CACHE_HOME to one", m.Name())
		return
	case c == nil:
		a.Complain("nothing is known about %s yet: run mpitx list once to check --set", m.Name())
		return
	}
	s := Source{App: a, Chosen: m}
	effect := s.Effects(c)
	warn := func(flag string, set launch.Setting, known tuning.Effect) {
		for _, cond := range known.Conditions {
			if cond.Met != tuning.No {
				continue
			}
			text := "warning: " + flag + " " + set.Name + " has no effect: " + cond.String()
			if cond.Wrong {
				text = "warning: " + flag + " " + set.Name + " is wrong: " + cond.String()
			}
			if cond.Fix != nil {
				text += "; add --set " + strings.Join(cond.Fix, " or --set ")
			}
			a.Complain("%s", text)
		}
	}
	for _, set := range given {
		v := c.Cvar(set.Name)
		if v == nil {
			continue
		}
		if err := s.Accepts(c, v, set.Value); err != nil {
			a.Complain("warning: --set %s: %v", set.Name, err)
		}
		known := effect(v)
		s.findFile(&known, set.Value)
		warn("--set", set, known)
	}
	for _, set := range after { // those that are written together are judged together
		if v := c.Cvar(set.Name); v != nil && v.After != nil && v.After.Writable == catalog.WritableYes {
			if value, err := catalog.ParseValue(v, s.Enums(c)(v), max(v.After.Count, 1), set.Value); err == nil {
				Assume(c, set.Name, value)
			}
		}
	}
	for _, set := range after {
		v := c.Cvar(set.Name)
		if v == nil {
			continue
		}
		if items := s.Enums(c)(v); items != nil && c.Enum(v.Enum) == nil {
			if n, named := items.Lookup(set.Value); named && set.Value != strconv.FormatInt(n, 10) {
				a.Complain("warning: --set-after %s=%s: this library's MPI_T takes numbers only; use --set-after %s=%d", set.Name, set.Value, set.Name, n)
			}
		}
		known := effect(v)
		warn("--set-after", set, known)
		switch known.Read {
		case tuning.AtInit:
			a.Complain("warning: --set-after %s has no effect: the library reads it %s; use --set", set.Name, known.Read.Words())
		case tuning.AtCommunicator:
			a.Complain("warning: --set-after %s comes too late for MPI_COMM_WORLD: the library reads it %s; use --set", set.Name, known.Read.Words())
		}
	}
}

// Assume gives a control variable of a catalog another value, where it has one.
func Assume(c *catalog.Catalog, name string, value catalog.Value) {
	v := c.Cvar(name)
	if v == nil {
		return
	}
	for _, r := range []**catalog.Reading{&v.Before, &v.After} {
		if *r != nil && (*r).Status == catalog.StatusOK {
			changed := **r
			changed.Value = value
			*r = &changed
		}
	}
	v.Ranks, v.Nodes = nil, nil
}

// expected is the library as it was last read, with the values that settings, the environment and files give it before MPI_Init; nil
// if it was never read.
func (a *App) expected(m machine.MPI, given []launch.Setting) *catalog.Catalog {
	c := inspect.CachedCatalog(a.Env, m)
	if c == nil {
		return nil
	}
	names := make([]string, len(c.Cvars))
	for k := range c.Cvars {
		names[k] = c.Cvars[k].Name
	}
	found := settings.Find(settings.Query{Env: a.Env, Impl: m.Impl, Prefix: m.Prefix, Lib: m.Lib, Text: c.Library.Text, Names: names}).Set
	for _, s := range given {
		found[s.Name] = catalog.Origin{Value: s.Value}
	}
	for k := range c.Cvars {
		v := &c.Cvars[k]
		if o, set := found[v.Name]; set && v.Before != nil {
			value, err := catalog.ParseValue(v, c.Enum(v.Enum), v.Before.Count, o.Value)
			if err != nil {
				value = catalog.NewText(o.Value)
			}
			v.Before.Status, v.Before.Value = catalog.StatusOK, value
		} else if v.IsSet() { // it was set when the library was read, and is not now
			v.Before = nil
		}
		v.Origin, v.Origins = nil, nil
	}
	return c
}

// EffectLines say whether the library accepts a write, when it reads a variable, and which conditions its effect has. Of a variable that
// was set, they also say what is not known.
func EffectLines(e tuning.Effect, ranks int) (lines []string) {
	if e.Arrived == tuning.No {
		lines = append(lines, "set to "+e.Asked+", but the library has "+e.Have)
	} else if e.Unreported != "" {
		lines = append(lines, "set to "+e.Asked+"; "+e.Unreported)
	}
	if e.Arrived != "" {
		lines = append(lines, "accepted after MPI_Init: "+e.AcceptedWords()+": "+e.Trial)
	}
	if e.Written != "" {
		lines = append(lines, "written here, it has no effect: "+e.Written)
	}
	if e.Read != tuning.Unknown {
		lines = append(lines, "is read "+e.Read.Words())
	} else if e.Arrived != "" {
		lines = append(lines, "is read: not known")
	}
	if e.Unused {
		lines = append(lines, "its component is not in use with "+text.Count(ranks, "rank")+": MPI_Init unloaded it")
	} else if e.Arrived != "" && len(e.Conditions) == 0 {
		lines = append(lines, "condition: none known")
	}
	for _, c := range e.Conditions {
		words := "condition: " + c.String()
		switch {
		case c.Met == tuning.Yes:
			words = "condition met: " + c.String()
		case c.Met == tuning.No && c.Wrong:
			words = "WRONG VALUE: " + c.Advice()
		case c.Met == tuning.No:
			words = "NO EFFECT NOW: " + c.Advice()
		}
		lines = append(lines, words)
	}
	return lines
}

// unreported says that a variable was set to another value than the library reports.
func unreported(name, asked string) string {
	return name + " was set to " + asked + ", which may be in use: " + catalog.WhyUnreported
}

// NoteUnreported names the variables whose setting the library does not report.
func (s *Source) NoteUnreported(c *catalog.Catalog, vars []*catalog.Variable, format export.Format) {
	for _, v := range vars {
		if set, ok := c.Unreported(v); ok && (format == export.FormatTable || format == export.FormatWide) {
			s.App.Complain("%s", unreported(v.Name, set))
		}
	}
}

// Doubts says why a setting of a control variable may have no effect, and what would change that: a sentence for each condition that
// is not met.
func Doubts(name string, e tuning.Effect, ranks int) (out []string) {
	if e.Arrived == tuning.No {
		out = append(out, name+" was set to "+e.Asked+", but the library has "+e.Have)
	}
	switch { // a known failure makes a possible one superfluous
	case e.Fails() != nil:
	case e.Unreported != "":
		out = append(out, unreported(name, e.Asked))
	case e.Unused:
		out = append(out, name+" may have no effect with "+text.Count(ranks, "rank")+": MPI_Init unloaded its component")
	}
	for _, c := range e.Conditions {
		if c.Met == tuning.No {
			out = append(out, name+" "+c.Verdict())
		}
	}
	return out
}
