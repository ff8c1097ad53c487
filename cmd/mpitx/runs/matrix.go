package runs

import (
	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/text"
)

type matrixOptions struct {
	format   export.Format
	oneSided bool
	cli.ProfileCut
}

func NewMatrix(a *cli.App) *cobra.Command {
	o := &matrixOptions{}
	cmd := &cobra.Command{
		Use:         "matrix RUN",
		Annotations: cli.Paged,
		Short:       "Print which ranks of a profiled program send to which",
		Long: `Print the communication matrix of a run directory, as mpitx profile writes it:
messages and bytes of point-to-point communication from each rank to each other
one, in ranks of MPI_COMM_WORLD whatever the communicator. The numbers are those
of the senders; those of the receivers are in mpitx report RUN -o json.

With --one-sided, the numbers are those of the ranks that made the operations: a
put moves data from its rank to the target, and a get from the target to its
rank. An operation that does both (MPI_Fetch_and_op) counts in both directions.

The run may still be in progress, or its job may have died. For many ranks, the
table lists the pairs with the most bytes; CSV and JSON hold all pairs with
messages.`,
		Example: `  mpitx matrix run1
  mpitx matrix run1 --phase solve -o csv
  mpitx matrix run1 --rank 0`,
		Args: cli.Arguments(1, 1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.MatrixFormats...)
	cmd.Flags().BoolVar(&o.oneSided, "one-sided", false, "one-sided operations (puts and gets) instead of messages")
	o.ProfileCut.Flags(cmd, a, false)
	return cmd
}

func (o *matrixOptions) run(_ *cobra.Command, args []string) error {
	if err := o.Parse(); err != nil {
		return err
	}
	term, err := o.App.Terminal()
	if err != nil {
		return err
	}
	run, err := cli.OpenSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	p, err := o.Read(run, args[0])
	if err != nil {
		return err
	}
	pairs, what := p.Pairs, "point-to-point messages"
	if o.oneSided {
		pairs, what = p.OneSided, "one-sided operations"
	}
	if len(pairs) == 0 {
		o.App.Complain("%s: there were no %s", text.Quote(args[0]), what)
	}
	if err := export.Matrix(o.App.Out, p, pairs, o.format, term); err != nil {
		return err
	}
	return cli.Partial(o.App, run)
}
