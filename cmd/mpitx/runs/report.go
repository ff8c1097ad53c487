package runs

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/parquet"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/profile"
	"mpitx/recording/trace"
	"mpitx/recording/trigger"
	"mpitx/text"
)

// view is one answer of mpitx report.
type view struct {
	name    string
	about   string
	formats []export.Format
	takes   []string // flags for a part of views; all have --rank
	tables  []string // of --table
	globs   bool     // it takes GLOBs
	clocks  bool     // it compares times of nodes
	show    func(*reading) error
}

// views are all of them, the default one first.
var views = slices.Concat([]view{
	{name: runs.ViewOverview, about: "what stands out, and the first rows of the tables that follow", formats: cli.ReportFormats, takes: profileFlags, show: showProfile},
}, profileViews(), []view{
	{name: runs.ViewAdvice, about: "which settings may make the program faster, and why", formats: append(tableFormats[:5:5], runs.Places...), takes: []string{"phase"}, show: showAdvice},
	{name: runs.ViewMatrix, about: "which rank sends to which: messages and bytes", formats: tableFormats, takes: []string{"phase", "one-sided"}, show: showMatrix},
	{name: runs.ViewPaths, about: "over which transports ranks reached each other", formats: tableFormats, takes: []string{"phase"}, show: showPaths},
	{name: runs.ViewQueues, about: "what messages and receives waited for (of mpitx trace)", formats: tableFormats, takes: []string{"from", "to", "table", "derived"}, tables: runs.QueuesTables, clocks: true, show: showQueues},
	{name: runs.ViewWaits, about: "why ranks waited, what caused it, and the critical path (of mpitx trace)", formats: append(tableFormats[:len(tableFormats):len(tableFormats)], cli.FormatHTML), takes: []string{"from", "to", "table"}, tables: runs.WaitTables, clocks: true, show: showWaits},
	{name: runs.ViewSamples, about: "minimum, mean, maximum of each variable (of mpitx record)", formats: append(tableFormats[:len(tableFormats):len(tableFormats)], export.FormatNames),
		takes: []string{"phase", "from", "to", "as", "nonzero", "sort", "by-rank"}, globs: true, show: showSamples},
	{name: runs.ViewEvents, about: "how often events were raised (of mpitx trace --event)", formats: tableFormats, takes: []string{"from", "to"}, globs: true, show: showEvents},
	{name: runs.ViewTriggers, about: "when conditions were true (of mpitx run --when)", formats: tableFormats, takes: []string{"from", "to", "function"}, show: showTriggers},
})

type reportOptions struct {
	cli.FormatOut
	cli.ProfileCut
	part cli.RunPart

	oneSided, derived, byRank bool
	table, sort               string
	as                        recording.Transform
	columnFilter
}

// reading is a run that a view reads.
type reading struct {
	*reportOptions
	view *view
	run  *recording.Run
	dir  string // as the user named it
	term export.Terminal
}

