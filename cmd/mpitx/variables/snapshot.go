package variables

import (
	"io"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
)

type snapshotOptions struct {
	cli.Source
	cli.OutFile
	format export.Format
	redact bool
}

func NewSnapshot(a *cli.App) *cobra.Command {
	o := &snapshotOptions{Source: cli.Source{App: a, RanksMayLeaveEarly: true}}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save everything that an MPI library exposes to a file",
		Long: `Save everything that an MPI library exposes: metadata and values of all
variables, categories and enumerations, in both stages and on all ranks.

Every read-only command reads such a file with --from, on machines without MPI
too. The file is JSON; docs/schema.md describes it. Without --out it goes to
standard output.`,
		Example: `  mpirun -n 4 mpitx snapshot --out snapshot.json
  mpitx list --from snapshot.json --changed`,
		Args: cli.NoArguments,
		RunE: o.run,
	}
	o.Source.Flags(cmd, false)
	o.OutFile.Flags(cmd, "json")
	cli.Choose(cmd, &o.format, "output", "o", export.FormatJSON, "output `FORMAT`: json", export.FormatJSON)
	cmd.Flags().BoolVar(&o.redact, "redact", false, "leave out host names, user names, addresses and paths")
	return cmd
}

func (o *snapshotOptions) run(cmd *cobra.Command, _ []string) error {
	if err := o.Unused(); err != nil { // only rank 0's node need have the directory
		return err
	}
	c, err := o.Open(cmd, nil, "")
	if err != nil {
		return err
	}
	return o.Answer(o.Warn(c), func() error {
		if o.redact {
			catalog.Redact(c, catalog.LocalPrivate())
		}
		if !o.Named() {
			return catalog.Write(o.App.Out, c)
		}
		return o.Create(func(w io.Writer) error { return catalog.Write(w, c) })
	})
}
