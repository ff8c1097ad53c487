package main

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/sites"
	"mpitx/recording/trigger"
	"mpitx/symbols"
	"mpitx/text"
)

type reportOptions struct {
	table string
	reportOut
	profileCut
}

func newReport(a *app) *cobra.Command {
	o := &reportOptions{}
	cmd := &cobra.Command{
		Use:         "report RUN",
		Annotations: paged,
		Short:       "Report where a profiled program spends its time in MPI",
		Long: `Report the profile of a run directory, as mpitx profile writes it: what stands
out, the MPI functions and call sites that took the most time, the imbalance
between ranks, phases and communicators.

The run may still be in progress, or its job may have died: the report covers
everything up to now.

Run time is the time from the end of MPI_Init to the beginning of MPI_Finalize.
Efficiencies are those of the POP project: the parallel efficiency is the mean
time outside of MPI divided by the run time, and the product of load balance
and communication efficiency. Percentiles are estimates from a histogram, within
about 10 percent.

--phase, --rank and --comm restrict the report to a part of the run. --table
prints one table with all rows. CSV and NDJSON hold one table, the functions
unless --table chooses another; JSON holds all.`,
		Example: `  mpitx report run1
  mpitx report run1 --phase solve --rank 0-3
  mpitx report run1 --table sites
  mpitx report run1 -o json --out report.json`,
		Args: arguments(1, 1, "a run directory"),
		RunE: a.once(o.run),
	}
	tables := append(slices.Clone(export.ReportTables), export.TriggerTable)
	choose(cmd, &o.table, "table", "", "", "print this `TABLE` with all rows: "+strings.Join(tables, ", "), tables...)
	o.reportOut.flags(cmd)
	o.profileCut.flags(cmd, a, true)
	return cmd
}

func (o *reportOptions) run(_ *cobra.Command, args []string) error {
	if err := cmp.Or(o.parse(), o.check()); err != nil {
		return err
	}
	if !o.named() {
		if err := o.a.showable(o.form()); err != nil {
			return err
		}
	}
	term, err := o.a.terminal()
	if err != nil {
		return err
	}
	run, err := openSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	triggers := sites.Triggers(run)
	if o.table == export.TriggerTable || len(triggers) > 0 && !profile.Has(run) {
		return o.writeTriggers(run, triggers, args[0], term)
	}
	p, err := o.read(run, args[0])
	if err != nil {
		return err
	}
	unread := cmp.Or(resolveSites(o.a, p), reportJob(o.a, run.Dir))
	if err := o.write(o.a.out, p, export.ReportOptions{Terminal: term, Run: text.Quote(args[0]), Table: o.table, Findings: p.Findings(), Triggers: triggers, Tools: launch.Tools(run.Dir), Lost: len(launch.Reduced(run))+len(run.IncompleteRanks()) > 0}); err != nil {
		return err
	}
	return cmp.Or(partial(o.a, run), unread)
}

// reportJob reports a file of the job that cannot be read. The error has the exit code.
func reportJob(a *app, dir string) error {
	if err := launch.Unreadable(dir); err != nil {
		a.complain("%s: %v; the settings and tools of the run are not known", text.Quote(dir), err)
		return exit(exitPartial)
	}
	return nil
}

// writeTriggers writes only what the triggers of a run found.
func (o *reportOptions) writeTriggers(run *recording.Run, all []*trigger.Trigger, dir string, term export.Terminal) error {
	if len(all) == 0 {
		return failf("%s: the run has no triggers; record some with mpitx run --when CONDITION -- ./app", text.Quote(dir))
	}
	if o.table != "" && o.table != export.TriggerTable {
		return failf("%s: the run has triggers and no profile; use --table triggers, or record a profile with mpitx profile -- ./app", text.Quote(dir))
	}
	write := func(w io.Writer, t export.Terminal) error { return export.Triggers(w, all, o.form(), 0, "", t) }
	switch form := o.form(); {
	case form == formatParquet:
		write = func(w io.Writer, t export.Terminal) error {
			return writeFormat(w, run.Dir, form, export.ReportOptions{Terminal: t, Table: export.TriggerTable, Run: dir}, nil)
		}
	case !slices.Contains([]export.Format{export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV}, form):
		return failf("%s: events of triggers cannot be written as %s; choose -o table, json, ndjson, csv or parquet", text.Quote(dir), form)
	}
	err := error(nil)
	if o.named() {
		err = o.create(func(w io.Writer) error { return write(w, export.Terminal{UTF8: true}) })
	} else {
		err = write(o.a.out, term)
	}
	if err != nil {
		return err
	}
	return partial(o.a, run)
}

