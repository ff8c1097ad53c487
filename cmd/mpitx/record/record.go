package record

import (
	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/text"
)

type recordOptions struct{ sampling }

func NewRecord(a *cli.App) *cobra.Command {
	o := &recordOptions{sampling{a: a}}
	cmd := &cobra.Command{
		Use:   "record --pvar GLOB… [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Sample performance variables and keep the run for later",
		Long: `Sample performance variables as mpitx sample does, and keep the run directory.
mpitx export writes it in any format, mpitx report summarizes it. The
directory's name is printed on standard error at the end.`,
		Example: `  mpirun -n 4 mpitx record --pvar 'mpitx:*' --dir run1 -- ./app input
  mpitx report run1 samples
  mpitx export run1 -o csv --out samples.csv`,
		RunE: o.run,
	}
	o.flags(cmd)
	return cmd
}

func (o *recordOptions) run(cmd *cobra.Command, args []string) error {
	r, err := launch.Start(o.config(cmd, args, o))
	if err == nil && r.Run != nil {
		defer r.Run.Close()
		if dir := text.Quote(r.Shown); o.kept(r) {
			if r.StillRunning {
				o.a.Complain("some ranks were still running; after they have ended, mpitx recover %s collects what they left in memory", dir)
			}
			o.a.Complain("recorded in %s%s; next: mpitx report %s samples, mpitx export %s -o csv --out FILE", dir, r.NameSource, dir, dir)
		}
	}
	o.a.Last = r.End
	return cli.Ended(r.Code, err)
}

// Promise implements launch.Hooks: the run directory stays.
func (o *recordOptions) Promise(dir string, _ bool) (words string, ok bool) {
	return "the recorded samples are in " + text.Quote(dir), true
}
