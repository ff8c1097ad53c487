package variables

import (
	"fmt"
	"path/filepath"
	"slices"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/settings"
)

// checkEssential refuses what has no effect on the list of essential variables.
func (o *listOptions) checkEssential() error {
	switch {
	case o.kinds&^catalog.Cvars != 0:
		return cli.Usagef("--essential lists control variables only; leave the other kinds out")
	case o.tree, o.fields != nil, o.search != nil:
		return cli.Usagef("--essential has columns of its own; leave --tree, --fields and --search out")
	}
	return nil
}

// essentials writes the essential control variables that match a filter, by purpose, and settings beyond MPI_T.
func (o *listOptions) essentials(c *catalog.Catalog, filter *catalog.Matcher) error {
	matching := map[string]bool{}
	for _, v := range filter.Variables(c) {
		matching[v.Name] = true
	}
	rows := &export.Rows{Schema: "mpitx.essentials", Columns: []export.RowColumn{{Name: "name", Header: "NAME"}, {Name: "value", Header: "VALUE", PreferredWidth: 28, Whole: "set"},
		{Name: "set", Header: "SET", Optional: true, AlwaysBelow: true, Label: "set: "}, {Name: "use", Header: "WHAT FOR", Below: true}, {Name: "purpose"}}}
	people := o.forPeople()
	purpose := ""
	add := func(name, value string, set catalog.RankOrigin, use, to string) {
		if people && to != purpose { // as a line of its own
			if purpose != "" {
				rows.Rows = append(rows.Rows, []any{"", "", "", "", ""})
			}
			rows.Rows = append(rows.Rows, []any{to + ":", "", "", "", ""})
			purpose = to
		}
		where := ""
		if set.Origin != nil {
			where = set.Origin.Where
			if o.format == export.FormatTable && set.Origin.Kind == catalog.OriginFile {
				where = filepath.Base(where) // the line matters
			}
			where = string(set.Origin.Kind) + " " + where
		}
		if set.Rank != 0 {
			where += fmt.Sprintf(" (rank %d)", set.Rank)
		}
		if people {
			name = "  " + name
		}
		rows.Rows = append(rows.Rows, []any{name, value, where, use, to})
	}
	enums := settings.Enums(o.Family(c), c)
	var beyond []settings.Influence // settings that MPI_T does not have
	if o.From == "" && len(o.globs)+len(o.regex) == 0 {
		beyond = slices.DeleteFunc(settings.Influences(o.Query(c)), func(i settings.Influence) bool { return i.Cvar != "" || i.Unknown })
	}
	var listed []*catalog.Variable
	for _, g := range o.App.Judge(o.Chosen).Knowledge.Essentials(c) {
		for k, v := range g.Cvars {
			if !matching[v.Name] {
				continue
			}
			listed = append(listed, v)
			value := ""
			if r := v.Current(); r != nil && (people || r.Status == catalog.StatusOK && r.Value.String() != "") {
				value = export.ReadingText(r, enums(v))
				if number := export.ReadingText(r, nil); people && c.Enum(v.Enum) == nil && value != number {
					value += " (" + number + ")" // as the library and mpitx write have it
				}
			}
			add(v.Name, value, v.FirstOrigin(), g.Uses[k], g.Title)
		}
		for _, e := range g.Environment {
			k := slices.IndexFunc(beyond, func(i settings.Influence) bool { return i.Name == e.Name && i.Kind == catalog.OriginEnvironment })
			switch {
			case k >= 0:
				add(e.Name, beyond[k].Value, catalog.RankOrigin{Origin: &beyond[k].Origin}, e.Use, g.Title)
				beyond = slices.Delete(beyond, k, k+1)
			case o.From == "" && people && len(o.globs)+len(o.regex) == 0:
				add(e.Name, "not set", catalog.RankOrigin{}, e.Use, g.Title)
			}
		}
	}
	for _, i := range beyond {
		add(i.Name, i.Value, catalog.RankOrigin{Origin: &i.Origin}, "read by "+i.Reader, "Set beyond MPI_T")
	}
	if people && len(rows.Rows) == 0 {
		_, err := fmt.Fprintf(o.App.Out, "mpitx knows no essential variables of %s that match\n", c.LibraryName())
		return err
	}
	if err := rows.Write(o.App.Out, o.format, o.Term); err != nil {
		return err
	}
	o.NoteUnreported(c, listed, o.format)
	return nil
}
