package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/text"
)

type showOptions struct {
	source
	outputFlags
}

func newShow(a *app) *cobra.Command {
	o := &showOptions{source: source{a: a}}
	cmd := &cobra.Command{
		Use:         "show NAME…",
		Annotations: paged,
		Short:       "Explain variables and events: meaning, values, how to set them",
		Long: `Explain variables: their description, the items of their enumeration, their
categories, their value on each rank, who set them, whether they can be written
now, and how to set them for the next run.

Of an event of MPI_T, show prints the elements of its data, and of an event
source its clock.

NAME is the name of a variable, event or event source, a glob, or NAME:CLASS for
a performance variable of that class.`,
		Example: `  mpitx show mpi_leave_pinned
  mpirun -n 4 mpitx show 'pml_ob1_*'`,
		Args:              arguments(1, -1, "the variables or events"),
		ValidArgsFunction: a.completeNames(catalog.AllKinds &^ catalog.Groups),
		RunE:              o.run,
	}
	o.source.flags(cmd, false)
	o.outputFlags.flags(cmd)
	cmd.Flags().Lookup("fields").Usage += " (with -o json, ndjson, csv and names)"
	o.commFlag(cmd)
	keepOldName(a, cmd, "bind", "comm")
	return cmd
}

func (o *showOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.parse(); err != nil {
		return err
	}
	if o.fields != nil && (o.format == export.FormatTable || o.format == export.FormatWide) {
		return usagef("--fields: show takes it with -o json, ndjson, csv and names only; for a table use mpitx read --fields")
	}
	c, s, code, err := o.pick(cmd, catalog.AllKinds&^catalog.Groups, args)
	if err != nil {
		return err
	}
	return o.answer(code, func() error {
		if len(s.entries) == 0 {
			return nil
		}
		return export.Show(o.a.out, c, s.entries, export.ShowOptions{Format: o.format, Fields: o.fields, Terminal: o.term, HowToSet: o.howToSet(c), Effect: o.effects(c), Enums: o.enums(c)})
	})
}

// howToSet makes the lines that set a control variable for the next run.
func (o *showOptions) howToSet(c *catalog.Catalog) func(*catalog.Variable) []string {
	t := o.term
	t.UTF8 = t.UTF8 || o.format == export.FormatJSON || o.format == export.FormatNDJSON // JSON does not depend on the terminal
	return func(v *catalog.Variable) []string {
		return o.setLines(c, v, present(v), t)
	}
}

// present is a variable's current value; no value if it could not be read or is an empty text.
func present(v *catalog.Variable) catalog.Value {
	if r := v.Current(); r != nil && r.Status == catalog.StatusOK && r.Value.String() != "" {
		return r.Value
	}
	return catalog.Value{}
}

// family is the family of the library that a catalog is of.
func (s *source) family(c *catalog.Catalog) string { return cmp.Or(s.chosen.Impl, c.Library.Family) }

// setLines are the lines that set a control variable for the next run; none if mpitx knows no way.
func (s *source) setLines(c *catalog.Catalog, v *catalog.Variable, value catalog.Value, t export.Terminal) []string {
	impl := s.family(c)
	if v.Kind != catalog.Cvars || v.Scope == catalog.ScopeConstant || v.Scope == catalog.ScopeReadonly && impl != machine.OpenMPI { // Open MPI takes it before a run
		return nil
	}
	return settings.HowToSet(impl, s.a.env.Word(s.chosen.Launcher), v, c.Enum(v.Enum), value, text.Charset(t.UTF8))
}
