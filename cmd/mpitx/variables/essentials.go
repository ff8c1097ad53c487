package variables

import (
	"fmt"
	"slices"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export/variables"
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
	e := variables.Essentials{Knowledge: o.App.Judge(o.Chosen).Knowledge, Variables: filter.Variables(c), Enums: settings.Enums(o.Family(c), c)}
	if o.From == "" && len(o.globs)+len(o.regex) == 0 {
		e.Beyond = slices.DeleteFunc(settings.Everywhere(o.Query(c), &c.Job), func(i settings.Influence) bool { return !i.IsBeyond() })
		e.Unset = true
	}
	rows, listed := e.Rows(c, o.format)
	if o.forPeople() && len(rows.Rows) == 0 {
		_, err := fmt.Fprintf(o.App.Out, "mpitx knows no essential variables of %s that match\n", c.LibraryName())
		return err
	}
	if err := rows.Write(o.App.Out, o.format, o.Term); err != nil {
		return err
	}
	o.NoteUnreported(c, listed, o.format)
	return nil
}