func NewReport(a *cli.App) *cobra.Command {
	o := &reportOptions{}
	cmd := &cobra.Command{
		Use:         "report [RUN] [VIEW [GLOB…]]",
		Annotations: cli.Paged,
		Short:       "Report what a run has recorded: MPI calls, messages, samples",
		Long: `Report what a run directory holds. Without RUN, that is the newest run in the
current directory, or in $MPITX_DIR. VIEW is one of:

` + aboutViews() + `
Without VIEW, the report is the overview; of a run without a profile, the
triggers, the samples or the queues. The run may still be in progress, or its job may have
died: a report covers everything up to now.

--rank, --phase, --from, --to, --function and --comm restrict a view to a part of
the run. A view refuses those that it cannot apply: a profile has no times, and
messages between ranks are not counted by function.

overview: run time is the time from the end of MPI_Init to the beginning of
MPI_Finalize. Efficiencies are those of the POP project: the parallel efficiency
is the mean time outside of MPI divided by the run time, and the product of load
balance and communication efficiency. Percentiles are estimates from a
histogram, within about 10 percent. JSON holds all tables, CSV and NDJSON the
functions.

arrivals: all ranks keep when they came to the same up to 64 calls of a call site.
LAST is to how many of these calls a rank came last, AFTER SECOND the mean time
that the others waited for it alone. UNWAITED are calls in which nobody waited for
the last rank, as in a broadcast whose root was there; UNKNOWN those whose last
rank is not certain. docs/profile.md says more.

advice: what the run shows that settings of the library act on, with its share of
the run time, and settings to try. Whether one helps, only runs can say: mpitx
tune makes them. -o wide says when a rule is wrong, and its source. Rules of your
own: mpitx/advice.txt in the configuration directory. If another placement of the
ranks makes fewer bytes of messages cross nodes, -o rankfile writes it for Open MPI,
-o rankmap for MPICH from 5.0 on, and -o hosts as the host of each rank: for older
MPICH, and for Open MPI without binding. docs/tune.md says more.

matrix: ranks are those of MPI_COMM_WORLD, whatever the communicator, and the
numbers are those of the senders. With --one-sided they are those of the ranks
that made the operations: a put moves data from its rank to the target, a get
from the target to its rank; MPI_Fetch_and_op does both. For many ranks, the
table lists the pairs with the most bytes; CSV and JSON hold all.

paths: each pair of ranks, and a rank with itself. CARRIED BY is what the tables of
the library or of UCX have for the pair; SINGLE COPIES are what one process
copied from the other's memory by process_vm_readv; RETRANSMITTED are segments of
TCP that were sent again. Messages and bytes are point-to-point messages of the
program. The map has the letter of each pair's line. CSV and JSON name the
evidence of each pair. What is not seen is unknown.

queues: a message that comes before its receive waits in the queue of unexpected
messages, and is copied once more: its receive was posted late (UNEXPECTED, LATE
RECV). A receive that is posted before its message comes waits in the queue of
posted receives: its message was sent late (EXPECTED, LATE MSG). If the library
raised events of its queues (mpitx trace --event 'PERUSE_*' or 'unexp_*'), the
numbers are exact; otherwise, and with --derived, they are bounds from calls.
docs/events.md describes all columns.

waits: of a trace. Each wait has a kind (late sender, wait at barrier …), the rank
that it was for, and its causes: what that rank did longer than the waiting one
since both were in step. Costs of causes add up to the waiting. The critical path
is the chain of computation and calls that determines the run time. --rank shows
the rows of these ranks. With --from and --to, waits, causes and the path are those
of this part; ranks count as in step when it begins. docs/waits.md has the
definitions.

samples: GLOBs choose variables by name. Counters, aggregates and timers have one
number per rank: their growth over the run. All other classes have one number
per sample; their mean and standard deviation are weighted by time. With
--phase, the growth is the sum of the steps that end in the phase. CSV and JSON
hold exact numbers in the unit of the variable.`,
		Example: `  mpitx report
  mpitx report run1
  mpitx report run1 sites --phase solve --rank 0-3
  mpitx report run1 advice
  mpitx report run1 advice -o rankfile --out ranks.rankfile
  mpitx report run1 matrix -o csv --out matrix.csv
  mpitx report run1 samples 'mpitx:time/*' --nonzero --sort max
  mpitx report run1 queues --rank 0 --from 2s
  mpitx report run1 waits --table causes`,
		Args: cli.Arguments(0, -1, "a run directory"),
		RunE: a.OnRank0(o.show),
	}
	o.FormatOut.Flags(cmd, "reports", formatsOf(views)...)
	o.ProfileCut.Flags(cmd, a)
	o.part.Times(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.oneSided, "one-sided", false, "matrix: one-sided operations (puts and gets) instead of messages")
	cli.Choose(cmd, &o.table, "table", "", "", "only this `TABLE`; queues: peers, lengths, or metrics (of PERUSE, Appendix B); waits: states, rest, causes, path, efficiency, parts, gains",
		slices.Concat(runs.QueuesTables, runs.WaitTables)...)
	f.BoolVar(&o.derived, "derived", false, "queues: compute from calls even if the library raised events")
	cli.ChooseTransform(cmd, &o.as)
	f.BoolVar(&o.nonzero, "nonzero", false, "samples: only variables with a value other than 0")
	f.BoolVar(&o.byRank, "by-rank", false, "samples: one row for each rank; functions: too, in csv, ndjson and json")
	cli.Choose(cmd, &o.sort, "sort", "", "name", "samples: sort rows by this `COLUMN`: "+strings.Join(recording.StatOrders(), ", ")+"; numbers are sorted by unit, largest first", recording.StatOrders()...)
	cmd.ValidArgsFunction = completeReport
	return cmd
}

func (o *reportOptions) show(cmd *cobra.Command, args []string) error {
	args, err := o.named(args)
	if err != nil {
		return err
	}
	v, err := o.choose(cmd, args)
	if err != nil {
		return err
	}
	if err := cmp.Or(o.ProfileCut.Parse(), o.part.Parse(cmd), o.columnFilter.parse(args[min(len(args), 2):])); err != nil {
		return err
	}
	o.part.Choose(o.Cut.Ranks)
	o.phases = o.Cut.Phases
	if !o.Named() {
		if err := o.App.Showable(o.Form()); err != nil {
			return err
		}
	}
	term, err := o.App.Terminal()
	if err != nil {
		return err
	}
	run, err := launch.OpenSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	if err := o.part.Check(run); err != nil {
		return err
	}
	if v == nil {
		v = defaultView(run)
	}
	if err := o.accepts(cmd, v); err != nil {
		return err
	}
	if v.clocks {
		clocks.Correct(run)
	}
	for _, line := range clocks.Lines(run.Clocks) {
		o.App.Complain("%s: %s", text.Quote(args[0]), line)
	}
	return v.show(&reading{reportOptions: o, view: v, run: run, dir: args[0], term: term})
}

