package record

import (
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/settings/tuning"
)

// warnOfSettings warns of settings for an application that are not values of their variables, or that have no effect because of
// another variable or because they come too late.
func warnOfSettings(a *cli.App, m machine.MPI, given, after []launch.NameValue) {
	if len(given)+len(after) == 0 {
		return
	}
	c := expected(a, m, given)
	switch {
	case c == nil && a.Env.CacheDir() == "":
		a.Complain("--set is not checked: mpitx keeps nothing about %s, because $HOME is not a directory; set XDG_CACHE_HOME to one", m.Name())
		return
	case c == nil:
		a.Complain("nothing is known about %s yet: run mpitx list once to check --set", m.Name())
		return
	}
	judge := a.Judge(m)
	warn := func(flag string, set launch.NameValue, known tuning.Effect) {
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
		if err := settings.Takes(m.Impl, c, v, set.Value); err != nil {
			a.Complain("warning: --set %s: %v", set.Name, err)
		}
		known := judge.Effect(c, v)
		judge.FindFile(&known, set.Value)
		warn("--set", set, known)
	}
	for _, set := range after { // those that are written together are judged together
		if v := c.Cvar(set.Name); v != nil && v.After != nil && v.After.Writable == catalog.WritableYes {
			if value, err := catalog.ParseValue(v, settings.Enums(m.Impl, c)(v), max(v.After.Count, 1), set.Value); err == nil {
				settings.Assume(c, set.Name, value)
			}
		}
	}
	for _, set := range after {
		v := c.Cvar(set.Name)
		if v == nil {
			continue
		}
		if items := settings.Enums(m.Impl, c)(v); items != nil && c.Enum(v.Enum) == nil {
			if n, named := items.Lookup(set.Value); named && set.Value != strconv.FormatInt(n, 10) {
				a.Complain("warning: --set-after %s=%s: this library's MPI_T takes numbers only; use --set-after %s=%d", set.Name, set.Value, set.Name, n)
			}
		}
		known := judge.Effect(c, v)
		warn("--set-after", set, known)
		switch known.Read {
		case tuning.AtInit:
			a.Complain("warning: --set-after %s has no effect: the library reads it %s; use --set", set.Name, known.Read.Words())
		case tuning.AtCommunicator:
			a.Complain("warning: --set-after %s comes too late for MPI_COMM_WORLD: the library reads it %s; use --set", set.Name, known.Read.Words())
		}
	}
}

// expected is the library as it was last read, with the values that settings, the environment and files give it before MPI_Init; nil
// if it was never read.
func expected(a *cli.App, m machine.MPI, given []launch.NameValue) *catalog.Catalog {
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