// partial ends a command about a profile: it reports what is missing in the run.
func partial(a *app, run *recording.Run) error {
	for _, text := range launch.Reduced(run) {
		a.complain("%s", text)
	}
	reportGaps(a, run)
	if reportDamage(a, run) {
		return errDamaged
	}
	return nil
}

// profileCut are the flags that restrict a profile to a part of the run.
type profileCut struct {
	a     *app
	ranks string
	cut   profile.Cut
}

func (c *profileCut) flags(cmd *cobra.Command, a *app, comm bool) {
	c.a = a
	f := cmd.Flags()
	flagPhase(cmd, &c.cut.Phases, "only this `PHASE` of the program; - is the time outside of all phases; may be repeated")
	f.StringVar(&c.ranks, "rank", "", "only these `RANKS` of MPI_COMM_WORLD, such as 0,2-5")
	if comm {
		f.StringArrayVar(&c.cut.Objects, "comm", nil, "only calls on the communicator, window or file with this `NAME`, as the report has it; may be repeated")
		cmd.RegisterFlagCompletionFunc("comm", completeProfile(func(p *profile.Profile) (names []string) {
			for _, o := range p.Objects {
				names = append(names, o.Text())
			}
			return names
		}))
	}
	cmd.RegisterFlagCompletionFunc("rank", cobra.NoFileCompletions)
	cmd.ValidArgsFunction = completeRuns
}

func flagPhase(cmd *cobra.Command, phases *[]string, usage string) {
	cmd.Flags().StringArrayVar(phases, "phase", nil, usage)
	cmd.RegisterFlagCompletionFunc("phase", completeProfile(func(p *profile.Profile) (names []string) {
		for _, ph := range p.Phases {
			names = append(names, ph.Name)
		}
		return names
	}))
}

// completeProfile completes names that are in the profile of the run that the command line names.
func completeProfile(names func(*profile.Profile) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		run, err := recording.Open(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer run.Close()
		p, err := profile.Read(run, profile.Cut{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var all []string
		for _, name := range names(p) {
			if name != "" {
				all = append(all, name)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *profileCut) parse() (err error) {
	if c.cut.Ranks, err = text.ParseRanks(c.ranks); err != nil {
		return usagef("--rank: %v", err)
	}
	return nil
}

// read reads the profile of a run.
func (c *profileCut) read(run *recording.Run, dir string) (*profile.Profile, error) {
	p, err := profile.Read(run, c.cut)
	var unknown *profile.UnknownError
	switch {
	case errors.Is(err, profile.ErrNone) && reportDamage(c.a, run):
		return nil, errDamaged
	case errors.Is(err, profile.ErrNone):
		return nil, failf("%s: the run has no profile; record one with mpitx profile -- ./app", text.Quote(dir))
	case errors.As(err, &unknown):
		return nil, unknownPart(dir, unknown)
	case err != nil:
		return nil, failf("%s: %v", dir, err)
	}
	return p, nil
}

const mostNamed = 8 // names in a message

// unknownPart names the parts that a run has.
func unknownPart(dir string, unknown *profile.UnknownError) error {
	text := unknown.Name + ": the run has no such " + unknown.What + catalog.DidYouMean(unknown.Known, unknown.Name)
	if len(unknown.Known) > 0 {
		text += "; it has " + strings.Join(unknown.Known[:min(len(unknown.Known), mostNamed)], ", ")
	}
	return failf("%s: %s", dir, text)
}

// resolveSites finds the source of call sites, and reports the programs and libraries for which it is not found.
// It returns an error with the exit code if one of them, or what was kept with the run, is there and cannot be read.
func resolveSites(a *app, p *profile.Profile) error {
	problems, err := sites.Resolve(p)
	partly := reportProblems(a, problems, "report")
	if err != nil {
		a.complain("%s: %v; call sites are looked up in the programs as they are now", text.Quote(p.Run.Dir), err)
		partly = exit(exitPartial)
	}
	return partly
}

// reportProblems reports programs and libraries without sources. The error has the exit code if one of them cannot be read.
func reportProblems(a *app, problems []symbols.Problem, command string) (partly error) {
	for _, problem := range problems {
		a.complain("%s%s", problem, sitesAdvice(problem, command))
		if problem.Unreadable {
			partly = exit(exitPartial)
		}
	}
	return partly
}

// reportUnreadable is reportProblems, without what is only missing or has changed.
func reportUnreadable(a *app, problems []symbols.Problem, command string) error {
	return reportProblems(a, slices.DeleteFunc(problems, func(p symbols.Problem) bool { return !p.Unreadable }), command)
}

func sitesAdvice(problem symbols.Problem, command string) string {
	if problem.Unreadable {
		return "; sites on the same line may have several rows"
	}
	if problem.Partly() {
		return "; compile without -gsplit-dwarf to see them"
	}
	return "; " + command + " where the file is as it was"
}
