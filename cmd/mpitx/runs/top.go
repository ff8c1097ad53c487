package runs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/machine/keep"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/text"
	"mpitx/ui/screen/program"
	"mpitx/ui/term"
	"mpitx/ui/top"
)

type topOptions struct {
	a            *cli.App
	format       export.Format
	table        string
	as           recording.Transform
	once, byRank bool
	cli.ThemeFlag
	columnFilter
}

func NewTop(a *cli.App) *cobra.Command {
	o := &topOptions{a: a}
	cmd := &cobra.Command{
		Use:         "top [RUN [GLOB…]]",
		Annotations: cli.Paged,
		Short:       "Watch a running job: variables, functions, messages",
		Long: `Watch the run directory of a job that runs under mpitx record, sample or
profile: each variable over all ranks, its value on each rank, and a heat map or
a chart of the ranks over time. If the run has a profile, 2 shows the functions
that the ranks call and 3 shows which ranks send to which. The screen is
refreshed twice a second. Runs that have ended are shown as a whole.

mpitx top only reads the files of the run and does not slow the job. Without
RUN, it takes the only running job's run in the current directory, or in
$MPITX_DIR. It waits for a run that is not there yet. Press ? for the keys.

--once prints tables and works without a terminal: the variables and, if the run
has a profile, its functions and messages. CSV, JSON and NDJSON hold one table,
which --table chooses. GLOBs choose variables by name. --once waits up to 5
seconds for a run that is not there yet.`,
		Example: `  mpirun -n 4 mpitx record --pvar 'mpitx:*' --dir run1 -- ./app input &
  mpitx top run1
  mpitx top run1 --once --by-rank -o csv
  mpitx top run1 'mpitx:bytes_*' --once --nonzero`,
		Args: cli.Arguments(0, -1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	cli.ChooseFormat(cmd, &o.format, "with --once: output `FORMAT`", export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV)
	cli.ChooseTransform(cmd, &o.as)
	cmd.Flags().BoolVar(&o.once, "once", false, "print one table and exit")
	cli.Choose(cmd, &o.table, "table", "", "", "with --once: print this `TABLE`: "+strings.Join(topTables, ", "), topTables...)
	cmd.Flags().BoolVar(&o.byRank, "by-rank", false, "with --once: print one row per variable or function and rank")
	o.ThemeFlag.Flags(cmd)
	o.columnFilter.flags(cmd)
	return cmd
}

func (o *topOptions) run(cmd *cobra.Command, args []string) error {
	switch {
	case !o.once && (cmd.Flags().Changed("output") || o.byRank || o.nonzero || o.table != "" || len(args) > 1):
		return cli.Usagef("GLOBs, --nonzero, --table, -o and --by-rank need --once")
	case o.byRank && o.table == tableMatrix:
		return cli.Usagef("the matrix is by rank; leave out --by-rank")
	case o.table != "" && o.table != tableVariables && (o.nonzero || len(args) > 1):
		return cli.Usagef("GLOBs and --nonzero choose variables; use them with --table variables")
	case !o.once && cli.NoFullScreen() != "":
		return cli.Usagef("top: %s; --once prints a table", cli.NoFullScreen())
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
		if err := o.columnFilter.parse(args[1:]); err != nil {
			return err
		}
	}
	if o.once {
		return o.print(name)
	}
	t, err := term.Detect(os.Stdout, o.a.Env.Getenv, o.a.Color)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	file, problem := o.Configure(o.a, &t)
	if problem != "" {
		o.a.Complain("%s", problem)
	}
	find := func() (top.Source, string, error) {
		run, awaited, err := o.a.FindLive(name)
		if run == nil {
			return nil, awaited, err
		}
		return top.Open(run), "", nil
	}
	o.a.Out.Flush()
	ctx, forget := keep.QuitContext()
	defer forget()
	switch err := top.Run(ctx, find, t, o.as, file, os.Stdin, os.Stdout); {
	case errors.Is(err, program.ErrSignal):
		return cli.Exit(128 + int(syscall.SIGTERM))
	case err != nil:
		return err
	}
	return nil
}

// print is --once.
func (o *topOptions) print(name string) error {
	terminal, err := o.a.Terminal()
	if err != nil {
		return err
	}
	run, err := o.a.AwaitRun(name)
	if err != nil {
		return err
	}
	feed := top.Open(run)
	defer feed.Close()
	named, err := o.named(run)
	if err != nil {
		return err
	}
	feed.All()
	frame := feed.Frame(top.Ask{As: o.as, Profile: true, Matrix: true})
	tables, err := o.tables(frame, run)
	if err != nil {
		return err
	}
	recorded := len(frame.Rows)
	frame.Rows = slices.DeleteFunc(frame.Rows, func(r top.Row) bool {
		return named != nil && !named[columns.Key{Variable: r.Variable, Object: r.Object, Class: r.Class}] || o.nonzero && r.Zero()
	})
	for i, table := range tables {
		if i > 0 {
			fmt.Fprintln(o.a.Out)
		}
		rows := o.rows(feed, frame, table)
		if o.people() {
			rows.Units(terminal)
		}
		if err := rows.Write(o.a.Out, o.format, terminal); err != nil {
			return err
		}
	}
	for _, table := range tables {
		if text := o.whyEmpty(frame, run, table, recorded); text != "" {
			o.a.Complain("%s", text)
		}
	}
	for _, text := range frame.Troubles() {
		o.a.Complain("%s", text)
	}
	if len(frame.Damage) > 0 || frame.Broken != "" {
		return cli.Exit(cli.ExitPartial)
	}
	return nil
}

// whyEmpty says why a table has no rows; "": it has some. recorded is how many variables have samples.
func (o *topOptions) whyEmpty(frame *top.Frame, run *recording.Run, table string, recorded int) string {
	switch {
	case table == tableFunctions && len(frame.Functions) == 0:
		return fmt.Sprintf("%s: no MPI call has been profiled so far", run.Dir)
	case table == tableMatrix && (frame.Matrix == nil || len(frame.Matrix.Pairs) == 0):
		return fmt.Sprintf("%s: no messages between ranks have been profiled so far", run.Dir)
	case table != tableVariables || len(frame.Rows) > 0 || len(frame.Damage) > 0:
		return ""
	case recorded > 0:
		return fmt.Sprintf("%s: none of its %d variables is left; leave GLOBs and --nonzero out to see all", run.Dir, recorded)
	case frame.HasProfile:
		return fmt.Sprintf("%s: no samples: the run has a profile only; see mpitx top %s --once --table functions, or sample variables with mpitx record --pvar GLOB -- ./app",
			run.Dir, text.Quote(run.Dir))
	}
	return fmt.Sprintf("%s: no samples: no variable was asked for; sample some with mpitx record --pvar GLOB -- ./app", run.Dir)
}

// The tables of --once.
const tableVariables, tableFunctions, tableMatrix = "variables", "functions", "matrix"

var topTables = []string{tableVariables, tableFunctions, tableMatrix}

// people says whether the output is for people.
func (o *topOptions) people() bool {
	return o.format == export.FormatTable || o.format == export.FormatWide
}

// tables are the tables to print: all that there are for people, and one for programs.
func (o *topOptions) tables(frame *top.Frame, run *recording.Run) (list []string, err error) {
	profiled := frame.HasProfile && frame.Profile == ""
	switch {
	case o.table == "" && !profiled && (len(frame.Rows) > 0 || len(frame.Damage) > 0 || !frame.HasProfile), o.table == tableVariables, len(o.globs) > 0, o.nonzero:
		return []string{tableVariables}, nil
	case !frame.HasProfile:
		return nil, cli.Failf("%s: the run has no profile; record one with mpitx profile -- ./app", run.Dir)
	case !profiled:
		return nil, cli.Failf("%s: %s", run.Dir, frame.Profile)
	case o.table != "":
		return []string{o.table}, nil
	}
	if len(frame.Rows) > 0 {
		list = append(list, tableVariables)
	}
	list = append(list, tableFunctions)
	if !o.byRank && frame.Matrix != nil && len(frame.Matrix.Pairs) > 0 {
		list = append(list, tableMatrix)
	}
	if !o.people() {
		list = list[:1]
	}
	return list, nil
}

// rows is one table.
func (o *topOptions) rows(feed *top.Feed, frame *top.Frame, table string) *export.Rows {
	switch {
	case table == tableMatrix:
		return frame.PairTable(o.people())
	case table == tableFunctions && o.byRank:
		var details []*top.Function
		for i := range frame.Functions {
			key := frame.Functions[i].Key
			of := feed.Frame(top.Ask{Profile: true, Row: &key})
			if k := slices.IndexFunc(of.Functions, func(f top.Function) bool { return f.Key == key }); k >= 0 {
				details = append(details, &of.Functions[k])
			}
		}
		return frame.FunctionRankTable(details, o.people())
	case table == tableFunctions:
		return frame.FunctionTable(o.people())
	case o.byRank:
		var details []*top.Detail
		for i := range frame.Rows {
			details = append(details, feed.Detail(frame.Rows[i].Key, o.as, 0))
		}
		return top.RankTable(frame, details, o.people())
	}
	return frame.Table(o.people())
}
