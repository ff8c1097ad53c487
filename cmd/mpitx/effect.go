package main

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/catalog/tuning"
	"mpitx/cmd/mpitx/internal/attach"
	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/origin"
)

// knowledge is what mpitx and the user's files know about control variables. A file that is wrong is reported and left out.
func (a *app) knowledge() *tuning.Knowledge {
	k := tuning.Own()
	for _, f := range []struct {
		name string
		add  func(file, text string) error
	}{{"essentials.txt", k.AddEssentials}, {"rules.txt", k.AddRules}} {
		file := configFile(a.env, f.name)
		if file == "" {
			continue
		}
		text, err := os.ReadFile(a.env.File(file))
		if err == nil {
			err = f.add(file, string(text))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.complain("%v; the rest of the file is ignored", err)
		}
	}
	return k
}

// effects returns what is known about the effect of settings of a catalog's control variables.
func (s *source) effects(c *catalog.Catalog) func(*catalog.Variable) tuning.Effect {
	k := s.a.knowledge()
	return func(v *catalog.Variable) tuning.Effect { return k.Effect(c, v, s.enums(c)) }
}

// enums returns the enumerations of a catalog's variables, including those that MPICH only describes.
func (s *source) enums(c *catalog.Catalog) tuning.Enums {
	impl := s.family(c)
	return func(v *catalog.Variable) *catalog.Enum {
		count := 1
		if r := v.Current(); r != nil {
			count = r.Count
		}
		return origin.Enum(impl, v, c.Enum(v.Enum), count)
	}
}

// warnOfConditions warns of settings that have an effect only if another variable is set, which is not.
func (a *app) warnOfConditions(m locate.MPI, settings []attach.Setting) {
	k := a.knowledge()
	for _, s := range settings {
		for name, value := range k.Required(m.Impl, s.Name) {
			if slices.ContainsFunc(settings, func(o attach.Setting) bool { return o.Name == name }) ||
				origin.Find(origin.Query{Env: a.env, Impl: m.Impl, Prefix: m.Prefix, Lib: m.Lib, Names: []string{name}}).Set[name] != (catalog.Origin{}) {
				continue
			}
			a.complain("warning: --set %s: it has an effect only if %s is %s; add --set %s=%s", s.Name, name, value, name, value)
		}
	}
}

// effectLines says when a variable is read, and which conditions its effect has.
func effectLines(e tuning.Effect) (lines []string) {
	if e.Arrived == tuning.No {
		lines = append(lines, "set to "+e.Asked+", but the library has "+e.Have)
	}
	if e.Read != tuning.Unknown {
		lines = append(lines, "is read "+e.Read.Words())
	}
	for _, c := range e.Conditions {
		text := "condition: " + c.String()
		if c.Met == tuning.No {
			text = "NO EFFECT NOW: " + c.String()
		}
		lines = append(lines, text)
	}
	return lines
}

// doubts says why a setting of a control variable may have no effect, and what would change that: a sentence for each condition that
// is not met.
func doubts(name string, e tuning.Effect, ranks int) (out []string) {
	if e.Arrived == tuning.No {
		out = append(out, name+" was set to "+e.Asked+", but the library has "+e.Have)
	}
	if e.Unused {
		out = append(out, name+" is of a component that is not in use with "+ranksText(ranks)+": MPI_Init unloaded it")
	}
	for _, c := range e.Conditions {
		if c.Met != tuning.No {
			continue
		}
		text := name + " has no effect now: " + c.String()
		if c.Fix != nil {
			text += "; set " + strings.Join(c.Fix, " or ") + " too"
		}
		out = append(out, text)
	}
	return out
}
