package record

import (
	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/text"
)

// recordOutput keeps the run directory.
type recordOutput struct{ *sampling }

func NewRecord(a *cli.App) *cobra.Command {
	r := &recorder{App: a}
	s := newSampling(r, "pvar")
	s.required, r.tools, r.output = true, []tool{s}, recordOutput{s}
	cmd := &cobra.Command{
		Use:   "record --pvar GLOB… [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Sample performance variables and keep the run for later",
		Long: `Sample performance variables as mpitx sample does, and keep the run directory.
mpitx export writes it in any format, mpitx report summarizes it. The
directory's name is printed on standard error at the end.`,
		Example: `  mpirun -n 4 mpitx record --pvar 'mpitx:*' --dir run1 -- ./app input
  mpitx report run1 samples
  mpitx export run1 -o csv --out samples.csv`,
		RunE: r.run,
	}
	r.program.flags(cmd, a)
	s.flags(cmd)
	return cmd
}

func (o recordOutput) configure(*cobra.Command, *launch.Config) error { return nil }

func (o recordOutput) check(machine.MPI, bool) error { return nil }

func (o recordOutput) promise(dir string) launch.Promise {
	return launch.Promise{Text: "the recorded samples are in " + text.Quote(dir)}
}

func (o recordOutput) deliver(j *launch.Job) error {
	if dir := text.Quote(j.Shown); o.kept(j) {
		o.runningWarning(j, "")
		o.Complain("recorded in %s%s; next: mpitx report %s samples, mpitx export %s -o csv --out FILE", dir, j.NameSource, dir, dir)
	}
	return nil
}
