package runs

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/sites"
	"mpitx/recording/trigger"
	"mpitx/text"
)

type reportOptions struct {
	table string
	cli.ReportOut
	cli.ProfileCut
}

func NewReport(a *cli.App) *cobra.Command {
	o := &reportOptions{}
	cmd := &cobra.Command{
		Use:         "report RUN",
		Annotations: cli.Paged,
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
		Args: cli.Arguments(1, 1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	tables := append(slices.Clone(export.ReportTables), export.TriggerTable)
	cli.Choose(cmd, &o.table, "table", "", "", "print this `TABLE` with all rows: "+strings.Join(tables, ", "), tables...)
	o.ReportOut.Flags(cmd)
	o.ProfileCut.Flags(cmd, a, true)
	return cmd
}

func (o *reportOptions) run(_ *cobra.Command, args []string) error {
	if err := cmp.Or(o.Parse(), o.Check()); err != nil {
		return err
	}
	if !o.Named() {
		if err := o.App.Showable(o.Form()); err != nil {
			return err
		}
	}
	term, err := o.App.Terminal()
	if err != nil {
		return err
	}
	run, err := cli.OpenSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	triggers := sites.Triggers(run)
	if o.table == export.TriggerTable || len(triggers) > 0 && !profile.Has(run) {
		return o.writeTriggers(run, triggers, args[0], term)
	}
	p, err := o.Read(run, args[0])
	if err != nil {
		return err
	}
	unread := cmp.Or(cli.ResolveSites(o.App, p), cli.ReportJob(o.App, run.Dir))
	if err := o.Write(o.App.Out, p, export.ReportOptions{Terminal: term, Run: text.Quote(args[0]), Table: o.table, Findings: p.Findings(), Triggers: triggers, Tools: launch.Tools(run.Dir), Lost: len(launch.Reduced(run))+len(run.IncompleteRanks()) > 0}); err != nil {
		return err
	}
	return cmp.Or(cli.Partial(o.App, run), unread)
}

// writeTriggers writes only what the triggers of a run found.
func (o *reportOptions) writeTriggers(run *recording.Run, all []*trigger.Trigger, dir string, term export.Terminal) error {
	if len(all) == 0 {
		return cli.Failf("%s: the run has no triggers; record some with mpitx run --when CONDITION -- ./app", text.Quote(dir))
	}
	if o.table != "" && o.table != export.TriggerTable {
		return cli.Failf("%s: the run has triggers and no profile; use --table triggers, or record a profile with mpitx profile -- ./app", text.Quote(dir))
	}
	write := func(w io.Writer, t export.Terminal) error { return export.Triggers(w, all, o.Form(), 0, "", t) }
	switch form := o.Form(); {
	case form == cli.FormatParquet:
		write = func(w io.Writer, t export.Terminal) error {
			return cli.WriteFormat(w, run.Dir, form, export.ReportOptions{Terminal: t, Table: export.TriggerTable, Run: dir}, nil)
		}
	case !slices.Contains([]export.Format{export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV}, form):
		return cli.Failf("%s: events of triggers cannot be written as %s; choose -o table, json, ndjson, csv or parquet", text.Quote(dir), form)
	}
	err := error(nil)
	if o.Named() {
		err = o.Create(func(w io.Writer) error { return write(w, export.Terminal{UTF8: true}) })
	} else {
		err = write(o.App.Out, term)
	}
	if err != nil {
		return err
	}
	return cli.Partial(o.App, run)
}
