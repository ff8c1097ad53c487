package variables

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/inspect"
	"mpitx/settings"
	"mpitx/text"
)

type settingsOptions struct {
	cli.Source
	format export.Format
}

// newSettings is mpitx list settings.
func newSettings(a *cli.App) *cobra.Command {
	o := &settingsOptions{Source: cli.Source{App: a, RanksMayLeaveEarly: true}}
	cmd := &cobra.Command{
		Use:         "settings",
		Annotations: cli.Paged,
		Short:       "List what sets this MPI from outside: environment, options, files",
		Long: `List the settings that influence the MPI library, with their values and where
they come from: environment variables, options of the launcher, and parameter
files of the MPI. They include those of what MPI builds on, such as UCX,
libfabric, PMIx and OpenMP. Variables that the launcher sets by itself are left
out. A library with PERUSE also names variables itself.

For a setting of a control variable, the column LIBRARY has the value that the
library has now. A note marks settings that are spelt like a control variable
that this library does not have, that another one overrides, whose value the
library did not take, and that have no effect because of another variable. Those
that take precedence come first: in a file, the last line. -o wide has the whole
paths of files.

Lines, files and options that the library drops are listed, too, with the
reason. UCX and libfabric are asked which names and values they know.

If one of the settings stops the library, mpitx lists the settings without the
library's values. The exit code is then 3, or the launcher's.

Under a launcher, RANKS has the ranks with a setting that not all have. The row
"binding" has the processors that processes may use, if these are not all of
their node. With --from, the table shows the settings that a snapshot has:
without those that were overridden or dropped.`,
		Example: `  mpitx list settings
  mpirun -n 4 mpitx list settings
  mpitx list settings --mpi mpich -o json
  mpitx list settings --from snapshot.json`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.Source.Flags(cmd, false)
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.Formats...)
	return cmd
}

func (o *settingsOptions) run(cmd *cobra.Command) error {
	c, err := o.Open(cmd, nil, "")
	var unread *inspect.Error
	code := cli.ExitPartial
	switch {
	case errors.As(err, &unread) && !unread.Quiet: // perhaps because of a setting
		o.App.Exit(err)
		c = &catalog.Catalog{}
	case err != nil:
		return err
	default:
		code = o.Warn(c)
	}
	return o.Answer(code, func() error {
		found := o.Unread
		switch {
		case o.From != "":
			found = func() []settings.Influence { return settings.Kept(c) }
		case unread == nil:
			found = func() []settings.Influence { return o.Influences(c) }
		}
		rows := variables.Influences(found(), c, o.Judge(c).Effects(c))
		if people := o.format == export.FormatTable || o.format == export.FormatWide; people && len(rows.Rows) == 0 {
			name := o.Chosen.Name()
			if unread == nil {
				name = c.LibraryName()
			}
			_, err := fmt.Fprintf(o.App.Out, "nothing influences %s from outside\n", name)
			return err
		}
		notes := ""
		if o.format == export.FormatTable {
			notes = variables.NarrowInfluences(rows, o.Term)
		}
		if err := rows.Write(o.App.Out, o.format, o.Term); err != nil || notes == "" {
			return err
		}
		_, err := fmt.Fprint(o.App.Out, "\n", notes)
		return err
	})
}

// didYouMean asks for the name that is most like one that does not exist; "": none is.
func didYouMean(names []string, wrong string) string {
	if near := text.Nearest(names, wrong, 1); near != nil {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}
