package variables

import (
	"os"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/inspect"
	"mpitx/inspect/serve"
	"mpitx/machine"
)

// NewBackend holds the commands that mpitx starts itself. The back ends of the stages, before and after, are started by
// run without cobra.
func NewBackend(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "backend", Hidden: true, Short: "What other commands of mpitx start"}
	cmd.AddCommand(newServe(a))
	return cmd
}

// newServe is the back end of the explorer (docs/guide.md).
func newServe(a *cli.App) *cobra.Command {
	s := &cli.Source{App: a}
	var exclude []string
	cmd := &cobra.Command{Use: "serve", Args: cli.NoArguments, Short: "Serve an explorer over standard input and output",
		RunE: func(cmd *cobra.Command, _ []string) error { return serveExplorer(s, cmd, exclude) }}
	s.Flags(cmd, true)
	cmd.Flags().StringArrayVar(&exclude, "exclude", nil, "list this variable, and otherwise leave it alone")
	return cmd
}

func serveExplorer(s *cli.Source, cmd *cobra.Command, exclude []string) (err error) {
	if err := s.Check(cmd); err != nil {
		return err
	}
	if s.Chosen, err = s.App.Env.Choose(s.MPI); err != nil {
		return err
	}
	if s.App.Env.Launcher().Rank <= 0 {
		s.App.WarnOverridden(s.Chosen, s.MPI)
	}
	if s.N > 0 { // the demo MPI, whose launcher is mpitx
		return s.Relaunch(cmd)
	}
	o, err := s.App.Collecting(s.Chosen, s.Timeout)
	if err != nil {
		return err
	}
	o.Exclude = exclude
	return cli.Exit(serve.Serve(o, func(c *catalog.Catalog) {
		s.Origins(c)
		inspect.CacheNames(s.App.Env, s.Chosen, c)
	}, os.Stdin, os.Stdout))
}

// serveCommand is the command line and environment of the explorer's back end: one process, or s.n ranks under the
// MPI's launcher.
func serveCommand(s *cli.Source) (argv, environ []string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, cli.Failf("start: %v", err)
	}
	if s.Chosen, err = s.App.Env.Choose(s.MPI); err != nil {
		return nil, nil, err
	}
	program := []string{exe, "backend", "serve", "--timeout", s.Timeout.String()}
	argv, environ = program, s.App.Env.FreeOfLauncher()
	if s.N > 0 {
		if argv, environ, err = s.App.Env.LaunchCommand(s.Chosen, s.N, program); err != nil {
			return nil, nil, err
		}
		environ = append(environ, machine.Quiet(s.Chosen)...)
		if argv[0] == machine.SelfLaunch {
			argv = append(program, "-n", argv[1])
		}
	}
	return argv, append(environ, cli.MpiVariable(s.Chosen)), nil
}
