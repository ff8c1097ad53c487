package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/launch"
	"mpitx/machine/keep"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/text"
	"mpitx/ui/program"
	"mpitx/ui/term"
	"mpitx/ui/top"
)

type topOptions struct {
	a            *app
	format       export.Format
	table        string
	as           recording.Transform
	once, byRank bool
	themeFlag
	columnFilter
}

func newTop(a *app) *cobra.Command {
	o := &topOptions{a: a}
	cmd := &cobra.Command{
		Use:         "top [RUN [GLOB…]]",
		Annotations: paged,
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
		Args: arguments(0, -1, "a run directory"),
		RunE: a.once(o.run),
	}
	chooseFormat(cmd, &o.format, "with --once: output `FORMAT`", export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV)
	chooseTransform(cmd, &o.as)
	cmd.Flags().BoolVar(&o.once, "once", false, "print one table and exit")
	choose(cmd, &o.table, "table", "", "", "with --once: print this `TABLE`: "+strings.Join(topTables, ", "), topTables...)
	cmd.Flags().BoolVar(&o.byRank, "by-rank", false, "with --once: print one row per variable or function and rank")
	o.themeFlag.flags(cmd)
	o.columnFilter.flags(cmd)
	return cmd
}

const (
	onceWait = 5 * time.Second // for a run that is not there yet
	onceLook = 50 * time.Millisecond
)

func (o *topOptions) run(cmd *cobra.Command, args []string) error {
	switch {
	case !o.once && (cmd.Flags().Changed("output") || o.byRank || o.nonzero || o.table != "" || len(args) > 1):
		return usagef("GLOBs, --nonzero, --table, -o and --by-rank need --once")
	case o.byRank && o.table == tableMatrix:
		return usagef("the matrix is by rank; leave out --by-rank")
	case o.table != "" && o.table != tableVariables && (o.nonzero || len(args) > 1):
		return usagef("GLOBs and --nonzero choose variables; use them with --table variables")
	case !o.once && noFullScreen() != "":
		return usagef("top: %s; --once prints a table", noFullScreen())
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
	t, err := term.Detect(os.Stdout, o.a.env.Getenv, o.a.color)
	if err != nil {
		return usagef("%v", err)
	}
	file, problem := o.configure(o.a, &t)
	if problem != "" {
		o.a.complain("%s", problem)
	}
	find := func() (top.Source, string, error) {
		run, awaited, err := o.find(name)
		if run == nil {
			return nil, awaited, err
		}
		return top.Open(run), "", nil
	}
	o.a.out.Flush()
	ctx, forget := keep.QuitContext()
	defer forget()
	switch err := top.Run(ctx, find, t, o.as, file, os.Stdin, os.Stdout); {
	case errors.Is(err, program.ErrSignal):
		return exit(128 + int(syscall.SIGTERM))
	case err != nil:
		return err
	}
	return nil
}

// find opens the run, or without a name the only one whose job is running: see findRun.
func (o *topOptions) find(name string) (run *recording.Run, awaited string, err error) {
	if name == "" {
		if name, awaited, err = o.liveRun(); name == "" {
			return nil, awaited, err
		}
	}
	return findRun(name)
}

// findRun opens a run. If the run is not there yet, awaited says what is missing; an error says that waiting is of no use.
func findRun(name string) (run *recording.Run, awaited string, err error) {
	run, err = recording.Open(name)
	switch _, parent := os.Stat(filepath.Dir(name)); {
	case err == nil && len(run.Ranks) == 0 && len(run.Damage()) == 0:
		run.Close()
		return nil, name + ": no rank has recorded anything", nil
	case errors.Is(err, fs.ErrNotExist) && parent == nil:
		return nil, name + ": there is no such directory", nil
	case errors.Is(err, recording.ErrNotARun) && starting(name):
		return nil, name + ": nothing was recorded yet", nil
	case err != nil:
		run, err = openRun(name) // says what to do
	}
	return run, "", err
}

// starting says whether a job has made this directory and has not recorded anything yet: its first file is attach.RunFile.
func starting(dir string) bool {
	entries, err := os.ReadDir(dir)
	made := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == launch.RunFile })
	return err == nil && (made || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }))
}

// liveRun finds the one run here whose job is running; without one, awaited says so.
func (o *topOptions) liveRun() (name, awaited string, err error) {
	base := cmp.Or(o.a.env.Getenv("MPITX_DIR"), ".")
	entries, err := os.ReadDir(base)
	if err != nil {
		return "", "", failf("top: %s: %v; name a run", base, causeOf(err))
	}
	var all []string
	made := map[string]time.Time{}
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		if st, err := os.Stat(filepath.Join(path, launch.RunFile)); err == nil && e.IsDir() {
			all, made[path] = append(all, path), st.ModTime()
		}
	}
	slices.SortFunc(all, func(a, b string) int { return made[b].Compare(made[a]) })
	var live, away []string // away: its ranks cannot be reached from here, and may run
	for _, path := range all[:min(len(all), 50)] {
		run, err := recording.Open(path)
		if err != nil {
			continue
		}
		if _, ranks := run.Unreachable(); run.Running() {
			live = append(live, path)
		} else if len(ranks) > 0 {
			away = append(away, path)
		}
		run.Close()
	}
	if len(live) == 0 {
		live = away
	}
	switch {
	case len(live) == 1:
		return live[0], "", nil
	case len(live) > 1:
		return "", "", usagef("top: %d jobs are running; name a run: %s", len(live), strings.Join(live, " "))
	case len(all) > 0:
		return "", fmt.Sprintf("%s: no job of a run in this directory is running; the last run is %s", base, all[0]), nil
	}
	return "", base + ": there is no run in this directory", nil
}

// await opens the run, and waits a moment for one that is not there yet.
func (o *topOptions) await(name string) (*recording.Run, error) {
	run, awaited, err := o.find(name)
	for start := time.Now(); run == nil && err == nil; run, awaited, err = o.find(name) {
		if time.Since(start) > onceWait {
			return nil, failf("%s (waited %v); %s", awaited, onceWait, nameRun)
		}
		time.Sleep(onceLook)
	}
	return run, err
}

// print is --once.
func (o *topOptions) print(name string) error {
	terminal, err := o.a.terminal()
	if err != nil {
		return err
	}
	run, err := o.await(name)
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
			fmt.Fprintln(o.a.out)
		}
		rows := o.rows(feed, frame, table)
		if o.people() {
			rows.Units(terminal)
		}
		if err := rows.Write(o.a.out, o.format, terminal); err != nil {
			return err
		}
	}
	for _, table := range tables {
		if text := o.whyEmpty(frame, run, table, recorded); text != "" {
			o.a.complain("%s", text)
		}
	}
	for _, text := range frame.Troubles() {
		o.a.complain("%s", text)
	}
	if len(frame.Damage) > 0 || frame.Broken != "" {
		return exit(exitPartial)
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
		return nil, failf("%s: the run has no profile; record one with mpitx profile -- ./app", run.Dir)
	case !profiled:
		return nil, failf("%s: %s", run.Dir, frame.Profile)
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
