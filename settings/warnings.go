package settings

import (
	"fmt"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/settings/tuning"
)

// NameValue is a control variable with its value as text.
type NameValue struct{ Name, Value string }

// Warnings says which settings for an application, before MPI_Init and after it, are not values of their variables, or have no effect
// because of another variable or because they come too late. c is the library as the application will find it (Expected).
func (j *Judge) Warnings(c *catalog.Catalog, given, after []NameValue) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	warn := func(flag string, set NameValue, known tuning.Effect) {
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
			say("%s", text)
		}
	}
	for _, set := range given {
		v := c.Cvar(set.Name)
		if v == nil {
			continue
		}
		if err := Takes(j.Impl, c, v, set.Value); err != nil {
			say("warning: --set %s: %v", set.Name, err)
		}
		known := j.Effect(c, v)
		j.FindFile(&known, set.Value)
		warn("--set", set, known)
	}
	for _, set := range after { // those that are written together are judged together
		if v := c.Cvar(set.Name); v != nil && v.After != nil && v.After.Writable == catalog.WritableYes {
			if value, err := catalog.ParseValue(v, Enums(j.Impl, c)(v), max(v.After.Count, 1), set.Value); err == nil {
				Assume(c, set.Name, value)
			}
		}
	}
	for _, set := range after {
		v := c.Cvar(set.Name)
		if v == nil {
			continue
		}
		if items := Enums(j.Impl, c)(v); items != nil && c.Enum(v.Enum) == nil {
			if n, named := items.Lookup(set.Value); named && set.Value != strconv.FormatInt(n, 10) {
				say("warning: --set-after %s=%s: this library's MPI_T takes numbers only; use --set-after %s=%d", set.Name, set.Value, set.Name, n)
			}
		}
		known := j.Effect(c, v)
		warn("--set-after", set, known)
		switch known.Read {
		case tuning.AtInit:
			say("warning: --set-after %s has no effect: the library reads it %s; use --set", set.Name, known.Read.Words())
		case tuning.AtCommunicator:
			say("warning: --set-after %s comes too late for MPI_COMM_WORLD: the library reads it %s; use --set", set.Name, known.Read.Words())
		}
	}
	return all
}

// Expected changes a library as it was last read to what an application will find before MPI_Init: the values that settings, the
// environment and files give it.
func Expected(e *machine.Env, m machine.MPI, c *catalog.Catalog, given []NameValue) {
	names := make([]string, len(c.Cvars))
	for k := range c.Cvars {
		names[k] = c.Cvars[k].Name
	}
	q := Query{Env: e, Impl: m.Impl, Prefix: m.Prefix, Lib: m.Lib, Text: c.Library.Text, Names: names}
	first := Find(q).Set // the environment may name other files
	q.Value = func(name string) string {
		if o, set := first[name]; set {
			return o.Value
		}
		if v := c.Cvar(name); v != nil && !v.IsSet() && v.Before != nil {
			return v.Before.Value.String()
		}
		return ""
	}
	found := Find(q).Set
	for _, s := range given {
		found[s.Name] = catalog.Origin{Value: s.Value}
	}
	for k := range c.Cvars {
		v := &c.Cvars[k]
		o, set := found[v.Name]
		if set && v.Before != nil {
			value, err := catalog.ParseValue(v, c.Enum(v.Enum), v.Before.Count, o.Value)
			if err != nil {
				value = catalog.NewText(o.Value)
			}
			v.Before.Status, v.Before.Value = catalog.StatusOK, value
		} else if v.IsSet() { // it was set when the library was read, and is not now
			v.Before = nil
		}
		v.Origin, v.Origins = nil, nil
		if set {
			v.Origin = &o
		}
	}
	c.Outside = Beyond(Influences(q))
}
