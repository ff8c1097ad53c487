package runs

import (
	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/ui/progress"
)

type exportOptions struct {
	a *cli.App
	cli.ExportFlags
	columnFilter
	trace     bool
	partition bool
	derive    []string
}

func NewExport(a *cli.App) *cobra.Command {
	o := &exportOptions{a: a, ExportFlags: cli.ExportFlags{More: []export.Format{cli.FormatPerfetto, cli.FormatOpenMetrics}}}
	cmd := &cobra.Command{
		Use:   "export RUN [GLOB…]",
		Short: "Write the samples or the trace of a run in other formats",
		Long: `Write the samples of a run directory (from mpitx record, or mpitx sample
without --out) as CSV, JSON, NDJSON or Parquet, in order of time over all
ranks. GLOBs choose variables by name.

The trace of a run (from mpitx trace) is written as CSV, NDJSON or Parquet if
the run has no samples, or with --trace. Perfetto files (-o perfetto, or a FILE
that ends in .pftrace) have both; open them at ui.perfetto.dev.

With -o openmetrics, or a FILE that ends in .prom, the run becomes gauges for the
textfile collector of Prometheus: its state, efficiencies, functions and sampled
variables. Ranks are added up, so a run has less than 600 series, whatever its
size: 50 functions, and 100 variables, which GLOBs choose.

With --partition, -o parquet writes a data set for DuckDB, Spark or pandas into
the directory of --out: calls, messages, events, waits and samples, in a
directory for each rank and files that follow one another in time. The
directory is complete, or it is not there.

The run may still be recording, or its job may have died: everything sampled so
far is written. --from, --to and --rank choose samples and do not change them:
counters count from the start of the job (mpitx report RUN samples --from: from
that time on). With --phase, counters grow only by the steps that end in the
phase.`,
		Example: `  mpitx export run1 -o csv --out samples.csv
  mpitx export run1 -o parquet --wide --out samples.parquet
  mpitx export run1 -o parquet --partition --out dataset
  mpitx export nightly --overwrite --out /var/lib/node_exporter/nightly.prom
  mpitx export run1 'mpitx:bytes_*' --nonzero --as rate | head
  mpitx export run1 --rank 0,1 --from 2s --to 2.5s --out part.pftrace`,
		Args: cli.Arguments(1, -1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	o.ExportFlags.Flags(cmd)
	o.columnFilter.flags(cmd)
	o.Cut.Flags(cmd)
	cmd.Flags().StringArrayVar(&o.derive, "derive", nil, "in a trace, also events of PERUSE that match this `GLOB`, derived from calls; may be repeated")
	cmd.RegisterFlagCompletionFunc("derive", a.CompleteNames(catalog.Events))
	cmd.Flags().BoolVar(&o.trace, "trace", false, "write the trace, also if the run has samples")
	cmd.Flags().BoolVar(&o.partition, "partition", false, "parquet: write a data set of calls, messages, waits and samples, a directory for each rank, into the directory of --out")
	return cmd
}

func (o *exportOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.ExportFlags.Parse(); err != nil {
		return err
	}
	if err := o.Cut.Parse(cmd); err != nil {
		return err
	}
	if err := o.columnFilter.parse(args[1:]); err != nil {
		return err
	}
	metrics := o.Form() == cli.FormatOpenMetrics
	for _, name := range []string{"as", "derive", "from", "phase", "rank", "to", "trace", "wide"} {
		if metrics && cmd.Flags().Changed(name) {
			return cli.Usagef("--%s does not go with -o openmetrics, which has the whole run; leave it out", name)
		}
	}
	if o.Out == "" {
		o.Out = "-"
	}
	check := o.Check
	if o.partition {
		check = func() error { return o.checkPartition(cmd) }
	}
	if err := check(); err != nil {
		return err
	}
	if o.Out == "-" {
		if err := o.a.Showable(o.Form()); err != nil {
			return err
		}
	}
	run, err := launch.OpenSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	if err := o.Cut.Check(run); err != nil {
		return err
	}
	if o.partition {
		return o.writeDataset(run, args[0])
	}
	if !metrics && o.writesTrace(run) {
		return o.writeTrace(cmd, run, args)
	}
	if len(o.derive) > 0 {
		return cli.Usagef("--derive %s: events are derived in a trace, and this writes samples; add --trace, or -o perfetto for both", o.derive[0])
	}
	if err := cli.Unsampled(run, args[0]); err != nil && (!metrics || len(args) > 1 || o.nonzero) {
		return err
	}
	if o.ExportFlags.During, err = o.columnFilter.during(run, args[0]); err != nil {
		return err
	}
	bar := progress.New("looking for what is not 0")
	o.Only, err = o.chosen(run, recording.Options{As: o.As, During: o.ExportFlags.During, Progress: bar.Update})
	bar.Clear()
	if err != nil {
		return err
	}
	err = o.Write(o.a, run)
	cli.ReportGaps(o.a, run)
	return err
}
