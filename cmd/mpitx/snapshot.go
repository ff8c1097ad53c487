package main

import (
	"io"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/export"
)

type snapshotOptions struct {
	source
	out    string
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
too. The file is JSON; docs/schema.md describes it.`,
		Example: `  mpirun -n 4 mpitx snapshot --out snapshot.json
  mpitx list --from snapshot.json --changed`,
		Args: noArguments,
		RunE: o.run,
	}
	o.source.flags(cmd, false)
	cmd.Flags().StringVar(&o.out, "out", "-", "write to this `FILE`, replacing it if it exists; - is standard output")
	cmd.MarkFlagFilename("out", "json")
	o.format = snapshotFormat{a, cmd.Flags(), export.FormatJSON}
	cmd.Flags().VarP(&o.format, "output", "o", "output `FORMAT`: json")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{string(export.FormatJSON)}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&o.redact, "redact", false, "leave out host names, user names, addresses and paths")
	return cmd
}

func (o *snapshotOptions) run(cmd *cobra.Command, _ []string) error {
	c, err := o.open(cmd, nil, "")
	if err != nil {
		return err
	}
	return o.answer(o.warn(c), func() error {
		if o.redact {
			catalog.Redact(c, catalog.LocalPrivate())
		}
		if o.out == "-" {
			return catalog.Write(o.a.out, c)
		}
		_, err := createFile(o.out, "", replaceIt, func(w io.Writer) error { return catalog.Write(w, c) })
		return err
	})
}
