package runs

import (
	"errors"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine/keep"
	"mpitx/recording"
	"mpitx/ui/screen/program"
	"mpitx/ui/term"
	"mpitx/ui/top"
)

type topOptions struct {
	a  *cli.App
	as recording.Transform
	cli.ThemeFlag
}

func NewTop(a *cli.App) *cobra.Command {
	o := &topOptions{a: a}
	cmd := &cobra.Command{
		Use:   "top [RUN]",
		Short: "Watch a running job: variables, functions, messages",
		Long: `Watch the run directory of a job that runs under mpitx record, sample or
profile: each variable over all ranks, its value on each rank, and a heat map or
a chart of the ranks over time. If the run has a profile, 2 shows the functions
that the ranks call and 3 shows which ranks send to which. The screen is
refreshed twice a second. Runs that have ended are shown as a whole.

mpitx top only reads the files of the run and does not slow the job. Without
RUN, it takes the newest run in the current directory, or in $MPITX_DIR, those
that are running first, and says which. It waits for a run that is not there yet.
Press ? for the keys.

mpitx report RUN prints tables, also while the job runs and without a terminal.`,
		Example: `  mpirun -n 4 mpitx record --pvar 'mpitx:*' --dir run1 -- ./app input &
  mpitx top run1
  mpitx top`,
		Args: cli.Arguments(0, 1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	cli.ChooseTransform(cmd, &o.as)
	o.ThemeFlag.Flags(cmd)
	cmd.ValidArgsFunction = cli.CompleteRuns
	return cmd
}

func (o *topOptions) run(_ *cobra.Command, args []string) error {
	if why := cli.NoFullScreen(); why != "" {
		return cli.Usagef("top: %s; mpitx report RUN prints tables", why)
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	t, err := term.Detect(os.Stdout, o.a.Env.Getenv, o.a.Color)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	file, problem := o.Configure(o.a, &t)
	if problem != "" {
		o.a.Complain("%s", problem)
	}
	said := ""
	find := func() (top.Source, string, error) {
		run, awaited, err := launch.FindLive(name, o.a.RunsDir(), func(words string) { said = words })
		if run == nil {
			return nil, awaited, err
		}
		return top.Open(run), "", nil
	}
	o.a.Out.Flush()
	ctx, forget := keep.QuitContext()
	defer forget()
	defer func() {
		if said != "" { // the screen has covered everything until now
			o.a.Say(said)
		}
	}()
	switch err := top.Run(ctx, find, t, o.as, file); {
	case errors.Is(err, program.ErrSignal):
		return cli.Exit(128 + int(syscall.SIGTERM))
	case err != nil:
		return err
	}
	return nil
}
