package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"mpitx/check/rules"
	"mpitx/cmd/mpitx/cli"
	"mpitx/cmd/mpitx/installed"
	"mpitx/cmd/mpitx/record"
	"mpitx/cmd/mpitx/runs"
	"mpitx/cmd/mpitx/tune"
	"mpitx/cmd/mpitx/variables"
	"mpitx/inspect"
	"mpitx/inspect/serve"
	"mpitx/machine"
	"mpitx/machine/keep"
)

// run is the whole program; it returns the exit code.
func run(args []string) int {
	if len(args) > 0 && args[0] == "backend" && !slices.Contains(args[1:], "serve") {
		if len(args) > 1 && args[1] == rules.Command {
			return rules.Worker(args[2:], machine.System().Launcher().Rank)
		}
		return inspect.RunBackend(args[1:], serve.Tasks) // before anything else, because it is started often and its start time counts
	}
	if os.Getenv("MPITX_DEBUG") == "" {
		keep.Quit()
	}
	debug.SetGCPercent(800) // mpitx runs for about a second
	// A write to a closed pipe then returns EPIPE instead of sending a signal. Child processes are not affected.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a, rank := cli.NewApp()
	a.Args = args
	root := newRoot(a)
	root.SetArgs(args)
	if rank > 0 {
		root.SetOut(io.Discard)
	}
	return a.End(root.Execute(), rank >= 0)
}

func newRoot(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "mpitx",
		Short: "Explore the control and performance variables of MPI libraries",
		Long: `mpitx shows the control variables, performance variables, categories and
enumerations that an MPI library exposes through the MPI tool information
interface (MPI_T). It samples performance variables inside unmodified
applications.

Run it alone, under a launcher (mpirun -n 4 mpitx list), or let it start the
launcher (mpitx list -n 4). Under a launcher it prints one answer for all ranks
and marks the values that differ between them.

On a terminal, mpitx without a command opens the explorer (mpitx tui). With
--from FILE, read-only commands read a snapshot and need no MPI.`,
		Version:           cli.Version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
	}
	tui := variables.NewTUI(a)
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if cli.NoFullScreen() != "" || a.Env.Launcher().Rank >= 0 {
			return cmd.Help()
		}
		return tui.RunE(tui, nil)
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.RefuseEmpty(cmd); err != nil {
			return err
		}
		a.UsePager(cmd)
		return nil
	}
	root.SetOut(a.Out)
	root.SetErr(a.Errs)
	root.SetFlagErrorFunc(cli.WrongFlag)
	root.SetHelpFunc(help)
	root.SetUsageFunc(func(cmd *cobra.Command) error { _, err := io.WriteString(cmd.OutOrStderr(), usage(cmd)); return err })
	root.SetVersionTemplate("mpitx {{.Version}}\n")
	a.Flags(root.PersistentFlags())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		tune.NewTune(a),
		variables.NewList(a),
		variables.NewShow(a),
		variables.NewRead(a),
		variables.NewWrite(a),
		variables.NewSnapshot(a),
		record.NewSample(a),
		record.NewRecord(a),
		runs.NewExport(a),
		runs.NewTop(a),
		record.NewRun(a),
		runs.NewWhere(a),
		record.NewProfile(a),
		record.NewTrace(a),
		runs.NewTimeline(a),
		runs.NewReport(a),
		runs.NewCompare(a),
		variables.NewVerify(a),
		variables.NewDiff(a),
		installed.NewTools(a),
		installed.NewCheck(a),
		tui,
		runs.NewRecover(a),
		runs.NewRuns(a),
		installed.NewDoctor(a),
		installed.NewSetup(a),
		variables.NewBackend(a),
		newVersion(a),
	)
	root.DisableSuggestions = true // wrongCommand makes them
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			a.Commands = append(a.Commands, cmd.Name())
		}
	}
	root.SetHelpCommand(cli.NewHelp())
	root.InitDefaultCompletionCmd()
	cli.RefuseArguments(root, "completion")
	for _, cmd := range append(root.Commands(), root) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().Lookup("help").Usage = "show this help"
	}
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version"
	return root
}

func newVersion(a *cli.App) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version of mpitx", Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Out, "mpitx", cli.Version)
			return err
		}}
}
