package main

import (
	"os"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/inspect/serve"
	"mpitx/machine"
)

// newBackend holds the commands that mpitx starts itself. The back ends of the stages, before and after, are started by
// run without cobra.
func newBackend(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "backend", Hidden: true, Short: "What other commands of mpitx start"}
	cmd.AddCommand(newServe(a))
	return cmd
}

// newServe is the back end of the explorer (docs/protocol.md).
func newServe(a *app) *cobra.Command {
	s := &source{a: a}
	var exclude []string
	cmd := &cobra.Command{Use: "serve", Args: noArguments, Short: "Serve an explorer over standard input and output",
		RunE: func(cmd *cobra.Command, _ []string) error { return s.serve(cmd, exclude) }}
	s.flags(cmd, true)
	cmd.Flags().StringArrayVar(&exclude, "exclude", nil, "list this variable, and otherwise leave it alone")
	return cmd
}

func (s *source) serve(cmd *cobra.Command, exclude []string) (err error) {
	if err := s.check(cmd); err != nil {
		return err
	}
	if s.chosen, err = s.a.env.Choose(s.mpi); err != nil {
		return err
	}
	if s.a.env.Launcher().Rank <= 0 {
		s.a.warnOverridden(s.chosen, s.mpi)
	}
	if s.n > 0 { // the demo MPI, whose launcher is mpitx
		return s.relaunch(cmd)
	}
	o, err := s.a.collecting(s.chosen, s.timeout)
	if err != nil {
		return err
	}
	o.Exclude = exclude
	return exit(serve.Serve(o, func(c *catalog.Catalog) {
		s.origins(c)
		cacheNames(s.a.env, s.chosen, c)
	}, os.Stdin, os.Stdout))
}

// serveCommand is the command line and environment of the explorer's back end: one process, or s.n ranks under the
// MPI's launcher.
func (s *source) serveCommand() (argv, environ []string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, failf("start: %v", err)
	}
	if s.chosen, err = s.a.env.Choose(s.mpi); err != nil {
		return nil, nil, err
	}
	program := []string{exe, "backend", "serve", "--timeout", s.timeout.String()}
	argv, environ = program, s.a.env.FreeOfLauncher()
	if s.n > 0 {
		if argv, environ, err = s.a.env.LaunchCommand(s.chosen, s.n, program); err != nil {
			return nil, nil, err
		}
		environ = append(environ, machine.Quiet(s.chosen)...)
		if argv[0] == machine.SelfLaunch {
			argv = append(program, "-n", argv[1])
		}
	}
	return argv, append(environ, mpiVariable(s.chosen)), nil
}
