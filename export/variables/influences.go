package variables

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/settings"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// withPeruse adds the environment variables that the library names itself (PERUSE_Query_environment).
func withPeruse(found []settings.Influence, c *catalog.Catalog) []settings.Influence {
	for _, text := range c.After.Environment {
		name, value, _ := strings.Cut(text, "=")
		if !slices.ContainsFunc(found, func(i settings.Influence) bool { return i.Kind == catalog.OriginEnvironment && i.Name == name }) {
			found = append(found, settings.Influence{Name: name, Reader: c.LibraryName() + ", as PERUSE says",
				Origin: catalog.Origin{Kind: catalog.OriginEnvironment, Where: name, Value: value}})
		}
	}
	return found
}

// NarrowInfluences makes the table fit a terminal: files without their directory, and the notes, which it returns, below the table.
func NarrowInfluences(r *export.Rows, t export.Terminal) string {
	var notes strings.Builder
	column := map[string]int{}
	for i := range r.Columns {
		column[r.Columns[i].Name] = i
	}
	for _, row := range r.Rows {
		name := row[column["name"]].(string)
		if row[column["origin"]] == catalog.OriginFile {
			row[column["where"]] = filepath.Base(row[column["where"]].(string))
			name += " in " + row[column["where"]].(string)
		}
		if note := row[column["note"]].(string); note != "" {
			fmt.Fprintln(&notes, export.Wrap(t.SafeText(name+": "+note), t.Width))
			row[column["note"]] = ""
		}
	}
	return notes.String()
}

// valueOn is the value of a variable on a rank, "" if it has none there.
func valueOn(c *catalog.Catalog, v *catalog.Variable, rank int) string {
	for _, g := range c.Settings(v) {
		if r := g.Variable.Current(); slices.Contains(g.Ranks, rank) && r != nil && r.Status == catalog.StatusOK {
			return c.ValueText(v, r.Value)
		}
	}
	return ""
}

// Influences are settings of MPI from outside, with the names of the library itself (PERUSE_Query_environment), and what is known about them.
func Influences(found []settings.Influence, c *catalog.Catalog, effect func(*catalog.Variable) tuning.Effect) *export.Rows {
	values, names := map[string]string{}, make([]string, len(c.Cvars))
	for k := range c.Cvars {
		names[k] = c.Cvars[k].Name
		if r := c.Cvars[k].Current(); r != nil && r.Status == catalog.StatusOK {
			values[c.Cvars[k].Name] = c.ValueText(&c.Cvars[k], r.Value)
		}
	}
	r := &export.Rows{Schema: "mpitx.env", Columns: []export.RowColumn{{Name: "name", Header: "NAME", MinWidth: 64, Whole: "name"}, {Name: "value", Header: "VALUE", Whole: "name"},
		{Name: "origin"}, {Name: "where", Header: "FROM", Below: true, Label: "from: "}, {Name: "reader", Header: "READ BY", Below: true, Label: "read by: "},
		{Name: "cvar", Header: "CONTROL VARIABLE", Wide: true}, {Name: "library", Header: "LIBRARY", Optional: true}, {Name: "note", Header: "NOTE", Optional: true}, {Name: "ranks", Header: "RANKS", Optional: true}}}
	for _, i := range withPeruse(found, c) {
		note := ""
		switch {
		case i.Dropped != "":
			note = i.Dropped
		case len(names) == 0: // the library could not be read
			i.Cvar = ""
		case i.Unknown:
			note = "no such variable"
			if near := text.Nearest(names, i.Cvar, 1); near != nil {
				note += "; did you mean " + near[0] + "?"
			}
			i.Cvar = ""
		case i.Overridden:
			note = "another setting of it takes precedence"
		case i.Cvar == "":
			note = tuning.NotInUse(c, i.Reader)
		default:
			if v := c.Cvar(i.Cvar); v != nil {
				note = strings.ReplaceAll(strings.Join(effect(v).Doubts(i.Cvar, c.Job.Size), "; it "), i.Cvar+" ", "")
			}
		}
		where := i.Where
		if i.Kind == catalog.OriginEnvironment {
			where = "environment"
		}
		value := values[i.Cvar]
		if v := c.Cvar(i.Cvar); v != nil && i.Ranks != nil {
			value = valueOn(c, v, i.Ranks[0])
		}
		r.Rows = append(r.Rows, []any{i.Name, i.Value, i.Kind, where, i.Reader, i.Cvar, value, note, text.RankList(i.Ranks)})
	}
	return r
}
