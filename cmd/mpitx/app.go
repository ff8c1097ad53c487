package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"mpitx/check/rules"
	"mpitx/export"
	"mpitx/inspect"
	"mpitx/inspect/serve"
	"mpitx/machine"
	"mpitx/machine/keep"
	"mpitx/settings"
)

// version is set by the build.
var version = "0.1.0-dev"

// app is what all commands share.
type app struct {
	out     *bufio.Writer
	errs    io.Writer
	std     *standard
	env     *machine.Env
	color   string // --color
	noPager bool   // --no-pager

	commands   []string // their names
	deprecated []string // warnings of old spellings in the command line
}

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
	std := &standard{}
	a := &app{out: bufio.NewWriterSize(answers{std}, 1<<16), errs: messages{std}, std: std, env: machine.System()}
	root := newRoot(a)
	root.SetArgs(args)
	rank := a.env.Launcher().Rank
	if rank > 0 { // rank 0 prints the answer; the others print their errors only
		a.out = bufio.NewWriter(io.Discard)
		root.SetOut(io.Discard)
	}
	return a.end(root.Execute(), rank >= 0)
}

// warnOverridden warns if programs load another library than the chosen one.
func (a *app) warnOverridden(m machine.MPI, want string) {
	if text := settings.Overridden(a.env, m, want); text != "" {
		a.complain("warning: %s", text)
	}
}

// terminal describes the terminal that the answer goes to.
func (a *app) terminal() (export.Terminal, error) {
	out := os.Stdout
	if l := a.env.Launcher(); l.Rank >= 0 {
		// Launchers connect ranks to a terminal or a pipe as they like, so look at the launcher's own standard output.
		f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", l.PID), os.O_WRONLY|syscall.O_NOCTTY, 0)
		if err != nil {
			f, _ = os.Open(os.DevNull)
		}
		defer f.Close()
		out = f
	}
	t, err := export.Detect(out, a.env.Getenv, a.color)
	if err != nil {
		return t, usagef("%v", err)
	}
	return t, nil
}

func newRoot(a *app) *cobra.Command {
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
		Version:           version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
	}
	tui := newTUI(a)
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if noFullScreen() != "" || a.env.Launcher().Rank >= 0 {
			return cmd.Help()
		}
		return tui.RunE(tui, nil)
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := refuseEmpty(cmd); err != nil {
			return err
		}
		a.std.page = a.pagerCommand(cmd)
		a.warnDeprecated()
		return nil
	}
	root.SetOut(a.out)
	root.SetErr(a.errs)
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpFunc(help)
	root.SetUsageFunc(func(cmd *cobra.Command) error { _, err := io.WriteString(cmd.OutOrStderr(), usage(cmd)); return err })
	root.SetVersionTemplate("mpitx {{.Version}}\n")
	a.color = "auto"
	root.PersistentFlags().Var(choice[string]{&a.color, export.ColorFlags}, "color", "`WHEN` to use colours: auto, always or never; auto respects NO_COLOR")
	root.PersistentFlags().BoolVar(&a.noPager, "no-pager", false, "never show long tables in a pager ($MPITX_PAGER, $PAGER or less)")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newList(a), newShow(a), newRead(a), newWrite(a), newSnapshot(a), newSample(a), newRecord(a), newExport(a), newStats(a), newTop(a), newRun(a), newWhere(a), newProfile(a), newTrace(a), newTimeline(a), newReport(a), newMatrix(a), newQueues(a), newCompare(a), newVerify(a), newDiff(a), newTools(a), newEnv(a), newCheck(a), tui, newRecover(a), newDoctor(a), newSetup(a), newBackend(a), newVersion(a))
	root.DisableSuggestions = true // wrongCommand makes them
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			a.commands = append(a.commands, cmd.Name())
		}
	}
	root.SetHelpCommand(newHelp())
	root.InitDefaultCompletionCmd()
	refuseArguments(root, "completion")
	for _, cmd := range append(root.Commands(), root) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().Lookup("help").Usage = "show this help"
	}
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version"
	return root
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version of mpitx", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, "mpitx", version)
			return err
		}}
}
