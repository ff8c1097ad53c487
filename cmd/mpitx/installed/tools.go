package installed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/machine/qmpi"
)

type toolsOptions struct {
	a            *cli.App
	mpi          string
	format       export.Format
	cflags, libs bool
}

func NewTools(a *cli.App) *cobra.Command {
	o := &toolsOptions{a: a}
	cmd := &cobra.Command{
		Use:         "tools [flags] [LIBRARY…]",
		Annotations: cli.Paged,
		Short:       "List the tools of the agent, and what QMPI tools offer",
		Long: `List the tools that are built into the agent, with the commands that use them.

With shared libraries of QMPI tools, load each one in a process of its own as
mpitx run --tool does, and list the names that it registers, the MPI that it was
compiled for, who calls them (--via: mpitx's chain, or the MPI library's own
QMPI), and the functions that each of its tools intercepts.

--cflags prints the compiler's flags for tools, and --libs the linker's for an
application that tools are linked into.`,
		Example: `  mpitx tools
  mpitx tools ./libfoo.so -o json
  mpitx tools --cflags`,
		Args: cli.Arguments(0, -1, "shared libraries"),
		RunE: a.OnRank0(o.run),
	}
	f := cmd.Flags()
	cli.ChooseMPI(cmd, &o.mpi, "load the tools with this `MPI` (default: of the family that they were compiled for, or the one that a tool for its own QMPI links)", false)
	f.BoolVar(&o.cflags, "cflags", false, "print the flags with which tools are compiled")
	f.BoolVar(&o.libs, "libs", false, "print the flags with which an application links tools")
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV, export.FormatNames)
	return cmd
}

// builtin are the tools in the agent's table (agent/life/tools.c).
var builtin = []struct{ name, commands, does string }{
	{"profile", "profile", "times, call sites and messages of MPI calls"},
	{"trace", "trace", "each call and message"},
	{"event", "trace --event", "events that the library raises: of MPI_T and PERUSE"},
	{"sync", "trace --sync", "messages between nodes after MPI_Init, to put their clocks in step"},
	{"window", "trace", "the part of a run that is traced: --after, --for, --window"},
	{"trigger", "run --when", "conditions over arguments and variables in MPI calls"},
	{"where", "run, where", "the call that each rank is in, and what it waits for"},
	{"sample", "sample, record", "values of performance variables over time"},
	{"algorithms", "profile, trace", "which algorithms of the library serve collective calls"},
	{"paths", "profile", "over which transports ranks reach each other"},
	{"processor", "profile, trace, sample", "processor time of each rank, and how long it waited for a core"},
	{"objects", "profile, trace, where", "numbers and names of communicators, windows and files"},
	{"seen", "all of them", "why a process was not recorded"},
	{"counts", "", "writes the number of calls of each function to a file (counts=FILE)"},
	{"null", "", "does nothing; a template for new tools (null=count)"},
}

func (o *toolsOptions) run(cmd *cobra.Command, args []string) error {
	if o.cflags || o.libs {
		if len(args) > 0 {
			return cli.Usagef("tools: --cflags and --libs take no libraries; leave %q out", args[0])
		}
		words, err := qmpi.Flags(o.a.Env, o.cflags, o.libs)
		if err == nil {
			fmt.Fprintln(o.a.Out, strings.Join(words, " "))
		}
		return err
	}
	term, err := o.a.Terminal()
	if err != nil {
		return err
	}
	r := &export.Rows{Schema: "mpitx.tools", Columns: []export.RowColumn{{Name: "tool", Header: "TOOL"}, {Name: "library", Header: "LIBRARY", Optional: true},
		{Name: "family", Header: "COMPILED FOR", Optional: true}, {Name: "functions", Header: "INTERCEPTS", Optional: true},
		{Name: "commands", Header: "COMMANDS", Optional: true}, {Name: "description", Header: "WHAT IT RECORDS", Optional: true}, {Name: "via", Header: "VIA", Optional: true}}}
	code := cli.ExitDone
	for _, given := range args {
		rows, err := o.library(given)
		if err != nil {
			code = max(code, o.a.Exit(err))
		}
		r.Rows = append(r.Rows, rows...)
	}
	if len(args) == 0 {
		for _, b := range builtin {
			r.Rows = append(r.Rows, []any{b.name, "", "", []string{}, b.commands, b.does, ""})
		}
	}
	switch {
	case len(r.Rows) == 0:
		return cli.Exit(code)
	case code != cli.ExitDone:
		code = cli.ExitPartial
	}
	if err := r.Write(o.a.Out, o.format, term); err != nil {
		return err
	}
	return cli.Exit(code)
}

// library lists the tools of a library.
func (o *toolsOptions) library(given string) ([][]any, error) {
	l, err := qmpi.List(o.a.Env, given, o.mpi)
	if l == nil {
		return nil, err
	}
	var rows [][]any
	via := "chain"
	if l.Native {
		via = "qmpi"
	}
	if l.Lacks != "" {
		o.a.Complain("%s: %s has no QMPI, so the functions that its tools intercept are unknown; choose a library with --mpi", given, l.Lacks)
	}
	for _, i := range l.Tools {
		if len(i.Unknown) > 0 {
			o.a.Complain("%s: %s registers functions that do not exist: %s", given, i.Name, strings.Join(i.Unknown, ", "))
		}
		if len(i.Twice) > 0 {
			o.a.Complain("%s: %s registers %s more than once; the last registration counts", given, i.Name, strings.Join(i.Twice, ", "))
		}
		functions := append([]string{}, i.Functions...)
		slices.Sort(functions)
		rows = append(rows, []any{i.Name, l.Path, l.Family, functions, "", "", via})
	}
	return rows, err
}