// named puts the newest run before the arguments if they name none: they are empty, or begin with a view.
func (o *reportOptions) named(args []string) ([]string, error) {
	if len(args) > 0 {
		if _, err := os.Lstat(args[0]); err == nil || viewNamed(args[0]) == nil {
			return args, nil
		}
	}
	dir, said, none, err := launch.Newest(o.App.RunsDir(), false)
	if err != nil {
		return nil, err
	}
	if none != "" {
		return nil, cli.Failf("%s; %s", none, launch.NameRun)
	}
	o.App.Say(said)
	return append([]string{dir}, args...), nil
}

// choose finds the view that is named; nil: none is.
func (o *reportOptions) choose(cmd *cobra.Command, args []string) (*view, error) {
	if len(args) < 2 {
		return nil, o.Check()
	}
	v := viewNamed(args[1])
	if v == nil {
		return nil, cli.Usagef("there is no view %s%s", text.Quote(args[1]), cmp.Or(catalog.DidYouMean(viewNames(), args[1]), "; views are "+strings.Join(viewNames(), ", ")))
	}
	if len(args) > 2 && !v.globs {
		return nil, cli.Usagef("%s: the view %s takes no names; leave it out", text.Quote(args[2]), v.name)
	}
	return v, cmp.Or(o.accepts(cmd, v), o.Check())
}

// accepts reports flags and formats that a view does not have.
func (o *reportOptions) accepts(cmd *cobra.Command, v *view) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if of := viewsWith(f.Name); err == nil && len(of) > 0 && !slices.Contains(of, v.name) {
			err = cli.Usagef("--%s does not apply to %s; it is for %s", f.Name, v.name, strings.Join(of, ", "))
		}
	})
	if err == nil && o.table != "" && !slices.Contains(v.tables, o.table) {
		err = cli.Usagef("--table %s: %s has the tables %s; choose one of these", o.table, v.name, strings.Join(v.tables, ", "))
	}
	if err == nil && o.byRank && v.name == runs.ViewFunctions && !rowFormat(o.Form()) {
		err = cli.Usagef("--by-rank: functions have rows for each rank in csv, ndjson and json; choose one with -o")
	}
	if err == nil && !slices.Contains(v.formats, o.Form()) && slices.Contains(formatsOf(views), o.Form()) {
		err = cli.Usagef("-o %s: %s has the formats %s; choose one of these", o.Form(), v.name, strings.Join(cli.Texts(v.formats), ", "))
	}
	return err
}

// defaultView is the overview, or what the run has instead of a profile.
func defaultView(run *recording.Run) *view {
	switch {
	case profile.Has(run):
	case trigger.Has(run):
		return viewNamed(runs.ViewTriggers)
	case run.Sampled():
		return viewNamed(runs.ViewSamples)
	case trace.Has(run):
		return viewNamed(runs.ViewQueues)
	}
	return viewNamed(runs.ViewOverview)
}

func viewNamed(name string) *view {
	for i := range views {
		if views[i].name == name {
			return &views[i]
		}
	}
	return nil
}

func viewNames() (names []string) {
	for _, v := range views {
		names = append(names, v.name)
	}
	return names
}

// aboutViews has a line for each view.
func aboutViews() (lines string) {
	for _, v := range views {
		lines += fmt.Sprintf("  %-15s %s\n", v.name, v.about)
	}
	return lines
}

// viewsWith are the views that have a flag; none: it is a flag of all.
func viewsWith(flag string) (names []string) {
	for _, v := range views {
		if slices.Contains(v.takes, flag) {
			names = append(names, v.name)
		}
	}
	return names
}

func formatsOf(views []view) (all []export.Format) {
	for _, v := range views {
		for _, f := range v.formats {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// write writes to the file, or else to standard output.
func (r *reading) write(write func(io.Writer, export.Terminal) error) error {
	if r.Named() {
		return r.Create(func(w io.Writer) error { return write(w, export.Terminal{UTF8: true}) })
	}
	return write(r.App.Out, r.term)
}

// rows writes a view that is a table, which Parquet holds, too.
func (r *reading) rows(rows func() *export.Rows, write func(io.Writer, export.Terminal) error) error {
	if r.Form() == cli.FormatParquet {
		write = func(w io.Writer, _ export.Terminal) error { return parquet.Report(w, r.run, rows()) }
	}
	return r.write(write)
}

// rowFormat reports whether a format is one of rows for programs.
func rowFormat(f export.Format) bool {
	return f == export.FormatCSV || f == export.FormatNDJSON || f == export.FormatJSON
}

// options are the part of the run.
func (r *reading) options() recording.Options {
	return recording.Options{From: r.part.From, To: r.part.To, Rank: r.part.Rank()}
}

// completeReport completes a run, a view, and the names that are in the run.
func completeReport(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return cli.CompleteRuns(cmd, args, word)
	case len(args) == 1:
		return viewNames(), cobra.ShellCompDirectiveNoFileComp
	case args[1] == runs.ViewSamples:
		return completeRunAndNames(cmd, args, word)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
