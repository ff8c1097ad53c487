package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/machine/qmpi"
	"mpitx/settings"
	"mpitx/text"
)

// program is what every recording command is told about the application and how to run it.
type program struct {
	mpi, dir, workload, job string
	kernel                  string // a list for the workload kernel, see fixtures/workload/kernel.c
	maxSize, policy         string
	ranks, workloadBytes    int
	force                   bool
	settingsFile            string
	setFlags, setAfterFlags []string
	toolFlags, moreTools    []string // moreTools: of the environment of the mpitx that started the launcher
	via                     string

	set, setAfter []launch.NameValue
}

func (x *program) flags(cmd *cobra.Command, a *cli.App) {
	f := cmd.Flags()
	f.SetInterspersed(false) // words after the application belong to the application
	f.StringArrayVar(&x.setFlags, "set", nil, "set a control variable for the application to a value (`CVAR=VALUE`); may be repeated")
	f.StringVar(&x.settingsFile, "settings", "", "give the application the settings of this `FILE`: parameter lines or a script, as mpitx tune and mpitx write --export write them; --set overrides them")
	cmd.MarkFlagFilename("settings")
	f.StringArrayVar(&x.setAfterFlags, "set-after", nil, "write a control variable (`CVAR=VALUE`) in the application, after MPI_Init; may be repeated")
	f.StringVar(&x.dir, "dir", "", "write the run to this new `DIRECTORY` (default: a new name in $MPITX_DIR, else in the current directory)")
	f.StringVar(&x.maxSize, "max-size", "", "limit the `SIZE` of the recording of all ranks, such as 500M or 2G")
	cli.Choose(cmd, &x.policy, "policy", "", "stop", "what to do at --max-size (`POLICY`): stop recording (stop), or drop the oldest samples (last)", "stop", "last")
	cli.ChooseMPI(cmd, &x.mpi, "use this `MPI` (default: the one that the application links)", false)
	f.IntVarP(&x.ranks, "ranks", "n", 0, "start `N` ranks with the MPI's launcher")
	f.BoolVar(&x.force, "force", false, "run the program even if the agent cannot be attached, or a pattern of variables matches none")
	cli.Choose(cmd, &x.workload, "workload", "", "", "run a built-in `WORKLOAD` instead of an application: "+strings.Join(cli.Workloads, ", "), cli.Workloads...)
	f.StringArrayVar(&x.toolFlags, "tool", nil, "let this QMPI tool intercept the application's MPI calls: a shared library, or the name of a tool that the application links (`LIB`[:NAME]); may be repeated, outermost first")
	cli.Choose(cmd, &x.via, "via", "", "chain", "`WHO` calls the tools of --tool: mpitx, with any MPI (chain), or the MPI library's own QMPI (qmpi)", "chain", "qmpi")
	f.IntVar(&x.workloadBytes, "workload-bytes", 0, "")
	f.MarkHidden("workload-bytes")
	f.StringVar(&x.kernel, "kernel", "", "")
	f.MarkHidden("kernel")
	f.StringVar(&x.job, "job", "", "")
	f.StringArrayVar(&x.moreTools, "more-tool", nil, "")
	f.MarkHidden("job")
	f.MarkHidden("more-tool")
	cmd.MarkFlagDirname("dir")
	cmd.RegisterFlagCompletionFunc("set", a.CompleteWrites)
	cmd.RegisterFlagCompletionFunc("set-after", a.CompleteWrites)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// config checks everything that does not depend on the machine.
func (x *program) config(cmd *cobra.Command, args []string, a *cli.App) (c launch.Config, err error) {
	if x.job != "" { // -n is done
		x.ranks = 0
	}
	c = launch.Config{Env: a.Env, Version: cli.Version, Args: args, Workload: x.workload, WorkloadBytes: x.workloadBytes, Duration: time.Second, MPI: x.mpi, Ranks: x.ranks, Dir: x.dir, Force: x.force, Job: x.job,
		Say: func(format string, args ...any) { a.Say(fmt.Sprintf(format, args...)) }}
	if c.Command, c.Arguments, err = a.CommandLine(cmd); err != nil {
		return c, err
	}
	switch {
	case x.workload != "" && len(args) > 0:
		return c, cli.Usagef("--workload runs in place of an application; leave %q out", args[0])
	case x.kernel != "":
		c.Workload, c.Kernel = "kernel", x.kernel
	case x.workload == "" && len(args) == 0:
		return c, cli.Usagef("name the application, after --: mpitx %s … -- ./app, or --workload %s", cmd.Name(), strings.Join(cli.Workloads, "|"))
	}
	if x.job == "" {
		if err := a.CheckRanks(cmd, x.ranks); err != nil {
			return c, err
		}
	}
	if x.maxSize != "" {
		size, err := cli.ParseSize(x.maxSize)
		if err != nil {
			return c, cli.Usagef("--max-size: %v", err)
		}
		asks(&c, "max_size", strconv.FormatInt(size, 10))
		asks(&c, "policy", x.policy)
	}
	if x.set, err = cli.ParseSettings("--set", x.setFlags); err != nil {
		return c, err
	}
	if x.settingsFile != "" {
		if err := x.readSettings(&c, a); err != nil {
			return c, err
		}
	}
	if x.setAfter, err = cli.ParseSettings("--set-after", x.setAfterFlags); err != nil {
		return c, err
	}
	c.Set, c.SetAfter, c.Native = x.set, x.setAfter, x.via == "qmpi"
	c.Tools, err = x.tools(a)
	if err == nil && cmd.Flags().Changed("via") && len(c.Tools) == 0 {
		err = cli.Usagef("--via says who calls the tools; name them with --tool LIB")
	}
	return c, err
}

// readSettings reads the file of --settings.
func (x *program) readSettings(c *launch.Config, a *cli.App) error {
	content, err := os.ReadFile(x.settingsFile)
	if err != nil {
		return cli.Usagef("--settings %s: %v", text.Quote(x.settingsFile), machine.Cause(err))
	}
	given, err := settings.ReadSettings(x.settingsFile, string(content))
	if err != nil {
		return cli.Usagef("--settings %v", err)
	}
	named := func(s launch.NameValue) bool {
		return slices.ContainsFunc(x.set, func(own launch.NameValue) bool { return own.Name == s.Name })
	}
	x.set = append(slices.DeleteFunc(given.Set, named), x.set...)
	c.Environ, c.Options = given.Environ, given.Options
	if len(c.Options) > 0 && c.Ranks == 0 && x.job == "" && a.Env.Launcher().Rank <= 0 {
		a.Complain("warning: --settings %s: options of the launcher have no effect, as mpitx does not start it (-n): %s", text.Quote(x.settingsFile), strings.Join(c.Options, " "))
	}
	return nil
}

// given is the value that a control variable gets before MPI_Init, if any.
func (x *program) given(name string) (value string, ok bool) {
	for _, s := range x.set {
		if s.Name == name {
			value, ok = s.Value, true
		}
	}
	return value, ok
}

// tools are those of --tool, followed by those of the environment.
func (x *program) tools(a *cli.App) ([]qmpi.Tool, error) {
	if v := a.Env.Getenv(qmpi.Variable); v != "" {
		x.moreTools = strings.Split(v, ",")
	}
	if len(x.toolFlags)+len(x.moreTools) == 0 {
		return nil, nil
	}
	tools, err := qmpi.Parse(a.Env, "--tool", x.toolFlags)
	if err == nil {
		var more []qmpi.Tool
		more, err = qmpi.Parse(a.Env, qmpi.Variable, x.moreTools)
		tools = append(tools, more...)
	}
	if err == nil {
		err = qmpi.TooMany(tools)
	}
	return tools, err
}

// warn warns of settings that the library did not have when it was last read, or that crash it.
func (x *program) warn(a *cli.App, m machine.MPI) {
	if len(x.set) > 0 {
		a.WarnOfCrashes(m, x.set)
	}
	switch c := inspect.CachedCatalog(a.Env, m); {
	case len(x.set)+len(x.setAfter) == 0:
	case c != nil:
		settings.Expected(a.Env, m, c, x.set)
		for _, words := range a.Judge(m).Warnings(c, x.set, x.setAfter) {
			a.Complain("%s", words)
		}
	case a.Env.CacheDir() == "":
		a.Complain("--set is not checked: mpitx keeps nothing about %s, because $HOME is not a directory; set XDG_CACHE_HOME to one", m.Name())
	default:
		a.Complain("nothing is known about %s yet: run mpitx list once to check --set", m.Name())
	}
	names := inspect.CachedNames(a.Env, m)
	if len(names) == 0 {
		return
	}
	for k, s := range slices.Concat(x.set, x.setAfter) {
		flag := "--set"
		if k >= len(x.set) {
			flag = "--set-after"
		}
		if !slices.Contains(names, s.Name) {
			a.Complain("warning: %s %s: %s had no such control variable when it was last read%s", flag, s.Name, m.Name(), catalog.DidYouMean(names, s.Name))
		}
	}
}

// outside refuses a file for the result that is the run directory, or standard output, unless that is free.
func (x *program) outside(file string, free bool) error {
	switch {
	case x.dir != "" && filepath.Clean(file) == filepath.Clean(x.dir):
		return cli.Usagef("--out %s: this is the run directory (--dir); name a file", file)
	case file == "-" && !free:
		return cli.Usagef("--out -: standard output is the application's; name a file")
	}
	return nil
}

// needs refuses the flags of a tool that was not asked for.
func needs(cmd *cobra.Command, tool string, flags ...string) error {
	for _, name := range flags {
		if !cmd.Flags().Changed(name) {
			continue
		}
		instead := ""
		if name == "function" && cmd.Flags().Changed("profile") {
			instead = ", or choose the functions of --profile with --include"
		}
		return cli.Usagef("--%s belongs to %s; add that%s", name, tool, instead)
	}
	return nil
}
