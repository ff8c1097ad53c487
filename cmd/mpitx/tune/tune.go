// Package tune has the command that makes an application faster by settings, with proof.
package tune

import (
	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
)

// NewTune makes the command.
func NewTune(a *cli.App) *cobra.Command {
	source := &cli.Source{App: a}
	check := &checking{Source: source}
	var format export.Format
	cmd := &cobra.Command{
		Use:    "tune --check FILE",
		Short:  "Check a file that chooses algorithms of collectives",
		Hidden: true,
		Args:   cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if check.File == "" {
				return cli.Usagef("tune: name a file with --check")
			}
			return check.run(cmd, format)
		},
	}
	source.Flags(cmd, false)
	cli.ChooseFormat(cmd, &format, "output `FORMAT`", variables.DecisionFormats...)
	check.flags(cmd)
	return cmd
}
