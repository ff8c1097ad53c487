package main

import (
	"io"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/export"
)

type snapshotOptions struct {
	source
	outFile
	format snapshotFormat
	redact bool
}

func newSnapshot(a *app) *cobra.Command {
	o := &snapshotOptions{source: source{a: a, listing: true}}
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
		Args: noArguments,
		RunE: o.run,
	}
	o.source.flags(cmd, false)
	o.outFile.flags(cmd, "json")
	o.format = snapshotFormat{a, cmd.Flags(), export.FormatJSON}
	cmd.Flags().VarP(&o.format, "output", "o", "output `FORMAT`: json")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{string(export.FormatJSON)}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&o.redact, "redact", false, "leave out host names, user names, addresses and paths")
	return cmd
}

func (o *snapshotOptions) run(cmd *cobra.Command, _ []string) error {
	if err := o.unused(); err != nil { // only rank 0's node need have the directory
		return err
	}
	c, err := o.open(cmd, nil, "")
	if err != nil {
		return err
	}
	return o.answer(o.warn(c), func() error {
		if o.redact {
			catalog.Redact(c, catalog.LocalPrivate())
		}
		if !o.named() {
			return catalog.Write(o.a.out, c)
		}
		return o.create(func(w io.Writer) error { return catalog.Write(w, c) })
	})
}
