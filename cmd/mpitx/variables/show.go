package variables

import (
	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/settings"
)

type showOptions struct {
	cli.Source
	outputFlags
}

func NewShow(a *cli.App) *cobra.Command {
	o := &showOptions{Source: cli.Source{App: a}}
	cmd := &cobra.Command{
		Use:         "show NAME…",
		Annotations: cli.Paged,
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
		Args:              cli.Arguments(1, -1, "the variables or events"),
		ValidArgsFunction: a.CompleteNames(catalog.AllKinds &^ catalog.Groups),
		RunE:              o.run,
	}
	o.Source.Flags(cmd, false)
	o.outputFlags.flags(cmd)
	cmd.Flags().Lookup("fields").Usage += " (with -o json, ndjson, csv and names)"
	o.CommFlag(cmd)
	return cmd
}

func (o *showOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.parse(); err != nil {
		return err
	}
	if o.fields != nil && (o.format == export.FormatTable || o.format == export.FormatWide) {
		return cli.Usagef("--fields: show takes it with -o json, ndjson, csv and names only; for a table use mpitx read --fields")
	}
	c, s, code, err := pickFrom(&o.Source, cmd, catalog.AllKinds&^catalog.Groups, args)
	if err != nil {
		return err
	}
	return o.Answer(code, func() error {
		if len(s.Entries) == 0 {
			return nil
		}
		judge := o.Judge(c)
		return variables.Show(o.App.Out, c, s.Entries, variables.ShowOptions{Format: o.format, Fields: o.fields, Terminal: o.Term, HowToSet: o.howToSet(c, judge), Effect: judge.Effects(c), Enums: settings.Enums(o.Family(c), c)})
	})
}

// howToSet makes the lines that set a control variable for the next run.
func (o *showOptions) howToSet(c *catalog.Catalog, j *settings.Judge) func(*catalog.Variable) []string {
	t := o.Term
	t.UTF8 = t.UTF8 || o.format == export.FormatJSON || o.format == export.FormatNDJSON // JSON does not depend on the terminal
	return func(v *catalog.Variable) []string {
		return o.SetLines(c, j, v, present(v), t)
	}
}

// present is a variable's current value; no value if it could not be read or is an empty text.
func present(v *catalog.Variable) catalog.Value {
	if r := v.Current(); r != nil && r.Status == catalog.StatusOK && r.Value.String() != "" {
		return r.Value
	}
	return catalog.Value{}
}
