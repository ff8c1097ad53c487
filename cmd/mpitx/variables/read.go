package variables

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
)

type readOptions struct {
	cli.Source
	outputFlags
	stage string
}

func NewRead(a *cli.App) *cobra.Command {
	o := &readOptions{Source: cli.Source{App: a}}
	cmd := &cobra.Command{
		Use:         "read NAME…",
		Annotations: cli.Paged,
		Short:       "Read the values of variables",
		Long: `Read the values of variables. The value is the one after MPI_Init if the
variable exists there, else the one before it; --stage chooses. Under a
launcher, a value that differs between ranks is shown for each of them.

NAME is a variable's name, a glob, or NAME:CLASS for a performance variable of
that class. The exit code is 3 if a variable that you name without a glob
cannot be read.`,
		Example: `  mpitx read mpi_leave_pinned
  mpirun -n 4 mpitx read pml_ob1_unexpected_msgq_length -o json`,
		Args:              cli.Arguments(1, -1, "the variables"),
		ValidArgsFunction: a.CompleteNames(catalog.Cvars | catalog.Pvars),
		RunE:              o.run,
	}
	o.Source.Flags(cmd, false)
	o.outputFlags.flags(cmd)
	o.CommFlag(cmd)
	cli.Choose(cmd, &o.stage, "stage", "", "", "read the value of this `STAGE`: before MPI_Init (before), or after it (after)", "before", "after")
	return cmd
}

func (o *readOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.parse(); err != nil {
		return err
	}
	c, s, code, err := pickFrom(&o.Source, cmd, catalog.Variables, args)
	if err != nil {
		return err
	}
	vars := s.Variables()
	if o.fields == nil {
		names := "id," + cmp.Or(o.stage, "value")
		if o.stage != "before" && slices.ContainsFunc(vars, (*catalog.Variable).Differs) {
			names += ",differs"
		}
		if (o.format == export.FormatJSON || o.format == export.FormatNDJSON) && slices.ContainsFunc(vars, func(v *catalog.Variable) bool { return c.EnumOf(v) != nil }) {
			names += ",item"
		}
		o.fields, _ = variables.ParseFields(names)
	}
	for _, v := range vars {
		if s.Literal[v] && !o.readable(c, v) {
			code = max(code, cli.ExitPartial)
		}
	}
	return o.Answer(code, func() error {
		if len(vars) == 0 {
			return nil
		}
		var kinds catalog.Kind
		for _, v := range vars {
			kinds |= v.Kind
		}
		if err := variables.List(o.App.Out, c.With(vars), variables.ListOptions{Format: o.format, Kinds: kinds, Fields: o.fields, Terminal: o.Term, Filtered: true}); err != nil {
			return err
		}
		o.NoteUnreported(c, vars, o.format)
		return nil
	})
}

// readable reports, for each rank, why a named variable could not be read.
func (o *readOptions) readable(c *catalog.Catalog, v *catalog.Variable) bool {
	ok := true
	r := o.reading(v)
	switch {
	case v.Kind == catalog.Virtual:
		o.App.Complain("%s: has a value inside applications only; use mpitx sample --pvar %s -- ./app", v.Name, v.Name)
		return false
	case r == nil:
		o.App.Complain("%s: does not exist %s MPI_Init", v.ID(), o.stage)
		return false
	case r.Status != catalog.StatusOK:
		o.App.Complain("%s: %s", v.ID(), variables.ReadingText(r, nil))
		ok = false
	}
	if o.stage == "before" {
		return ok
	}
	for _, other := range v.Ranks {
		if other.Status != catalog.StatusOK {
			o.App.Complain("%s: rank %d on %s: %s", v.ID(), other.Rank, hostOf(c, other.Rank), variables.ReadingText(&other.Reading, nil))
			ok = false
		}
	}
	return ok
}

func hostOf(c *catalog.Catalog, rank int) string {
	for _, r := range c.Job.Ranks {
		if r.Rank == rank && r.Host != "" {
			return r.Host
		}
	}
	return "an unknown host"
}

func (o *readOptions) reading(v *catalog.Variable) *catalog.Reading {
	switch o.stage {
	case "before":
		return v.Before
	case "after":
		return v.After
	}
	return v.Current()
}
